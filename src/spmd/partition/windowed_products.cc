#include "partition/windowed_products.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "hlo/graph.h"
#include "hlo/module_editor.h"
#include "layout/packed_bytes.h"
#include "loop_factors/factors.h"
#include "partition/emitter.h"
#include "partition/resharder.h"

namespace hlosim {
namespace {

/// A product and the collective beside it.
struct Ring {
  InstructionId product, collective;
  size_t row = 0;                   // of the reshardings
  bool gathers = false;             // the collective is an operand; else it scatters the result
  size_t operand = 0;               // that is gathered
  int64_t dimension[2] = {-1, -1};  // of the operands that the ring goes along; -1: there is none
  int64_t result = -1;              // of the result
};

class ProductWindower {
 public:
  ProductWindower(Partitioned& made, const OpTable& table, const WindowedEinsum& einsum)
      : made_(made),
        einsum_(einsum),
        module_(made.module),
        axes_(made.layout.axes),
        emit_(made.module, table, axes_),
        shapes_(made.module.shapes().copy()) {}

  void run() {
    for (size_t i = 0; i < made_.reshardings.size(); ++i)
      rows_[module_[made_.reshardings[i].collective].parent].push_back(i);
    for (const auto& [computation, rows] : rows_) write(computation, rows);
  }

 private:
  /// An ordinary product of two arrays.
  bool is_product(InstructionId id) const {
    const Instruction& instruction = module_[id];
    return emit_.table()[instruction.opcode].rules.dimensions == DimensionRule::kProduct &&
           instruction.operands.size() == 2 && instruction.operands[0] != instruction.operands[1] &&
           !instruction.find(AttrKey::kLhsRaggedDims) && !instruction.find(AttrKey::kSparsityConfig) &&
           !is_pred(instruction.shape->element_type);
  }

  std::optional<Ring> ring_of(size_t row, ComputationId computation, const Users& users) {
    const Resharding& one = made_.reshardings[row];
    const bool gathers = one.kind == ReshardKind::kAllGather;
    if (!gathers && one.kind != ReshardKind::kReduceScatter) return std::nullopt;
    if (one.along.empty()) return std::nullopt;
    Ring ring;
    ring.collective = one.collective;
    ring.row = row;
    ring.gathers = gathers;
    if (gathers) {
      if (users[one.collective].size() != 1 || module_[computation].root == one.collective) {
        made_.windowed.shared +=
            std::ranges::any_of(users[one.collective], [&](InstructionId user) { return is_product(user); });
        return std::nullopt;
      }
      ring.product = users[one.collective][0];
    } else {
      ring.product = module_[one.collective].operands[0];
      if (users[ring.product].size() != 1 || module_[computation].root == ring.product) return std::nullopt;
    }
    if (!is_product(ring.product)) return std::nullopt;
    if (gathers) ring.operand = module_[ring.product].operands[1] == one.collective ? 1 : 0;
    if (!find_dimensions(ring, one.dimension) || !is_wanted(ring)) return std::nullopt;
    return ring;
  }

  /// The conditions of XLA's GetWindowedEinsumConfiguration (spmd/dot_handler.cc).
  bool is_wanted(const Ring& ring) {
    WindowedCounts& counts = made_.windowed;
    const int64_t members = axes_.length(made_.reshardings[ring.row].along);
    const Instruction& whole = module_[ring.gathers ? ring.collective : ring.product];
    const int64_t bytes = packed_bytes(*whole.shape);
    if (members > kLongestRing) return ++counts.longer, false;
    if (einsum_.when == WindowedEinsum::When::kAlways) return true;
    if (bytes < einsum_.threshold_bytes) return ++counts.small, false;
    if (!pays(ring, static_cast<double>(bytes), static_cast<double>(members))) return ++counts.unpaid, false;
    return true;
  }

  /// Whether a ring, which has one exchange at its beginning or end that nothing overlaps with, takes less
  /// than the product behind or before the collective.
  bool pays(const Ring& ring, double bytes, double members) {
    if (!einsum_.flops_per_second || einsum_.ring_bytes_per_second <= 0) return true;
    const Instruction& product = module_[ring.product];
    const Factors along = factors(OpContext(module_, shapes_, product, emit_.table(), nullptr));
    double flops = 2 * static_cast<double>(product.shape->element_count());
    for (const std::vector<int32_t>& dimension : along.arrays[0])
      for (const int32_t factor : dimension)
        if (const Factor& one = along.list[static_cast<size_t>(factor)]; one.kind == FactorKind::kSum)
          flops *= static_cast<double>(one.size);
    const ElementType type = module_[product.operands[0]].shape->element_type;
    const double computing = flops / einsum_.flops_per_second(type);
    const double moving = bytes * (members - 1) / members / einsum_.ring_bytes_per_second;
    return std::max(computing, moving) + 2 * moving / members < computing + moving;
  }

  /// Where the factor of the gathered or scattered dimension is; false: it can't go round.
  bool find_dimensions(Ring& ring, int64_t dimension) {
    const Factors along = factors(OpContext(module_, shapes_, module_[ring.product], emit_.table(), nullptr));
    const size_t array = ring.gathers ? ring.operand : 2;
    const std::vector<int32_t>& here = along.arrays[array][static_cast<size_t>(dimension)];
    if (here.size() != 1) return false;
    const auto find = [&](size_t in) {
      for (size_t i = 0; i < along.arrays[in].size(); ++i)
        if (along.arrays[in][i] == here) return static_cast<int64_t>(i);
      return int64_t{-1};
    };
    ring.dimension[0] = find(0), ring.dimension[1] = find(1), ring.result = find(2);
    const FactorKind kind = along.list[static_cast<size_t>(here[0])].kind;
    if (kind != FactorKind::kAlong && kind != FactorKind::kSum) return false;
    // A batch dimension that is gathered is cut for the other operand too, which nobody has.
    return !ring.gathers || ring.dimension[1 - ring.operand] < 0 || ring.result < 0;
  }

  void write(ComputationId computation, const std::vector<size_t>& rows) {
    const Users users = users_of(module_, computation);
    std::unordered_map<InstructionId, Ring> at;  // the last of what a ring takes the place of
    std::unordered_map<InstructionId, bool> taken;
    for (const size_t row : rows) {
      const std::optional<Ring> ring = ring_of(row, computation, users);
      if (!ring || taken[ring->product]) continue;
      taken[ring->product] = taken[ring->collective] = true;
      ++made_.windowed.rings;
      at[ring->gathers ? ring->product : ring->collective] = *ring;
    }
    if (at.empty()) return;
    std::unordered_map<InstructionId, InstructionId> now;
    ModuleEditor editor(module_);
    for (const InstructionId id : emit_.reopen(computation)) {
      std::vector<InstructionId> operands;
      for (const InstructionId operand : module_[id].operands)
        operands.push_back(now.contains(operand) ? now.at(operand) : operand);
      if (!std::ranges::equal(operands, module_[id].operands)) editor.set_operands(id, operands);
      const auto found = at.find(id);
      if (found == at.end())
        emit_.keep(id);
      else
        now[id] = found->second.gathers ? gathered(found->second) : scattered(found->second);
    }
    const InstructionId root = module_[computation].root;
    emit_.close(now.contains(root) ? now.at(root) : root);
  }

  // Device i holds part i. With h parts to come from the devices behind it and h' from those before:
  // after s steps it has part i+s from the one side, i-s from the other.
  InstructionId gathered(const Ring& ring) {
    begin(ring);
    const size_t other = 1 - ring.operand;
    const InstructionId part = module_[module_[ring.product].operands[ring.operand]].operands[0];
    const int64_t size = emit_.shape(part)->dim(ring.dimension[ring.operand]);
    InstructionId sum;
    const auto take = [&](InstructionId piece, int64_t ahead) {
      const InstructionId start = emit_.times(place(ahead), size);
      std::vector<InstructionId> operands(2);
      operands[ring.operand] = piece;
      operands[other] = product_.operands[other];
      if (ring.result < 0) {
        operands[other] = emit_.dynamic_slice(operands[other], ring.dimension[other], start, size);
        const InstructionId made = emit_.like(product_, product_.shape, operands);
        // One turn after the other, as in the loop that XLA writes: nothing makes one work of several turns.
        sum = sum.valid() ? emit_.plus(emit_.apart(sum), made) : made;
        return;
      }
      const InstructionId made =
          emit_.like(product_, emit_.resized(product_.shape, ring.result, size), operands);
      if (!sum.valid()) sum = emit_.broadcast(emit_.number(0, product_.shape->element_type), product_.shape);
      sum = emit_.dynamic_update_slice(sum, made, ring.result, start);
    };
    take(part, 0);
    InstructionId from_behind = part, from_before = part;
    for (int64_t s = 1; s <= members_ / 2; ++s) {
      take(from_behind = passed_on(from_behind, 1), s);
      if (s <= members_ - 1 - members_ / 2) take(from_before = passed_on(from_before, -1), members_ - s);
    }
    return in_layout_of(product_.shape, sum);
  }

  // What goes to device i starts h devices behind it and h' before it, and gathers each one's part of the
  // sum.
  InstructionId scattered(const Ring& ring) {
    begin(ring);
    const int64_t size = product_.shape->dim(ring.result) / members_;
    const auto part = [&](int64_t ahead) {
      const InstructionId start = emit_.times(place(ahead), size);
      std::vector<InstructionId> operands(product_.operands.begin(), product_.operands.end());
      for (size_t i = 0; i < 2; ++i)
        if (ring.dimension[i] >= 0)
          operands[i] = emit_.dynamic_slice(operands[i], ring.dimension[i], start, size);
      return emit_.like(product_, emit_.resized(product_.shape, ring.result, size), operands);
    };
    // A product that adds what arrives would wait for it: as in XLA's loop, sums are added behind both.
    const auto add = [&](InstructionId sum, int64_t direction, int64_t ahead) {
      const InstructionId arrived = passed_on(sum, direction);
      return emit_.plus(arrived, emit_.apart(part(ahead)));
    };
    const int64_t behind = members_ / 2, before = members_ - 1 - behind;
    InstructionId sum = part(members_ - behind), other;
    if (before > 0) other = part(before);
    for (int64_t s = 1; s <= behind; ++s) {
      sum = add(sum, 1, (members_ - behind + s) % members_);
      if (s < before) other = add(other, -1, before - s);
    }
    return before > 0 ? emit_.plus(sum, passed_on(other, -1)) : sum;
  }

  InstructionId in_layout_of(ShapeRef like, InstructionId x) {
    ShapePool& shapes = module_.shapes();
    const bool same = shapes.with_default_layouts(emit_.shape(x)) == shapes.with_default_layouts(like);
    return same ? x : emit_.laid_out(x, like);
  }

  void begin(const Ring& ring) {
    row_ = ring.row;
    is_first_ = true;
    along_ = made_.reshardings[ring.row].along;
    members_ = axes_.length(along_);
    product_ = module_[ring.product];
    emit_.stands_for(product_);
  }

  /// The place in the ring `ahead` of the device's.
  InstructionId place(int64_t ahead) {
    const InstructionId here = emit_.index(along_);
    return ahead == 0 ? here : emit_.remainder(emit_.plus(here, ahead), members_);
  }

  /// What the device `distance` further has.
  InstructionId passed_on(InstructionId x, int64_t distance) {
    std::vector<std::vector<int64_t>> pairs;
    for (int64_t at = 0; at < axes_.devices(); ++at) {
      const int64_t from = (axes_.index(at, along_) + distance + members_) % members_;
      pairs.push_back({axes_.device_at(moved_to(axes_, at, along_, from)), axes_.device_at(at)});
    }
    std::sort(pairs.begin(), pairs.end());
    const InstructionId made = emit_.permute(x, pairs);
    if (!is_first_) made_.reshardings.push_back(made_.reshardings[row_]);
    Resharding& one = is_first_ ? made_.reshardings[row_] : made_.reshardings.back();
    if (!is_first_) one.held = 0, one.hoisted = false;  // what it was is told once
    is_first_ = false;
    one.kind = ReshardKind::kPermute;
    one.collective = made;
    one.windowed = true;
    one.bytes = packed_bytes(*emit_.shape(x));
    return made;
  }

  Partitioned& made_;
  const WindowedEinsum& einsum_;
  Module& module_;
  const DeviceAxes axes_;
  Emitter emit_;
  ShapePool shapes_;
  std::map<ComputationId, std::vector<size_t>> rows_;  // of the reshardings
  size_t row_ = 0;
  bool is_first_ = true;  // of the ring's permutes, which takes the place of the collective's row
  AxisList along_;
  int64_t members_ = 1;
  Instruction product_;  // as it was
};

}  // namespace

void window_products(Partitioned& made, const OpTable& table, const WindowedEinsum& einsum) {
  ProductWindower(made, table, einsum).run();
}

}  // namespace hlosim
