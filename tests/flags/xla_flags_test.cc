#include "flags/xla_flags.h"

#include <gtest/gtest.h>

#include "flags/compiler_choices.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

std::vector<XlaFlag> read(std::string text, DiagnosticList& problems) {
  return read_xla_flags(std::make_shared<const SourceFile>("flags", std::move(text)), problems);
}

TEST(XlaFlags, TextsOfShellsAndFiles) {
  DiagnosticList problems;
  const std::vector<XlaFlag> flags = read(
      "# what we run with\n"
      "export LIBTPU_INIT_ARGS=\"--xla_tpu_scoped_vmem_limit_kib=98304 \\\n"
      "  --xla_tpu_enable_latency_hiding_scheduler\"\n"
      "XLA_FLAGS+=' --xla_dump_to=/tmp/x'\n",
      problems);
  EXPECT_TRUE(problems.items().empty());
  ASSERT_EQ(flags.size(), 3u);
  EXPECT_EQ(flags[0].name, "xla_tpu_scoped_vmem_limit_kib");
  EXPECT_EQ(flags[0].value, "98304");
  EXPECT_EQ(flags[0].source->locate(flags[0].value_offset).line, 2);
  EXPECT_EQ(flags[1].value, "true");
  EXPECT_EQ(flags[2].value, "/tmp/x");
}

TEST(XlaFlags, WordsThatAreNoFlagsAreErrorsAtTheirPlace) {
  DiagnosticList problems;
  EXPECT_EQ(read("--xla_dump_to=x xla_tpu_dvfs_p_state=7", problems).size(), 1u);
  ASSERT_EQ(problems.error_count(), 1u);
  EXPECT_EQ(problems.items()[0].offset, 16u);
  EXPECT_EQ(problems.items()[0].hint, "--xla_tpu_dvfs_p_state=7");
}

TEST(XlaFlags, BecomeValuesOfTheDevice) {
  const Device v7x = test::device_or_fail("v7x");
  DiagnosticList problems;
  const auto overrides = xla_flag_overrides(
      read("--xla_tpu_dvfs_p_state=0 --xla_tpu_scoped_vmem_limit_kib=1024 --xla_tpu_dvfs_p_state=7 "
           "--xla_tpu_enable_large_2nd_minor_layout_for_x16=false",
           problems),
      v7x.config, problems);
  EXPECT_TRUE(problems.items().empty());
  ASSERT_EQ(overrides.size(), 3u);  // of the p-states the last one
  EXPECT_EQ(overrides[0].path, "vmem.scoped_limit");
  EXPECT_EQ(overrides[0].value, "1048576 B");
  EXPECT_EQ(overrides[1].path, "clock");
  EXPECT_EQ(overrides[1].value, "2200000000 Hz");
  EXPECT_EQ(overrides[2].value, "false");
}

TEST(XlaFlags, AVmemLimitBeyondTheMemoryIsAllOfIt) {
  const Device v6e = test::device_or_fail("v6e");
  DiagnosticList problems;
  const auto overrides =
      xla_flag_overrides(read("--xla_tpu_scoped_vmem_limit_kib=1073741824", problems), v6e.config, problems);
  ASSERT_EQ(overrides.size(), 1u);
  EXPECT_EQ(overrides[0].value, fmt::format("{} B", v6e.config.vmem_space().capacity->count()));
}

TEST(XlaFlags, BadValuesAreErrorsUnknownFlagsWarningsOthersNotes) {
  const Device v6e = test::device_or_fail("v6e");
  for (const char* bad :
       {"--xla_tpu_scoped_vmem_limit_kib=much", "--xla_tpu_scoped_vmem_limit_kib=0",
        "--xla_tpu_scoped_vmem_limit_kib=-1", "--xla_tpu_enable_large_2nd_minor_layout_for_x16=2"}) {
    DiagnosticList problems;
    EXPECT_TRUE(xla_flag_overrides(read(bad, problems), v6e.config, problems).empty()) << bad;
    ASSERT_EQ(problems.error_count(), 1u) << bad;
    EXPECT_EQ(problems.items()[0].offset, std::string_view(bad).find('=') + 1) << bad;
  }
  DiagnosticList problems;
  const auto flags = read("--xla_tpu_scoped_vmem_limit_kb=1 --xla_dump_to=x", problems);
  EXPECT_TRUE(xla_flag_overrides(flags, v6e.config, problems).empty());
  ASSERT_EQ(problems.items().size(), 2u);
  EXPECT_EQ(problems.items()[0].severity, Severity::kWarning);
  EXPECT_NE(problems.items()[0].hint.find("xla_tpu_scoped_vmem_limit_kib"), std::string::npos);
  EXPECT_EQ(problems.items()[1].severity, Severity::kNote);
}

TEST(XlaFlags, EveryKnownFlagHasAnEffectOrAReason) {
  for (const KnownXlaFlag& flag : known_xla_flags()) {
    EXPECT_EQ(flag.key.empty(), !why_without_effect(flag.effect).empty()) << flag.name;
    EXPECT_EQ(find_xla_flag(flag.name), &flag) << flag.name << " is listed twice";
  }
}

TEST(XlaFlags, DriversOfCollectivesAndCopiesAreTheCompilersChoices) {
  const std::string text =
      "--xla_tpu_enable_sparse_core_collective_offload_all_gather=true "
      "--xla_tpu_enable_sparse_core_collective_offload_all_reduce=false "
      "--xla_tpu_enable_sparse_core_collective_offload_reduce_scatter=true "
      "--xla_tpu_enable_async_collective_fusion=false --xla_tpu_host_transfer_overlap_limit=24 "
      "--xla_jf_spmd_threshold_for_windowed_einsum_mib=0";
  DiagnosticList problems;
  const std::vector<XlaFlag> flags = read(text, problems);
  const Device v6e = test::device_or_fail("v6e"), v5e = test::device_or_fail("v5e");
  const CompilerChoices on_v6e = compiler_choices(flags, v6e.config, problems);
  EXPECT_TRUE(xla_flag_overrides(flags, v6e.config, problems).empty());
  EXPECT_TRUE(problems.items().empty());
  EXPECT_TRUE(on_v6e.offload_all_gathers && on_v6e.offload_reduce_scatters);
  EXPECT_FALSE(on_v6e.offload_all_reduces || on_v6e.fused_gathers);
  EXPECT_EQ(on_v6e.overlapped_host_copies, 24);
  EXPECT_EQ(on_v6e.windowed_einsum_mib, 0);
  EXPECT_FALSE(CompilerChoices().windowed_einsum_mib);
  // Known to the compiler of a generation without such units as well.
  const CompilerChoices on_v5e = compiler_choices(flags, v5e.config, problems);
  EXPECT_FALSE(on_v5e.offload_all_gathers || on_v5e.offload_reduce_scatters || on_v5e.fused_gathers);
  EXPECT_TRUE(xla_flag_overrides(flags, v5e.config, problems).empty());
  EXPECT_FALSE(problems.has_errors());
  ASSERT_EQ(problems.items().size(), 3u);
  EXPECT_NE(problems.items()[0].message.find("has no SparseCores"), std::string::npos);
}

TEST(XlaFlags, GathersWaitWithFlagsOf2023) {
  const Device v5p = test::device_or_fail("v5p");
  const auto fused = [&](const std::string& text, size_t notes) {
    DiagnosticList problems;
    const std::vector<XlaFlag> flags = read(text, problems);
    const CompilerChoices choices = compiler_choices(flags, v5p.config, problems);
    EXPECT_EQ(problems.items().size(), notes) << text;
    EXPECT_FALSE(problems.has_errors());
    return choices.fused_gathers;
  };
  EXPECT_FALSE(fused("--xla_enable_async_all_gather=true", 1));
  EXPECT_TRUE(fused("--xla_enable_async_all_gather=true --xla_tpu_enable_async_collective_fusion=true", 0));
  EXPECT_TRUE(fused("--xla_tpu_scoped_vmem_limit_kib=65536", 0));
}

TEST(XlaFlags, WrongChoicesAreErrorsAtTheirValue) {
  for (const char* bad :
       {"--xla_tpu_host_transfer_overlap_limit=0", "--xla_tpu_enable_async_collective_fusion=perhaps",
        "--xla_jf_spmd_threshold_for_windowed_einsum_mib=many"}) {
    DiagnosticList problems;
    compiler_choices(read(bad, problems), test::device_or_fail("v6e").config, problems);
    ASSERT_EQ(problems.error_count(), 1u) << bad;
    EXPECT_EQ(problems.items()[0].offset, std::string_view(bad).find('=') + 1) << bad;
  }
}

TEST(XlaFlags, PStatesWhereThereAreNoneChangeNothing) {
  DiagnosticList problems;
  EXPECT_TRUE(xla_flag_overrides(read("--xla_tpu_dvfs_p_state=3", problems),
                                 test::device_or_fail("v5p").config, problems)
                  .empty());
  EXPECT_FALSE(problems.has_errors());
}

}  // namespace
}  // namespace hlosim
