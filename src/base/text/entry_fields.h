// The keys of one JSON object, or of one section of YAML, read by type; what is wrong has its place.
//
//   EntryFields fields(value, "a model", problems);
//   fields.whole("layers", model.layers, 1, EntryFields::kNeeded);
//   fields.refuse_rest();                            // an error for each other key
#pragma once

#include <cstdint>
#include <limits>
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

  /// `what` names the object in messages: "an entry", "\"model\"". A value that has no keys has none of them.
  EntryFields(const Value& object, std::string what, DiagnosticList& problems)
      : object_(object), what_(std::move(what)), problems_(problems) {}

  // Leave `into` as it is where the key is absent or null. True: it was read.
  bool text(std::string_view key, std::string& into, Need need = kOptional);
  bool flag(std::string_view key, bool& into);
  /// A whole number from `low` to `most`.
  bool whole(std::string_view key, int64_t& into, int64_t low, Need need = kOptional,
             int64_t most = kMostWhole);
  /// A number above 0.
  bool positive(std::string_view key, double& into, Need need = kOptional);
  /// A number from 0 to `most`.
  bool not_negative(std::string_view key, double& into, double most = std::numeric_limits<double>::max());
  bool texts(std::string_view key, std::vector<std::string>& into);
  /// The object under `key`; null without one.
  const Value* object(std::string_view key, Need need = kOptional);

  /// What stands under `key`, whatever it is; null for nothing and for null. It counts as asked for.
  const Value* find(std::string_view key);
  /// For the reader alone: these keys count as asked for.
  void pass_over(std::initializer_list<std::string_view> keys) { asked_.insert(keys.begin(), keys.end()); }
  void pass_over(std::span<const std::string_view> keys) { asked_.insert(keys.begin(), keys.end()); }
  std::vector<const Value*> rest() const;
  /// An error for each key that nobody asked for, or if the value has no keys at all.
  void refuse_rest();

  /// An error at the value of `key`, or at the object where there is none.
  void wrong(std::string_view key, std::string message, std::string hint = {});

 private:
  static constexpr int64_t kMostWhole = 1'000'000'000'000'000;  // a double holds every one up to it

  const Value* value(std::string_view key, Need need);
  /// The scalar under `key` if it is of this JSON kind; YAML's are of every kind that their text reads as.
  const Value* scalar(std::string_view key, std::string_view kind, std::string_view expected, Need need);
  /// Infinite where no double is that large.
  bool number(std::string_view key, double& into, std::string_view expected, Need need);

  const Value& object_;
  std::string what_;
  DiagnosticList& problems_;
  std::set<std::string_view> asked_;
};

}  // namespace hlosim
