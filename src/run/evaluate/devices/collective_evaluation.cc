#include "evaluate/devices/collective_evaluation.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "array/convert_array.h"
#include "base/saturating.h"
#include "cpu_kernels/strided_copy.h"
#include "evaluate/devices/mirrored_peers.h"
#include "evaluate/devices/moved_slices.h"
#include "hlo/replica_groups.h"
#include "ops/collective_groups.h"
#include "ops/infer.h"
#include "ops/leaf_shapes.h"
#include "ops/require.h"

namespace hlosim {
namespace {

/// Devices of the whole module, at least those that `op` speaks of.
int64_t devices_needed(const OpContext& op, int64_t named) {
  const DeviceGrid declared = declared_grid(op.module());
  if (const auto grid = device_grid(op.module(), op.table())) named = std::max(named, grid->devices());
  return std::max(named, declared.devices());
}

Evaluation refuse(EvaluateContext& op, int64_t devices) {
  return op.unsupported(fmt::format("the module needs {} devices, but is run on one", devices));
}

/// The devices that the module needs when one of the groups has several members.
std::optional<int64_t> devices_of_groups(const OpContext& op) {
  const auto mode = group_mode(op);
  const DeviceGrid grid = declared_grid(op.module());
  const Attr* attr = op.find(AttrKey::kReplicaGroups);
  if (!mode || !attr) return grid.devices() > 1 ? std::optional(grid.devices()) : std::nullopt;
  const auto counts = count_replica_groups(attr->replica_groups());
  if (!counts) return std::nullopt;  // the verifier's business
  const bool alone = group_size(op, *mode, grid) <= 1 && counts->uniform;
  return alone ? std::nullopt : std::optional(devices_needed(op, counts->total));
}

struct HandedOn {
  size_t from, to;  // leaves of operands and results
  ElementType from_type, to_type;
};

/// Result leaves `first`, … as the operands. False: they differ by more than the precision of floats.
bool hand_on(const EvaluateContext& op, size_t first, int64_t operands, std::vector<HandedOn>& handed) {
  const auto results = leaves_of(op.shape());
  size_t at = 0;
  for (int64_t i = 0; i < operands; ++i)
    for (const ShapeRef leaf : leaves_of(op.operand_shape(i))) {
      const size_t to = first + at;
      if (to >= results.size() || leaf->kind != results[to]->kind) return false;
      const ShapeRef result = results[to];
      if (leaf->is_array() &&
          (!same_dimensions(leaf, result) || !can_convert(leaf->element_type, result->element_type)))
        return false;
      handed.push_back({at++, to, leaf->element_type, result->element_type});
    }
  return true;
}

void run_handed(Invocation& call, const HandedOn& handed) {
  Array array = call.operand(handed.from);
  if (array.data) {
    const int64_t count = array.count();
    array.data =
        converted(call.device().pool(), std::move(array.data), handed.from_type, handed.to_type, count);
  }
  call.set_result(std::move(array), handed.to);
}

Evaluation handing_on(EvaluateContext& op, std::vector<HandedOn> handed) {
  const size_t results = leaves_of(op.shape()).size();
  std::vector<size_t> zeros;
  for (size_t i = 0; i < results; ++i)
    if (std::none_of(handed.begin(), handed.end(), [&](const HandedOn& h) { return h.to == i; }))
      zeros.push_back(i);
  return [handed = std::move(handed), zeros](Invocation& call) {
    for (const HandedOn& h : handed) run_handed(call, h);
    for (const size_t i : zeros) {
      const Array& result = call.make_result(i);
      if (const int64_t bytes = data_bytes(result.shape); bytes > 0)
        std::memset(result.bytes(), 0, static_cast<size_t>(bytes));
    }
  };
}

Evaluation refuse_shapes(EvaluateContext& op) {
  return op.unsupported(fmt::format("{} of {} is what several devices make together, but this is run on one",
                                    text_of(op.shape()), text_of(op.operand_shape(0))));
}

}  // namespace

Evaluation evaluate_single_device(EvaluateContext& op) {
  if (const auto devices = devices_of_groups(op))
    return op.has_twins() ? evaluate_among_twins(op) : refuse(op, *devices);
  // A dynamic root of a broadcast is an operand, but no value.
  const int64_t values = op.flag(AttrKey::kHasDynamicRoot) ? op.operand_count() - 1 : op.operand_count();
  std::vector<HandedOn> handed;
  if (!hand_on(op, 0, values, handed)) return refuse_shapes(op);
  return handing_on(op, std::move(handed));
}

Evaluation evaluate_all_gather_start(EvaluateContext& op) {
  if (const auto devices = devices_of_groups(op))
    return op.has_twins() ? evaluate_among_twins(op) : refuse(op, *devices);
  std::vector<HandedOn> handed;
  const size_t operands = op.operand_leaves();
  if (!hand_on(op, 0, op.operand_count(), handed) || !hand_on(op, operands, op.operand_count(), handed))
    return refuse_shapes(op);
  return handing_on(op, std::move(handed));
}

// ── collective-permute ──────────────────────────────────────────

namespace {

/// Pairs name no device but the first.
std::optional<int64_t> devices_of_pairs(const OpContext& op) {
  int64_t largest = 0;
  for (const auto pair : op.int_lists(AttrKey::kSourceTargetPairs))
    for (const int64_t id : pair) largest = std::max(largest, id);
  return largest > 0 ? std::optional(devices_needed(op, largest + 1)) : std::nullopt;
}

Evaluation permute_in_place(EvaluateContext& op, bool is_start) {
  const bool moves = !op.int_lists(AttrKey::kSourceTargetPairs).empty();
  const auto slices = moved_slices(op);
  const auto buffers = static_cast<size_t>(leaf_count(op.operand_shape(0)));
  const auto results = leaves_of(op.shape());
  if (!slices || results.size() < (is_start ? 2 : 1) * buffers) return op.unsupported();
  return [slices = *slices, buffers, moves, is_start](Invocation& call) {
    MemoryPool& pool = call.device().pool();
    std::vector<Array> operands, outputs;
    for (size_t i = 0; i < call.operand_count(); ++i)
      operands.push_back(i / buffers == 1 ? Array() : call.operand(i));
    for (size_t i = 0; i < buffers; ++i) {
      Array output = call.take(buffers + i);
      output.data = writable(pool, std::move(output.data), data_bytes(output.shape));
      outputs.push_back(std::move(output));
    }
    if (moves)
      for (const MovedSlice& slice : slices)
        if (!move_slice(slice, operands, operands[slice.buffer], outputs[slice.buffer]))
          return call.fail("a slice is outside of its buffer");
    for (size_t i = 0; i < buffers; ++i) call.set_result(std::move(outputs[i]), is_start ? buffers + i : i);
    for (size_t i = 0; is_start && i < buffers; ++i) call.set_result(std::move(operands[i]), i);
    for (size_t i = 2 * buffers; i < call.result_count(); ++i) {
      const Array& context = call.make_result(i);
      if (context.data) std::memset(context.bytes(), 0, static_cast<size_t>(data_bytes(context.shape)));
    }
  };
}

}  // namespace

Evaluation evaluate_permute(EvaluateContext& op) {
  if (const auto devices = devices_of_pairs(op))
    return op.has_twins() && !op.has(AttrKey::kSliceSizes) ? permute_among_twins(op, 0)
                                                           : refuse(op, *devices);
  if (op.has(AttrKey::kSliceSizes)) return permute_in_place(op, false);
  std::vector<HandedOn> handed;
  if (!hand_on(op, 0, op.operand_count(), handed)) return refuse_shapes(op);
  if (op.int_lists(AttrKey::kSourceTargetPairs).empty()) handed.clear();
  return handing_on(op, std::move(handed));
}

Evaluation evaluate_permute_start(EvaluateContext& op) {
  if (const auto devices = devices_of_pairs(op))
    return op.has_twins() && !op.has(AttrKey::kSliceSizes) ? permute_among_twins(op, op.operand_leaves())
                                                           : refuse(op, *devices);
  if (op.has(AttrKey::kSliceSizes)) return permute_in_place(op, true);
  std::vector<HandedOn> handed;
  if (!hand_on(op, 0, op.operand_count(), handed)) return refuse_shapes(op);
  if (!op.int_lists(AttrKey::kSourceTargetPairs).empty() &&
      !hand_on(op, op.operand_leaves(), op.operand_count(), handed))
    return refuse_shapes(op);
  return handing_on(op, std::move(handed));
}

// ── ragged-all-to-all ───────────────────────────────────────────

std::optional<int64_t> ragged_row_bytes(const OpContext& op) {
  const ShapeRef input = op.operand_shape(0), output = op.operand_shape(1);
  bool fits = input->is_array() && input->rank() > 0 && input->rank() == output->rank() &&
              input->element_type == output->element_type && op.shape()->element_type == output->element_type;
  for (int64_t d = 1; fits && d < input->rank(); ++d) fits = input->dim(d) == output->dim(d);
  for (int64_t i = 2; i < 6; ++i) fits = fits && is_integer(op.operand_shape(i)->element_type);
  if (!fits) return std::nullopt;
  int64_t row = byte_width(input->element_type);
  for (int64_t d = 1; d < input->rank(); ++d) row = saturating_multiply(row, input->dim(d));
  return row;
}

Evaluation evaluate_ragged_all_to_all(EvaluateContext& op) {
  if (const auto devices = devices_of_groups(op)) return refuse(op, *devices);
  const std::optional<int64_t> row_bytes = ragged_row_bytes(op);
  if (!row_bytes) return op.unsupported();
  return [row = *row_bytes, rows_in = op.operand_shape(0)->dim(0),
          rows_out = op.operand_shape(1)->dim(0)](Invocation& call) {
    const Array source = call.operand(0);
    Array result = call.take(1);
    result.data = writable(call.device().pool(), std::move(result.data), data_bytes(result.shape));
    for (int64_t i = 0; i < call.operand(2).count(); ++i) {
      const int64_t from = integer_at(call.operand(2), i), size = integer_at(call.operand(3), i);
      const int64_t to = integer_at(call.operand(4), i);
      if (size < 0 || from < 0 || from > rows_in - size || to < 0 || to > rows_out - size)
        return call.fail(
            fmt::format("{} rows from {} of {} do not fit at {} of {}", size, from, rows_in, to, rows_out));
      if (size * row > 0)
        std::memcpy(result.bytes() + to * row, source.bytes() + from * row, static_cast<size_t>(size * row));
    }
    call.set_result(std::move(result));
  };
}

}  // namespace hlosim
