#include "evaluate/evaluate.h"

#include <algorithm>
#include <cstring>

#include "cpu_kernels/element.h"
#include "cpu_kernels/strided_copy.h"
#include "elementwise/element_kernels.h"
#include "evaluate/evaluation_table.h"
#include "layout/strided_view.h"
#include "threads/parallel.h"

namespace hlosim {

void DeviceState::fail(const Module& module, const Instruction& instruction, std::string message) {
  Diagnostic diagnostic;
  diagnostic.message = fmt::format("{}: {}", to_text(instruction.opcode), message);
  diagnostic.source = module.source;
  diagnostic.offset = instruction.opcode_offset;
  fail(std::move(diagnostic));
}

void DeviceState::fail(Diagnostic error) {
  if (!failure_) failure_ = std::move(error);
}

void DeviceState::stopped_in(const Instruction& loop, int64_t iteration) {
  if (!failure_ || !stop || !stop->asked()) return;
  std::string& where = failure_->hint;
  where += fmt::format("{} iteration {} of {}", where.empty() ? "in" : ", in", iteration, loop.name);
}

void Invocation::fail(const Diagnostic& error) {
  Diagnostic placed = error;
  placed.message = fmt::format("{}: {}", to_text(instruction_.opcode), error.message);
  placed.source = module_.source;
  placed.offset = instruction_.opcode_offset;
  device_.fail(std::move(placed));
}

size_t EvaluateContext::first_leaf(int64_t i) const {
  size_t first = 0;
  for (int64_t k = 0; k < i; ++k) first += static_cast<size_t>(leaf_count(operand_shape(k)));
  return first;
}

std::nullptr_t EvaluateContext::unsupported() {
  std::string operands;
  for (int64_t i = 0; i < operand_count(); ++i)
    operands += (i ? ", " : "") + to_text_without_layout(operand_shape(i));
  return error(0, "cannot be run on ({}) with the result {}", operands, to_text_without_layout(shape()));
}

std::nullptr_t EvaluateContext::unsupported(std::string_view what) {
  return error(0, "cannot be run: {}", what);
}

namespace {

// ── elementwise ─────────────────────────────────────────────────

constexpr int64_t kElementGrain = 16 << 10;  // 10 µs and more of the cheapest operations

// Which operands are scalars beside arrays (predicate of select, bounds of clamp); they are spread over a
// block.
struct SpreadScalars {
  uint32_t operands = 0;  // bit i: operand i
  int64_t widths[3] = {};
};

void run_spread(const Invocation& call, ElementKernel kernel, const SpreadScalars& spread, std::byte* out,
                int64_t out_width, int64_t begin, int64_t end) {
  constexpr int64_t kBlock = 512;
  alignas(64) std::byte blocks[3][kBlock * 16];
  for (size_t i = 0; i < call.operand_count(); ++i)
    if (spread.operands >> i & 1) {
      const auto width = static_cast<size_t>(spread.widths[i]);
      for (int64_t k = 0; k < kBlock; ++k)
        std::memcpy(blocks[i] + static_cast<size_t>(k) * width, call.operand(i).bytes(), width);
    }
  for (int64_t at = begin; at < end; at += kBlock) {
    const void* in[3] = {};
    for (size_t i = 0; i < call.operand_count(); ++i)
      in[i] = spread.operands >> i & 1 ? blocks[i] : call.operand(i).bytes() + at * spread.widths[i];
    kernel.fn(out + at * out_width, in, kernel.immediate, std::min(kBlock, end - at));
  }
}

Evaluation elementwise_evaluation(EvaluateContext& op) {
  const ElementKernel kernel = elementwise_kernel(op);
  if (!kernel) return op.unsupported();
  SpreadScalars spread;
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    spread.widths[i] = byte_width(op.operand_shape(i)->element_type);
    if (op.operand_shape(i)->is_scalar() && !op.shape()->is_scalar()) spread.operands |= 1u << i;
  }
  // The operand whose bytes the result may take.
  int64_t reused = -1;
  const int64_t out_width = byte_width(op.shape()->element_type);
  for (int64_t i = op.operand_count(); i-- > 0;)
    if (!(spread.operands >> i & 1) && spread.widths[i] == out_width) reused = i;
  const int64_t count = op.shape()->element_count();
  return [kernel, spread, reused, count, out_width](Invocation& call) {
    Array& result = reused >= 0 ? call.make_result_in(static_cast<size_t>(reused)) : call.make_result();
    for (size_t i = 0; i < call.operand_count(); ++i)
      if (call.operand(i).sizes && !(spread.operands >> i & 1)) result.sizes = call.operand(i).sizes;
    std::byte* out = result.bytes();
    if (spread.operands) {
      parallel_for(count, kElementGrain, [&](int64_t begin, int64_t end) {
        run_spread(call, kernel, spread, out, out_width, begin, end);
      });
      return;
    }
    if (count <= kElementGrain) {
      const void* in[3] = {};
      for (size_t i = 0; i < call.operand_count(); ++i) in[i] = call.operand(i).bytes();
      kernel.fn(out, in, kernel.immediate, count);
      return;
    }
    parallel_for(count, kElementGrain, [&](int64_t begin, int64_t end) {
      const void* in[3] = {};
      for (size_t i = 0; i < call.operand_count(); ++i)
        in[i] = call.operand(i).bytes() + begin * spread.widths[i];
      kernel.fn(out + begin * out_width, in, kernel.immediate, end - begin);
    });
  };
}

// ── views ───────────────────────────────────────────────────────

/// For each result dimension the operand dimension whose runtime size it has: the one that it walks from end
/// to end. -1: none, it has its bound.
std::vector<int64_t> walked_dimensions(const StridedView& view, ShapeRef operand) {
  const std::vector<int64_t> strides = dense_strides(operand->dimensions);
  std::vector<int64_t> walked(view.dimensions.size(), -1);
  for (size_t i = 0; i < walked.size(); ++i)
    for (size_t d = 0; d < strides.size(); ++d)
      if (view.dimensions[i] > 1 && view.strides[i] == strides[d] &&
          view.dimensions[i] == operand->dimensions[d])
        walked[i] = static_cast<int64_t>(d);
  return walked;
}

Evaluation view_evaluation(const StridedView& view, const OpContext& op) {
  const int64_t width = byte_width(op.shape()->element_type);
  // All of the operand in its own order: the same bytes under another shape.
  const bool same_bytes = view.is_dense() && view.offset == 0;
  const StridedCopy copy(view.dimensions, view.strides, dense_strides(view.dimensions), width);
  return [dimensions = view.dimensions, walked = walked_dimensions(view, op.operand_shape(0)), same_bytes,
          copy, offset = view.offset * width](Invocation& call) {
    std::shared_ptr<const std::vector<int64_t>> sizes;
    if (call.operand(0).sizes) {
      std::vector<int64_t> runtime = dimensions;
      for (size_t i = 0; i < runtime.size(); ++i)
        if (walked[i] >= 0) runtime[i] = call.operand(0).size(walked[i]);
      if (runtime != dimensions) sizes = std::make_shared<const std::vector<int64_t>>(std::move(runtime));
    }
    if (same_bytes) {
      Array array = call.take(0);
      array.sizes = std::move(sizes);
      return call.set_result(std::move(array));
    }
    Array& result = call.make_result();
    result.sizes = std::move(sizes);
    copy.run(call.operand(0).bytes() + offset, result.bytes());
  };
}

}  // namespace

Evaluation make_evaluation(EvaluateContext& op) {
  const OpDef& def = op.def();
  if (def.element) return elementwise_evaluation(op);
  if (def.view && op.operand_shape(0)->is_array()) {
    StridedView view;
    if (def.view(op, dense_view(op.operand_shape(0)->dimensions), view)) return view_evaluation(view, op);
  }
  if (def.evaluation != EvaluationKind::kNone) return evaluation_functions(def.evaluation).evaluate(op);
  if (def.has(kAsyncUpdate) || def.has(kAsyncDone))
    return op.unsupported("its operand comes neither from a start nor from an update of one");
  return op.unsupported("it has no meaning on a device by itself");
}

JointEvaluation make_joint_evaluation(EvaluateContext& op) {
  const auto evaluate_jointly = evaluation_functions(op.def().evaluation).evaluate_jointly;
  return evaluate_jointly ? evaluate_jointly(op) : nullptr;
}

bool can_be_run(const OpDef& def) {
  const bool is_value = def.has(kFree) && def.arity.max == 0;
  return is_value || def.forward || def.element || def.view || def.evaluation != EvaluationKind::kNone;
}

}  // namespace hlosim
