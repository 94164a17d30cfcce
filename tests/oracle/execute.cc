#include "oracle/execute.h"

#include <cstring>

#include "exec/program.h"
#include "support/execution.h"
#include "support/modules.h"

namespace hlosim::test {

void append_leaves(const ValuePtr& value, std::vector<ValuePtr>& leaves) {
  if (!value->shape->is_tuple()) leaves.push_back(value);
  for (const ValuePtr& element : value->elements) append_leaves(element, leaves);
}

namespace {

Array array_of(MemoryPool& pool, const Value& value) {
  Array array = make_array(pool, value.shape);
  const auto width = static_cast<size_t>(byte_width(value.type()));
  for (size_t i = 0; i < value.data.size(); ++i)
    store_element(value.type(), value.data[i], array.bytes() + i * width);
  return array;
}

}  // namespace

namespace {

std::vector<Array> arrays_of(MemoryPool& pool, std::span<const ValuePtr> values) {
  std::vector<ValuePtr> leaves;
  for (const ValuePtr& value : values) append_leaves(value, leaves);
  std::vector<Array> arrays;
  for (const ValuePtr& leaf : leaves) arrays.push_back(array_of(pool, *leaf));
  return arrays;
}

ValuePtr value_of(const Array& array) {
  auto value = zero_value(array.shape);
  const auto width = static_cast<size_t>(byte_width(array.type()));
  for (size_t i = 0; i < value->data.size(); ++i)
    value->data[i] = load_element(array.type(), array.bytes() + i * width);
  return value;
}

Outputs outputs_of(const Program& program, MemoryPool& pool, std::vector<Array> inputs) {
  Outputs outputs;
  DeviceState device(pool);
  const Result<std::vector<Array>> results = program.run(device, std::move(inputs));
  if (!results) return {{}, render(results.error())};
  for (const Array& array : *results) outputs.leaves.push_back(value_of(array));
  return outputs;
}

}  // namespace

Outputs execute(Module& module, std::span<const ValuePtr> inputs, bool traced) {
  MemoryPool pool;
  DiagnosticList diagnostics;
  const auto program =
      Program::make(module, op_table(), pool, traced ? traced_options() : ProgramOptions{}, diagnostics);
  return program ? outputs_of(*program, pool, arrays_of(pool, inputs)) : Outputs{{}, rendered(diagnostics)};
}

Outputs execute_again(Module& module, std::span<const ValuePtr> inputs) {
  MemoryPool pool;
  DiagnosticList diagnostics;
  const auto program = Program::make(module, op_table(), pool, {}, diagnostics);
  if (!program) return {{}, rendered(diagnostics)};
  const std::vector<Array> kept = arrays_of(pool, inputs), same = arrays_of(pool, inputs);
  outputs_of(*program, pool, kept);
  Outputs outputs = outputs_of(*program, pool, kept);
  for (size_t k = 0; k < kept.size(); ++k)
    if (std::memcmp(kept[k].bytes(), same[k].bytes(), static_cast<size_t>(data_bytes(kept[k].shape))) != 0)
      outputs.error = fmt::format("input {} has changed", k);
  return outputs;
}

bool same_bits(const Outputs& a, const Outputs& b) {
  if (a.leaves.size() != b.leaves.size()) return false;
  for (size_t k = 0; k < a.leaves.size(); ++k)
    for (size_t i = 0; i < a.leaves[k]->data.size(); ++i) {
      const Element &x = a.leaves[k]->data[i], &y = b.leaves[k]->data[i];
      if (x.bits != y.bits || x.imaginary != y.imaginary) return false;
    }
  return true;
}

}  // namespace hlosim::test
