// A JSON value to build and to write. The library that knows JSON's numbers and escapes stays behind this
// interface: making its templates takes a compiler longer than most of our files.
//
//   Json row = {{"name", "add.1"}, {"time_ps", 12}, {"users", Json::array()}};
//   row["users"].push_back("fusion.2");
//   row.dump();    // {"name":"add.1","time_ps":12,"users":["fusion.2"]}
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace hlosim {

/// Null, true or false, a number, text, an array, or an object whose members keep their order.
class Json {
 public:
  class Element;
  using Member = std::pair<std::string, Json>;

  Json(std::nullptr_t = nullptr);
  Json(bool value);
  Json(double value);
  Json(const char* text);
  Json(std::string text);
  Json(std::string_view text);
  template <std::integral T>
  Json(T value) : Json(whole(value)) {}
  template <class T>
  Json(const std::vector<T>& values) : Json(array()) {
    for (const T& value : values) push_back(value);
  }
  /// An object when every element is a pair that begins with text, else an array.
  Json(std::initializer_list<Element> elements);

  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json();

  static Json array();
  static Json array(std::initializer_list<Element> elements);
  /// With room for so many members.
  static Json object(size_t room = 0);
  /// Null for empty text.
  static Json text_or_null(std::string_view text);
  /// Nothing when the text is no JSON.
  static std::optional<Json> parse(std::string_view text);

  bool is_null() const;
  bool is_text() const;
  bool is_whole_number() const;
  bool is_array() const;
  bool is_object() const;
  /// No element or member.
  bool empty() const;

  /// What it is, where it is that.
  const std::string& text() const;
  int64_t whole_number() const;
  std::span<Json> elements();
  std::span<const Json> elements() const;
  std::span<const Member> members() const;
  /// The member of an object; null: there is none, or this is no object.
  const Json* find(std::string_view key) const;

  /// The member of an object, made where it wasn't there. A null becomes an object.
  Json& operator[](std::string_view key);
  /// Adds a member to an object. Requires: it has none of this name.
  void append(std::string_view key, Json value);
  /// Adds an element to an array. A null becomes an array.
  void push_back(Json element);
  /// Sets all members of another object.
  void update(const Json& other);

  /// One line, or with `indent` blanks per level a line for each element. Bytes that are no UTF-8 are
  /// replaced.
  std::string dump(int indent = -1) const;

 private:
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;
  using Value = std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, std::string, Array, Object>;

  explicit Json(Value value);
  template <std::integral T>
  static Value whole(T value) {
    if constexpr (std::is_signed_v<T>)
      return int64_t{value};
    else
      return uint64_t{value};
  }
  void write(std::string& out, int indent, size_t depth) const;

  Value value_;
};

/// What a braced list is made of.
class Json::Element {
 public:
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, Element> && std::constructible_from<Json, T>)
      Element(T&& value)
      : value_(std::forward<T>(value)) {}
  Element(std::initializer_list<Element> elements) : value_(elements) {}

 private:
  friend class Json;
  mutable Json value_;  // moved from once
};

/// Text as JSON has it, with its quotes. What is not UTF-8 becomes U+FFFD.
std::string json_text(std::string_view text);

}  // namespace hlosim
