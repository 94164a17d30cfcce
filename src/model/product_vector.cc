#include "model/product_vector.h"

namespace hlosim {
FusedVectorWork vector_around(const Core& core, const ComputeSummary& compute) {
  const MatmulPart& part = compute.matmul;
  // What an emulated type takes is conversions, which were fitted as they are.
  if (part.cycles <= 0 || part.rate.emulated) return {};
  IssueSlots rest = compute.slots;
  for (const IssueSlots& operand : {part.lhs.producers, part.rhs.producers})
    rest.alu -= operand.alu, rest.eup -= operand.eup, rest.xlu -= operand.xlu;
  const auto bundles = [&](const IssueSlots& slots) { return core.picoseconds(core.bundle_cycles(slots)); };
  return {bundles(part.lhs.producers), bundles(part.rhs.producers), bundles(rest)};
}

}  // namespace hlosim
