// JSON objects whose members are described once: writing them and printing their schema use the same rows.
//
//   std::span<const JsonMember<Loop>> json_members(const Loop*) {
//     static constexpr JsonMember<Loop> kMembers[] = {
//         {"name", "", [](const Loop& loop) { return loop.name; }},
//         {"time_ps", "of one iteration", [](const Loop& loop) { return loop.time; }}};
//     return kMembers;
//   }
//   JsonOf<Loop>::json(loop);   // {"name":"while.1","time_ps":12}
//   JsonOf<Loop>::schema();     // {"type":"object","properties":{"name":{"type":"string"},"time_ps":{…}},…}
//
// The type of a member is that of its value: text, numbers, quantities (in their unit), enumerations with
// names, std::optional (null), ranges of any of these, and other objects.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "text/json.h"

namespace hlosim {

/// How values of a type are written, and what a schema (JSON Schema, 2020-12) says of them.
template <class T>
struct JsonOf;

/// A member that is absent where there is no value.
template <class T>
struct IfAny {
  std::optional<T> value;
};

/// An integer that may be negative.
struct SignedNumber {
  int64_t value = 0;
};

/// How many values an enumeration has that to_text() names: specialized by those that are written.
template <class T>
inline constexpr size_t kJsonNames = 0;

template <class Row>
struct JsonMember {
  /// `get`: a lambda without captures, from `const Row&` to the value.
  template <class Get>
  constexpr JsonMember(std::string_view called, std::string_view described, Get get);

  std::string_view name, description;
  bool is_required = true;
  std::optional<Json> (*value)(const Row& row);  // none: the member is absent
  Json (*schema)();
};

namespace json_detail {

template <class T>
concept Text = std::convertible_to<const T&, std::string_view>;
template <class T>
concept HasCount = requires(const T& value) {
  { value.count() } -> std::convertible_to<double>;
};
template <class T>
concept Rows = std::ranges::range<const T> && !Text<T>;

template <class T>
struct AbsentOr {
  using Type = T;
  static constexpr bool kIsRequired = true;
  static std::optional<Json> json(const T& value) { return JsonOf<T>::json(value); }
};
template <class T>
struct AbsentOr<IfAny<T>> {
  using Type = T;
  static constexpr bool kIsRequired = false;
  static std::optional<Json> json(const IfAny<T>& member) {
    return member.value ? std::optional(JsonOf<T>::json(*member.value)) : std::nullopt;
  }
};
template <class Row, class Get>
using Value = std::remove_cvref_t<std::invoke_result_t<Get, const Row&>>;

}  // namespace json_detail

template <class Row>
template <class Get>
constexpr JsonMember<Row>::JsonMember(std::string_view called, std::string_view described, Get)
    : name(called),
      description(described),
      is_required(json_detail::AbsentOr<json_detail::Value<Row, Get>>::kIsRequired),
      value([](const Row& row) {
        return json_detail::AbsentOr<json_detail::Value<Row, Get>>::json(Get{}(row));
      }),
      schema([] {
        return JsonOf<typename json_detail::AbsentOr<json_detail::Value<Row, Get>>::Type>::schema();
      }) {}

/// Of an object with these members.
template <class Member>
Json json_object_schema(std::span<const Member> members) {
  Json properties = Json::object(), required = Json::array();
  for (const Member& member : members) {
    Json& property = properties[member.name] = member.schema();
    if (!member.description.empty()) property["description"] = member.description;
    if (member.is_required) required.push_back(member.name);
  }
  return {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
}

/// An object of described members.
template <class T>
struct JsonOf {
  static Json json(const T& row) {
    const std::span<const JsonMember<T>> members = json_members(static_cast<const T*>(nullptr));
    Json object = Json::object(members.size());
    for (const JsonMember<T>& member : members)
      if (std::optional<Json> value = member.value(row)) object.append(member.name, std::move(*value));
    return object;
  }
  static Json schema() { return json_object_schema(json_members(static_cast<const T*>(nullptr))); }
};

template <json_detail::Text T>
struct JsonOf<T> {
  static Json json(std::string_view text) { return text; }
  static Json schema() { return {{"type", "string"}}; }
};

template <>
struct JsonOf<bool> {
  static Json json(bool value) { return value; }
  static Json schema() { return {{"type", "boolean"}}; }
};

template <std::integral T>
struct JsonOf<T> {
  static Json json(T value) { return value; }
  static Json schema() { return {{"type", "integer"}, {"minimum", 0}}; }
};

template <>
struct JsonOf<SignedNumber> {
  static Json json(SignedNumber number) { return number.value; }
  static Json schema() { return {{"type", "integer"}}; }
};

template <std::floating_point T>
struct JsonOf<T> {
  static Json json(T value) { return value; }
  static Json schema() { return {{"type", "number"}, {"minimum", 0}}; }
};

/// In its unit: picoseconds, bytes, operations.
template <json_detail::HasCount T>
struct JsonOf<T> {
  using Count = std::remove_cvref_t<decltype(std::declval<const T&>().count())>;
  static Json json(const T& quantity) { return quantity.count(); }
  static Json schema() { return JsonOf<Count>::schema(); }
};

template <class T>
requires std::is_enum_v<T>
struct JsonOf<T> {
  static_assert(kJsonNames<T> > 0);
  static Json json(T value) { return to_text(value); }
  static Json schema() {
    Json names = Json::array();
    for (size_t i = 0; i < kJsonNames<T>; ++i) names.push_back(to_text(static_cast<T>(i)));
    Json schema = Json::object();
    schema["enum"] = std::move(names);
    return schema;
  }
};

template <class T>
struct JsonOf<std::optional<T>> {
  static Json json(const std::optional<T>& value) { return value ? JsonOf<T>::json(*value) : Json(nullptr); }
  static Json schema() {
    Json schema = JsonOf<T>::schema();
    Json& type = schema["type"];
    type = Json::array({type, "null"});
    return schema;
  }
};

template <json_detail::Rows T>
struct JsonOf<T> {
  using Row = std::remove_cvref_t<std::ranges::range_reference_t<const T>>;
  static Json json(const T& rows) {
    Json array = Json::array();
    for (const Row& row : rows) array.push_back(JsonOf<Row>::json(row));
    return array;
  }
  static Json schema() { return {{"type", "array"}, {"items", JsonOf<Row>::schema()}}; }
};

namespace json_detail {

template <class T>
void print(std::string& out, const T& value) {
  if constexpr (Rows<T>) {
    using Row = typename JsonOf<T>::Row;
    if constexpr (!Text<Row>) {
      const char* before = "[\n    ";
      for (const Row& row : value) (out += std::exchange(before, ",\n    ")) += JsonOf<Row>::json(row).dump();
      out += std::ranges::empty(value) ? "[]" : "\n  ]";
      return;
    }
  }
  out += JsonOf<T>::json(value).dump();
}

}  // namespace json_detail

/// A member of a document that is written member by member: a large one is never in memory as a tree.
template <class T>
struct JsonSection : JsonMember<T> {
  template <class Get>
  constexpr JsonSection(std::string_view called, std::string_view described, Get get)
      : JsonMember<T>(called, described, get), print([](std::string& out, const T& given) {
          using Value = json_detail::AbsentOr<json_detail::Value<T, Get>>;
          const auto value = Get{}(given);
          if constexpr (!Value::kIsRequired) {
            if (value.value) json_detail::print(out, *value.value);
            return value.value.has_value();
          } else {
            json_detail::print(out, value);
            return true;
          }
        }) {}

  bool (*print)(std::string& out, const T& given);  // false: the member is absent, and nothing was written
};

/// The document. Arrays of objects have an element on each line. Ends in '\n'.
template <class T>
std::string json_document(std::span<const JsonSection<T>> sections, const T& given) {
  std::string out = "{";
  for (const JsonSection<T>& section : sections) {
    const size_t before = out.size();
    ((out += before > 1 ? ",\n  \"" : "\n  \"") += section.name) += "\": ";
    if (!section.print(out, given)) out.resize(before);
  }
  return out += "\n}\n";
}

}  // namespace hlosim
