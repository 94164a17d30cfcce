// Running map and scan.
#include <algorithm>
#include <cstring>

#include "cpu_kernels/strided_copy.h"
#include "evaluate/called_computation.h"
#include "evaluate/reduction_evaluation.h"
#include "threads/parallel.h"

namespace hlosim {

Evaluation evaluate_map(EvaluateContext& op) {
  auto applied = std::make_shared<AppliedComputation>();
  std::vector<ElementType> given;
  std::vector<bool> spread;  // scalars that go with arrays
  const ShapeRef shape = op.shape();
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    given.push_back(op.operand_shape(i)->element_type);
    spread.push_back(op.operand_shape(i)->is_scalar() && !shape->is_scalar());
  }
  const ElementType wanted[] = {shape->element_type};
  if (!applied->make(op, op.called(), given, wanted)) return nullptr;
  const int64_t count = shape->element_count(), width = byte_width(shape->element_type);
  return [applied, given, spread, count, width](Invocation& call) {
    Array& result = call.make_result();
    std::vector<Buffer> rows(given.size());
    for (size_t i = 0; i < given.size(); ++i) {
      if (!spread[i]) {
        result.sizes = call.operand(i).sizes;
        continue;
      }
      rows[i] = call.device().pool().allocate(byte_width(given[i]) * ElementProgram::kBlock);
      fill_elements(rows[i].data(), call.operand(i).bytes(), byte_width(given[i]), ElementProgram::kBlock);
    }
    const auto pieces = [&](int64_t begin, int64_t end) {
      Applier applier(*applied, call.device(), ElementProgram::kBlock);
      std::vector<const void*> arguments(given.size());
      for (int64_t at = begin; at < end; at += ElementProgram::kBlock) {
        for (size_t i = 0; i < given.size(); ++i)
          arguments[i] = spread[i] ? rows[i].data() : call.operand(i).bytes() + at * byte_width(given[i]);
        void* out[] = {result.bytes() + at * width};
        applier.run(arguments.data(), out, std::min(ElementProgram::kBlock, end - at));
      }
    };
    if (applied->is_parallel())
      parallel_for(count, 64 * ElementProgram::kBlock, pieces);
    else
      pieces(0, count);
  };
}

namespace {

struct ScanPlan {
  std::shared_ptr<const Callable> body;
  int64_t length = 0;
  bool reverse = false;
  size_t inputs = 0, outputs = 0, carries = 0;
  // Slices of inputs to dense arrays, and dense arrays to slices of outputs; strides of the scanned dimension
  // in bytes.
  struct Slice {
    StridedCopy copy;
    int64_t stride = 0;
    ShapeRef shape = nullptr;
  };
  std::vector<Slice> in, out;
  std::vector<ShapeRef> carry_shapes;
};

ScanPlan::Slice slice_of(ShapeRef array, int64_t dimension, ShapeRef slice, bool reads) {
  const std::vector<int64_t> strides = dense_strides(array->dimensions);
  std::vector<int64_t> dimensions, rest;
  for (int64_t i = 0; i < array->rank(); ++i) {
    if (i == dimension) continue;
    dimensions.push_back(array->dim(i));
    rest.push_back(strides[static_cast<size_t>(i)]);
  }
  const int64_t width = byte_width(array->element_type);
  const std::vector<int64_t> dense = dense_strides(dimensions);
  return {reads ? StridedCopy(dimensions, rest, dense, width) : StridedCopy(dimensions, dense, rest, width),
          strides[static_cast<size_t>(dimension)] * width, slice};
}

void run_scan(const ScanPlan& plan, Invocation& call) {
  DeviceState& device = call.device();
  for (size_t k = 0; k < plan.outputs; ++k) call.make_result(k);
  std::vector<Array> carries;
  for (size_t k = 0; k < plan.carries; ++k) {
    carries.push_back(call.take(plan.inputs + k));
    carries.back().shape = plan.carry_shapes[k];
  }
  std::vector<Array> arguments(plan.inputs + plan.carries), results(plan.outputs + plan.carries);
  for (int64_t step = 0; step < plan.length; ++step) {
    const int64_t at = plan.reverse ? plan.length - 1 - step : step;
    for (size_t k = 0; k < plan.inputs; ++k) {
      arguments[k] = make_array(device.pool(), plan.in[k].shape);
      plan.in[k].copy.run(call.operand(k).bytes() + at * plan.in[k].stride, arguments[k].bytes());
    }
    for (size_t k = 0; k < plan.carries; ++k) arguments[plan.inputs + k] = std::move(carries[k]);
    plan.body->call(device, arguments, results);
    if (device.failed()) return;
    for (size_t k = 0; k < plan.outputs; ++k)
      plan.out[k].copy.run(results[k].bytes(), call.result(k).bytes() + at * plan.out[k].stride);
    for (size_t k = 0; k < plan.carries; ++k) carries[k] = std::move(results[plan.outputs + k]);
  }
  for (size_t k = 0; k < plan.carries; ++k) call.set_result(std::move(carries[k]), plan.outputs + k);
}

}  // namespace

Evaluation evaluate_scan(EvaluateContext& op) {
  auto plan = std::make_shared<ScanPlan>();
  const int64_t dimension = op.ints(AttrKey::kDimensions)[0];
  plan->carries = static_cast<size_t>(op.integer(AttrKey::kNumCarries));
  plan->inputs = static_cast<size_t>(op.operand_count()) - plan->carries;
  plan->length = op.operand_shape(0)->dim(dimension);
  plan->reverse = op.flag(AttrKey::kIsReverse);
  std::vector<ShapeRef> parameters, body_results, results;
  for (const InstructionId parameter : op.computation(op.called()).parameters)
    parameters.push_back(op.module()[parameter].shape);
  for_each_leaf(op.module().root(op.called()).shape, [&](ShapeRef leaf) { body_results.push_back(leaf); });
  for_each_leaf(op.shape(), [&](ShapeRef leaf) { results.push_back(leaf); });
  plan->outputs = results.size() - plan->carries;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const ShapeRef operand = op.operand_shape(static_cast<int64_t>(i));
    if (operand->element_type != parameters[i]->element_type) return op.unsupported();
    if (i < plan->inputs)
      plan->in.push_back(slice_of(operand, dimension, parameters[i], true));
    else
      plan->carry_shapes.push_back(parameters[i]);
  }
  for (size_t k = 0; k < results.size(); ++k) {
    if (results[k]->element_type != body_results[k]->element_type) return op.unsupported();
    if (k < plan->outputs) plan->out.push_back(slice_of(results[k], dimension, body_results[k], false));
  }
  plan->body = op.callable(op.called());
  return [plan](Invocation& call) { run_scan(*plan, call); };
}

}  // namespace hlosim
