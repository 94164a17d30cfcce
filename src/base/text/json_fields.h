// Members of JSON objects, with what is wrong about them said at their place.
//
//   JsonFields fields(problems);
//   const Value* rows = fields.list(document, "rows");
//   if (!fields.ok()) …                            // problems say what is wrong, each at its place
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "text/read_json.h"

namespace hlosim {

/// Reads members; `ok()` is false once something was missing or of another kind.
class JsonFields {
 public:
  explicit JsonFields(DiagnosticList& problems) : problems_(problems) {}

  bool ok() const { return ok_; }
  void wrong(const Value& value, std::string message) {
    ok_ = false;
    if (!problems_.full()) problems_.add(error_at(value, std::move(message)));
  }

  const Value* member(const Value& object, std::string_view key) {
    if (!object.is_map()) {
      wrong(object, fmt::format("expected an object with \"{}\", found {}", key, json_kind(object)));
      return nullptr;
    }
    const Value* value = object.find(key);
    if (!value) wrong(object, fmt::format("an object without \"{}\"", key));
    return value;
  }
  const Value* list(const Value& object, std::string_view key) {
    const Value* value = member(object, key);
    if (!value || value->is_list()) return value;
    wrong(*value, fmt::format("\"{}\" is {}, expected an array", key, json_kind(*value)));
    return nullptr;
  }
  const Value* object(const Value& outer, std::string_view key) {
    const Value* value = member(outer, key);
    if (!value || value->is_map()) return value;
    wrong(*value, fmt::format("\"{}\" is {}, expected an object", key, json_kind(*value)));
    return nullptr;
  }
  std::string text(const Value& object, std::string_view key) {
    const Value* value = member(object, key);
    return value ? text_of(*value) : std::string();
  }
  /// Empty when it is null or not there.
  std::string text_or_empty(const Value& object, std::string_view key) {
    const Value* value = object.find(key);
    return value && !value->is_null() ? text_of(*value) : std::string();
  }
  /// Amounts: from 0 on.
  int64_t whole(const Value& object, std::string_view key) {
    const Value* value = member(object, key);
    return value ? whole_of(*value) : 0;
  }
  /// 0 when it is null or not there.
  int64_t whole_or_zero(const Value& object, std::string_view key) {
    const Value* value = object.find(key);
    return value && !value->is_null() ? whole_of(*value) : 0;
  }

  std::string text_of(const Value& value) {
    if (value.is_scalar() && value.annotation == kJsonString) return value.text;
    wrong(value, fmt::format("{} is {}, expected text", named(value), json_kind(value)));
    return {};
  }
  int64_t whole_of(const Value& value) {
    int64_t number = 0;
    const char* end = value.text.data() + value.text.size();
    if (value.is_scalar() && value.annotation == kJsonNumber) {
      const auto [at, error] = std::from_chars(value.text.data(), end, number);
      if (error == std::errc() && at == end && number >= 0) return number;
      wrong(value, fmt::format("{} is {}, expected a whole number{}", named(value), shown(value.text),
                               value.text.starts_with('-') ? " from 0 on" : ""));
      return 0;
    }
    wrong(value, fmt::format("{} is {}, expected a whole number", named(value), json_kind(value)));
    return 0;
  }
  /// 16 hex digits; 0 of anything else, without complaint.
  static uint64_t hash_of(std::string_view text) {
    uint64_t hash = 0;
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
    return error == std::errc() && at == text.data() + text.size() ? hash : 0;
  }

 private:
  static std::string named(const Value& value) {
    return value.key.empty() ? "this" : fmt::format("\"{}\"", shown(value.key));
  }
  DiagnosticList& problems_;
  bool ok_ = true;
};

}  // namespace hlosim
