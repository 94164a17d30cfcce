// What goes from one device to another: collective-permute, ragged-all-to-all.
#include <algorithm>
#include <cstring>

#include "array/convert_array.h"
#include "evaluate/devices/collective_evaluation.h"
#include "evaluate/devices/collective_exchange.h"
#include "evaluate/devices/moved_slices.h"
#include "evaluate/devices/piece_exchange.h"
#include "ops/leaf_shapes.h"
#include "ops/require.h"

namespace hlosim {
namespace {

struct Transfer {
  std::array<int64_t, 2> pair;  // source, target
  size_t slice;                 // the k-th pair of its source: which slice it takes where each takes one
};

struct Permute {
  std::vector<Transfer> transfers;
  size_t buffers = 0;       // operand leaves that are moved
  size_t first_result = 0;  // the result leaf that takes the first of them
  bool in_place = false;
  bool slice_per_pair = false;
  std::vector<MovedSlice> slices;
  size_t operands = 0;
};

/// The operands of a transfer's source, as this rank needs them; none: this rank is not its target.
std::vector<Array> fetch_source(CollectiveCall& call, const Permute& permute, const Transfer& transfer) {
  PieceExchange exchange(call, transfer.pair);
  const int target = call.run().rank_of(transfer.pair[1]);
  const Invocation& any = call.members().front();
  const auto needed = [&](size_t leaf) { return !permute.in_place || leaf / permute.buffers != 1; };
  for (size_t leaf = 0; leaf < permute.operands; ++leaf)
    if (needed(leaf))
      exchange.want(target, Piece::whole(transfer.pair[0], leaf, data_bytes(any.operand(leaf).shape)));
  exchange.fetch();
  std::vector<Array> operands;
  if (!call.member(transfer.pair[1])) return operands;
  for (size_t leaf = 0; leaf < permute.operands; ++leaf)
    operands.push_back(needed(leaf) ? exchange.whole(transfer.pair[0], leaf) : Array());
  return operands;
}

bool write_slices(const Permute& permute, size_t number, std::span<const Array> source,
                  std::span<Array> outputs) {
  const size_t per_buffer = permute.slices.size() / std::max<size_t>(1, permute.buffers);
  for (size_t i = 0; i < permute.slices.size(); ++i) {
    const MovedSlice& slice = permute.slices[i];
    if (permute.slice_per_pair && i % per_buffer != number) continue;
    if (!move_slice(slice, source, source[slice.buffer], outputs[slice.buffer])) return false;
  }
  return true;
}

void run_permute(CollectiveCall& call, const Permute& permute) {
  const auto members = call.members();
  std::vector<std::vector<Array>> outputs(members.size());
  // All sources are read before any output is written to.
  std::vector<std::vector<Array>> sources;
  for (size_t i = 0; i < permute.transfers.size(); ++i) {
    const Attendance attendance = meet(call, permute.transfers[i].pair, i);
    if (attendance == Attendance::kFailed) return;
    sources.emplace_back();
    if (attendance == Attendance::kAll) sources.back() = fetch_source(call, permute, permute.transfers[i]);
  }
  for (size_t m = 0; permute.in_place && m < members.size(); ++m)
    for (size_t i = 0; i < permute.buffers; ++i) {
      Array output = members[m].take(permute.buffers + i);
      output.data = writable(call.pool(), std::move(output.data), data_bytes(output.shape));
      outputs[m].push_back(std::move(output));
    }
  for (size_t i = 0; i < permute.transfers.size(); ++i) {
    if (sources[i].empty()) continue;
    const auto target = static_cast<size_t>(call.member(permute.transfers[i].pair[1]) - members.data());
    if (!permute.in_place)
      outputs[target] = sources[i];
    else if (!write_slices(permute, permute.transfers[i].slice, sources[i], outputs[target]))
      return call.fail("a slice is outside of its buffer");
  }
  for (size_t m = 0; m < members.size(); ++m) {
    Invocation& member = members[m];
    for (size_t i = 0; i < permute.first_result; ++i) member.set_result(member.operand(i), i);
    for (size_t i = permute.first_result; i < member.result_count(); ++i) {
      if (i - permute.first_result < outputs[m].size())
        member.set_result(std::move(outputs[m][i - permute.first_result]), i);
      else if (Array& zeros = member.make_result(i); data_bytes(zeros.shape) > 0)
        std::memset(zeros.bytes(), 0, static_cast<size_t>(data_bytes(zeros.shape)));
    }
  }
}

/// Each array as it leaves is as it arrives.
bool shapes_fit(const EvaluateContext& op, const Permute& permute) {
  const auto operands = operand_leaves_of(op), results = leaves_of(op.shape());
  if (results.size() < permute.first_result + permute.buffers) return false;
  for (size_t i = 0; i < permute.buffers; ++i) {
    const ShapeRef from = operands[permute.in_place ? permute.buffers + i : i];
    const ShapeRef to = results[permute.first_result + i];
    if (!from->is_array() || !to->is_array() || from->element_type != to->element_type ||
        data_bytes(from) != data_bytes(to))
      return false;
  }
  return true;
}

JointEvaluation permute(EvaluateContext& op, bool is_start) {
  Permute permute;
  const Result<CollectiveGroups> groups = collective_groups(op, *op.grid());
  if (!groups) {
    op.unsupported(groups.error().message);
    return nullptr;
  }
  std::vector<size_t> sent(static_cast<size_t>(op.grid()->devices()), 0);
  for (const auto& pair : groups->pairs)
    permute.transfers.push_back({pair, sent[static_cast<size_t>(pair[0])]++});
  permute.operands = op.operand_leaves();
  permute.in_place = op.has(AttrKey::kSliceSizes);
  permute.buffers =
      permute.in_place ? static_cast<size_t>(leaf_count(op.operand_shape(0))) : permute.operands;
  permute.first_result = is_start ? permute.buffers : 0;
  permute.slice_per_pair = std::any_of(sent.begin(), sent.end(), [](size_t count) { return count > 1; });
  bool fits = shapes_fit(op, permute);
  if (permute.in_place) {
    const auto slices = moved_slices(op);
    fits = fits && slices;
    if (slices) permute.slices = *slices;
    const size_t per_buffer = permute.slices.size() / std::max<size_t>(1, permute.buffers);
    for (const size_t count : sent) fits = fits && (count <= 1 || count <= per_buffer);
  } else {
    fits = fits && !permute.slice_per_pair;
  }
  if (!fits) {
    op.unsupported(fmt::format("{} of {}", text_of(op.shape()), text_of(op.operand_shape(0))));
    return nullptr;
  }
  return [permute = std::move(permute)](CollectiveCall& call) { run_permute(call, permute); };
}

// ── ragged-all-to-all ───────────────────────────────────────────

struct Ragged {
  std::vector<std::vector<int64_t>> groups;
  int64_t row = 0;  // bytes
  int64_t rows_in = 0, rows_out = 0;
};

void run_group(CollectiveCall& call, const Ragged& ragged, std::span<const int64_t> group) {
  constexpr size_t kInput = 0, kInputOffsets = 2, kSendSizes = 3, kOutputOffsets = 4;
  PieceExchange exchange(call, group);
  const Invocation& any = call.members().front();
  for (const int rank : exchange.ranks())
    for (const int64_t device : group)
      for (const size_t leaf : {kInput, kInputOffsets, kSendSizes, kOutputOffsets})
        exchange.want(rank, Piece::whole(device, leaf, data_bytes(any.operand(leaf).shape)));
  exchange.fetch();
  const auto members = static_cast<int64_t>(group.size());
  std::vector<std::vector<Array>> sources;
  for (const int64_t device : group) {
    auto& arrays = sources.emplace_back();
    for (const size_t leaf : {kInput, kInputOffsets, kSendSizes, kOutputOffsets})
      arrays.push_back(exchange.whole(device, leaf));
  }
  for (int64_t to = 0; to < members; ++to) {
    Invocation* target = call.member(group[static_cast<size_t>(to)]);
    if (!target) continue;
    Array result = target->take(1);
    result.data = writable(call.pool(), std::move(result.data), data_bytes(result.shape));
    for (int64_t from = 0; from < members; ++from) {
      const auto& source = sources[static_cast<size_t>(from)];
      const int64_t updates = source[1].count() / members;
      for (int64_t i = to * updates; i < (to + 1) * updates; ++i) {
        const int64_t at = integer_at(source[1], i), size = integer_at(source[2], i),
                      place = integer_at(source[3], i);
        if (size < 0 || at < 0 || at > ragged.rows_in - size || place < 0 || place > ragged.rows_out - size)
          return call.fail(fmt::format("{} rows from {} of {} of {} do not fit at {} of {} of {}", size, at,
                                       ragged.rows_in, call.run().name_of(group[static_cast<size_t>(from)]),
                                       place, ragged.rows_out,
                                       call.run().name_of(group[static_cast<size_t>(to)])));
        if (size * ragged.row > 0)
          std::memcpy(result.bytes() + place * ragged.row, source[0].bytes() + at * ragged.row,
                      static_cast<size_t>(size * ragged.row));
      }
    }
    target->set_result(std::move(result));
  }
}

}  // namespace

JointEvaluation evaluate_permute_among(EvaluateContext& op) { return permute(op, false); }
JointEvaluation evaluate_permute_start_among(EvaluateContext& op) { return permute(op, true); }

JointEvaluation evaluate_ragged_among(EvaluateContext& op) {
  const Result<CollectiveGroups> groups = collective_groups(op, *op.grid());
  if (!groups) {
    op.unsupported(groups.error().message);
    return nullptr;
  }
  const ShapeRef input = op.operand_shape(0), output = op.operand_shape(1);
  const std::optional<int64_t> row = ragged_row_bytes(op);
  bool fits = row.has_value();
  for (const auto& group : groups->groups)
    fits = fits && op.operand_shape(2)->element_count() % static_cast<int64_t>(group.size()) == 0;
  if (!fits) {
    op.unsupported();
    return nullptr;
  }
  Ragged ragged{groups->groups, *row, input->dim(0), output->dim(0)};
  return [ragged = std::move(ragged)](CollectiveCall& call) {
    for (size_t g = 0; g < ragged.groups.size(); ++g) {
      const Attendance attendance = meet(call, ragged.groups[g], g);
      if (attendance == Attendance::kFailed) return;
      if (attendance == Attendance::kAll) run_group(call, ragged, ragged.groups[g]);
      if (call.failed()) return;
    }
  };
}

}  // namespace hlosim
