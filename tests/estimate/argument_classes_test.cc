// What the arguments of a step are for doesn't depend on the form that lowering gives to what reads them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "estimate/estimate.h"
#include "memory/memory_classes.h"
#include "support/estimated.h"

namespace hlosim {
namespace {

/// Bytes of a serving step's arguments by class, as a report has them.
BytesByClass arguments_of_step(int64_t batch, std::string_view type) {
  const std::string text = fmt::format(R"(HloModule decode

ENTRY main {{
  ids = s32[{0}] parameter(0)
  table = f32[512,256] parameter(1)
  w = {1}[256,256] parameter(2)
  x = f32[{0},256] gather(table, ids), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,256}}
  wide = f32[256,256] convert(w)
  ROOT y = f32[{0},256] dot(x, wide), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
)",
                                       batch, type);
  const Module module = test::module_or_fail(text);
  const Device device = test::device_or_fail("v5e");
  const Result<Estimate> run = estimate(module, op_table(), device, {});
  EXPECT_TRUE(run) << render(run.error());
  const std::vector<MemoryClass> classes = memory_classes(*run->module, op_table(), run->occupancy, &module);
  BytesByClass bytes{};
  for (size_t i = 0; i < classes.size(); ++i)
    if (const LiveBuffer& buffer = run->occupancy.buffers[i]; buffer.is_parameter)
      bytes[static_cast<size_t>(classes[i])] += buffer.size;
  return bytes;
}

TEST(ArgumentClasses, DependNeitherOnTheBatchNorOnTheStoredType) {
  for (const int64_t batch : {1, 2, 8, 64})
    for (const auto& [type, width] : {std::pair("f32", 4), std::pair("bf16", 2), std::pair("s8", 1)}) {
      const BytesByClass found = arguments_of_step(batch, type);
      EXPECT_EQ(found[static_cast<size_t>(MemoryClass::kParameters)].count(),
                512 * 256 * 4 + 256 * 256 * width)
          << batch << " " << type;
    }
}

}  // namespace
}  // namespace hlosim
