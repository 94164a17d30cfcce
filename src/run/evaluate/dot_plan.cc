#include "evaluate/dot_plan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "array/array.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

// ── Types ───────────────────────────────────────────────────────

/// What sums of results of a type are computed in, at the most general.
ElementType sum_type(ElementType result) {
  if (is_complex(result) || result == ElementType::kF64) return result;
  return is_float(result) ? ElementType::kF32 : ElementType::kS64;
}

struct TypePlan {
  std::vector<ElementType> lhs,
      rhs;           // what operands become one after another, the last of which is multiplied
  ElementType sums;  // the product's own result
};

TypePlan type_plan(ElementType lhs, ElementType rhs, ElementType result) {
  const ElementType widest = sum_type(result);
  if (!converts_losslessly(lhs, result)) lhs = result;
  if (!converts_losslessly(rhs, result)) rhs = result;
  if (matmul_supports(lhs, rhs, result)) return {{lhs}, {rhs}, result};
  if (matmul_supports(result, result, result)) return {{result}, {result}, result};
  if (matmul_supports(lhs, rhs, widest)) return {{lhs}, {rhs}, widest};
  return {{lhs, widest}, {rhs, widest}, widest};
}

// ── Dimensions ──────────────────────────────────────────────────

/// Dimensions that play one part, seen as one.
struct Part {
  std::vector<int64_t> sizes, strides;

  int64_t size() const {
    int64_t product = 1;
    for (const int64_t size : sizes) product *= size;
    return product;
  }
  /// The stride of all as one dimension, if there is one.
  std::optional<int64_t> stride() const {
    std::optional<int64_t> stride;
    int64_t expected = 0;
    for (size_t i = sizes.size(); i-- > 0;) {
      if (sizes[i] == 1) continue;
      if (stride && strides[i] != expected) return std::nullopt;
      if (!stride) stride = strides[i];
      expected = strides[i] * sizes[i];
    }
    return stride.value_or(1);
  }
};

Part part_of(const DotOperand& operand, std::span<const int64_t> dimensions) {
  const std::vector<int64_t> strides = dense_strides(operand.dimensions);
  Part part;
  for (const int64_t i : dimensions) {
    part.sizes.push_back(operand.dimensions[static_cast<size_t>(i)]);
    part.strides.push_back(strides[static_cast<size_t>(i)]);
  }
  return part;
}

std::vector<int64_t> free_dimensions(const DotOperand& operand, std::span<const int64_t> batch,
                                     std::span<const int64_t> contracting) {
  std::vector<int64_t> free;
  const auto has = [](std::span<const int64_t> list, int64_t i) {
    return std::find(list.begin(), list.end(), i) != list.end();
  };
  for (int64_t i = 0; i < static_cast<int64_t>(operand.dimensions.size()); ++i)
    if (!has(batch, i) && !has(contracting, i)) free.push_back(i);
  return free;
}

/// An operand as [batch, free, depth], in memory as it is or copied so.
struct Arranged {
  std::vector<int64_t> batch_strides;
  int64_t free_stride = 0, depth_stride = 0;
  std::optional<StridedCopy> copy;
};

Arranged arranged(const Part& batch, const Part& free, const Part& depth, int64_t width) {
  const auto free_stride = free.stride(), depth_stride = depth.stride();
  if (free_stride && depth_stride) return {batch.strides, *free_stride, *depth_stride, std::nullopt};
  std::vector<int64_t> sizes, strides;
  for (const Part* part : {&batch, &free, &depth}) {
    sizes.insert(sizes.end(), part->sizes.begin(), part->sizes.end());
    strides.insert(strides.end(), part->strides.begin(), part->strides.end());
  }
  const std::vector<int64_t> dense = dense_strides(sizes);
  return {{dense.begin(), dense.begin() + static_cast<int64_t>(batch.sizes.size())},
          depth.size(),
          1,
          StridedCopy(sizes, strides, dense, width)};
}

/// Contracting pairs in the order that they have in lhs, so that neighbours in memory are neighbours here.
void sort_pairs(std::vector<int64_t>& lhs, std::vector<int64_t>& rhs) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (size_t i = 0; i < lhs.size(); ++i) pairs.emplace_back(lhs[i], rhs[i]);
  std::sort(pairs.begin(), pairs.end());
  for (size_t i = 0; i < lhs.size(); ++i) std::tie(lhs[i], rhs[i]) = pairs[i];
}

}  // namespace

bool converts_losslessly(ElementType from, ElementType to) {
  using enum ElementType;
  if (from == to) return true;
  if (is_integer(to)) return is_integer(from) || is_pred(from);
  if (!is_float(from)) return false;
  switch (to) {
    case kF64:
      return true;
    case kF32:
      return from != kF64;
    case kBF16:
      return bit_width(from) <= 8;
    case kF16:
      return bit_width(from) <= 8 && from != kF8E8M0FNU;
    default:
      return false;
  }
}

bool append_conversions(ElementType from, std::span<const ElementType> steps,
                        std::vector<ConvertElements>& list) {
  for (const ElementType to : steps) {
    if (from == to) continue;
    list.emplace_back(from, to);
    if (!list.back().supported()) return false;
    from = to;
  }
  return true;
}

ConvertElements::ConvertElements(ElementType source, ElementType target) : from(source), to(target) {
  if (from != to) kernel = element_kernel(ElementOp::kConvert, source, target);
}

void ConvertElements::run(const std::byte* source, std::byte* target, int64_t count) const {
  if (from == to) {
    if (count > 0) std::memcpy(target, source, static_cast<size_t>(count * byte_width(from)));
    return;
  }
  parallel_for(count, 16 << 10, [&](int64_t begin, int64_t end) {
    const void* in[] = {source + begin * byte_width(from)};
    kernel.fn(target + begin * byte_width(to), in, kernel.immediate, end - begin);
  });
}

std::optional<DotPlan> DotPlan::make(const DotOperand& lhs, const DotOperand& rhs, const DotRoles& roles,
                                     ElementType result) {
  DotPlan plan;
  const TypePlan types = type_plan(lhs.type, rhs.type, result);
  if (!append_conversions(lhs.type, types.lhs, plan.lhs_.conversions) ||
      !append_conversions(rhs.type, types.rhs, plan.rhs_.conversions) ||
      !append_conversions(types.sums, std::array{result}, plan.result_conversions_))
    return std::nullopt;

  DotRoles sorted = roles;
  sort_pairs(sorted.lhs_contracting, sorted.rhs_contracting);
  const Part lhs_batch = part_of(lhs, sorted.lhs_batch), rhs_batch = part_of(rhs, sorted.rhs_batch);
  const Part lhs_depth = part_of(lhs, sorted.lhs_contracting),
             rhs_depth = part_of(rhs, sorted.rhs_contracting);
  const Part rows = part_of(lhs, free_dimensions(lhs, sorted.lhs_batch, sorted.lhs_contracting));
  const Part columns = part_of(rhs, free_dimensions(rhs, sorted.rhs_batch, sorted.rhs_contracting));
  Arranged left = arranged(lhs_batch, rows, lhs_depth, byte_width(types.lhs.back()));
  Arranged right = arranged(rhs_batch, columns, rhs_depth, byte_width(types.rhs.back()));

  const int64_t m = rows.size(), n = columns.size(), k = lhs_depth.size(), batches = lhs_batch.size();
  plan.lhs_.count = batches * m * k;
  plan.rhs_.count = batches * k * n;
  plan.result_count_ = batches * m * n;
  plan.lhs_.copy = std::move(left.copy);
  plan.rhs_.copy = std::move(right.copy);
  plan.lhs_.width = byte_width(types.lhs.back());
  plan.rhs_.width = byte_width(types.rhs.back());
  plan.matmul_ = {.m = m,
                  .n = n,
                  .k = k,
                  .lhs = {nullptr, types.lhs.back(), left.free_stride, left.depth_stride},
                  .rhs = {nullptr, types.rhs.back(), right.depth_stride, right.free_stride},
                  .result = {nullptr, types.sums, n, 1}};
  int64_t result_stride = plan.result_count_;
  for (size_t i = 0; i < lhs_batch.sizes.size(); ++i) {
    result_stride /= std::max<int64_t>(lhs_batch.sizes[i], 1);
    plan.batch_.push_back({lhs_batch.sizes[i], left.batch_strides[i], right.batch_strides[i], result_stride});
  }
  return plan;
}

const std::byte* DotPlan::prepare(const Preparation& preparation, MemoryPool& pool, const std::byte* data,
                                  Buffer& kept) {
  for (const ConvertElements& conversion : preparation.conversions) {
    Buffer converted = pool.allocate(preparation.count * byte_width(conversion.to));
    conversion.run(data, converted.data(), preparation.count);
    kept = std::move(converted);
    data = kept.data();
  }
  if (preparation.copy) {
    Buffer copied = pool.allocate(preparation.count * preparation.width);
    preparation.copy->run(data, copied.data());
    kept = std::move(copied);
    data = kept.data();
  }
  return data;
}

void DotPlan::run(MemoryPool& pool, const std::byte* lhs, const std::byte* rhs, std::byte* result) const {
  if (result_count_ == 0) return;
  Buffer lhs_kept, rhs_kept, sums;
  Matmul product = matmul_;
  product.batch = batch_;
  product.lhs.data = prepare(lhs_, pool, lhs, lhs_kept);
  product.rhs.data = prepare(rhs_, pool, rhs, rhs_kept);
  product.result.data = result;
  if (!result_conversions_.empty()) {
    sums = pool.allocate(result_count_ * byte_width(product.result.type));
    product.result.data = sums.data();
  }
  matmul(product);
  for (const ConvertElements& conversion : result_conversions_)
    conversion.run(sums.data(), result, result_count_);
}

}  // namespace hlosim
