// Kinds of advice: rows of a table. A kind finds changes in a program that may save time or memory; the
// engine (advise.cc) simulates, executes and ranks them.
//
//   constexpr AdviceKind kKind = {"donate-arguments", "Results that may overwrite arguments", find};
//
// A new kind is one file in kinds/, its declaration in kinds/kinds.h and its line in advice_kinds.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "advise/trial_setup.h"
#include "report/source_place.h"

namespace hlosim {

/// Where changes go in. Several changes together are applied in this order.
enum class EditStage : uint8_t {
  kModel,     // options of a model file's step, which is then written anew
  kModule,    // the module as the framework or the compiler wrote it
  kSetting,   // compiler flags, keys of the device, how the module is spread over devices
  kCompiled,  // layouts, order and placement of a compiled module
};

/// Applies a change. Errors: it can't be made here, for instance because another change removed its place.
using Edit = std::function<Result<void>(TrialSetup&)>;

/// How equality of the results before and after is shown.
enum class ProofKind : uint8_t {
  kSameProgram,  // what is computed doesn't change: a flag, an order, a layout of arguments
  kSameResults,  // both are executed and give the same numbers
  kRounding,     // both are executed; results may differ by the rounding of a narrower type
  kNone,         // not possible: Proposal::no_proof
};

/// Where in the user's program a change belongs.
struct AdvicePlace {
  std::string instruction;  // empty: the program as a whole
  std::string op_name, source_file;
  int64_t source_line = 0;  // 0: unknown
  int64_t line = 0;         // of the module's text; 0: unknown
};

/// A change that a kind of advice found and nobody has tried yet.
struct Proposal {
  EditStage stage = EditStage::kModule;
  Edit edit;
  std::string name;     // short, unique in its kind: "transpose.3", "remat=minimal"
  std::string problem;  // "transpose.3 rearranges the weight w in every step"
  std::string change;   // in the words of JAX, Pallas, XLA flags
  std::string reason;   // why the device takes less time
  AdvicePlace place{};
  ProofKind proof = ProofKind::kSameResults;
  std::string no_proof{};   // kNone: the reason
  double work = 1;          // the changed program does so many times the work: time counts per work
  double least_share = 0;   // of the step: smaller savings are not told apart; 0: the engine's own limit
  bool for_memory = false;  // saves memory; time is not what it is for
};

/// What finders are given. All outlive what they return.
struct AdviceSubject {
  const TrialSetup& setup;
  const Estimate& estimate;  // of it
  const OpTable& table;
  bool is_compiled = false;  // a TPU compiler wrote the module: it has tiles or an order
};

struct AdviceKind {
  std::string_view name;     // "scoped-vmem"
  std::string_view summary;  // one line: what is tried
  /// The most promising first. May be empty.
  std::vector<Proposal> (*find)(const AdviceSubject& subject) = nullptr;
  std::string_view
      group{};              // proposals of one group exclude each other: only the best is advice; empty: none
  bool on_request = false;  // tried only by name: no change of the user's program leads there
};

/// All kinds, those of the largest reach first.
std::span<const AdviceKind> advice_kinds();

/// Places of instructions by their metadata and the module's text.
class AdvicePlaces {
 public:
  /// The module outlives it.
  explicit AdvicePlaces(const Module& module) : module_(module), sources_(module) {}
  AdvicePlace of(const Instruction& instruction) const;
  /// The same without the line of the module's text, which takes long to count.
  AdvicePlace without_line(const Instruction& instruction) const;

 private:
  const Module& module_;
  SourcePlaces sources_;
};

}  // namespace hlosim
