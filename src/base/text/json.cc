#include "text/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"

namespace hlosim {
namespace {

using Library = nlohmann::ordered_json;

std::string dumped(const Library& json) {
  return json.dump(-1, ' ', false, Library::error_handler_t::replace);
}

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

Json value_of(const Library& json) {
  switch (json.type()) {
    case Library::value_t::boolean:
      return json.get<bool>();
    case Library::value_t::number_integer:
      return json.get<int64_t>();
    case Library::value_t::number_unsigned:
      return json.get<uint64_t>();
    case Library::value_t::number_float:
      return json.get<double>();
    case Library::value_t::string:
      return json.get_ref<const std::string&>();
    case Library::value_t::array: {
      Json array = Json::array();
      for (const Library& element : json) array.push_back(value_of(element));
      return array;
    }
    case Library::value_t::object: {
      Json object = Json::object();
      for (const auto& [key, value] : json.items()) object[key] = value_of(value);
      return object;
    }
    case Library::value_t::null:
    case Library::value_t::binary:
    case Library::value_t::discarded:
      break;
  }
  return nullptr;
}

void new_line(std::string& out, int indent, size_t depth) {
  if (indent < 0) return;
  out += '\n';
  out.append(static_cast<size_t>(indent) * depth, ' ');
}

}  // namespace

Json::Json(std::nullptr_t) {}
Json::Json(bool value) : value_(value) {}
Json::Json(double value) : value_(value) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(Value value) : value_(std::move(value)) {}

Json::Json(std::initializer_list<Element> elements) {
  const bool is_object = std::all_of(elements.begin(), elements.end(), [](const Element& element) {
    const Array* pair = std::get_if<Array>(&element.value_.value_);
    return pair && pair->size() == 2 && pair->front().is_text();
  });
  if (!is_object) {
    *this = array(elements);
    return;
  }
  *this = object();
  for (const Element& element : elements) {
    Array& pair = std::get<Array>(element.value_.value_);
    (*this)[pair[0].text()] = std::move(pair[1]);
  }
}

Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(Json other) noexcept {
  value_ = std::move(other.value_);
  return *this;
}
Json::~Json() = default;

Json Json::array() { return Json(Value(Array())); }

Json Json::array(std::initializer_list<Element> elements) {
  Array array;
  array.reserve(elements.size());
  for (const Element& element : elements) array.push_back(std::move(element.value_));
  return Json(Value(std::move(array)));
}

Json Json::object(size_t room) {
  Object members;
  members.reserve(room);
  return Json(Value(std::move(members)));
}

Json Json::text_or_null(std::string_view text) { return text.empty() ? Json() : Json(text); }

std::optional<Json> Json::parse(std::string_view text) {
  const Library json = Library::parse(text, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  return value_of(json);
}

bool Json::is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
bool Json::is_text() const { return std::holds_alternative<std::string>(value_); }
bool Json::is_whole_number() const {
  return std::holds_alternative<int64_t>(value_) || std::holds_alternative<uint64_t>(value_);
}
bool Json::is_array() const { return std::holds_alternative<Array>(value_); }
bool Json::is_object() const { return std::holds_alternative<Object>(value_); }
bool Json::empty() const { return elements().empty() && members().empty(); }

const std::string& Json::text() const {
  HLOSIM_CHECK(is_text());
  return std::get<std::string>(value_);
}

int64_t Json::whole_number() const {
  HLOSIM_CHECK(is_whole_number());
  if (const int64_t* value = std::get_if<int64_t>(&value_)) return *value;
  return static_cast<int64_t>(std::get<uint64_t>(value_));
}

std::span<Json> Json::elements() {
  Array* array = std::get_if<Array>(&value_);
  return array ? std::span<Json>(*array) : std::span<Json>();
}

std::span<const Json> Json::elements() const {
  const Array* array = std::get_if<Array>(&value_);
  return array ? std::span<const Json>(*array) : std::span<const Json>();
}

std::span<const Json::Member> Json::members() const {
  const Object* object = std::get_if<Object>(&value_);
  return object ? std::span<const Member>(*object) : std::span<const Member>();
}

const Json* Json::find(std::string_view key) const {
  for (const auto& [name, value] : members())
    if (name == key) return &value;
  return nullptr;
}

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Object();
  HLOSIM_CHECK(is_object());
  Object& object = std::get<Object>(value_);
  const auto found =
      std::find_if(object.begin(), object.end(), [&](const Member& m) { return m.first == key; });
  return found != object.end() ? found->second : object.emplace_back(key, nullptr).second;
}

void Json::append(std::string_view key, Json value) {
  HLOSIM_CHECK(is_object());
  std::get<Object>(value_).emplace_back(key, std::move(value));
}

void Json::push_back(Json element) {
  if (is_null()) value_ = Array();
  HLOSIM_CHECK(is_array());
  std::get<Array>(value_).push_back(std::move(element));
}

void Json::update(const Json& other) {
  for (const auto& [key, value] : other.members()) (*this)[key] = value;
}

std::string Json::dump(int indent) const {
  std::string out;
  write(out, indent, 0);
  return out;
}

void Json::write(std::string& out, int indent, size_t depth) const {
  const auto list = [&](char open, char close, const auto& items, auto item) {
    out += open;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += ',';
      new_line(out, indent, depth + 1);
      item(items[i]);
    }
    if (!items.empty()) new_line(out, indent, depth);
    out += close;
  };
  if (is_null()) {
    out += "null";
  } else if (const bool* value = std::get_if<bool>(&value_)) {
    out += *value ? "true" : "false";
  } else if (const int64_t* number = std::get_if<int64_t>(&value_)) {
    fmt::format_to(std::back_inserter(out), "{}", *number);
  } else if (const uint64_t* count = std::get_if<uint64_t>(&value_)) {
    fmt::format_to(std::back_inserter(out), "{}", *count);
  } else if (const double* real = std::get_if<double>(&value_)) {
    out += dumped(*real);
  } else if (is_text()) {
    out += json_text(text());
  } else if (is_array()) {
    list('[', ']', elements(), [&](const Json& element) { element.write(out, indent, depth + 1); });
  } else {
    list('{', '}', members(), [&](const Member& member) {
      (out += json_text(member.first)) += indent < 0 ? ":" : ": ";
      member.second.write(out, indent, depth + 1);
    });
  }
}

std::string json_text(std::string_view text) {
  if (is_plain(text)) return fmt::format("\"{}\"", text);
  return dumped(std::string(text));
}

}  // namespace hlosim
