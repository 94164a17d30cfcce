#include "oracle/evaluator.h"

#include <algorithm>

#include "ops/op_table.h"
#include "oracle/elementwise.h"

namespace hlosim::test {

std::vector<WindowDimension> Operation::window(int64_t rank) const {
  const Attr* attr = instruction.find(AttrKey::kWindow);
  if (!attr) return std::vector<WindowDimension>(static_cast<size_t>(rank));
  const auto dimensions = attr->window().dimensions;
  return {dimensions.begin(), dimensions.end()};
}

ValuePtr Operation::fail(std::string_view why) {
  return evaluator.fail(fmt::format("{} %{}: {}", to_text(instruction.opcode), instruction.name, why));
}

ValuePtr retyped(const ValuePtr& value, ShapeRef shape) {
  if (shape->is_buffer()) shape = shape->elements[0];
  if (value->shape == shape) return value;
  auto result = std::make_shared<Value>(*value);
  result->shape = shape;
  for (size_t i = 0; i < result->elements.size(); ++i)
    result->elements[i] = retyped(value->elements[i], shape->elements[i]);
  if (shape->is_array() && shape->element_type != value->type())
    for (Element& element : result->data)
      element = convert_element(value->type(), shape->element_type, element);
  return result;
}

namespace {

constexpr int64_t kMostSteps = 20'000'000;

ValuePtr literal_value(const Literal& literal, ShapeRef shape) {
  auto value = zero_value(shape);
  for (size_t i = 0; i < literal.elements.size(); ++i)
    value->elements[i] = literal_value(*literal.elements[i], shape->elements[i]);
  if (!value->shape->is_array()) return value;
  const auto width = static_cast<size_t>(byte_width(shape->element_type));
  for (size_t i = 0; i < value->data.size() && (i + 1) * width <= literal.data.size(); ++i)
    value->data[i] = load_element(shape->element_type, literal.data.data() + i * width);
  if (literal.elided)
    for (Element& element : value->data) element = kUnknown;
  return value;
}

ValuePtr tuple_of(ShapeRef shape, std::vector<ValuePtr> elements) {
  auto value = std::make_shared<Value>();
  value->shape = shape;
  value->elements = std::move(elements);
  return value;
}

ValuePtr evaluate(Operation& op) {
  const Opcode opcode = op.instruction.opcode;
  switch (opcode) {
    case Opcode::kConstant:
      return literal_value(*op.instruction.literal, op.shape());
    case Opcode::kTuple:
      return tuple_of(op.shape(), op.operands);
    case Opcode::kGetTupleElement:
      return op.operand(0).elements[static_cast<size_t>(op.integer(AttrKey::kIndex))];
    case Opcode::kAddDependency:
    case Opcode::kDomain:
    case Opcode::kOptimizationBarrier:
      return op.operands[0];
    case Opcode::kAfterAll:
    case Opcode::kPartitionId:
    case Opcode::kReplicaId:
      return zero_value(op.shape());
    case Opcode::kRng:
    case Opcode::kRngGetAndUpdateState:
      return unknown_value(op.shape());
    case Opcode::kBroadcast:
      return evaluate_broadcast(op);
    case Opcode::kReshape:
      return evaluate_reshape(op);
    case Opcode::kTranspose:
      return evaluate_transpose(op);
    case Opcode::kReverse:
      return evaluate_reverse(op);
    case Opcode::kConcatenate:
      return evaluate_concatenate(op);
    case Opcode::kSlice:
      return evaluate_slice(op);
    case Opcode::kPad:
      return evaluate_pad(op);
    case Opcode::kIota:
      return evaluate_iota(op);
    case Opcode::kBitcast:
      return evaluate_bitcast(op);
    case Opcode::kBitcastConvert:
      return evaluate_bitcast_convert(op);
    case Opcode::kDynamicSlice:
      return evaluate_dynamic_slice(op);
    case Opcode::kDynamicUpdateSlice:
      return evaluate_dynamic_update_slice(op);
    case Opcode::kDynamicReshape:
      return evaluate_dynamic_reshape(op);
    case Opcode::kGetDimensionSize:
      return evaluate_get_dimension_size(op);
    case Opcode::kSetDimensionSize:
      return evaluate_set_dimension_size(op);
    case Opcode::kGather:
      return evaluate_gather(op);
    case Opcode::kScatter:
      return evaluate_scatter(op);
    case Opcode::kReduce:
      return evaluate_reduce(op);
    case Opcode::kReduceWindow:
      return evaluate_reduce_window(op);
    case Opcode::kSelectAndScatter:
      return evaluate_select_and_scatter(op);
    case Opcode::kMap:
      return evaluate_map(op);
    case Opcode::kScan:
      return evaluate_scan(op);
    case Opcode::kSort:
      return evaluate_sort(op);
    case Opcode::kTopK:
      return evaluate_topk(op);
    case Opcode::kDot:
      return evaluate_dot(op);
    case Opcode::kRaggedDot:
      return evaluate_ragged_dot(op);
    case Opcode::kScaledDot:
      return evaluate_scaled_dot(op);
    case Opcode::kConvolution:
      return evaluate_convolution(op);
    case Opcode::kCholesky:
      return evaluate_cholesky(op);
    case Opcode::kTriangularSolve:
      return evaluate_triangular_solve(op);
    case Opcode::kFft:
      return evaluate_fft(op);
    case Opcode::kBatchNormTraining:
      return evaluate_batch_norm_training(op);
    case Opcode::kBatchNormInference:
      return evaluate_batch_norm_inference(op);
    case Opcode::kBatchNormGrad:
      return evaluate_batch_norm_grad(op);
    case Opcode::kRngBitGenerator:
      return evaluate_rng_bit_generator(op);
    case Opcode::kWhile:
      return evaluate_while(op);
    case Opcode::kConditional:
      return evaluate_conditional(op);
    case Opcode::kCall:
    case Opcode::kFusion:
      return evaluate_call(op);
    case Opcode::kAsyncStart:
      return evaluate_async_start(op);
    case Opcode::kAsyncUpdate:
      return evaluate_async_update(op);
    case Opcode::kAsyncDone:
      return evaluate_async_done(op);
    case Opcode::kCopyStart:
      return evaluate_copy_start(op);
    case Opcode::kCopyDone:
      return op.operand(0).elements[0];
    case Opcode::kCustomCall:
      return evaluate_custom_call(op);
    case Opcode::kAllReduce:
    case Opcode::kAllGather:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kReduceScatter:
      return evaluate_lone_collective(op);
    default:
      return evaluate_elementwise(op);
  }
}

/// Do the function and the tests of this opcode look at runtime sizes?
bool takes_dynamic_operands(Opcode opcode) {
  switch (opcode) {
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kAddDependency:
    case Opcode::kOptimizationBarrier:
    case Opcode::kGetDimensionSize:
    case Opcode::kSetDimensionSize:
    case Opcode::kReduce:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kCall:
    case Opcode::kFusion:
      return true;
    default:
      return false;
  }
}

}  // namespace

ValuePtr Evaluator::evaluate(const Instruction& instruction) {
  if (++steps > kMostSteps) return fail("too many steps");
  if (instruction.opcode == Opcode::kParameter) {
    const ValuePtr& argument = arguments_[static_cast<size_t>(instruction.parameter_number)];
    return retyped(argument, instruction.shape);
  }
  Operation op{*this, instruction, {}};
  for (const InstructionId operand : instruction.operands) op.operands.push_back((*frame_)[operand]);
  const bool dynamic = std::any_of(op.operands.begin(), op.operands.end(),
                                   [](const ValuePtr& value) { return value->is_dynamic(); });
  const bool elementwise = op_table()[instruction.opcode].has(kElementwise);
  if (dynamic && !elementwise && !takes_dynamic_operands(instruction.opcode))
    return op.fail("an operand has runtime sizes");
  ValuePtr value = test::evaluate(op);
  if (!value) return nullptr;
  return retyped(value, instruction.shape);
}

ValuePtr Evaluator::call(ComputationId id, std::span<const ValuePtr> arguments) {
  if (depth_ > 200) return fail("calls nest too deeply");
  const Computation& computation = module_[id];
  Frame frame;
  frame.reserve(computation.instructions.size());
  Frame* outer_frame = std::exchange(frame_, &frame);
  const auto outer_arguments = std::exchange(arguments_, arguments);
  ++depth_;
  bool good = true;
  for (const InstructionId instruction : computation.instructions) {
    ValuePtr value = evaluate(module_[instruction]);
    good = value != nullptr;
    if (!good) break;
    frame[instruction] = std::move(value);
  }
  --depth_;
  frame_ = outer_frame;
  arguments_ = outer_arguments;
  return good ? frame[computation.root] : nullptr;
}

ValuePtr Evaluator::run(std::span<const ValuePtr> parameters) { return call(module_.entry, parameters); }

std::vector<Element> Evaluator::apply(ComputationId id, std::span<const ElementType> types,
                                      std::span<const Element> arguments,
                                      std::span<const ElementType> results) {
  std::vector<ValuePtr> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto value = zero_value(module_[module_[id].parameters[i]].shape);
    value->data[0] = convert_element(types[i], value->type(), arguments[i]);
    values.push_back(std::move(value));
  }
  const ValuePtr result = call(id, values);
  if (!result) return {};
  std::vector<Element> elements;
  const auto take = [&](const Value& value, size_t i) {
    elements.push_back(convert_element(value.type(), results[i], value.data[0]));
  };
  if (result->shape->is_tuple())
    for (size_t i = 0; i < result->elements.size(); ++i) take(*result->elements[i], i);
  else
    take(*result, 0);
  return elements;
}

ElementType Evaluator::parameter_type(ComputationId computation, size_t i) const {
  return module_[module_[computation].parameters[i]].shape->element_type;
}

std::optional<Opcode> Evaluator::single_operation(ComputationId id) const {
  const Computation& computation = module_[id];
  const Instruction& root = module_[computation.root];
  if (computation.parameters.size() != 2 || root.operands.size() != 2 || !root.shape->is_scalar())
    return std::nullopt;
  const bool forward =
      root.operands[0] == computation.parameters[0] && root.operands[1] == computation.parameters[1];
  const bool backward =
      root.operands[1] == computation.parameters[0] && root.operands[0] == computation.parameters[1];
  if (parameter_type(id, 0) != root.shape->element_type || parameter_type(id, 1) != root.shape->element_type)
    return std::nullopt;
  switch (root.opcode) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return forward || backward ? std::optional(root.opcode) : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace hlosim::test
