// Every number in a few instructions of each family, replaced by numbers that can't be meant: an answer or
// an error, never a crash (the sanitizer builds look at overflows).
#include <gtest/gtest.h>

#include <cctype>

#include "modules/module_rules.h"
#include "ops/collective_groups.h"
#include "support/text_module.h"

namespace hlosim {
namespace {

using test::parameters;
using test::with_reducers;

struct Sample {
  std::initializer_list<std::string_view> shapes;
  std::string_view root;
};

const Sample kSamples[] = {
    {{"f32[5,2,7]", "f32[7,3,5]"},
     "f32[5,2,3] dot(x0, x1), lhs_batch_dims={0}, rhs_batch_dims={2}, lhs_contracting_dims={2}, "
     "rhs_contracting_dims={0}"},
    {{"f32[19,11,5]", "f32[3,19,5,7]", "s32[19,3]"},
     "f32[19,11,7] ragged-dot(x0, x1, x2), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, "
     "rhs_contracting_dims={2}, lhs_ragged_dims={1}, rhs_group_dims={0}"},
    {{"s8[2,64]", "s8[64,4]", "bf16[2,2]", "bf16[2,4]"},
     "f32[2,4] scaled-dot(x0, x1, x2, x3), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
    {{"f32[8,14,14,64]", "f32[4,3,64,32]"},
     "f32[8,28,12,32] convolution(x0, x1), window={size=4x3 stride=1x1 pad=2_2x0_0 lhs_dilate=2x1 "
     "rhs_dilate=1x1}, "
     "dim_labels=b01f_01io->b01f, feature_group_count=1, batch_group_count=1"},
    {{"f32[1,8]", "f32[2,1]", "s32[2,1]"},
     "f32[1,1] convolution(x0, x1, x2), dim_labels=bf_io->bf, sparsity_config={rhs={sparsity=1x4 dimension=0 "
     "stride=1 "
     "idx=2}}"},
    {{"f32[2,3,4]", "f32[]"}, "f32[3] reduce(x0, x1), dimensions={0,2}, to_apply=add"},
    {{"f32[8,10]", "f32[]"},
     "f32[8,5] reduce-window(x0, x1), window={size=1x3 stride=1x2 pad=0_0x1_0 lhs_dilate=1x1 "
     "rhs_dilate=1x1}, "
     "to_apply=add"},
    {{"f32[4,4]", "f32[2,2]", "f32[]"},
     "f32[4,4] select-and-scatter(x0, x1, x2), window={size=2x2 stride=2x2}, select=at_least, scatter=add"},
    {{"f32[2,3]", "f32[2,3]"}, "f32[2,3] map(x0, x1), dimensions={0,1}, to_apply=add"},
    {{"f32[4,32]", "f32[]"}, "(f32[4], f32[]) scan(x0, x1), dimensions={0}, num_carries=1, to_apply=add"},
    {{"f32[8,16]", "f32[16]", "f32[16]"},
     "(f32[8,16], f32[16], f32[16]) batch-norm-training(x0, x1, x2), epsilon=0.5, feature_index=1"},
    {{"f32[8]"}, "f32[8] all-reduce(x0), to_apply=add, replica_groups={{0,1},{2,3}}, channel_id=1"},
    {{"f32[8]"},
     "f32[16] all-gather(x0), dimensions={0}, replica_groups=[2,2]<=[2,2]T(1,0), channel_id=1, "
     "use_global_device_ids=true"},
    {{"f32[8]"},
     "f32[4] reduce-scatter(x0), dimensions={0}, replica_groups=mesh['a'=2,'b'=4] {'b':(2)2}, to_apply=add"},
    {{"f32[8]"}, "f32[8] all-to-all(x0), dimensions={0}, replica_groups={{0,1}}, channel_id=1"},
    {{"f32[8,4]", "f32[16,4]", "s32[2]", "s32[2]", "s32[2]", "s32[2]"},
     "f32[16,4] ragged-all-to-all(x0, x1, x2, x3, x4, x5), replica_groups={{0,1}}"},
    {{"f32[8]"}, "f32[8] collective-permute(x0), source_target_pairs={{0,1},{1,0}}"},
    {{"f32[8,4]", "f32[8,4]", "(s32[],s32[])", "(s32[],s32[])"},
     "f32[8,4] collective-permute(x0, x1, x2, x3), slice_sizes={{2,4}}, source_target_pairs={{0,1}}"},
    {{"f32[8]"}, "(f32[8], f32[8], u32[], u32[]) collective-permute-start(x0), source_target_pairs={{0,1}}"},
    {{"f32[8]"}, "f32[8] collective-broadcast(x0), replica_groups={{1,0},{2,3}}"},
};

constexpr std::string_view kHostile[] = {"0",
                                         "1",
                                         "2",
                                         "-1",
                                         "3",
                                         "4611686018427387905",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "2147483648",
                                         "16777217"};

/// Reads, verifies and, if all is well, asks for everything that is derived from an instruction.
bool survives(const std::string& text) {
  DiagnosticList diagnostics;
  std::vector<Module> modules = read_modules(test::source_of(text), op_table(), diagnostics);
  if (diagnostics.has_errors() || modules.size() != 1) return false;
  Module& module = modules[0];
  if (!verify(module, op_table(), diagnostics)) return false;
  check_module_rules(module, op_table(), diagnostics);
  const OpContext op(module, module.root(module.entry), op_table(), nullptr);
  const Work work = work_of(op);
  if (!work.collective) return true;
  const Bytes payload = dense_bytes(work.collective->payload);
  if (const auto grid = device_grid(module, op_table())) {
    sent_per_member(work.collective->kind, group_size(op, *group_mode(op), *grid), payload);
    if (grid->devices() < 1 << 16) (void)collective_groups(op, *grid);
  }
  return true;
}

TEST(HostileNumbers, AnAnswerOrAnError) {
  int64_t tried = 0, right = 0;
  for (const Sample& sample : kSamples) {
    const std::string text =
        with_reducers(parameters(sample.shapes) + "  ROOT r = " + std::string(sample.root),
                      "HloModule m, replica_count=1, num_partitions=1");
    const size_t entry = text.find("ENTRY");
    for (size_t at = text.find('m'); at < text.size(); ++at) {
      // Numbers of the header and of the entry, but not those in names and element types.
      if (at == text.find('\n')) at = entry;
      const auto digit = [&](size_t i) { return std::isdigit(static_cast<unsigned char>(text[i])) != 0; };
      const bool after_by = text[at - 1] == 'x' && digit(at - 2);  // the 3 of 2x3
      const bool begins = digit(at) && (after_by || !std::isalnum(static_cast<unsigned char>(text[at - 1])));
      if (!begins) continue;
      size_t end = at;
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
      for (const std::string_view number : kHostile) {
        std::string hostile = text;
        hostile.replace(at, end - at, number);
        right += survives(hostile);
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 2000);
  EXPECT_GT(right, tried / 50) << "most replacements should be refused, but some are right";
}

// What `run` reads as numbers of elements is refused before when it has another type.
TEST(HostileNumbers, IndicesSizesAndOffsetsAreIntegers) {
  const Sample samples[] = {
      {{"f32[8]", "?[]"}, "f32[2] dynamic-slice(x0, x1), dynamic_slice_sizes={2}"},
      {{"f32[8]", "f32[2]", "?[]"}, "f32[8] dynamic-update-slice(x0, x1, x2)"},
      {{"f32[8]", "?[2,1]"},
       "f32[2] gather(x0, x1), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
       "index_vector_dim=1, slice_sizes={1}"},
      {{"f32[8]", "?[]"}, "f32[<=8] set-dimension-size(x0, x1), dimensions={0}"},
      {{"f32[8]", "?[]"}, "f32[<=8] dynamic-reshape(x0, x1)"},
      {{"f32[4,3]", "f32[2,3,5]", "?[2]"},
       "f32[4,5] ragged-dot(x0, x1, x2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
       "lhs_ragged_dims={0}, rhs_group_dims={0}"},
      {{"f32[8]", "f32[8]", "(?[])", "(?[])"},
       "f32[8] collective-permute(x0, x1, x2, x3), slice_sizes={{2}}, source_target_pairs={{0,0}}"},
  };
  for (const Sample& sample : samples)
    for (const std::string_view type : {"s32", "f32", "bf16", "c64", "f8e4m3fn"}) {
      std::string text =
          with_reducers(parameters(sample.shapes) + "  ROOT r = " + std::string(sample.root), "HloModule m");
      for (size_t at = 0; (at = text.find('?')) != std::string::npos;) text.replace(at, 1, type);
      EXPECT_EQ(survives(text), type == "s32") << text;
    }
}

}  // namespace
}  // namespace hlosim
