#include "ops/xla_cost_rules.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/rounding.h"

namespace hlosim {
namespace {

// int64 arithmetic as XLA's, which wraps around.
int64_t times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

float to_float(int64_t value) { return static_cast<float>(value); }
float size_of(ShapeRef shape) { return to_float(xla_byte_size(shape)); }

int64_t elements_of(ShapeRef shape) { return shape->is_array() ? shape->element_count() : 1; }

ShapeRef first_array(ShapeRef shape) { return shape->is_tuple() ? shape->elements[0] : shape; }

/// Negative numbers count from the end, as in XLA.
int64_t dimension_of(ShapeRef shape, int64_t number) {
  return shape->dim(number < 0 ? number + shape->rank() : number);
}

void no_traffic(XlaCost& cost) {
  cost.bytes_accessed = 0;
  cost.output_bytes = 0;
  std::fill(cost.operand_bytes.begin(), cost.operand_bytes.end(), 0.0f);
}

int64_t window_elements(const OpContext& op) {
  int64_t count = 1;
  for (const WindowDimension& dimension : op.window()) count = times(count, dimension.size);
  return count;
}

/// The computation's flops and transcendentals `count` times, instead of what was there; a counter
/// that the computation leaves at 0 is left alone.
void apply(const XlaCost& computation, int64_t count, XlaCost& cost) {
  if (computation.flops != 0) cost.flops = computation.flops * to_float(count);
  if (computation.transcendentals != 0) cost.transcendentals = computation.transcendentals * to_float(count);
}

int64_t ceil_log2(int64_t value) { return value <= 1 ? 0 : std::bit_width(static_cast<uint64_t>(value) - 1); }
int64_t floor_log2(int64_t value) {
  return static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(value))) - 1;
}

}  // namespace

// ── elementwise ─────────────────────────────────────────────────

void xla_cost_flop_per_element(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  cost.flops = to_float(elements_of(op.shape()));
}

void xla_cost_transcendental_per_element(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  cost.transcendentals = to_float(elements_of(op.shape()));
}

// ── no traffic ──────────────────────────────────────────────────

void xla_cost_nothing(const OpContext&, const XlaCostContext&, XlaCost& cost) { no_traffic(cost); }

void xla_cost_tuple(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  no_traffic(cost);
  cost.bytes_accessed = cost.output_bytes = size_of(op.shape());
}

// ── data movement ───────────────────────────────────────────────

void xla_cost_slice(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  cost.operand_bytes[0] = cost.output_bytes;
  cost.bytes_accessed = to_float(times(xla_byte_size(op.shape()), 2));
}

// Of several start indices only the first one is counted.
void xla_cost_dynamic_slice(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  cost.operand_bytes[0] = cost.output_bytes;
  const int64_t index = op.operand_count() > 1 ? xla_byte_size(op.operand_shape(1)) : 0;
  cost.bytes_accessed = to_float(times(xla_byte_size(op.shape()), 2) + index);
}

// The result is the updated operand in place.
void xla_cost_dynamic_update_slice(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  const int64_t update = xla_byte_size(op.operand_shape(1));
  const int64_t index = op.operand_count() > 2 ? xla_byte_size(op.operand_shape(2)) : 0;
  cost.operand_bytes[0] = 0;
  cost.output_bytes = to_float(update);
  cost.bytes_accessed = to_float(times(update, 2) + index);
}

void xla_cost_transpose(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  const ShapeRef from = op.operand_shape(0), to = op.shape();
  if (!from->layout || !to->layout) return;
  const auto dimensions = op.ints(AttrKey::kDimensions);
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const auto target = static_cast<size_t>(to->layout->minor_to_major[i]);
    if (dimensions[target] != from->layout->minor_to_major[i]) return;
  }
  no_traffic(cost);
}

void xla_cost_gather(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  cost.operand_bytes[0] = cost.output_bytes = size_of(op.shape());
  cost.bytes_accessed = to_float(times(xla_byte_size(op.shape()), 2) + xla_byte_size(op.operand_shape(1)));
}

// Reads and writes as much of the operands as there are updates. operands: n arrays, indices, n updates.
void xla_cost_scatter(const OpContext& op, const XlaCostContext& context, XlaCost& cost) {
  const int64_t count = op.operand_count() / 2;
  int64_t updates = 0;
  cost.operand_bytes.assign(static_cast<size_t>(op.operand_count()), 0.0f);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t update = xla_byte_size(op.operand_shape(count + 1 + i));
    cost.operand_bytes[static_cast<size_t>(i)] = to_float(update);
    cost.operand_bytes[static_cast<size_t>(count + 1 + i)] = to_float(update);
    updates += update;
  }
  const int64_t indices = xla_byte_size(op.operand_shape(count));
  cost.operand_bytes[static_cast<size_t>(count)] = to_float(indices);
  cost.output_bytes = to_float(updates);
  cost.bytes_accessed = to_float(times(updates, 3) + indices);
  apply(context.of(op.called()), elements_of(op.operand_shape(count + 1)), cost);
}

// ── contraction and linear algebra ──────────────────────────────

namespace {

constexpr int64_t kFlopsPerMultiplyAdd = 2;

void dot_flops(const OpContext& op, int64_t result_elements, XlaCost& cost) {
  int64_t depth = 1;
  for (const int64_t dimension : op.ints(AttrKey::kLhsContractingDims))
    depth = times(depth, op.operand_shape(0)->dim(dimension));
  cost.flops = to_float(times(times(kFlopsPerMultiplyAdd, result_elements), depth));
}

/// Number of x in [0, count) with low <= x*step + start <= high and divisor | x*step + start.
/// Requires: count, step >= 0; divisor >= 1; 0 <= low.
int64_t count_multiples(int64_t count, int64_t step, int64_t start, int64_t high, int64_t divisor) {
  if (count <= 0 || high < 0) return 0;
  if (step == 0) return start >= 0 && start <= high && start % divisor == 0 ? count : 0;
  int64_t first = std::max<int64_t>(0, ceil_div(-start, step));
  const int64_t last = high < start ? -1 : std::min(count - 1, (high - start) / step);
  if (first > last) return 0;
  // The hits repeat with period divisor / gcd, if there is one at all.
  const int64_t gcd = std::gcd(step, divisor), period = divisor / gcd;
  for (int64_t tries = 0; tries < period; ++tries, ++first) {
    if (first > last) return 0;
    if ((first * step + start) % divisor == 0) return (last - first) / period + 1;
  }
  return 0;
}

/// Pairs (kernel position, output position) of one spatial dimension that meet an input element:
/// padding and the holes of a dilated input are no work.
int64_t valid_positions(const WindowDimension& window, int64_t kernel, int64_t output, int64_t input) {
  const int64_t dilation = std::max<int64_t>(1, window.base_dilation);
  const int64_t high = (input - 1) * dilation;
  int64_t count = 0;
  if (kernel <= output) {
    for (int64_t k = 0; k < kernel; ++k)
      count += count_multiples(output, window.stride, k * window.window_dilation - window.padding_low, high,
                               dilation);
  } else {
    for (int64_t o = 0; o < output; ++o)
      count += count_multiples(kernel, window.window_dilation, o * window.stride - window.padding_low, high,
                               dilation);
  }
  return count;
}

}  // namespace

void xla_cost_dot(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  dot_flops(op, elements_of(op.shape()), cost);
}

// The first dimensions of the result are left out, one per group dimension of rhs: right where the ragged
// dimension is contracted, too little in the other modes.
void xla_cost_ragged_dot(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  const size_t groups = op.ints(AttrKey::kRhsGroupDims).size();
  std::vector<int64_t> sizes(op.shape()->dimensions.begin(), op.shape()->dimensions.end());
  for (size_t i = 0; i < groups && i < sizes.size(); ++i)
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(i));
  int64_t elements = 1;
  for (const int64_t size : sizes) elements = times(elements, size);
  dot_flops(op, elements, cost);
}

void xla_cost_convolution(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  const ShapeRef lhs = op.operand_shape(0), rhs = op.operand_shape(1);
  const ConvolutionDimensions& labels = op.find(AttrKey::kDimLabels)->dim_labels();
  const auto window = op.window();
  int64_t positions = 1;
  for (size_t i = 0; i < window.size(); ++i)
    positions = times(positions, valid_positions(window[i], dimension_of(rhs, labels.kernel_spatial[i]),
                                                 dimension_of(op.shape(), labels.output_spatial[i]),
                                                 dimension_of(lhs, labels.input_spatial[i])));
  const int64_t feature_groups = std::max<int64_t>(1, op.integer(AttrKey::kFeatureGroupCount, 1));
  const int64_t batch_groups = std::max<int64_t>(1, op.integer(AttrKey::kBatchGroupCount, 1));
  int64_t products = times(dimension_of(lhs, labels.input_feature) / feature_groups,
                           dimension_of(op.shape(), labels.output_feature));
  products = times(times(products, dimension_of(lhs, labels.input_batch) / batch_groups), positions);
  cost.flops = to_float(times(products, kFlopsPerMultiplyAdd));
}

void xla_cost_fft(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  constexpr int64_t kMultipliesPerComplex = 4;
  int64_t factors = kFlopsPerMultiplyAdd * kMultipliesPerComplex;
  for (const int64_t length : op.ints(AttrKey::kFftLength)) factors = times(factors, floor_log2(length));
  cost.flops = to_float(times(factors, elements_of(first_array(op.operand_shape(0)))));
}

// Half of operand 0 is read.
void xla_cost_triangular_solve(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  const ShapeRef a = op.operand_shape(0), b = op.operand_shape(1);
  cost.operand_bytes[0] = size_of(a) / 2.0f;
  cost.bytes_accessed = cost.output_bytes + cost.operand_bytes[0];
  cost.bytes_accessed += cost.operand_bytes[1];
  cost.flops = to_float(times(kFlopsPerMultiplyAdd, times(dimension_of(a, -1), elements_of(b))));
}

// Half is read and half is written; n^3 / 3 flops a matrix.
void xla_cost_cholesky(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  const ShapeRef a = op.operand_shape(0);
  cost.operand_bytes[0] = cost.output_bytes = size_of(a) / 2.0f;
  cost.bytes_accessed = cost.operand_bytes[0] + cost.output_bytes;
  cost.flops = to_float(times(dimension_of(a, -1), elements_of(a)) / 3);
}

// ── computations applied over elements ──────────────────────────

void xla_cost_map(const OpContext& op, const XlaCostContext& context, XlaCost& cost) {
  apply(context.of(op.called()), elements_of(op.shape()), cost);
}

void xla_cost_reduce(const OpContext& op, const XlaCostContext& context, XlaCost& cost) {
  const int64_t steps = elements_of(op.operand_shape(0)) - elements_of(first_array(op.shape()));
  apply(context.of(op.called()), steps, cost);
}

namespace {

/// A window that spans one whole dimension from each of its positions (a reduction, broadcast back)
/// is counted as if it were done in one pass: that dimension, or -1.
int64_t whole_dimension_window(const OpContext& op) {
  const auto window = op.window();
  if (!op.shape()->is_array()) return -1;
  const auto padded = [](const WindowDimension& d) { return d.padding_low != 0 || d.padding_high != 0; };
  const auto wide = [](const WindowDimension& d) { return d.size != 1; };
  if (std::count_if(window.begin(), window.end(), padded) != 1) return -1;
  if (std::count_if(window.begin(), window.end(), wide) != 1) return -1;
  const auto at = std::find_if(window.begin(), window.end(), wide);
  if (at->padding_low == 0 || at->padding_low != at->padding_high || at->size != 2 * at->padding_low + 1)
    return -1;
  const int64_t dimension = at - window.begin();
  return at->padding_low == op.shape()->dim(dimension) - 1 ? dimension : -1;
}

}  // namespace

void xla_cost_reduce_window(const OpContext& op, const XlaCostContext& context, XlaCost& cost) {
  const int64_t outputs = elements_of(first_array(op.shape()));
  int64_t steps = times(window_elements(op) - 1, outputs);
  if (const int64_t whole = whole_dimension_window(op); whole >= 0) {
    const int64_t size = op.shape()->dim(whole);
    steps = (size == 0 ? 0 : outputs / size) + size - 1;
  }
  apply(context.of(op.called()), steps, cost);
}

void xla_cost_select_and_scatter(const OpContext& op, const XlaCostContext& context, XlaCost& cost) {
  const int64_t sources = elements_of(op.operand_shape(1));
  const int64_t selections = times(sources, window_elements(op) - 1);
  const XlaCost& select = context.of(op.called(AttrKey::kSelect));
  const XlaCost& scatter = context.of(op.called(AttrKey::kScatter));
  cost.flops += select.flops * to_float(selections);
  cost.transcendentals += select.transcendentals * to_float(selections);
  cost.flops += scatter.flops * to_float(sources);
  cost.transcendentals += scatter.transcendentals * to_float(sources);
}

// As often as operand 1 has elements, whichever operand that is: neither the steps nor the elements of
// the scanned input.
void xla_cost_scan(const OpContext& op, const XlaCostContext& context, XlaCost& cost) {
  if (op.operand_count() > 1) apply(context.of(op.called()), elements_of(op.operand_shape(1)), cost);
}

void xla_cost_sort(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  const int64_t elements = elements_of(op.operand_shape(0));
  cost.flops = to_float(times(elements, ceil_log2(elements)));
}

// ── control flow ────────────────────────────────────────────────

namespace {

void take_sums(const XlaCost& from, XlaCost& cost) {
  cost.flops = from.flops;
  cost.transcendentals = from.transcendentals;
  cost.bytes_accessed = from.bytes_accessed;
}

void raise(float& value, float other) {
  if (other != 0) value = std::max(value, other);
}

}  // namespace

void xla_cost_call(const OpContext& op, const XlaCostContext& context, XlaCost& cost) {
  take_sums(context.of(op.called(op.has(AttrKey::kCalls) ? AttrKey::kCalls : AttrKey::kToApply)), cost);
}

// One turn.
void xla_cost_while(const OpContext& op, const XlaCostContext& context, XlaCost& cost) {
  take_sums(context.of(op.called(AttrKey::kBody)), cost);
  const XlaCost& condition = context.of(op.called(AttrKey::kCondition));
  cost.flops += condition.flops;
  cost.transcendentals += condition.transcendentals;
  cost.bytes_accessed += condition.bytes_accessed;
}

// The largest of the branches, each counter for itself.
void xla_cost_conditional(const OpContext& op, const XlaCostContext& context, XlaCost& cost) {
  bool first = true;
  for_each_called(op.instruction(), [&](ComputationId called) {
    const XlaCost& branch = context.of(called);
    if (first)
      take_sums(branch, cost);
    else {
      raise(cost.flops, branch.flops);
      raise(cost.transcendentals, branch.transcendentals);
      raise(cost.bytes_accessed, branch.bytes_accessed);
    }
    first = false;
  });
}

void xla_cost_custom_call(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  if (op.text(AttrKey::kCustomCallTarget).starts_with("\"__xla_internal_call_marker_"))
    return no_traffic(cost);
  cost.flops = cost.bytes_accessed = cost.output_bytes = -1;
  std::fill(cost.operand_bytes.begin(), cost.operand_bytes.end(), -1.0f);
}

namespace {

/// What a fused instruction `from` writes when it is a result: the update alone where it updates in place.
int64_t written_bytes(const Module& module, const Instruction& from, ShapeRef shape) {
  const bool in_place = from.opcode == Opcode::kDynamicUpdateSlice;
  return xla_byte_size(in_place ? module[from.operands[1]].shape : shape);
}

/// Adds to `total`, in the order of the shape's leaves.
void add_fusion_results(const OpContext& op, const Instruction& root, XlaCost& cost) {
  const Module& module = op.module();
  cost.output_bytes = 0;
  const auto add = [&](int64_t bytes) {
    cost.bytes_accessed += to_float(bytes);
    cost.output_bytes += to_float(bytes);
  };
  if (!op.shape()->is_tuple()) {
    if (op.shape()->is_array()) add(written_bytes(module, root, op.shape()));
    return;
  }
  const bool tuple_root = root.opcode == Opcode::kTuple;
  for (size_t i = 0; i < op.shape()->elements.size(); ++i) {
    const ShapeRef element = op.shape()->elements[i];
    if (element->is_array() && tuple_root && i < root.operands.size())
      add(written_bytes(module, module[root.operands[i]], element));
    else if (element->is_array())
      add(written_bytes(module, root, element));
    else
      for_each_leaf(element, [&](ShapeRef leaf) {
        if (leaf->is_array()) add(xla_byte_size(leaf));
      });
  }
}

}  // namespace

void xla_cost_fusion(const OpContext& op, const XlaCostContext& context, XlaCost& cost) {
  const ComputationId id = op.called(AttrKey::kCalls);
  const Computation& fused = op.computation(id);
  if (op.text(AttrKey::kKind) == "kCustom") {
    // The whole counts as the first gather or scatter inside, if there is one.
    for (const InstructionId i : fused.instructions) {
      const Instruction& inner = op.module()[i];
      if (inner.opcode != Opcode::kGather && inner.opcode != Opcode::kScatter) continue;
      cost = context.of(i);
      cost.operand_bytes.resize(static_cast<size_t>(op.operand_count()), 0.0f);
      return;
    }
  }
  take_sums(context.of(id), cost);
  cost.bytes_accessed = 0;
  add_fusion_results(op, op.module().root(id), cost);
  for (const InstructionId i : fused.instructions) {
    const Instruction& inner = op.module()[i];
    if (inner.opcode == Opcode::kConstant && elements_of(inner.shape) > 1)
      cost.bytes_accessed += size_of(inner.shape);
  }
  for (size_t i = 0; i < fused.parameters.size() && i < cost.operand_bytes.size(); ++i) {
    cost.operand_bytes[i] = to_float(context.fusion_operand_bytes(id, i));
    cost.bytes_accessed += cost.operand_bytes[i];
  }
}

// ── the rest ────────────────────────────────────────────────────

void xla_cost_all_reduce(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  double flops = 0;
  int64_t bytes = 0;
  for_each_leaf(op.shape(), [&](ShapeRef leaf) {
    if (!leaf->is_array()) return;
    flops += static_cast<double>(leaf->element_count());
    bytes += xla_byte_size(leaf);
  });
  cost.flops = static_cast<float>(flops);
  cost.output_bytes = to_float(bytes);
  for (int64_t i = 0; i < op.operand_count(); ++i) bytes += xla_byte_size(op.operand_shape(i));
  cost.bytes_accessed = to_float(bytes);
}

// Counted as one transcendental per random element; rng-bit-generator's new state included.
void xla_cost_rng(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  int64_t elements = 0;
  for_each_leaf(op.shape(), [&](ShapeRef leaf) { elements += leaf->is_array() ? leaf->element_count() : 0; });
  cost.transcendentals = to_float(elements);
}

void xla_cost_infeed(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  cost.bytes_accessed = cost.output_bytes = to_float(xla_leaf_bytes(op.shape()));
}

void xla_cost_outfeed(const OpContext& op, const XlaCostContext&, XlaCost& cost) {
  cost.bytes_accessed = 0;
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    cost.operand_bytes[static_cast<size_t>(i)] = to_float(xla_leaf_bytes(op.operand_shape(i)));
    cost.bytes_accessed += cost.operand_bytes[static_cast<size_t>(i)];
  }
}

}  // namespace hlosim
