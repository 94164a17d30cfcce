#include "evaluate/ordering_evaluation.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "algorithms/sort_keys.h"
#include "cpu_kernels/strided_copy.h"
#include "evaluate/called_computation.h"
#include "evaluate/sort_comparator_pattern.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kMostSorted = int64_t{1} << 32;

template <class T>
void permute(const std::byte* in, const uint32_t* permutation, int64_t n, std::byte* out) {
  constexpr int64_t kWidth = sizeof(T);
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(out + i * kWidth, in + int64_t{permutation[i]} * kWidth, sizeof(T));
}

/// out[i] ← in[permutation[i]]
void permute(int64_t width, const std::byte* in, const uint32_t* permutation, int64_t n, std::byte* out) {
  switch (width) {
    case 1:
      return permute<uint8_t>(in, permutation, n, out);
    case 2:
      return permute<uint16_t>(in, permutation, n, out);
    case 4:
      return permute<uint32_t>(in, permutation, n, out);
    case 8:
      return permute<uint64_t>(in, permutation, n, out);
    default:
      return permute<std::array<uint64_t, 2>>(in, permutation, n, out);
  }
}

// ── sort ────────────────────────────────────────────────────────

struct SortPlan {
  std::optional<RecognisedOrder> recognised;
  AppliedComputation before;    // else
  std::vector<int64_t> widths;  // bytes of the operands' elements
  int64_t dimension = 0;
  int64_t length = 0, lines = 0;                  // elements of a sorted line by the bounds, and such lines
  std::vector<StridedCopy> to_lines, from_lines;  // where a line is not in one piece
};

/// Sorts numbers 0 … n-1 by the comparison of the elements at these numbers; equals stay in order.
void sort_by_computation(const SortPlan& plan, std::span<const std::byte* const> lines, Applier& applier,
                         std::span<uint32_t> permutation) {
  std::vector<const void*> arguments(2 * lines.size());
  std::iota(permutation.begin(), permutation.end(), 0u);
  std::stable_sort(permutation.begin(), permutation.end(), [&](uint32_t a, uint32_t b) {
    for (size_t k = 0; k < lines.size(); ++k) {
      arguments[2 * k] = lines[k] + a * plan.widths[k];
      arguments[2 * k + 1] = lines[k] + b * plan.widths[k];
    }
    std::byte before{};
    void* out[] = {&before};
    applier.run(arguments.data(), out, 1);
    return before != std::byte{0};
  });
}

/// The same by keys, which `runner` computes where they aren't the elements. `room` is kept for the next
/// line.
void sort_by_key(const RecognisedOrder& recognised, ElementRunner* runner,
                 std::span<const std::byte* const> lines, std::vector<std::byte>& room,
                 std::span<uint32_t> permutation) {
  const auto n = static_cast<int64_t>(permutation.size());
  const std::byte* keys = lines[recognised.operand];
  if (runner != nullptr) {
    room.resize(static_cast<size_t>(n * byte_width(recognised.order.type)));
    const void* in[] = {keys};
    void* out[] = {room.data()};
    runner->run(in, out, n);
    keys = room.data();
  }
  sorted_order(recognised.order, keys, n, permutation.data());
}

/// Sorts the first `length` elements of lines of dense elements; those behind them stay.
void sort_lines(const SortPlan& plan, int64_t length, DeviceState& device,
                std::span<const std::byte* const> in, std::span<std::byte* const> out) {
  const auto lines = [&](int64_t begin, int64_t end) {
    std::vector<uint32_t> permutation(static_cast<size_t>(plan.length));
    std::iota(permutation.begin(), permutation.end(), 0u);
    const std::span<uint32_t> sorted(permutation.data(), static_cast<size_t>(length));
    std::optional<Applier> applier;
    std::optional<ElementRunner> key;
    if (plan.recognised && plan.recognised->key) key.emplace(*plan.recognised->key);
    std::vector<std::byte> keys;
    if (!plan.recognised) applier.emplace(plan.before, device, 1);
    std::vector<const std::byte*> line(in.size());
    for (int64_t l = begin; l < end; ++l) {
      for (size_t k = 0; k < in.size(); ++k) line[k] = in[k] + l * plan.length * plan.widths[k];
      if (plan.recognised)
        sort_by_key(*plan.recognised, key ? &*key : nullptr, line, keys, sorted);
      else
        sort_by_computation(plan, line, *applier, sorted);
      for (size_t k = 0; k < in.size(); ++k)
        permute(plan.widths[k], line[k], permutation.data(), plan.length,
                out[k] + l * plan.length * plan.widths[k]);
    }
  };
  if (plan.recognised || plan.before.is_parallel())
    parallel_for(plan.lines, std::max<int64_t>(1, 4096 / std::max<int64_t>(1, plan.length)), lines);
  else
    lines(0, plan.lines);
}

void run_sort(const SortPlan& plan, Invocation& call) {
  MemoryPool& pool = call.device().pool();
  const size_t count = plan.widths.size();
  std::vector<Buffer> own_in(count), own_out(count);
  std::vector<const std::byte*> in(count);
  std::vector<std::byte*> out(count);
  for (size_t k = 0; k < count; ++k) {
    in[k] = call.operand(k).bytes();
    Array& result = call.make_result(k);
    result.sizes = call.operand(k).sizes;
    out[k] = result.bytes();
    if (plan.to_lines.empty()) continue;
    own_in[k] = pool.allocate(data_bytes(result.shape));
    own_out[k] = pool.allocate(data_bytes(result.shape));
    plan.to_lines[k].run(in[k], own_in[k].data());
    in[k] = own_in[k].data();
    out[k] = own_out[k].data();
  }
  int64_t length = plan.length;
  for (size_t k = 0; k < count; ++k) length = std::min(length, call.operand(k).size(plan.dimension));
  sort_lines(plan, length, call.device(), in, out);
  for (size_t k = 0; k < count && !plan.from_lines.empty(); ++k)
    plan.from_lines[k].run(out[k], call.result(k).bytes());
}

}  // namespace

Evaluation evaluate_sort(EvaluateContext& op) {
  auto plan = std::make_shared<SortPlan>();
  const ShapeRef shape = op.operand_shape(0);
  const int64_t along = op.ints(AttrKey::kDimensions)[0];
  plan->dimension = along;
  plan->length = shape->dim(along);
  plan->lines = plan->length == 0 ? 0 : shape->element_count() / plan->length;
  if (plan->length >= kMostSorted) return op.unsupported("more than 2^32 - 1 elements to sort together");
  std::vector<ElementType> given;
  std::vector<ShapeRef> results;
  for_each_leaf(op.shape(), [&](ShapeRef leaf) { results.push_back(leaf); });
  const std::vector<int64_t> strides = dense_strides(shape->dimensions);
  std::vector<int64_t> sizes, from;
  for (int64_t i = 0; i <= shape->rank(); ++i) {
    const int64_t d = i < shape->rank() ? i : along;
    if (i == along) continue;
    sizes.push_back(shape->dim(d));
    from.push_back(strides[static_cast<size_t>(d)]);
  }
  for (int64_t k = 0; k < op.operand_count(); ++k) {
    const ElementType type = op.operand_shape(k)->element_type;
    if (results[static_cast<size_t>(k)]->element_type != type) return op.unsupported();
    plan->widths.push_back(byte_width(type));
    given.insert(given.end(), 2, type);
    if (from.back() == 1) continue;
    plan->to_lines.emplace_back(sizes, from, dense_strides(sizes), plan->widths.back());
    plan->from_lines.emplace_back(sizes, dense_strides(sizes), from, plan->widths.back());
  }
  plan->recognised = sort_comparator_pattern(op);
  const ElementType wanted[] = {ElementType::kPred};
  if (!plan->recognised && !plan->before.make(op, op.called(), given, wanted)) return nullptr;
  return [plan](Invocation& call) { run_sort(*plan, call); };
}

// ── top-k ───────────────────────────────────────────────────────

Evaluation evaluate_topk(EvaluateContext& op) {
  const ShapeRef operand = op.operand_shape(0);
  const ElementType type = operand->element_type;
  const ShapeRef values = op.shape()->elements[0];
  const int64_t n = operand->dimensions.back(), k = op.integer(AttrKey::kK);
  if (!has_key_order(type) || values->element_type != type ||
      op.shape()->elements[1]->element_type != ElementType::kS32)
    return op.unsupported();
  if (n >= kMostSorted) return op.unsupported("more than 2^32 - 1 elements to choose from");
  const KeyOrder order{type, true, op.flag(AttrKey::kLargest, true)};
  const int64_t lines = k == 0 ? 0 : values->element_count() / k, width = byte_width(type);
  return [order, n, k, lines, width](Invocation& call) {
    const std::byte* in = call.operand(0).bytes();
    std::byte* out = call.make_result(0).bytes();
    int32_t* indices = call.out<int32_t>(1);
    parallel_for(lines, std::max<int64_t>(1, 4096 / std::max<int64_t>(1, n)),
                 [&](int64_t begin, int64_t end) {
                   std::vector<uint32_t> chosen(static_cast<size_t>(k));
                   for (int64_t l = begin; l < end; ++l) {
                     first_in_order(order, in + l * n * width, n, k, chosen.data());
                     permute(width, in + l * n * width, chosen.data(), k, out + l * k * width);
                     std::copy(chosen.begin(), chosen.end(), indices + l * k);
                   }
                 });
  };
}

}  // namespace hlosim
