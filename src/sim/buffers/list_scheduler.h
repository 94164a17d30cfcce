// The list scheduler for one computation: always the ready instruction that frees most memory.
//
//   std::vector<int32_t> uses(values.size());
//   computation.instructions = ListScheduler(graph, places, values, sizes, id, uses).run();
#pragma once

#include <map>
#include <span>
#include <vector>

#include "memory/computation_map.h"
#include "memory/hlo_values.h"

namespace hlosim {

class ListScheduler {
 public:
  /// `sizes` by value. `uses`: room for a number by value, all 0, for one object after another. Requires: all
  /// of them outlive the object.
  ListScheduler(const ModuleGraph& graph, const Places& places, const Values& values,
                std::span<const int64_t> sizes, ComputationId computation, std::span<int32_t> uses);

  /// Once. Post: `uses` is all 0 again.

  std::vector<InstructionId> run();

 private:
  using Priority = std::pair<int64_t, int64_t>;  // bytes freed, users
  using Queue = std::multimap<Priority, InstructionId>;

  struct Node {
    int32_t waits_for = 0;                // predecessors that haven't run
    int64_t makes = 0;                    // bytes
    size_t first_read = 0, end_read = 0;  // values that its operands hold, each once
    std::vector<InstructionId> control_successors;
    Queue::iterator queued;
    bool is_ready = false;
  };
  Node& node(InstructionId id) { return nodes_[position_[id]]; }

  std::span<const ValueIndex> reads(const Node& node) const {
    return std::span(reads_).subspan(node.first_read, node.end_read - node.first_read);
  }
  int32_t& uses(ValueIndex value) { return uses_[static_cast<size_t>(value)]; }

  void find_values();
  Priority priority(InstructionId id);
  void make_ready(InstructionId id);
  void release(InstructionId successor);
  void requeue_users_of_operands(InstructionId id);

  const ModuleGraph& graph_;
  const Module& module_;
  const Places& places_;
  const Values& values_;
  std::span<const int64_t> sizes_;
  ComputationId computation_;
  ComputationMap<size_t> position_;  // of an instruction in nodes_
  std::vector<Node> nodes_;
  std::vector<ValueIndex> reads_;  // of one node after another
  std::vector<ValueIndex> results_;
  std::span<int32_t> uses_;  // of a value, that haven't run
  Queue queue_;
};

}  // namespace hlosim
