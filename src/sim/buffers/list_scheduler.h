// The list scheduler for one computation: always the ready instruction that frees most memory.
//
//   computation.instructions = ListScheduler(graph, places, values, sizes, id).run();
#pragma once

#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "memory/computation_map.h"
#include "memory/hlo_values.h"

namespace hlosim {

class ListScheduler {
 public:
  /// `sizes` by value. Requires: all of them outlive the object.
  ListScheduler(const ModuleGraph& graph, const Places& places, const Values& values,
                std::span<const int64_t> sizes, ComputationId computation);

  std::vector<InstructionId> run();

 private:
  using Priority = std::pair<int64_t, int64_t>;  // bytes freed, users
  using Queue = std::multimap<Priority, InstructionId>;

  struct Node {
    int32_t waits_for = 0;          // predecessors that haven't run
    int64_t makes = 0;              // bytes
    std::vector<ValueIndex> reads;  // values that its operands hold, each once
    std::vector<InstructionId> control_successors;
    Queue::iterator queued;
    bool is_ready = false;
  };
  Node& node(InstructionId id) { return nodes_[position_[id]]; }

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
  std::unordered_map<ValueIndex, int32_t> uses_;  // of a value, that haven't run
  Queue queue_;
};

}  // namespace hlosim
