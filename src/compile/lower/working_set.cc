#include "lower/working_set.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "layout/sizes.h"
#include "model/core.h"
#include "ops/fusion_role.h"
#include "ops/work.h"

namespace hlosim {
namespace {

/// A block of a product; the least that is considered (model/kernel_blocks.h).
struct Block {
  int64_t m = 0, n = 0, k = 0;
  bool in_parts = false;  // sums wait for the rest of the contracting dimension
};

Block smallest_block(Module& module, const OpTable& table, const Core& core, const Instruction& product) {
  const Work work = work_of(OpContext(module, product, table, nullptr));
  if (work.matmuls.empty()) return {};
  const MatmulWork& matmul = work.matmuls.front();
  const Core::ProductBlock least = core.smallest_block(1);
  return {std::min(matmul.m, least.m), std::min(matmul.n, least.n), std::min(matmul.k, least.k),
          matmul.k > least.k};
}

/// Sizes and strides of the dimensions that a reduction keeps, in row-major order; neighbours as one. Arrays
/// of one order under other dimensions compare equal.
using Kept = std::vector<std::pair<int64_t, int64_t>>;

Kept kept_by(ShapeRef operand, std::span<const int64_t> reduced) {
  Kept kept;
  int64_t stride = 1;
  for (int64_t d = operand->rank(); d-- > 0; stride *= operand->dim(d)) {
    const int64_t size = operand->dim(d);
    if (size == 1 || std::ranges::count(reduced, d)) continue;
    if (!kept.empty() && kept.back().first * kept.back().second == stride)
      kept.back().first *= size;
    else
      kept.push_back({size, stride});
  }
  return kept;
}

/// The members of a fusion and what they take, by numbers from 0 on.
class FusionValues {
 public:
  FusionValues(const Module& module, std::span<const InstructionId> members) {
    if (members.empty()) return;
    first_ = members[0].index;
    int32_t last = first_;
    size_t mentions = 0;
    const auto for_each = [&](auto&& f) {
      for (const InstructionId member : members) {
        f(member);
        for (const InstructionId operand : module[member].operands) f(operand);
      }
    };
    for_each([&](InstructionId id) {
      first_ = std::min(first_, id.index), last = std::max(last, id.index);
      ++mentions;
    });
    size_ = static_cast<size_t>(last - first_) + 1;
    if (size_ <= 4 * mentions + 64) return;  // they stand close together
    for_each([&](InstructionId id) { far_.push_back(id); });
    std::ranges::sort(far_);
    far_.erase(std::unique(far_.begin(), far_.end()), far_.end());
    size_ = far_.size();
  }
  size_t size() const { return size_; }
  /// Requires: it is one of them.
  size_t operator[](InstructionId id) const {
    if (far_.empty()) return static_cast<size_t>(id.index - first_);
    return static_cast<size_t>(std::ranges::lower_bound(far_, id) - far_.begin());
  }

 private:
  int32_t first_ = 0;
  size_t size_ = 0;
  std::vector<InstructionId> far_;  // sorted; empty: all from `first_` on have a number
};

class WorkingSet {
 public:
  WorkingSet(Module& module, const OpTable& table, const DeviceConfig& device,
             std::span<const InstructionId> members, std::span<const InstructionId> outputs)
      : module_(module),
        table_(table),
        core_(device),
        members_(members),
        outputs_(outputs),
        values_(module, members),
        inside_(values_.size()),
        step_(values_.size()) {
    for (const InstructionId member : members) inside_[values_[member]] = true;
  }

  int64_t bytes() {
    find_step();
    spread_steps();
    int64_t bytes = held_ + held_sums();
    for (const InstructionId output : outputs_)
      bytes += windows(module_[output].shape, step_[values_[output]]);
    for (const InstructionId member : members_)
      for (const InstructionId operand : module_[member].operands) {
        const size_t value = values_[operand];
        if (!inside_[value]) bytes += windows(module_[operand].shape, std::exchange(step_[value], 0));
      }
    return bytes;
  }

 private:
  FusionRole role(InstructionId id) const { return fusion_role(table_, module_[id]); }

  int64_t elements_of_tile(ShapeRef shape) const {
    int64_t most = 0;
    for_each_leaf(shape, [&](ShapeRef leaf) {
      if (leaf->is_array() && leaf->rank() > 0)
        most = std::max(most, static_cast<int64_t>(core_.register_elements()) *
                                  std::max(1, 32 / bit_width(leaf->element_type)));
    });
    return most;
  }

  /// Elements that one step makes: whole tiles of all types; of lanes by lanes where these change places.
  void find_step() {
    ShapeRef last = nullptr;  // neighbours are often alike
    const auto hold_tile = [&](ShapeRef shape) {
      if (shape != last) base_ = std::max(base_, elements_of_tile(shape));
      last = shape;
    };
    for (const InstructionId member : members_) {
      hold_tile(module_[member].shape);
      for (const InstructionId operand : module_[member].operands) hold_tile(module_[operand].shape);
      if (module_[member].opcode == Opcode::kTranspose)
        base_ = std::max(base_, core_.lanes() * core_.lanes());
      if (role(member) != FusionRole::kProduct) continue;
      blocks_[member] = smallest_block(module_, table_, core_, module_[member]);
      base_ = std::max(base_, blocks_[member].m * blocks_[member].n);
    }
  }

  /// From the results back to what they are computed from.
  void spread_steps() {
    for (const InstructionId output : outputs_) step_[values_[output]] = base_;
    for (size_t i = members_.size(); i-- > 0;) {
      const Instruction& member = module_[members_[i]];
      const auto block = blocks_.find(members_[i]);
      for (size_t k = 0; k < member.operands.size(); ++k) {
        const size_t value = values_[member.operands[k]];
        int64_t step = std::max(step_[values_[members_[i]]], base_);
        if (block != blocks_.end()) {
          step = k == 0 ? block->second.m * block->second.k : block->second.k * block->second.n;
          if (inside_[value]) held_ += window(module_[member.operands[k]].shape, step);
        }
        step_[value] = std::max(step_[value], step);
      }
      if (block != blocks_.end() && block->second.in_parts) held_ += 4 * block->second.m * block->second.n;
    }
  }

  /// The kernel finishes sums over one set of dimensions as it goes; all others wait for its end.
  int64_t held_sums() const {
    std::map<Kept, int64_t> sums;
    for (const InstructionId member : members_) {
      if (role(member) != FusionRole::kReduce) continue;
      const Kept kept = kept_by(module_[module_[member].operands[0]].shape,
                                module_[member].find(AttrKey::kDimensions)->ints());
      sums[kept] += total_array_size(module_[member].shape).count();
    }
    int64_t all = 0, largest = 0;
    for (const auto& [kept, bytes] : sums) all += bytes, largest = std::max(largest, bytes);
    return all - largest;
  }

  int64_t window(ShapeRef shape, int64_t step) const {
    if (!shape->is_array() || shape->rank() == 0) return 0;
    const int64_t bytes = (step * bit_width(shape->element_type) + 7) / 8;
    return std::min(array_size(shape).count(), round_up(bytes, core_.smallest_window().count()));
  }

  int64_t windows(ShapeRef shape, int64_t step) const {
    int64_t bytes = 0;
    for_each_leaf(shape, [&](ShapeRef leaf) {
      if (!leaf->is_array() || leaf->rank() == 0) return;
      const int64_t one = window(leaf, step);
      bytes += one < array_size(leaf).count() ? 2 * one : one;
    });
    return bytes;
  }

  Module& module_;
  const OpTable& table_;
  const Core core_;
  std::span<const InstructionId> members_, outputs_;
  const FusionValues values_;
  std::vector<uint8_t> inside_;  // by value: it is a member
  std::map<InstructionId, Block> blocks_;
  std::vector<int64_t> step_;  // by value: elements of it that are at hand at once
  int64_t base_ = 0, held_ = 0;
};

}  // namespace

int64_t least_working_set(Module& module, const OpTable& table, const DeviceConfig& device,
                          std::span<const InstructionId> members, std::span<const InstructionId> outputs) {
  return WorkingSet(module, table, device, members, outputs).bytes();
}

int64_t working_set_limit(const DeviceConfig& device) {
  const Core core(device);
  return core.has_windows() ? core.vmem_budget().count() : std::numeric_limits<int64_t>::max();
}

}  // namespace hlosim
