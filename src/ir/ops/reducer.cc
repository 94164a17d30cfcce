#include "ops/reducer.h"

#include <array>

#include "ops/infer.h"

namespace hlosim {

void add_applications(const OpContext& op, ComputationId computation, ShapeRef shape, double times,
                      Work& work) {
  constexpr size_t kClasses = static_cast<size_t>(VectorOp::kTranspose) + 1;
  std::array<double, kClasses> operations{};
  for (const InstructionId id : op.module()[computation].instructions) {
    const Instruction& instruction = op.module()[id];
    const OpContext body = op.of(instruction);
    if (body.def().has(kFree)) continue;
    const Work body_work = work_of(body);
    for (const VectorWork& vector : body_work.vectors)
      operations[static_cast<size_t>(vector.op)] += vector.per_element;
    if (body_work.vectors.empty()) operations[static_cast<size_t>(VectorOp::kSimple)] += 1;
  }
  for (size_t i = 0; i < kClasses; ++i)
    if (operations[i] > 0) work.vectors.push_back({static_cast<VectorOp>(i), shape, operations[i] * times});
}

int64_t minor_dimension(ShapeRef array, int64_t minor) {
  if (minor >= array->rank()) return -1;
  return array->layout ? array->layout->minor_to_major[static_cast<size_t>(minor)]
                       : array->rank() - 1 - minor;
}

ShapeRef resized(const OpContext& op, ShapeRef array, std::span<const int64_t> dimensions) {
  ShapePool& shapes = op.shapes();
  const ShapeRef plain = shapes.array(array->element_type, dimensions);
  return array->layout ? shapes.with_layout(plain, array->layout) : plain;
}

}  // namespace hlosim
