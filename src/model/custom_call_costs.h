// Costs of custom calls that a user knows, from a YAML file: by target, the time of one call, or what
// it computes and moves.
//
//   my_kernel:       {time: 12.5 us}
//   "__flash$attn":  {flops: 4.2e9, transcendentals: 1000000, read: 3 MiB, written: 1 MiB}
//
// Bytes that are not given are those of the call's operands and results.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "base/units.h"

namespace hlosim {

struct CustomCallCost {
  std::string target;
  std::optional<Picoseconds> time;
  Flops flops{};  // on the MXU at its peak rate for bf16
  int64_t vector_operations = 0;
  int64_t transcendentals = 0;
  std::optional<Bytes> read, written;  // HBM
};

class CustomCallCosts {
 public:
  const CustomCallCost* find(std::string_view target) const {
    for (const CustomCallCost& cost : costs)
      if (cost.target == target) return &cost;
    return nullptr;
  }
  std::vector<CustomCallCost> costs;
};

/// Errors in `problems`, with positions: no mapping, unknown keys, values that don't read, targets twice,
/// a target with both time and work or with nothing.
CustomCallCosts read_custom_call_costs(const SourcePtr& source, DiagnosticList& problems);

}  // namespace hlosim
