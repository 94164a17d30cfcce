// What a module takes with the layouts that are written into it: simulated as a whole, costed anew only where
// no earlier trial had the same instruction with the same shapes.
//
//   Result<std::unique_ptr<LayoutTrials>> trials =
//       LayoutTrials::make(problem, costs, table, device, options);
//   (*trials)->write(choice);
//   (*trials)->figures()->time                     // that of simulate() of the written module
//   problem.edit().undo();
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "model/cost_details.h"
#include "relayout/layout_cost.h"
#include "relayout/pointer_key.h"
#include "sim/resimulation.h"

namespace hlosim {

/// What a module takes.
struct LayoutFigures {
  Picoseconds time{};
  Bytes hbm{};      // read and written, all executions
  Bytes peak{};     // of HBM
  Bytes padding{};  // in what is read and written, all memories and executions
};

class LayoutTrials {
 public:
  /// All outlive the object. Requires: nothing is written into the problem's module. Errors: as simulate().
  static Result<std::unique_ptr<LayoutTrials>> make(LayoutProblem& problem, LayoutCosts& layout_costs,
                                                    const OpTable& table, const Device& device,
                                                    const SimulateOptions& options);

  /// Writes `choice` into the problem's module, but for bodies of fusions that don't matter any more.
  void write(const LayoutChoice& choice);
  /// Of what write() wrote; the peak stays 0. Errors: as simulate().
  Result<LayoutFigures> figures();

 private:
  /// An instruction, its opcode, its shape and those of its operands, which of these are the same, and what a
  /// divisor repeats. The body of a fusion goes by them.
  using Key = PointerKey;

  LayoutTrials(LayoutProblem& problem, LayoutCosts& layout_costs, const OpTable& table);
  InstructionCost cost_now(InstructionId id);
  void fill_key(InstructionId id);
  void make_room();
  void update_costs();

  LayoutProblem& problem_;
  LayoutCosts& layout_costs_;
  const OpTable& table_;
  size_t hbm_ = 0;
  std::unique_ptr<Resimulation> simulation_;
  std::unique_ptr<CostProbe> probe_;
  InstructionCosts costs_;
  size_t room_ = 0, set_ = 0;  // in costs_: instructions; costs, those that others took the place of included
  std::vector<std::pair<InstructionId, InstructionCost>> beside_;  // of what no layout changes
  std::vector<Key> key_of_;                                        // by instruction: what costs_ has it with
  Key key_;                                                        // at hand
  LayoutChoice choice_;                                            // that is written
  std::vector<InstructionId> with_collectives_;  // fusions: what the links do depends on their bodies
  std::unordered_map<Key, InstructionCost, PointerKeyHash> known_;
};

}  // namespace hlosim
