#include "text/read_json.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"

namespace hlosim {
namespace {

constexpr size_t kMostLevels = 100;

/// Tells `position` how far the parser has read.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** position) : at_(at), position_(position) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *position_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** position_;
};

/// Builds the tree from the parser's events. A token begins at the first character after the one before
/// that is neither blank nor a separator.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(const SourcePtr& source, DiagnosticList& problems)
      : source_(source), problems_(problems), begin_(source->text().data()), read_(begin_) {}

  bool parse() {
    const char* end = begin_ + source_->text().size();
    return nlohmann::json::sax_parse(CountingIterator(begin_, &read_), CountingIterator(end, &read_), this);
  }
  Value take() { return std::move(root_); }

  bool null() override { return put(make(Value::Kind::kNull)); }
  bool boolean(bool value) override { return scalar(kJsonBoolean, value ? "true" : "false"); }
  bool number_integer(number_integer_t) override { return number(); }
  bool number_unsigned(number_unsigned_t) override { return number(); }
  bool number_float(number_float_t, const string_t&) override { return number(); }
  bool string(string_t& value) override { return scalar(kJsonString, value); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Value::Kind::kMap); }
  bool start_array(std::size_t) override { return open(Value::Kind::kList); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    const uint32_t offset = token();
    Value& map = open_.back();
    if (map.find(name)) {
      problems_.add(error_at(source_, offset, fmt::format("key \"{}\" is given twice", shown(name))));
      return false;
    }
    key_ = name;
    key_offset_ = offset;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& last,
                   const nlohmann::detail::exception& problem) override {
    const auto offset = static_cast<uint32_t>(position > 0 ? position - 1 : 0);
    constexpr int kNumberOutOfRange = 406;
    if (problem.id == kNumberOutOfRange)
      problems_.add(error_at(source_, offset, fmt::format("the number {} is out of range", shown(last))));
    else if (offset >= source_->text().size())
      problems_.add(error_at(source_, offset, "the JSON text ends too early"));
    else
      problems_.add(error_at(source_, offset, fmt::format("no JSON: unexpected {}", shown(last))));
    return false;
  }

 private:
  /// Where the token that was read last begins.
  uint32_t token() {
    const char* at = previous_end_;
    if (!at) at = begin_;
    while (at < read_ && std::string_view(" \t\r\n,:").find(*at) != std::string_view::npos) ++at;
    previous_end_ = read_;
    start_ = at;
    return static_cast<uint32_t>(at - begin_);
  }

  Value make(Value::Kind kind) {
    Value value;
    value.kind = kind;
    value.source = source_;
    value.offset = token();
    return value;
  }

  bool scalar(std::string_view what, std::string_view text) {
    Value value = make(Value::Kind::kScalar);
    value.annotation = what;
    value.text = text;
    return put(std::move(value));
  }

  // The parser has seen the character after it.
  bool number() {
    Value value = make(Value::Kind::kScalar);
    value.annotation = kJsonNumber;
    const char* end = start_;
    while (end < read_ && std::string_view("+-.0123456789eE").find(*end) != std::string_view::npos) ++end;
    value.text.assign(start_, end);
    return put(std::move(value));
  }

  bool put(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return true;
    }
    if (open_.back().is_map()) {
      value.key = std::move(key_);
      value.key_offset = key_offset_;
    }
    open_.back().items.push_back(std::move(value));
    return true;
  }

  bool open(Value::Kind kind) {
    Value value = make(kind);
    if (open_.size() >= kMostLevels) {
      problems_.add(error_at(value, fmt::format("more than {} levels", kMostLevels)));
      return false;
    }
    if (!open_.empty() && open_.back().is_map()) {
      value.key = std::move(key_);
      value.key_offset = key_offset_;
    }
    open_.push_back(std::move(value));
    return true;
  }

  bool close() {
    previous_end_ = read_;
    Value value = std::move(open_.back());
    open_.pop_back();
    if (open_.empty())
      root_ = std::move(value);
    else
      open_.back().items.push_back(std::move(value));
    return true;
  }

  SourcePtr source_;
  DiagnosticList& problems_;
  const char* begin_;
  const char* read_;
  const char* previous_end_ = nullptr;
  const char* start_ = nullptr;
  Value root_;
  std::vector<Value> open_;
  std::string key_;
  uint32_t key_offset_ = 0;
};

}  // namespace

std::optional<Value> parse_json(const SourcePtr& source, DiagnosticList& problems) {
  TreeBuilder builder(source, problems);
  if (!builder.parse()) return std::nullopt;
  return builder.take();
}

std::string_view json_kind(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kList:
      return "an array";
    case Value::Kind::kMap:
      return "an object";
    case Value::Kind::kScalar:
      break;
  }
  if (value.annotation == kJsonString) return "text";
  return value.annotation == kJsonNumber ? "a number" : "true or false";
}

}  // namespace hlosim
