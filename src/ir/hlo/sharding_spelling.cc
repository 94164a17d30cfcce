#include "hlo/sharding_spelling.h"

#include <cctype>

namespace hlosim {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_number(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-'; }

class Speller {
 public:
  explicit Speller(std::string_view text) : text_(text) {}

  std::optional<std::string> run() {
    constexpr std::string_view kTiles = "devices=";
    while (at_ < text_.size()) {
      if (text_[at_] == '"') {
        string();
      } else if (text_.substr(at_).starts_with(kTiles)) {
        out_ += kTiles;
        at_ += kTiles.size();
        tiles();
      } else {
        out_ += text_[at_++];
      }
    }
    return out_ == text_ ? std::nullopt : std::optional(std::move(out_));
  }

 private:
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  /// With both quotes.
  void string() {
    out_ += text_[at_++];
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      out_ += c;
      if (c == '"') return;
      if (c == '\\' && at_ < text_.size()) out_ += text_[at_++];
    }
  }

  void skip() {
    for (;;) {
      while (is_blank(here())) ++at_;
      if (!text_.substr(at_).starts_with("/*")) return;
      const size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + 2;
    }
  }

  /// Numbers with commas between them, up to what is neither.
  void numbers() {
    for (skip(); is_number(here()) || here() == ','; skip()) out_ += text_[at_++];
  }

  void list(char open, char close) {
    skip();
    if (here() != open) return;
    out_ += text_[at_++];
    numbers();
    if (here() == close) out_ += text_[at_++];
  }

  /// `[2,1]<=[2,2]T(1,0)` or `[2,1]0,1`, and what stands behind it apart from it.
  void tiles() {
    list('[', ']');
    skip();
    if (text_.substr(at_).starts_with("<=")) {
      out_ += "<=";
      at_ += 2;
      list('[', ']');
      skip();
      if (here() == 'T') {
        out_ += text_[at_++];
        list('(', ')');
      }
    } else {
      numbers();
    }
    skip();
    if (here() != '}' && here() != '\0') out_ += ' ';
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::optional<std::string> spelled_as_printed(std::string_view text) { return Speller(text).run(); }

}  // namespace hlosim
