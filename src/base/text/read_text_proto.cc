#include "text/read_text_proto.h"

#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cctype>
#include <optional>
#include <vector>

#include "base/text.h"

namespace hlosim {
namespace {

namespace io = google::protobuf::io;

constexpr int kMostMessages = 20;  // inside of each other

class FirstError final : public io::ErrorCollector {
 public:
  struct Found {
    int line = 0, column = 0;
    std::string message;
  };
  void AddError(int line, io::ColumnNumber column, const std::string& message) override {
    if (!found_) found_ = {line, column, message};
  }
  const std::optional<Found>& found() const { return found_; }

 private:
  std::optional<Found> found_;
};

/// The library's messages are sentences.
std::string in_our_words(std::string message) {
  if (message == "Unexpected end of string." || message.starts_with("String literals cannot cross"))
    return "the string does not end";
  if (message.ends_with('.')) message.pop_back();
  if (!message.empty()) message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  return message;
}

class TextProtoReader {
 public:
  explicit TextProtoReader(const SourcePtr& source)
      : source_(source),
        stream_(source->text().data(), static_cast<int>(source->text().size())),
        tokens_(&stream_, &errors_) {
    tokens_.set_comment_style(io::Tokenizer::SH_COMMENT_STYLE);
    tokens_.set_require_space_after_number(false);
    tokens_.Next();
  }

  Result<Value> read() {
    Result<Value> all = message('\0', 0);
    if (const auto& wrong = errors_.found())
      return fail(offset_of(wrong->line, wrong->column), in_our_words(wrong->message));
    return all;
  }

 private:
  const io::Tokenizer::Token& token() { return tokens_.current(); }
  bool at_end() { return token().type == io::Tokenizer::TYPE_END; }
  bool at(char symbol) { return token().type == io::Tokenizer::TYPE_SYMBOL && token().text[0] == symbol; }
  bool eat(char symbol) {
    if (!at(symbol)) return false;
    tokens_.Next();
    return true;
  }

  /// Columns count from the last line end, tabs up to the next multiple of 8.
  uint32_t offset_of(int line, int column) {
    const std::string_view text = source_->text();
    if (line < line_) line_ = 0, line_start_ = 0;
    for (; line_ < line; ++line_) line_start_ = text.find('\n', line_start_) + 1;
    size_t offset = line_start_;
    for (int reached = 0; reached < column && offset < text.size(); ++offset)
      reached += text[offset] == '\t' ? 8 - reached % 8 : 1;
    return static_cast<uint32_t>(offset);
  }
  uint32_t offset() { return offset_of(token().line, token().column); }

  tl::unexpected<Diagnostic> fail(uint32_t offset, std::string message) const {
    return tl::unexpected<Diagnostic>(error_at(source_, offset, std::move(message)));
  }
  tl::unexpected<Diagnostic> fail(std::string message) { return fail(offset(), std::move(message)); }

  Value made(Value::Kind kind) {
    Value value;
    value.kind = kind;
    value.source = source_;
    value.offset = offset();
    return value;
  }

  /// What stands together: names, numbers, dots, signs.
  std::string word() {
    std::string text;
    const auto belongs = [&] {
      return token().type == io::Tokenizer::TYPE_IDENTIFIER || token().type == io::Tokenizer::TYPE_INTEGER ||
             token().type == io::Tokenizer::TYPE_FLOAT || at('.') || at('-') || at('+');
    };
    const int line = token().line;
    for (int end = token().column; belongs() && token().line == line && token().column == end;
         tokens_.Next()) {
      text += token().text;
      end = token().end_column;
    }
    return text;
  }

  Result<Value> message(char end, int depth) {
    if (depth > kMostMessages)
      return fail(fmt::format("messages inside of each other more than {} deep", kMostMessages));
    Value fields = made(Value::Kind::kMap);
    while (end ? !at(end) : !at_end()) {
      const uint32_t key_offset = offset();
      const std::string key = word();
      if (key.empty())
        return fail(end ? fmt::format("expects the name of a field or '{}'", end)
                        : "expects the name of a field");
      Result<std::vector<Value>> given = values(key, depth);
      if (!given) return tl::unexpected(given.error());
      for (Value& value : *given) {
        value.key = key;
        value.key_offset = key_offset;
        fields.items.push_back(std::move(value));
      }
      if (!eat(',')) eat(';');
    }
    return fields;
  }

  /// Of one field: one, or those of a list.
  Result<std::vector<Value>> values(std::string_view key, int depth) {
    std::vector<Value> all;
    const auto add = [&](bool colon) -> Result<void> {
      Result<Value> one = value(key, colon, depth);
      if (!one) return tl::unexpected(one.error());
      all.push_back(std::move(*one));
      return {};
    };
    const bool colon = eat(':');
    if (!eat('[')) {
      if (auto failed = add(colon); !failed) return tl::unexpected(failed.error());
      return all;
    }
    while (!eat(']')) {
      if (auto failed = add(true); !failed) return tl::unexpected(failed.error());
      if (!eat(',') && !at(']')) return fail("expects ',' or ']'");
    }
    return all;
  }

  Result<Value> value(std::string_view key, bool colon, int depth) {
    if (at('{') || at('<')) {
      const char end = at('{') ? '}' : '>';
      const uint32_t begin = offset();
      tokens_.Next();
      Result<Value> inner = message(end, depth + 1);
      if (inner) inner->offset = begin;
      if (inner && !eat(end)) return fail(fmt::format("expects '{}'", end));
      return inner;
    }
    if (!colon) return fail(fmt::format("expects ':' or '{{' behind '{}'", shown(key)));
    Value scalar = made(Value::Kind::kScalar);
    if (token().type != io::Tokenizer::TYPE_STRING) {
      scalar.text = word();
      if (scalar.text.empty()) return fail(fmt::format("expects a value for '{}'", shown(key)));
      return scalar;
    }
    scalar.annotation = kTextProtoString;
    for (; token().type == io::Tokenizer::TYPE_STRING; tokens_.Next())
      io::Tokenizer::ParseStringAppend(token().text, &scalar.text);
    return scalar;
  }

  SourcePtr source_;
  io::ArrayInputStream stream_;
  FirstError errors_;
  io::Tokenizer tokens_;
  int line_ = 0;
  size_t line_start_ = 0;
};

}  // namespace

Result<Value> read_text_proto(const SourcePtr& source) { return TextProtoReader(source).read(); }

}  // namespace hlosim
