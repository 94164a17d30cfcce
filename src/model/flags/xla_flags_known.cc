// The flags that are known, by what they mean here. Names: openxla/xla (debug_options_flags.cc), JAX's and
// MaxText's documentation of XLA flags for TPUs.
#include <algorithm>
#include <iterator>

#include "flags/xla_flags.h"

namespace hlosim {
namespace {

using enum XlaFlagEffect;

constexpr KnownXlaFlag kKnown[] = {
    {"xla_tpu_scoped_vmem_limit_kib", kVmemLimit, "vmem.scoped_limit"},
    {"xla_tpu_dvfs_p_state", kPState, "clock"},
    {"xla_tpu_enable_large_2nd_minor_layout_for_x16", kLargeTiles, "tiling.large_second_minor"},
    {"xla_tpu_enable_sparse_core_collective_offload_all_gather", kCompiler, "offload_all_gathers"},
    {"xla_tpu_enable_sparse_core_collective_offload_all_reduce", kCompiler, "offload_all_reduces"},
    {"xla_tpu_enable_sparse_core_collective_offload_reduce_scatter", kCompiler, "offload_reduce_scatters"},
    {"xla_tpu_enable_async_collective_fusion", kCompiler, "fused_gathers"},
    {"xla_tpu_host_transfer_overlap_limit", kCompiler, "overlapped_host_copies"},
    {"xla_jf_spmd_threshold_for_windowed_einsum_mib", kCompiler, "windowed_einsum_mib"},

    // Fusion, layouts, partitioning, asynchronous forms: the module's text has what came of them.
    {"xla_all_gather_", kInText, ""},
    {"xla_allow_excess_precision", kInText, ""},
    {"xla_enable_async_", kInText, ""},
    {"xla_jf_auto_cross_replica_sharding", kInText, ""},
    {"xla_jf_bounds_check", kInText, ""},
    {"xla_jf_conv_", kInText, ""},
    {"xla_jf_crs_combiner_", kInText, ""},
    {"xla_jf_rematerialization_", kInText, ""},
    {"xla_jf_vmem_", kInText, ""},
    {"xla_sc_", kInText, ""},
    {"xla_tpu_accumulate_into_mrb", kInText, ""},
    {"xla_tpu_aggressive_opt_barrier_removal", kInText, ""},
    {"xla_tpu_all_gather_", kInText, ""},
    {"xla_tpu_async_", kInText, ""},
    {"xla_tpu_bf16_emission_mode", kInText, ""},
    {"xla_tpu_data_parallel_opt_different_sized_ops", kInText, ""},
    {"xla_tpu_decompose_", kInText, ""},
    {"xla_tpu_dot_dot_fusion", kInText, ""},
    {"xla_tpu_dot_dot_fusion_duplicated", kInText, ""},
    {"xla_tpu_enable_ag_backward_pipelining", kInText, ""},
    {"xla_tpu_enable_all_gather_offload_tracing", kRuntime, ""},
    {"xla_tpu_enable_all_reduce_", kInText, ""},
    {"xla_tpu_enable_async_", kInText, ""},
    {"xla_tpu_enable_copy_fusion", kInText, ""},
    {"xla_tpu_enable_data_parallel_all_reduce_opt", kInText, ""},
    {"xla_tpu_enable_dot_strength_reduction", kInText, ""},
    {"xla_tpu_enable_experimental_fusion_cost_model", kInText, ""},
    {"xla_tpu_enable_net_router_in_all_gather", kInText, ""},
    {"xla_tpu_enable_offloading_", kInText, ""},
    {"xla_tpu_enable_reduce_scatter_", kInText, ""},
    {"xla_tpu_enable_sparse_core_collective_aggregator", kInText, ""},
    {"xla_tpu_enable_sparse_core_collective_offload_2d_all_gather", kInText, ""},
    {"xla_tpu_enable_sparse_core_collective_offload_nd_reduce_scatter", kInText, ""},
    {"xla_tpu_enable_sparse_core_reduce_scatter_v2", kInText, ""},
    {"xla_tpu_enable_windowed_einsum_", kInText, ""},
    {"xla_tpu_impure_", kRuntime, ""},
    {"xla_tpu_input_conv_multi_users", kInText, ""},
    {"xla_tpu_megacore_", kInText, ""},
    {"xla_tpu_memory_bound_loop_optimizer_options", kInText, ""},
    {"xla_tpu_memory_space_assignment_", kInText, ""},
    {"xla_tpu_msa_", kInText, ""},
    {"xla_tpu_multi_level_nested_loop_fusion", kInText, ""},
    {"xla_tpu_nd_short_transfer_max_chunks", kInText, ""},
    {"xla_tpu_nested_dot_fusion", kInText, ""},
    {"xla_tpu_order_dot_after_layout", kInText, ""},
    {"xla_tpu_perform_spmd_cse_prevention", kInText, ""},
    {"xla_tpu_prefer_async_allgather_to_allreduce", kInText, ""},
    {"xla_tpu_reduce_loop_fusion_dup_with_unfusable_user", kInText, ""},
    {"xla_tpu_relayout_group_size_threshold_for_reduce_scatter", kInText, ""},
    {"xla_tpu_rwb_fusion", kInText, ""},
    {"xla_tpu_scavenge_vmem_for_fusions", kInText, ""},
    {"xla_tpu_spmd_", kInText, ""},
    {"xla_tpu_use_bundle_aware_cost_model_for_fusions", kInText, ""},
    {"xla_tpu_use_enhanced_launch_barrier", kRuntime, ""},
    {"xla_tpu_use_minor_sharding_for_major_trivial_input", kInText, ""},
    {"xla_tpu_use_repeated_instance_for_preferred_prefetch_time", kInText, ""},
    {"xla_tpu_use_single_sparse_core_for_all_gather_offload", kInText, ""},
    {"xla_tpu_use_tc_device_shape_on_sc", kInText, ""},
    {"xla_tpu_vmem_scavenging_mode", kInText, ""},
    {"xla_vf_vmem_", kInText, ""},

    {"xla_latency_hiding_scheduler_", kScheduled, ""},
    {"xla_lhs_", kScheduled, ""},
    {"xla_max_concurrent_", kScheduled, ""},
    {"xla_tpu_enable_all_experimental_scheduler_features", kScheduled, ""},
    {"xla_tpu_enable_latency_hiding_scheduler", kScheduled, ""},
    {"xla_tpu_enable_scheduler_", kScheduled, ""},
    {"xla_tpu_overlap_", kScheduled, ""},
    {"xla_tpu_pcie_bandwidth_multiplier", kScheduled, ""},
    {"xla_tpu_scheduler_", kScheduled, ""},

    {"megascale_", kRuntime, ""},
    {"xla_force_host_platform_device_count", kRuntime, ""},
    {"xla_jf_debug_level", kRuntime, ""},
    {"xla_tpu_enable_megascale_barrier", kRuntime, ""},
    {"xla_tpu_enable_ici_", kRuntime, ""},

    {"xla_dump_", kDump, ""},
    {"xla_hlo_profile", kDump, ""},
    {"xla_tpu_dump_", kDump, ""},
    {"xla_xprof_", kDump, ""},
};

}  // namespace

std::span<const KnownXlaFlag> known_xla_flags() { return kKnown; }

const KnownXlaFlag* find_xla_flag(std::string_view name) {
  const auto is = [&](const KnownXlaFlag& one) { return one.name == name; };
  const KnownXlaFlag* found = std::find_if(std::begin(kKnown), std::end(kKnown), is);
  const auto begins = [&](const KnownXlaFlag& one) {
    return one.name.ends_with('_') && name.starts_with(one.name);
  };
  if (found == std::end(kKnown)) found = std::find_if(std::begin(kKnown), std::end(kKnown), begins);
  return found == std::end(kKnown) ? nullptr : found;
}

std::string_view why_without_effect(XlaFlagEffect effect) {
  switch (effect) {
    case kInText:
      return "the module's text shows what came of it";
    case kScheduled:
      return "the order of a scheduled module shows what came of it";
    case kRuntime:
      return "it is about how programs are started and watched";
    case kDump:
      return "it is about what the compiler writes down";
    case kVmemLimit:
    case kPState:
    case kLargeTiles:
    case kCompiler:
      break;
  }
  return "";
}

}  // namespace hlosim
