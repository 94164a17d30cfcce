#include "report/kernel_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/text.h"

namespace hlosim {

SettingReader::SettingReader(std::span<const KernelSetting> settings, std::span<const std::string_view> known,
                             std::string_view what)
    : settings_(settings) {
  for (size_t i = 0; i < settings.size(); ++i) {
    const std::string& name = settings[i].name;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string hint = did_you_mean(name, known);
      if (hint.empty()) hint = fmt::format("one of {}", fmt::join(known, ", "));
      fail(fmt::format("unknown {} \"{}\"", what, shown(name)), std::move(hint));
    }
    for (size_t j = 0; j < i; ++j)
      if (settings[j].name == name) fail(fmt::format("{} is given twice", name));
  }
}

const std::string* SettingReader::find(std::string_view name) const {
  for (const KernelSetting& one : settings_)
    if (one.name == name) return &one.value;
  return nullptr;
}

int64_t SettingReader::whole(std::string_view name, std::optional<int64_t> otherwise) {
  const std::string* text = find(name);
  if (!text) {
    if (!otherwise) fail(fmt::format("{} is missing: a whole number from 1 on", name));
    return otherwise.value_or(1);
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc() && end == text->data() + text->size() && value > 0) return value;
  fail(fmt::format("{} is '{}', expected a whole number from 1 on", name, shown(*text)));
  return otherwise.value_or(1);
}

bool SettingReader::number(std::string_view name) {
  const std::string* text = find(name);
  if (!text) return false;
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || !(value > 0))
    fail(fmt::format("{} is '{}', expected a number above 0", name, shown(*text)));
  return true;
}

bool SettingReader::flag(std::string_view name, bool otherwise) {
  const std::string* text = find(name);
  if (!text) return otherwise;
  if (*text != "true" && *text != "false")
    fail(fmt::format("{} is '{}', expected true or false", name, shown(*text)));
  return *text == "true";
}

MatmulPrecision SettingReader::precision() {
  constexpr std::string_view kPrecisions[] = {"DEFAULT", "HIGH", "HIGHEST"};
  const std::string* text = find("precision");
  if (!text) return MatmulPrecision{};
  for (size_t i = 0; i < std::size(kPrecisions); ++i)
    if (*text == kPrecisions[i]) return static_cast<MatmulPrecision>(i);
  fail(fmt::format("precision is '{}', expected DEFAULT, HIGH or HIGHEST", shown(*text)));
  return MatmulPrecision{};
}

ElementType SettingReader::type(std::string_view name, ElementType otherwise) {
  const std::string* text = find(name);
  if (!text) return otherwise;
  const ElementType type = parse_element_type(*text);
  if (type != ElementType::kInvalid && bit_width(type) > 0) return type;
  fail(fmt::format("{} is '{}', expected an element type such as bf16, s8 or f8e4m3fn", name, shown(*text)));
  return otherwise;
}

size_t SettingReader::word(std::string_view name, std::span<const std::string_view> words) {
  const std::string* text = find(name);
  if (!text) return 0;
  const auto at = std::find(words.begin(), words.end(), *text);
  if (at != words.end()) return static_cast<size_t>(at - words.begin());
  fail(fmt::format("{} is '{}', expected {}", name, shown(*text), fmt::join(words, ", ")),
       did_you_mean(*text, words));
  return 0;
}

ShapeRef SettingReader::array(std::string_view name, int64_t rank, std::string_view example, bool is_needed) {
  const std::string* text = find(name);
  if (!text) {
    if (is_needed) fail(fmt::format("{} is missing: an array such as {}", name, example));
    return nullptr;
  }
  ShapeReader reader(pool_, *text);
  size_t position = 0;
  const ShapeRef shape = reader.read(position);
  if (!shape) {
    fail(fmt::format("{} is '{}': {}", name, shown(*text), reader.error()), reader.hint());
  } else if (position != text->size() || !shape->is_array() || shape->rank() != rank) {
    fail(fmt::format("{} is '{}', expected an array of {} dimensions such as {}", name, shown(*text), rank,
                     example));
  } else if (shape->element_count() <= 0) {
    fail(fmt::format("{} is '{}', which has no elements", name, shown(*text)));
  } else {
    return shape;
  }
  return nullptr;
}

void SettingReader::fail(std::string message, std::string hint) {
  if (!error_) error_ = failure(std::move(message), std::move(hint)).value();
}

}  // namespace hlosim
