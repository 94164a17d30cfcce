// Without yaml-cpp: of YAML what JSON has. Built-in files are JSON there (cmake/yaml_to_json.py).
#include <algorithm>
#include <utility>

#include "base/value.h"

namespace hlosim {
namespace {

class JsonValueReader {
 public:
  JsonValueReader(const SourcePtr& source, DiagnosticList& problems)
      : source_(source), text_(source->text()), problems_(problems) {}

  std::optional<Value> read() {
    Value root;
    if (!value(root, 0)) return std::nullopt;
    skip_blanks();
    if (at_ < text_.size()) return fail("the end"), std::nullopt;
    return root;
  }

 private:
  static constexpr int kDeepest = 100;

  bool fail(const char* expected) {
    problems_.add(error_at(source_, static_cast<uint32_t>(at_), std::string("JSON: expected ") + expected));
    return false;
  }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  bool eat(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  bool value(Value& out, int depth) {
    skip_blanks();
    out.source = source_;
    out.offset = static_cast<uint32_t>(at_);
    if (depth > kDeepest) return fail("less depth");
    if (eat("{")) return items(out, Value::Kind::kMap, "}", depth);
    if (eat("[")) return items(out, Value::Kind::kList, "]", depth);
    if (eat("null")) return true;
    out.kind = Value::Kind::kScalar;
    return quoted(out.text);
  }

  bool items(Value& out, Value::Kind kind, std::string_view end, int depth) {
    out.kind = kind;
    if (eat(end)) return true;
    do {
      Value item;
      std::string key;
      skip_blanks();
      const auto key_offset = static_cast<uint32_t>(at_);
      if (kind == Value::Kind::kMap && (!quoted(key) || !(eat(":") || fail("a colon")))) return false;
      if (!value(item, depth + 1)) return false;
      item.key = std::move(key);
      item.key_offset = kind == Value::Kind::kMap ? key_offset : 0;
      out.items.push_back(std::move(item));
    } while (eat(","));
    return eat(end) || fail("a comma or the end");
  }

  bool quoted(std::string& out) {
    if (!eat("\"")) return fail("a text in quotes");
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      char c = text_[at_];
      if (c == '\\') {
        constexpr std::string_view kLetters = "\"\\/nt", kMeant = "\"\\/\n\t";
        const size_t letter = ++at_ < text_.size() ? kLetters.find(text_[at_]) : std::string_view::npos;
        if (letter == std::string_view::npos) return fail("one of the escapes \\\" \\\\ \\/ \\n \\t");
        c = kMeant[letter];
      }
      out += c;
    }
    return eat("\"") || fail("a quote");
  }

  const SourcePtr& source_;
  std::string_view text_;
  DiagnosticList& problems_;
  size_t at_ = 0;
};

}  // namespace

std::optional<Value> parse_yaml(const SourcePtr& source, DiagnosticList& problems) {
  return JsonValueReader(source, problems).read();
}

}  // namespace hlosim
