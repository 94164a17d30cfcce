#include "text/entry_fields.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "text/read_json.h"

namespace hlosim {

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

void EntryFields::wrong(std::string_view key, std::string message, std::string hint) {
  const Value* found = object_.find(key);
  problems_.add(error_at(found ? *found : object_, std::move(message), std::move(hint)));
}

const Value* EntryFields::value(std::string_view key, Need need) {
  const Value* found = find(key);
  if (!found && need == kNeeded)
    problems_.add(error_at(object_, fmt::format("{} without \"{}\"", what_, key)));
  return found;
}

const Value* EntryFields::scalar(std::string_view key, std::string_view kind, std::string_view expected,
                                 Need need) {
  const Value* found = value(key, need);
  if (!found) return nullptr;
  if (found->is_scalar() && found->annotation == kind) return found;
  wrong(key, fmt::format("\"{}\" is {}, not {}", key, expected, json_kind(*found)));
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
  double read = 0;
  const char* end = found->text.data() + found->text.size();
  const auto [at, error] = std::from_chars(found->text.data(), end, read);
  if (error != std::errc() || at != end || !std::isfinite(read)) {
    wrong(key, fmt::format("\"{}\": {} is out of range", key, shown(found->text)));
    return false;
  }
  into = read;
  return true;
}

bool EntryFields::whole(std::string_view key, int64_t& into, int64_t low, Need need) {
  double read = 0;
  if (!number(key, read, "a whole number", need)) return false;
  constexpr double kMost = 1e15;
  if (read != std::floor(read) || read < static_cast<double>(low) || read > kMost) {
    wrong(key, fmt::format("\"{}\" is a whole number from {} on, not {}", key, low,
                           shown(object_.find(key)->text)));
    return false;
  }
  into = static_cast<int64_t>(read);
  return true;
}

bool EntryFields::positive(std::string_view key, double& into, Need need) {
  double read = 0;
  if (!number(key, read, "a number", need)) return false;
  if (!(read > 0)) {
    wrong(key, fmt::format("\"{}\" is not above 0", key));
    return false;
  }
  into = read;
  return true;
}

bool EntryFields::not_negative(std::string_view key, double& into) {
  double read = 0;
  if (!number(key, read, "a number", kOptional)) return false;
  if (read < 0) {
    wrong(key, fmt::format("\"{}\" is negative", key));
    return false;
  }
  into = read;
  return true;
}

bool EntryFields::texts(std::string_view key, std::vector<std::string>& into) {
  const Value* found = find(key);
  if (!found) return false;
  if (!found->is_list()) {
    wrong(key, fmt::format("\"{}\" is an array of texts, not {}", key, json_kind(*found)));
    return false;
  }
  for (const Value& item : found->items) {
    if (!item.is_scalar() || item.annotation != kJsonString) {
      problems_.add(error_at(item, fmt::format("\"{}\" holds texts, not {}", key, json_kind(item))));
      return false;
    }
    into.push_back(item.text);
  }
  return true;
}

const Value* EntryFields::object(std::string_view key, Need need) {
  const Value* found = value(key, need);
  if (!found || found->is_map()) return found;
  wrong(key, fmt::format("\"{}\" is an object, not {}", key, json_kind(*found)));
  return nullptr;
}

}  // namespace hlosim
