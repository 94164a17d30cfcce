#include "oracle/execute.h"

#include "exec/program.h"
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

Outputs execute(Module& module, std::span<const ValuePtr> inputs, bool reference_only) {
  Outputs outputs;
  MemoryPool pool;
  DiagnosticList diagnostics;
  ProgramOptions options;
  options.reference_only = reference_only;
  const auto program = Program::make(module, op_table(), pool, options, diagnostics);
  if (!program) return {{}, rendered(diagnostics)};
  std::vector<Array> arrays;
  std::vector<ValuePtr> leaves;
  for (const ValuePtr& input : inputs) append_leaves(input, leaves);
  for (const ValuePtr& leaf : leaves) arrays.push_back(array_of(pool, *leaf));
  DeviceState device(pool);
  const Result<std::vector<Array>> results = program->run(device, std::move(arrays));
  if (!results) return {{}, render(results.error())};
  for (const Array& array : *results) {
    auto value = zero_value(array.shape);
    const auto width = static_cast<size_t>(byte_width(array.type()));
    for (size_t i = 0; i < value->data.size(); ++i)
      value->data[i] = load_element(array.type(), array.bytes() + i * width);
    outputs.leaves.push_back(std::move(value));
  }
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
