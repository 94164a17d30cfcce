// The terms of a time as the model calculated them: each with its value and its inputs, and each input with
// the device key, the fact of the module or the term that it comes from. Who explains a time prints them, and
// calculates nothing.
//
//   RecordedTerms terms;
//   const Result<InstructionCost> cost = cost_with_terms(module, table, device, {}, id, terms);
//   for (const Term& term : terms.all()) print(term.name, term.value);       // the last one is the whole
//
// The model is written once, for any recorder: with NoTerms, that of every simulation, its calls compile to
// nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "model/device.h"
#include "model/kernel_time.h"
#include "model/unit.h"

namespace hlosim {

inline constexpr std::string_view kTermsAbove = "of the terms above";

enum class InputKind : uint8_t { kFact, kKey, kTerm };

/// A number that a term was calculated from.
struct TermInput {
  std::string name;    // "cadence"
  std::string value;   // "16 cycles"
  std::string key;     // of the device, "mxu.types.bf16.cadence"; else empty
  std::string source;  // "published: …", "the module", "of the terms above"
  InputKind kind = InputKind::kFact;
  std::optional<double> adds;  // picoseconds: the inputs that have it add up to the term
  bool is_linear = false;      // of a key that adds: no other input of the term depends on it
};

struct Term {
  std::string name;      // "MXU", "blocks", "not hidden", "time"
  std::string equation;  // in the names of the inputs
  std::vector<TermInput> inputs;
  Picoseconds value{};
  std::string amount{};     // the value where it is no time: "1.00 GiB"
  Unit unit = Unit::kNone;  // whose busy time the term is

  void fact(std::string input, std::string value, std::string_view source = "the module");
  /// A number: "1,234", "0.5".
  void fact(std::string input, double number, std::string_view source = "the module");
  void fact(std::string input, Bytes bytes, std::string_view source = "the module");
  /// What an earlier term gives, `adds` or not.
  void part(std::string input, Picoseconds time, std::string_view source = kTermsAbove);
  void adds(std::string input, double picoseconds, std::string_view source = kTermsAbove);
  void adds(std::string input, Picoseconds time, std::string_view source = kTermsAbove) {
    adds(std::move(input), static_cast<double>(time.count()), source);
  }
  /// A value of the device file; nothing if it has no such key.
  void key(const Device& device, std::string input, std::string_view path);
  /// The same, a time that adds to the term.
  void adds_key(const Device& device, std::string input, std::string_view path, Picoseconds time,
                bool is_linear = true);
};

/// By how many percent the time of the last term changes per percent of a key.
struct KeySensitivity {
  std::string key;
  double share = 0;
};
/// For the keys for which the terms give it exactly: the time is a sum in which the key is one of the parts,
/// and no other part depends on it. In the order of the terms.
std::vector<KeySensitivity> sensitivities(const std::vector<Term>& terms);

class RecordedTerms {
 public:
  /// A term, filled by fill(term).
  template <class Fill>
  void add(std::string_view name, std::string_view equation, Picoseconds value, Fill&& fill) {
    fill(terms_.emplace_back(Term{std::string(name), std::string(equation), {}, value}));
  }
  /// What a custom call is costed by.
  void costed_by(std::string words) { costed_by_ = std::move(words); }
  const std::string& costed_by() const { return costed_by_; }
  const std::vector<Term>& all() const& { return terms_; }
  std::vector<Term> all() && { return std::move(terms_); }
  std::vector<Term>& all() & { return terms_; }

 private:
  std::vector<Term> terms_;
  std::string costed_by_;
};

}  // namespace hlosim
