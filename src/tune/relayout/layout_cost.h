// What layouts cost, instruction by instruction: an estimate that changes in few places when one layout does,
// and a bound that no choice goes below. What a module really takes is simulated (relayout/layout_tuner.h).
//
//   Result<std::unique_ptr<LayoutCosts>> costs =
//       LayoutCosts::make(problem, table, device, {}, simulation, LayoutObjective::kTime);
//   (*costs)->total(problem.as_given()).first      // picoseconds
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "interconnect/collective_driver.h"
#include "interconnect/offload.h"
#include "model/cost_details.h"
#include "model/memory_system.h"
#include "relayout/layout_problem.h"
#include "relayout/pointer_key.h"
#include "sim/simulate.h"

namespace hlosim {

/// Compared in this order; which number comes first is up to the objective.
struct LayoutScore {
  int64_t first = 0, second = 0;
  auto operator<=>(const LayoutScore&) const = default;
  LayoutScore& operator+=(const LayoutScore& other);
  LayoutScore& operator-=(const LayoutScore& other);
};

enum class LayoutObjective : uint8_t {
  kTime,    // picoseconds, then bytes
  kBytes,   // read from and written to HBM, then picoseconds
  kMemory,  // peak of HBM, then picoseconds
};

class LayoutCosts {
 public:
  /// All outlive the object. `executions`: of the module as given.
  static Result<std::unique_ptr<LayoutCosts>> make(LayoutProblem& problem, const OpTable& table,
                                                   const Device& device, const CostOptions& options,
                                                   const Simulation& given, LayoutObjective objective);

  // Parts are instructions that run as such, and arrays of which some user may want a copy.
  size_t parts() const { return parts_.size(); }
  /// Free groups that decide what a part costs.
  const std::vector<int32_t>& groups_of(size_t part) const { return parts_[part].groups; }
  const std::vector<int32_t>& parts_of(int32_t group) const { return parts_of_[static_cast<size_t>(group)]; }
  /// All its executions.
  LayoutScore cost(size_t part, const LayoutChoice& choice);
  /// What no layout changes and no part has: the iterations of loops themselves.
  LayoutScore constant() const { return constant_; }
  /// Of all parts, and constant().
  LayoutScore total(const LayoutChoice& choice);
  /// At most what the part costs whatever the groups get that are not `decided`. O(1) once asked.
  LayoutScore bound(size_t part, const LayoutChoice& choice, const std::vector<uint8_t>& decided);

  /// From then on bounds are nothing: quick, and true.
  void end_when(std::function<bool()> out_of_time) { out_of_time_ = std::move(out_of_time); }

  /// Writes `choice` into the problem's module; LayoutEdit::undo() takes it back.
  void apply(const LayoutChoice& choice);
  /// The same but for what is inside fusions: they keep their bodies until apply_inside(), once each.
  void apply_outside(const LayoutChoice& choice);
  void apply_inside(InstructionId fusion, const LayoutChoice& choice);

 private:
  struct NodeCost {
    int64_t time = 0, bytes = 0;
    int64_t min_time = 0;  // with any layouts
    bool exact = true;     // false: an operand is wanted in two ways at a time
    BodyVariant variant = BodyVariant::kAsGiven;
  };
  struct Part {
    InstructionId id;
    bool is_copies = false;  // of `id` for its users; else `id` itself
    int64_t executions = 0;
    bool in_branch = false;  // the longest branch runs: another one may have other bytes
    std::vector<std::pair<InstructionId, size_t>> uses;  // is_copies: user and operand
    std::vector<int32_t> groups;
    bool reads_all = false;  // whole operands, whatever their layouts
    bool may_share = false;  // is_copies: with those of another array
  };
  template <class T>
  using Memo = std::unordered_map<PointerKey, T, PointerKeyHash>;

  LayoutCosts(LayoutProblem& problem, const OpTable& table, const Device& device, LayoutObjective objective);
  void collect(const Simulation& given);
  void add_loops(const Simulation& given);
  void add_network(InstructionId id, InstructionCost& cost);
  void add_part(Part part);
  LayoutScore score(const NodeCost& cost, const Part& part) const;
  const NodeCost& node(size_t part, const LayoutChoice& choice);
  const NodeCost* recent(size_t part, const LayoutChoice& choice) const;
  void remember(size_t part, const LayoutChoice& choice, const NodeCost& cost);
  NodeCost node_now(const Part& part, const LayoutChoice& choice);
  NodeCost fusion_now(InstructionId id, const std::vector<ShapeRef>& operands, ShapeRef result);
  NodeCost probe(InstructionId id);
  NodeCost copies_now(const Part& part, const LayoutChoice& choice);
  NodeCost copy_cost(ShapeRef from, ShapeRef to);
  bool reads_all(InstructionId id) const;
  bool takes_all(InstructionId id);
  NodeCost floor_of(size_t part, const LayoutChoice& choice, const std::vector<uint8_t>& decided);
  void find_variants(const LayoutChoice& choice);
  void write_outside(const LayoutChoice& choice);
  bool unchanged(InstructionId id, const std::vector<ShapeRef>& operands, ShapeRef result) const;
  bool is_better(const NodeCost& a, const NodeCost& b) const;
  LayoutScore minimum(size_t part, const LayoutChoice& choice, const std::vector<uint8_t>& decided);
  /// Groups that are not `decided` count as open; null: all are.
  PointerKey key_of(size_t part, const LayoutChoice& choice,
                    const std::vector<uint8_t>* decided = nullptr) const;

  LayoutProblem& problem_;
  const OpTable& table_;
  const Device& device_;
  MemorySystem memory_;
  Offloads offloads_;
  LayoutObjective objective_;
  double picoseconds_per_flop_ = 0;
  Slice slice_;
  DeviceGrid grid_;
  LayoutScore constant_;
  std::unique_ptr<CostProbe> probe_;
  std::vector<Part> parts_;
  std::vector<std::vector<int32_t>> parts_of_;  // by group
  Memo<NodeCost> nodes_;
  /// The last ones of nodes_ that a part was asked for: a search goes to and fro between a few.
  struct Recent {
    static constexpr size_t kCount = 4;
    size_t first = 0;  // in recent_layouts_: those of the part's groups, kCount times
    std::array<const NodeCost*, kCount> costs{};  // null: none yet
    size_t next = 0;
  };
  std::vector<Recent> recent_;  // by part
  std::vector<const Layout*> recent_layouts_;
  Memo<LayoutScore> bounds_;
  LayoutChoice trial_;                       // at hand: right for the groups of one part
  std::map<InstructionId, size_t> node_of_;  // fusions
  InstructionId scratch_, scratch_operand_;  // a copy that stands nowhere
  std::function<bool()> out_of_time_;
};

}  // namespace hlosim
