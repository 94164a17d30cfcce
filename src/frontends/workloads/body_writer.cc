#include "workloads/body_writer.h"

namespace hlosim {

InstructionId BodyWriter::add(Opcode opcode, const std::vector<InstructionId>& operands,
                              const std::vector<Attr>& attrs, ShapeRef shape) {
  return builder().add(body_, opcode, operands, attrs, shape, parts_.place(""));
}

InstructionId BodyWriter::number(int64_t value) {
  return parts_.constant(body_, ElementType::kS32, static_cast<double>(value));
}

InstructionId BodyWriter::subtract(InstructionId a, InstructionId b) {
  return add(Opcode::kSubtract, {a, b});
}

InstructionId BodyWriter::sum(InstructionId a, InstructionId b) { return add(Opcode::kAdd, {a, b}); }

InstructionId BodyWriter::reshaped(InstructionId value, const Dims& dims) {
  return add(Opcode::kReshape, {value}, {},
             builder().module().shapes().array(shape(value)->element_type, dims));
}

InstructionId BodyWriter::zeros(ShapeRef shape, const std::string& sharding) {
  const InstructionId zero = parts_.constant(body_, shape->element_type, 0);
  std::vector<Attr> attrs{builder().ints(AttrKey::kDimensions, {})};
  if (!sharding.empty()) attrs.push_back(builder().text(AttrKey::kSharding, sharding));
  return add(Opcode::kBroadcast, {zero}, attrs, shape);
}

InstructionId BodyWriter::tuple(const std::vector<InstructionId>& elements) {
  return add(Opcode::kTuple, elements);
}

InstructionId BodyWriter::element(InstructionId tuple, int64_t index) {
  return add(Opcode::kGetTupleElement, {tuple}, {Attr::make_int(AttrKey::kIndex, index)});
}

InstructionId BodyWriter::allocate(ShapeRef shape, const std::string& sharding) {
  std::vector<Attr> attrs{builder().quoted(AttrKey::kCustomCallTarget, "AllocateBuffer")};
  if (!sharding.empty()) attrs.push_back(builder().text(AttrKey::kSharding, sharding));
  return add(Opcode::kCustomCall, {}, attrs, shape);
}

std::vector<InstructionId> BodyWriter::starts(InstructionId index, int64_t axis, int64_t rank) {
  const InstructionId zero = number(0);
  std::vector<InstructionId> places(static_cast<size_t>(rank), zero);
  places[static_cast<size_t>(axis)] = index;
  return places;
}

InstructionId BodyWriter::part_of(InstructionId stack, InstructionId index, int64_t axis) {
  const ShapeRef whole = shape(stack);
  Dims sizes(whole->dimensions.begin(), whole->dimensions.end()), part = sizes;
  sizes[static_cast<size_t>(axis)] = 1;
  part.erase(part.begin() + axis);
  std::vector<InstructionId> operands = starts(index, axis, whole->rank());
  operands.insert(operands.begin(), stack);
  ShapePool& pool = builder().module().shapes();
  const InstructionId slice =
      add(Opcode::kDynamicSlice, operands, {builder().ints(AttrKey::kDynamicSliceSizes, sizes)},
          pool.array(whole->element_type, sizes));
  return add(Opcode::kReshape, {slice}, {}, pool.array(whole->element_type, part));
}

InstructionId BodyWriter::with_part(InstructionId stack, InstructionId part, InstructionId index,
                                    int64_t axis) {
  const ShapeRef whole = shape(stack);
  Dims sizes(whole->dimensions.begin(), whole->dimensions.end());
  sizes[static_cast<size_t>(axis)] = 1;
  ShapePool& pool = builder().module().shapes();
  const ShapeRef row = pool.with_memory_space(builder().laid_out(pool.array(whole->element_type, sizes)),
                                              shape(part)->memory_space());
  std::vector<InstructionId> operands = starts(index, axis, whole->rank());
  operands.insert(operands.begin(), {stack, add(Opcode::kReshape, {part}, {}, row)});
  return add(Opcode::kDynamicUpdateSlice, operands, {}, whole);
}

InstructionId BodyWriter::moved(InstructionId value, int64_t memory_space) {
  const ShapeRef there = builder().module().shapes().with_memory_space(shape(value), memory_space);
  return add(Opcode::kCopy, {value}, {}, there);
}

std::vector<InstructionId> BodyWriter::barrier(const std::vector<InstructionId>& values) {
  const InstructionId all = add(Opcode::kOptimizationBarrier, {tuple(values)});
  std::vector<InstructionId> behind;
  for (size_t i = 0; i < values.size(); ++i) behind.push_back(element(all, static_cast<int64_t>(i)));
  return behind;
}

namespace {

ComputationId counts_to(ModelParts& parts, ShapeRef state, int64_t count, const std::string& name) {
  ModuleBuilder& builder = parts.builder();
  ModuleBuilder::Body body;
  BodyWriter writer(parts, body);
  const InstructionId counter = writer.element(builder.parameter(body, state, "state", {}), 0);
  const InstructionId operands[] = {counter, writer.number(count)};
  const Attr direction[] = {builder.text(AttrKey::kDirection, "LT")};
  const InstructionId less = builder.add(body, Opcode::kCompare, operands, direction, nullptr, {});
  return builder.close(body, name + "_condition", less, 0);
}

ComputationId body_of(ModelParts& parts, ShapeRef state, size_t values, const std::string& name,
                      const LoopTurn& turn) {
  ModuleBuilder& builder = parts.builder();
  ModuleBuilder::Body body;
  BodyWriter writer(parts, body);
  const InstructionId in = builder.parameter(body, state, "state", {});
  const InstructionId counter = writer.element(in, 0);
  std::vector<InstructionId> elements;
  for (size_t i = 0; i < values; ++i) elements.push_back(writer.element(in, static_cast<int64_t>(i) + 1));
  std::vector<InstructionId> next = turn(body, counter, elements);
  const InstructionId operands[] = {counter, writer.number(1)};
  next.insert(next.begin(), builder.add(body, Opcode::kAdd, operands, {}, nullptr, {}));
  return builder.close(body, name, writer.tuple(next), 0);
}

}  // namespace

std::vector<InstructionId> count_loop(ModelParts& parts, ModuleBuilder::Body& body,
                                      const std::vector<InstructionId>& state, int64_t count,
                                      const std::string& name, const LoopTurn& turn) {
  ModuleBuilder& builder = parts.builder();
  BodyWriter writer(parts, body);
  std::vector<InstructionId> all = state;
  all.insert(all.begin(), writer.number(0));
  const InstructionId in = writer.tuple(all);
  const ShapeRef shape = writer.shape(in);
  const ComputationId condition = counts_to(parts, shape, count, name);
  const ComputationId turns = body_of(parts, shape, state.size(), name, turn);
  const Attr attrs[] = {builder.computations(AttrKey::kCondition, {&condition, 1}),
                        builder.computations(AttrKey::kBody, {&turns, 1})};
  const InstructionId out = builder.add(body, Opcode::kWhile, {&in, 1}, attrs, shape, parts.place(name));
  std::vector<InstructionId> results;
  for (size_t i = 0; i < state.size(); ++i)
    results.push_back(writer.element(out, static_cast<int64_t>(i) + 1));
  return results;
}

}  // namespace hlosim
