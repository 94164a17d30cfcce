// The keys of one JSON object, read by type; what is wrong has its place.
//
//   EntryFields fields(value, "model", problems);
//   fields.whole("layers", model.layers, 1, EntryFields::kNeeded);
//   for (const Value* left : fields.rest()) …        // keys that nobody asked for
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "base/value.h"

namespace hlosim {

class EntryFields {
 public:
  enum Need : uint8_t { kOptional, kNeeded };

  /// `what` names the object in messages: "an entry", "\"model\"".
  EntryFields(const Value& object, std::string what, DiagnosticList& problems)
      : object_(object), what_(std::move(what)), problems_(problems) {}

  // Leave `into` as it is where the key is absent or null. True: it was read.
  bool text(std::string_view key, std::string& into, Need need = kOptional);
  bool flag(std::string_view key, bool& into);
  /// A whole number from `low` on.
  bool whole(std::string_view key, int64_t& into, int64_t low, Need need = kOptional);
  /// A number above 0.
  bool positive(std::string_view key, double& into, Need need = kOptional);
  /// A number from 0 on.
  bool not_negative(std::string_view key, double& into);
  bool texts(std::string_view key, std::vector<std::string>& into);
  /// The object under `key`; null without one.
  const Value* object(std::string_view key, Need need = kOptional);

  /// What stands under `key`, whatever it is; null for nothing and for null. It counts as asked for.
  const Value* find(std::string_view key);
  /// For the reader alone: these keys count as asked for.
  void pass_over(std::initializer_list<std::string_view> keys) { asked_.insert(keys.begin(), keys.end()); }
  void pass_over(std::span<const std::string_view> keys) { asked_.insert(keys.begin(), keys.end()); }
  std::vector<const Value*> rest() const;

  /// An error at the value of `key`, or at the object where there is none.
  void wrong(std::string_view key, std::string message, std::string hint = {});

 private:
  const Value* value(std::string_view key, Need need);
  /// The scalar under `key` if it is of this JSON kind.
  const Value* scalar(std::string_view key, std::string_view kind, std::string_view expected, Need need);
  bool number(std::string_view key, double& into, std::string_view expected, Need need);

  const Value& object_;
  std::string what_;
  DiagnosticList& problems_;
  std::set<std::string_view> asked_;
};

}  // namespace hlosim
