// The instructions of a computation as fusions see them: roles, operands and users, what is stored.
//
//   FusionGraph graph(module, table, device.config, module.entry);
//   for (const int32_t source : graph.sources(i)) read += graph[source].bytes;
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "hlo/module.h"
#include "hlo/op_def.h"
#include "model/device.h"
#include "modules/ancestors.h"
#include "ops/fusion_role.h"

namespace hlosim {

/// Places in the computation's list stand for instructions.
using Places = std::vector<int32_t>;

struct FusionNode {
  FusionRole role{};
  int64_t bytes = 0;
  std::span<const int32_t> operands, users;
  std::optional<FusionEnd> end;
  bool stored = false;
  bool is_lane_part = false;  // stored, as what is cut out of lanes
  int32_t owner = -1;         // the product or reduction whose fusion alone computes it
};

class FusionGraph {
 public:
  FusionGraph(Module& module, const OpTable& table, const DeviceConfig& device, ComputationId id);
  FusionGraph(const FusionGraph&) = delete;

  int32_t count() const { return static_cast<int32_t>(nodes_.size()); }
  FusionNode& operator[](int32_t place) { return nodes_[static_cast<size_t>(place)]; }
  const FusionNode& operator[](int32_t place) const { return nodes_[static_cast<size_t>(place)]; }
  int32_t root() const { return root_; }
  InstructionId id(int32_t place) const { return order_[static_cast<size_t>(place)]; }
  int32_t place(InstructionId id) const { return place_[id]; }
  Module& module() const { return module_; }
  const Instruction& instruction(int32_t place) const { return module_[id(place)]; }
  /// Of the first array of a tuple.
  int64_t elements(int32_t place) const;
  bool depends(int32_t place, int32_t on) const { return ancestors_.depends(place, on); }
  bool is_constant(int32_t place) const {
    return instruction(place).literal && (*this)[place].role == FusionRole::kFill;
  }

  /// The stored values that an instruction is computed from.
  std::set<int32_t> sources(int32_t place) const;
  /// What is computed between the stored values and `place`, both ends left out, is work element by element
  /// wherever it depends on `source`.
  bool only_elementwise_from(int32_t place, int32_t source) const;
  /// Has fewer elements along the lanes than its operand, and not in whole registers: a slice.
  bool narrows(int32_t place) const { return lane_change(place) < 0; }
  /// More: a pad, a concatenate.
  bool widens(int32_t place) const { return lane_change(place) > 0; }

 private:
  FusionNode node_of(const OpTable& table, InstructionId id, bool waited_for) const;
  void list_operands_and_users(ComputationId id);
  bool only_renames(const Instruction& part) const;
  int lane_change(int32_t place) const;

  Module& module_;
  const DeviceConfig& device_;
  std::vector<InstructionId> order_;
  IdMap<InstructionId, int32_t> place_;
  Ancestors ancestors_;
  Places operands_, users_;  // of all nodes, one after the other: many small lists take longer to make
  std::vector<size_t> first_operand_, first_user_;
  std::vector<FusionNode> nodes_;
  int32_t root_ = 0;
};

}  // namespace hlosim
