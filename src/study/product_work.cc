#include "study/product_work.h"

#include <algorithm>
#include <cmath>

#include "layout/sizes.h"
#include "model/instruction_cost.h"
#include "modules/trip_count.h"
#include "ops/collective_groups.h"
#include "ops/dataflow.h"
#include "ops/work.h"

namespace hlosim {
namespace {

class Runs {
 public:
  Runs(const Module& module, const OpTable& table, int64_t trip_count,
       const std::function<void(const Instruction&, double)>& f)
      : module_(module),
        table_(table),
        trip_count_(trip_count),
        f_(f),
        is_seen_(module.instructions.size()) {}

  void visit(ComputationId id, double times) {
    if (times <= 0) return;
    for (const InstructionId one : needed(id)) {
      const Instruction& instruction = module_[one];
      const OpDef& def = table_[instruction.opcode];
      f_(instruction, times);
      if (def.rules.value == ValueRule::kLoop) {
        const TripCount trips = trip_count(module_, instruction);
        visit(loop_body(instruction), times * static_cast<double>(trips.known() ? trips.count : trip_count_));
      } else if (def.rules.value == ValueRule::kConditional) {
        continue;
      } else if (def.has(kFusion) || def.has(kCallsInline) || def.has(kAsyncStart)) {
        for_each_called(instruction, [&](ComputationId called) { visit(called, times); });
      }
    }
  }

 private:
  std::vector<InstructionId> needed(ComputationId id) {
    const std::vector<InstructionId>& list = module_[id].instructions;
    std::vector<InstructionId> stack{module_[id].root}, found;
    for (const InstructionId one : list)
      if (table_[module_[one].opcode].has(kSideEffect)) stack.push_back(one);
    while (!stack.empty()) {
      const InstructionId one = stack.back();
      stack.pop_back();
      if (is_seen_[one] != 0) continue;
      is_seen_[one] = 1;
      found.push_back(one);
      for (const InstructionId operand : module_[one].operands) stack.push_back(operand);
    }
    for (const InstructionId one : found) is_seen_[one] = 0;
    return found;
  }

  const Module& module_;
  const OpTable& table_;
  int64_t trip_count_;
  const std::function<void(const Instruction&, double)>& f_;
  IdMap<InstructionId, uint8_t> is_seen_;
};

Picoseconds whole_picoseconds(double seconds) {
  return Picoseconds(static_cast<int64_t>(std::min(std::floor(seconds * 1e12), 9e18)));
}

}  // namespace

void for_each_run(const Module& module, const OpTable& table, int64_t trip_count,
                  const std::function<void(const Instruction&, double)>& f) {
  Runs(module, table, trip_count, f).visit(module.entry, 1);
}

LeastTime time_lower_bound(const Module& module, const OpTable& table, const Device& device,
                           int64_t trip_count) {
  ShapePool shapes = module.shapes().copy();
  double products = 0, sent = 0;
  const double plain = peak_flops(device.config, ElementType::kBF16).count();
  const Result<DeviceGrid> grid = device_grid(module, table);
  for_each_run(module, table, trip_count, [&](const Instruction& instruction, double times) {
    const OpDef& def = table[instruction.opcode];
    if (def.has(kFusion) || def.has(kCallsInline)) return;
    const OpContext op(module, shapes, instruction, table, nullptr);
    const Work work = work_of(op);
    for (const MatmulWork& one : work.matmuls) {
      const double peak = std::max(plain, peak_flops(device.config, one.lhs).count());
      if (peak > 0 && !one.ragged)
        products += times * 2.0 * static_cast<double>(one.batch) * static_cast<double>(one.m) *
                    static_cast<double>(one.n) * static_cast<double>(one.k) / peak;
    }
    if (!work.collective || !grid) return;
    const Result<CollectiveGroups> groups = collective_groups(op, *grid);
    if (!groups) return;
    size_t members = groups->pairs.empty() ? 1 : 2;
    for (const auto& group : groups->groups) members = std::max(members, group.size());
    const Bytes payload = dense_bytes(work.collective->payload);
    sent +=
        times * static_cast<double>(
                    sent_per_member(work.collective->kind, static_cast<int64_t>(members), payload).count());
  });
  LeastTime least;
  least.products = whole_picoseconds(products);
  const double links = device.config.ici.bandwidth.count() * static_cast<double>(device.config.ici.links);
  // Devices of one chip needn't use its links, nor do slices that hosts join.
  if (links > 0 && device.config.devices_per_chip() == 1) least.links = whole_picoseconds(sent / links);
  for (const InstructionId parameter : module.entry_computation().parameters)
    for_each_leaf(module[parameter].shape, [&](ShapeRef leaf) {
      if (leaf->is_array() && leaf->memory_space() == 0) least.arguments += dense_bytes(leaf);
    });
  return least;
}

}  // namespace hlosim
