// Better layouts for a module, and what single other layouts would do to it.
//
//   Result<LayoutTuning> tuned = tune_layouts(module, op_table(), device, options);
//   tuned->module                      the rewritten module
//   tuned->before.time, after.time     simulated
//
// Rewriting changes layouts and inserts or removes copies, nothing that is computed. docs/layout_tuning.md.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "relayout/layout_search.h"
#include "relayout/layout_trial.h"
#include "sim/simulate.h"

namespace hlosim {

struct LayoutTuneOptions {
  LayoutProblemOptions arrays;
  LayoutObjective objective = LayoutObjective::kTime;
  LayoutSearchOptions search;
  SimulateOptions simulate;
};

/// A copy, reshape or transpose that is there only before or only after.
struct LayoutMove {
  std::string name;
  std::string operand;
  ShapeRef from = nullptr, to = nullptr;  // of the module that has it
  bool becomes_bitcast = false;
};

/// One array, or several that have to be alike.
struct LayoutChange {
  std::string value;  // "fusion.3", "while.1{2}"
  size_t others = 0;  // that share its layout, and its memory or its place in the program
  ShapeRef before = nullptr, after = nullptr;  // of the tuned module's pool
  Picoseconds saved{};                         // what the module takes longer if this one stays as it was
  Bytes saved_hbm{};
  std::string why;
};

struct LayoutTuning {
  std::shared_ptr<Module> module;
  std::shared_ptr<Module> given;  // as it was taken up: `removed` has its shapes
  LayoutFigures before, after;
  std::vector<LayoutChange> changes;  // what saves most first
  std::vector<LayoutMove> added, removed;
  int64_t arrays = 0, free_arrays = 0;  // groups of arrays that share a layout; those that had a choice
  LayoutScore score, bound;             // in the units of the objective
  bool exact = false;                   // no choice among the candidates is better
  int64_t moves = 0, evaluations = 0;
  AssumptionList assumptions;

  /// How far above the bound the result is at most, as a share of the result.
  double gap() const;
};

/// Requires: a verified module; one without any tiles gets native ones. Errors: as simulate(); tiles that are
/// none.
Result<LayoutTuning> tune_layouts(const Module& module, const OpTable& table, const Device& device,
                                  const LayoutTuneOptions& options);

/// "fusion.3={1,0:T(8,128)}", "while.1{2}={0,1}": a value and its layout; without tiles it gets native ones.
struct LayoutQuestion {
  std::string value;
  std::vector<int64_t> index;
  std::string layout;  // "{1,0:T(8,128)}"
};
Result<LayoutQuestion> parse_layout_question(std::string_view text);

/// The module with these layouts and no other change; `changes` has one entry per question. Errors: unknown
/// values, arrays that can't change, layouts that are none; as simulate().
Result<LayoutTuning> ask_layouts(const Module& module, const OpTable& table, const Device& device,
                                 const LayoutTuneOptions& options,
                                 const std::vector<LayoutQuestion>& questions);

}  // namespace hlosim
