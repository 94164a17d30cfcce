// Reports of texts, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"
#include "support/modules.h"
#include "support/simulations.h"

namespace hlosim::test {

/// A module, its device, its estimate and its report, kept together: the report's names are the module's.
struct Estimated {
  std::unique_ptr<Module> module;
  Device device;
  Estimate estimate;
  Report report;
};

inline Estimated estimated(std::string_view text, const std::string& device_name,
                           const std::vector<DeviceOverride>& overrides = {},
                           const SimulateOptions& options = {}) {
  Estimated result;
  result.module = std::make_unique<Module>(module_or_fail(text));
  result.device = device_or_fail(device_name, overrides);
  const EstimateOptions estimating{options, Lowering::kNever};
  Result<Estimate> estimate = hlosim::estimate(*result.module, op_table(), result.device, estimating);
  EXPECT_TRUE(estimate) << render(estimate.error());
  if (!estimate) return result;
  result.estimate = std::move(*estimate);
  // What an opcode without a work model gives.
  InstructionCosts costs = *result.estimate.simulation->costs;
  for (const InstructionRecord& record : result.estimate.simulation->instructions) {
    if ((*result.module)[record.id].name != "nobody_knows") continue;
    InstructionCost cost = costs[record.id];
    cost.provenance = Provenance::kDefault;
    costs.set(record.id, cost);
  }
  auto changed = std::make_shared<Simulation>(*result.estimate.simulation);
  changed->costs = std::make_shared<const InstructionCosts>(std::move(costs));
  result.estimate.simulation = std::move(changed);
  result.report = make_report(*result.module, op_table(), result.device, result.estimate);
  result.report.unused_keys =
      keys_without_effect(*result.module, op_table(), result.device, estimating, result.estimate);
  return result;
}

// Copies into VMEM and out, a loop, an all-reduce, a fusion, an unknown instruction, padding.
inline constexpr std::string_view kManyThings = R"(HloModule many, is_scheduled=true, replica_count=4

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}

body {
  p = (s32[], f32[256,128]{1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  v = f32[256,128]{1,0:T(8,128)} get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  e = f32[256,128]{1,0:T(8,128)} exponential(v)
  ROOT t = (s32[], f32[256,128]{1,0:T(8,128)}) tuple(next, e)
}

cond {
  p = (s32[], f32[256,128]{1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT less = pred[] compare(i, n), direction=LT
}

ENTRY main {
  a = f32[256,128]{1,0:T(8,128)} parameter(0), metadata={op_name="the, \"input\""}
  w = f32[128,10]{1,0:T(8,128)} parameter(1)
  start = (f32[256,128]{1,0:T(8,128)S(1)}, f32[256,128]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(a)
  b = f32[256,128]{1,0:T(8,128)} negate(a)
  done = f32[256,128]{1,0:T(8,128)S(1)} copy-done(start)
  c = f32[256,128]{1,0:T(8,128)} add(b, done)
  zero = s32[] constant(0)
  init = (s32[], f32[256,128]{1,0:T(8,128)}) tuple(zero, c)
  loop = (s32[], f32[256,128]{1,0:T(8,128)}) while(init), condition=cond, body=body, backend_config={"known_trip_count":{"n":"5"}}
  d = f32[256,128]{1,0:T(8,128)} get-tuple-element(loop), index=1
  r = f32[256,128]{1,0:T(8,128)} all-reduce(d), replica_groups={{0,1,2,3}}, to_apply=add
  nobody_knows = f32[256,128]{1,0:T(8,128)} custom-call(r), custom_call_target="my_kernel"
  ROOT m = f32[256,10]{1,0:T(8,128)} dot(nobody_knows, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

}  // namespace hlosim::test
