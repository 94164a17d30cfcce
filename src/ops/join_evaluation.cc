// Running concatenate and pad: results made of several sources.
#include <algorithm>
#include <array>

#include "kernels/strided_copy.h"
#include "ops/data_movement_evaluation.h"

namespace hlosim {

namespace {

__extension__ typedef __int128 Int128;  // sums of products of arbitrary 64-bit attributes

struct ConcatenatePlan {
  ShapeRef result = nullptr;
  size_t along = 0;
  struct Part {
    StridedCopy copy;
    int64_t offset = 0;  // bytes
  };
  std::vector<Part> parts;
};

/// `sizes`: of each operand, which lies by `bounds`.
std::vector<ConcatenatePlan::Part> concatenate_parts(ShapeRef result, size_t along,
                                                     std::span<const std::vector<int64_t>> sizes,
                                                     std::span<const ShapeRef> bounds) {
  const int64_t width = byte_width(result->element_type);
  const std::vector<int64_t> strides = dense_strides(result->dimensions);
  std::vector<ConcatenatePlan::Part> parts;
  int64_t position = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    parts.push_back({StridedCopy(sizes[i], dense_strides(bounds[i]->dimensions), strides, width),
                     position * strides[along] * width});
    position += sizes[i][along];
  }
  return parts;
}

/// Runtime sizes of an operand.
std::vector<int64_t> sizes_of(const Array& array) {
  if (array.sizes) return *array.sizes;
  return {array.shape->dimensions.begin(), array.shape->dimensions.end()};
}

/// What lies within the runtime sizes follows each other.
void concatenate_within_sizes(const ConcatenatePlan& plan, Invocation& call) {
  std::vector<std::vector<int64_t>> sizes;
  std::vector<ShapeRef> bounds;
  std::vector<int64_t> total(plan.result->dimensions.begin(), plan.result->dimensions.end());
  total[plan.along] = 0;
  for (size_t i = 0; i < call.operand_count(); ++i) {
    sizes.push_back(sizes_of(call.operand(i)));
    bounds.push_back(call.operand(i).shape);
    for (size_t d = 0; d < total.size(); ++d)
      total[d] = d == plan.along ? total[d] + sizes[i][d] : std::min(total[d], sizes[i][d]);
  }
  const auto parts = concatenate_parts(plan.result, plan.along, sizes, bounds);
  Array& result = call.make_result();
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i].copy.run(call.operand(i).bytes(), result.bytes() + parts[i].offset);
  if (!std::ranges::equal(total, plan.result->dimensions))
    result.sizes = std::make_shared<const std::vector<int64_t>>(std::move(total));
}

}  // namespace

Evaluation evaluate_concatenate(EvaluateContext& op) {
  ConcatenatePlan plan{op.shape(), static_cast<size_t>(op.ints(AttrKey::kDimensions)[0]), {}};
  std::vector<std::vector<int64_t>> sizes;
  std::vector<ShapeRef> bounds;
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    const ShapeRef operand = op.operand_shape(i);
    if (operand->element_type != plan.result->element_type) return op.unsupported();
    sizes.emplace_back(operand->dimensions.begin(), operand->dimensions.end());
    bounds.push_back(operand);
  }
  plan.parts = concatenate_parts(plan.result, plan.along, sizes, bounds);
  return [plan = std::move(plan)](Invocation& call) {
    if (plan.parts.size() == 1) return call.set_result(call.take(0));
    for (size_t i = 0; i < plan.parts.size(); ++i)
      if (call.operand(i).sizes) return concatenate_within_sizes(plan, call);
    std::byte* out = call.make_result().bytes();
    for (size_t i = 0; i < plan.parts.size(); ++i)
      plan.parts[i].copy.run(call.operand(i).bytes(), out + plan.parts[i].offset);
  };
}

namespace {

// Where the elements of one dimension go that padding leaves in the result.
struct PaddedDimension {
  int64_t first = 0, count = 0;  // elements of the operand
  int64_t position = 0;          // of the first, in the result
  int64_t step = 1;
};

PaddedDimension padded(int64_t size, int64_t result_size, std::span<const int64_t> padding) {
  const Int128 low = padding[0], step = Int128{padding[2]} + 1;
  const Int128 first = low < 0 ? (-low + step - 1) / step : 0;
  // The last one at a position below result_size.
  const Int128 last = result_size > low ? std::min<Int128>(size - 1, (result_size - 1 - low) / step) : -1;
  if (last < first) return {};
  return {static_cast<int64_t>(first), static_cast<int64_t>(last - first + 1),
          static_cast<int64_t>(low + first * step), last > first ? static_cast<int64_t>(step) : 1};
}

struct PadPlan {
  StridedCopy copy;
  int64_t source = 0, destination = 0;  // bytes
  int64_t kept = 1;                     // elements of the operand
};

using Paddings = std::vector<std::array<int64_t, 3>>;

/// `sizes` and `padded_sizes` may be smaller than the bounds, by which both arrays lie.
PadPlan plan_pad(ShapeRef operand, std::span<const int64_t> sizes, ShapeRef result,
                 std::span<const int64_t> padded_sizes, const Paddings& padding) {
  const int64_t width = byte_width(result->element_type);
  const std::vector<int64_t> from = dense_strides(operand->dimensions),
                             to = dense_strides(result->dimensions);
  std::vector<int64_t> counts, strides;
  PadPlan plan;
  for (size_t i = 0; i < padding.size(); ++i) {
    const PaddedDimension dimension = padded(sizes[i], padded_sizes[i], padding[i]);
    counts.push_back(dimension.count);
    strides.push_back(dimension.step * to[i]);
    plan.source += dimension.first * from[i] * width;
    plan.destination += dimension.position * to[i] * width;
    plan.kept *= dimension.count;
  }
  plan.copy = StridedCopy(counts, from, strides, width);
  return plan;
}

/// Size of a padded dimension: 0 to the bound.
int64_t padded_size(int64_t size, std::span<const int64_t> padding, int64_t bound) {
  const Int128 holes = Int128{std::max<int64_t>(size - 1, 0)} * padding[2];
  return static_cast<int64_t>(std::clamp<Int128>(Int128{size} + holes + padding[0] + padding[1], 0, bound));
}

}  // namespace

Evaluation evaluate_pad(EvaluateContext& op) {
  const ShapeRef operand = op.operand_shape(0), result = op.shape();
  const ElementType type = result->element_type;
  if (operand->element_type != type || op.operand_shape(1)->element_type != type) return op.unsupported();
  Paddings padding;
  for (const std::span<const int64_t> entry : op.int_lists(AttrKey::kPadding))
    padding.push_back({entry[0], entry[1], entry[2]});
  PadPlan plan = plan_pad(operand, operand->dimensions, result, result->dimensions, padding);
  return [plan = std::move(plan), operand, result, padding](Invocation& call) {
    std::vector<int64_t> sizes;
    PadPlan within;
    if (call.operand(0).sizes) {
      for (size_t i = 0; i < padding.size(); ++i)
        sizes.push_back(padded_size((*call.operand(0).sizes)[i], padding[i], result->dimensions[i]));
      within = plan_pad(operand, *call.operand(0).sizes, result, sizes, padding);
    }
    const PadPlan& now = sizes.empty() ? plan : within;
    Array& out = call.make_result();
    const int64_t count = result->element_count();
    if (now.kept < count)
      fill_elements(out.bytes(), call.operand(1).bytes(), byte_width(result->element_type), count);
    if (now.kept > 0) now.copy.run(call.operand(0).bytes() + now.source, out.bytes() + now.destination);
    if (!sizes.empty() && !std::ranges::equal(sizes, result->dimensions))
      out.sizes = std::make_shared<const std::vector<int64_t>>(std::move(sizes));
  };
}

}  // namespace hlosim
