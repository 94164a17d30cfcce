#include "text/entry_fields.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "text/read_json.h"

namespace hlosim {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// What a value is, in the words of its language: scalars of YAML have no annotation.
std::string found_as(const Value& value) {
  const bool is_json = !value.is_scalar() || !value.annotation.empty();
  return is_json ? std::string(json_kind(value)) : described(value);
}

/// Of YAML: any text is text.
bool reads_as(std::string_view text, std::string_view kind) {
  if (kind == kJsonBoolean) return text == "true" || text == "false";
  if (kind != kJsonNumber) return true;
  double ignored = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ignored);
  return error != std::errc::invalid_argument && end == text.data() + text.size();
}

}  // namespace

const Value* EntryFields::find(std::string_view key) {
  asked_.insert(key);
  const Value* found = object_.find(key);
  return found && !found->is_null() ? found : nullptr;
}

std::vector<const Value*> EntryFields::rest() const {
  std::vector<const Value*> out;
  for (const Value& item : object_.items)
    if (!item.is_null() && !asked_.contains(item.key)) out.push_back(&item);
  return out;
}

void EntryFields::refuse_rest() {
  if (!object_.is_map())
    return problems_.add(
        error_at(object_, fmt::format("expected the keys of {}, found {}", what_, found_as(object_))));
  const std::vector<std::string_view> known(asked_.begin(), asked_.end());
  for (const Value& item : object_.items)
    if (!asked_.contains(item.key))
      problems_.add(error_at_key(item, fmt::format("unknown key \"{}\" of {}", shown(item.key), what_),
                                 did_you_mean(item.key, known)));
}

void EntryFields::wrong(std::string_view key, std::string message, std::string hint) {
  const Value* found = object_.find(key);
  problems_.add(error_at(found ? *found : object_, std::move(message), std::move(hint)));
}

const Value* EntryFields::value(std::string_view key, Need need) {
  const Value* found = find(key);
  if (!found && need == kNeeded && object_.is_map())
    problems_.add(error_at(object_, fmt::format("{} without \"{}\"", what_, key)));
  return found;
}

const Value* EntryFields::scalar(std::string_view key, std::string_view kind, std::string_view expected,
                                 Need need) {
  const Value* found = value(key, need);
  if (!found) return nullptr;
  if (found->is_scalar() &&
      (found->annotation.empty() ? reads_as(found->text, kind) : found->annotation == kind))
    return found;
  wrong(key, fmt::format("\"{}\" is {}, not {}", key, expected, found_as(*found)));
  return nullptr;
}

bool EntryFields::text(std::string_view key, std::string& into, Need need) {
  const Value* found = scalar(key, kJsonString, "text", need);
  if (!found) return false;
  into = found->text;
  if (into.empty()) wrong(key, fmt::format("\"{}\" is empty", key));
  return true;
}

bool EntryFields::flag(std::string_view key, bool& into) {
  const Value* found = scalar(key, kJsonBoolean, "true or false", kOptional);
  if (found) into = found->text == "true";
  return found != nullptr;
}

bool EntryFields::number(std::string_view key, double& into, std::string_view expected, Need need) {
  const Value* found = scalar(key, kJsonNumber, expected, need);
  if (!found) return false;
  const std::string& text = found->text;
  const std::errc error = std::from_chars(text.data(), text.data() + text.size(), into).ec;
  if (error != std::errc()) into = text.starts_with('-') ? -kInfinite : kInfinite;
  return true;
}

bool EntryFields::whole(std::string_view key, int64_t& into, int64_t low, Need need, int64_t most) {
  double read = 0;
  if (!number(key, read, "a whole number", need)) return false;
  const bool is_large = read > static_cast<double>(most);
  if (read != std::floor(read) || read < static_cast<double>(low) || is_large) {
    wrong(key, fmt::format("\"{}\" is a whole number from {} {}, not {}", key, low,
                           is_large ? fmt::format("to {}", most) : "on", shown(object_.find(key)->text)));
    return false;
  }
  into = static_cast<int64_t>(read);
  return true;
}

bool EntryFields::positive(std::string_view key, double& into, Need need) {
  double read = 0;
  if (!number(key, read, "a number", need)) return false;
  if (!(read > 0) || read == kInfinite) {
    wrong(key, read == kInfinite
                   ? fmt::format("\"{}\": {} is out of range", key, shown(object_.find(key)->text))
                   : fmt::format("\"{}\" is not above 0", key));
    return false;
  }
  into = read;
  return true;
}

bool EntryFields::not_negative(std::string_view key, double& into, double most) {
  double read = 0;
  if (!number(key, read, "a number", kOptional)) return false;
  if (!(read >= 0 && read <= most)) {
    wrong(key, read < 0 ? fmt::format("\"{}\" is negative", key)
                        : fmt::format("\"{}\" is a number from 0 to {:g}, not {}", key, most,
                                      shown(object_.find(key)->text)));
    return false;
  }
  into = read;
  return true;
}

bool EntryFields::texts(std::string_view key, std::vector<std::string>& into) {
  const Value* found = find(key);
  if (!found) return false;
  if (!found->is_list()) {
    wrong(key, fmt::format("\"{}\" is an array of texts, not {}", key, found_as(*found)));
    return false;
  }
  for (const Value& item : found->items) {
    if (!item.is_scalar() || (item.annotation != kJsonString && !item.annotation.empty())) {
      problems_.add(error_at(item, fmt::format("\"{}\" holds texts, not {}", key, found_as(item))));
      return false;
    }
    into.push_back(item.text);
  }
  return true;
}

const Value* EntryFields::object(std::string_view key, Need need) {
  const Value* found = value(key, need);
  if (!found || found->is_map()) return found;
  wrong(key, fmt::format("\"{}\" is an object, not {}", key, found_as(*found)));
  return nullptr;
}

}  // namespace hlosim
