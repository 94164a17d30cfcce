#include "evaluate/devices/mirrored_peers.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/saturating.h"
#include "evaluate/called_computation.h"
#include "ops/collective_groups.h"
#include "ops/leaf_shapes.h"
#include "ops/require.h"
#include "ops/work.h"

namespace hlosim {
namespace {

// The group of the device that runs, number 0, and its place there.
struct Twins {
  int64_t members = 1;
  int64_t position = 0;
};

Result<Twins> twins_of(const EvaluateContext& op) {
  const Result<DeviceGrid> grid = device_grid(op.module(), op.table());
  if (!grid) return tl::unexpected(grid.error());
  const Result<CollectiveGroups> groups = collective_groups(op, *grid);
  if (!groups) return tl::unexpected(groups.error());
  for (const std::vector<int64_t>& group : groups->groups) {
    const auto self = std::find(group.begin(), group.end(), 0);
    if (self != group.end()) return Twins{static_cast<int64_t>(group.size()), self - group.begin()};
  }
  return Twins{};
}

// An array as `outer` rows of `count` parts, each `bytes` long, along a dimension.
struct TwinParts {
  int64_t outer = 1, count = 1, bytes = 0;

  static TwinParts along(ShapeRef shape, int64_t dimension, int64_t count) {
    TwinParts parts{1, count, byte_width(shape->element_type)};
    for (int64_t d = 0; d < shape->rank(); ++d) {
      if (d < dimension) parts.outer = saturating_multiply(parts.outer, shape->dim(d));
      if (d >= dimension) parts.bytes = saturating_multiply(parts.bytes, shape->dim(d));
    }
    parts.bytes /= count;
    return parts;
  }
};

// Each row of `out` is `repeats` times part `part` of the same row of `in`.
void repeat_part(const std::byte* in, const TwinParts& parts, int64_t part, int64_t repeats, std::byte* out) {
  for (int64_t row = 0; row < parts.outer; ++row)
    for (int64_t i = 0; i < repeats; ++i, out += parts.bytes)
      std::memcpy(out, in + (row * parts.count + part) * parts.bytes, static_cast<size_t>(parts.bytes));
}

// x ⊕ x ⊕ …, `members` times, folded from the left.
void fold_twins(const AppliedComputation& computation, DeviceState& device, const Array& in, int64_t members,
                std::byte* out) {
  std::memcpy(out, in.bytes(), static_cast<size_t>(data_bytes(in.shape)));
  Applier applier(computation, device);
  const void* arguments[] = {out, in.bytes()};
  void* results[] = {out};
  for (int64_t i = 1; i < members; ++i) applier.run(arguments, results, in.count());
}

// What becomes of one operand leaf.
struct Exchange {
  size_t operand, result;
  bool reduces = false;
  TwinParts parts;  // of the operand
  int64_t part = 0, repeats = 1;
};

using Combiner = std::shared_ptr<AppliedComputation>;

Evaluation exchanging(std::vector<Exchange> exchanges, int64_t members, std::vector<Combiner> computations,
                      size_t copies) {
  return [=](Invocation& call) {
    for (size_t i = 0; i < copies; ++i) call.set_result(call.operand(i), i);
    for (const Exchange& e : exchanges) {
      Buffer reduced;
      const std::byte* source = call.operand(e.operand).bytes();
      if (e.reduces) {
        reduced = call.device().pool().allocate(data_bytes(call.operand(e.operand).shape));
        fold_twins(*computations[e.operand], call.device(), call.operand(e.operand), members, reduced.data());
        source = reduced.data();
      }
      repeat_part(source, e.parts, e.part, e.repeats, call.make_result(e.result).bytes());
    }
    for (size_t i = copies + exchanges.size(); i < call.result_count(); ++i)
      if (const Array& context = call.make_result(i); context.data)
        std::memset(context.bytes(), 0, static_cast<size_t>(data_bytes(context.shape)));
  };
}

}  // namespace

Evaluation evaluate_among_twins(EvaluateContext& op) {
  const Result<Twins> twins = twins_of(op);
  if (!twins) return op.unsupported(twins.error().message);
  const Work work = work_of(op);
  HLOSIM_CHECK(work.collective, "{} is not a collective", op.instruction().name);
  const CollectiveKind kind = work.collective->kind;
  const bool reduces = kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter;
  const auto operands = operand_leaves_of(op), results = leaves_of(op.shape());
  // A start that keeps its operands has them in front of its results.
  const size_t copies = op.def().has(kAsyncStart) && kind == CollectiveKind::kAllGather ? operands.size() : 0;
  const auto dimensions = op.ints(AttrKey::kDimensions);
  const int64_t dimension = dimensions.empty() ? 0 : dimensions[0];
  const bool exchanges_operands = kind == CollectiveKind::kAllToAll && dimensions.empty();

  std::vector<Exchange> exchanges;
  std::vector<Combiner> computations;
  const size_t values = op.flag(AttrKey::kHasDynamicRoot) ? operands.size() - 1 : operands.size();
  for (size_t i = 0; i < values; ++i) {
    Exchange e{i, copies + i, reduces, TwinParts::along(operands[i], 0, 1), 0, 1};
    if (exchanges_operands) e.operand = static_cast<size_t>(twins->position);
    if (kind == CollectiveKind::kAllGather) {
      e.parts = TwinParts::along(operands[i], dimension, 1);
      e.repeats = twins->members;
    } else if (kind == CollectiveKind::kReduceScatter ||
               (kind == CollectiveKind::kAllToAll && !exchanges_operands)) {
      e.parts = TwinParts::along(operands[i], dimension, twins->members);
      e.part = twins->position;
      if (kind == CollectiveKind::kAllToAll) e.repeats = twins->members;
    }
    if (e.operand >= operands.size() || e.result >= results.size() ||
        operands[e.operand]->element_type != results[e.result]->element_type ||
        saturating_multiply(saturating_multiply(e.parts.outer, e.parts.bytes), e.repeats) !=
            data_bytes(results[e.result]))
      return op.unsupported(fmt::format("{} of {} among {} devices", text_of(op.shape()),
                                        text_of(op.operand_shape(0)), twins->members));
    exchanges.push_back(e);
    if (!reduces) continue;
    const ElementType type = operands[i]->element_type;
    const ElementType given[] = {type, type}, wanted[] = {type};
    computations.push_back(std::make_shared<AppliedComputation>());
    if (!computations.back()->make(op, op.called(), given, wanted)) return nullptr;
  }
  return exchanging(std::move(exchanges), twins->members, std::move(computations), copies);
}

Evaluation permute_among_twins(EvaluateContext& op, size_t first_result) {
  const auto pairs = op.int_lists(AttrKey::kSourceTargetPairs);
  const bool receives = std::any_of(pairs.begin(), pairs.end(), [](auto pair) { return pair[1] == 0; });
  const size_t operands = op.operand_leaves();
  return [=](Invocation& call) {
    for (size_t i = 0; i < first_result; ++i) call.set_result(call.operand(i), i);
    for (size_t i = first_result; i < call.result_count(); ++i) {
      if (receives && i - first_result < operands) {
        call.set_result(call.operand(i - first_result), i);
      } else if (const Array& result = call.make_result(i); result.data) {
        std::memset(result.bytes(), 0, static_cast<size_t>(data_bytes(result.shape)));
      }
    }
  };
}

}  // namespace hlosim
