// What a compiler gives to SparseCores unasked is a key of the device.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lower/lower.h"
#include "support/modules.h"

namespace hlosim {
namespace {

constexpr std::string_view kGather = R"(HloModule tokens

ENTRY main {
  table = bf16[65536,2048] parameter(0)
  rows = s32[16384] parameter(1)
  bias = bf16[16384,2048] parameter(2)
  moved = bf16[16384,2048] gather(table, rows), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2048}
  ROOT sum = bf16[16384,2048] add(moved, bias)
}
)";

// Nothing of the second product needs the sums.
constexpr std::string_view kReduceScatter = R"(HloModule scattered, num_partitions=4

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY main {
  x = bf16[4096,8192] parameter(0)
  w = bf16[8192,4096] parameter(1)
  v = bf16[8192,8192] parameter(2)
  partial = f32[4096,4096] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  summed = f32[1024,4096] reduce-scatter(partial), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, dimensions={0}, to_apply=add
  other = f32[4096,8192] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT both = (f32[1024,4096], f32[4096,8192]) tuple(summed, other)
}
)";

/// Asynchronous starts of the lowered module, those of prefetches left out.
size_t starts(std::string_view text, const std::string& device, std::string_view key,
              std::string_view value) {
  const std::vector<DeviceOverride> change = {{fmt::format("sparsecore.{}", key), std::string(value)}};
  DiagnosticList problems;
  const std::optional<Device> changed = load_device(device, change, {}, problems);
  EXPECT_TRUE(changed) << test::rendered(problems);
  if (!changed) return 0;
  const Module lowered = lower(test::module_or_fail(text), op_table(), *changed);
  size_t count = 0;
  for (const Instruction& instruction : lowered.instructions)
    count += op_table()[instruction.opcode].has(kAsyncStart) && instruction.opcode != Opcode::kCopyStart;
  return count;
}

TEST(SparseOffload, GathersFromLargeTablesGoWhereTheDeviceSaysSo) {
  for (const char* device : {"v6e", "v7x"}) {
    EXPECT_EQ(starts(kGather, device, "offload_gathers", "true"), 1u) << device;
    EXPECT_EQ(starts(kGather, device, "offload_gathers", "false"), 0u) << device;
  }
}

TEST(SparseOffload, ReduceScattersRunBesideOtherWorkWhereTheDeviceSaysSo) {
  for (const char* device : {"v6e", "v7x"}) {
    EXPECT_EQ(starts(kReduceScatter, device, "offload_reduce_scatters", "true"), 1u) << device;
    EXPECT_EQ(starts(kReduceScatter, device, "offload_reduce_scatters", "false"), 0u) << device;
  }
}

}  // namespace
}  // namespace hlosim
