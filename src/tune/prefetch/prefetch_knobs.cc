#include "prefetch/prefetch_knobs.h"

#include <fmt/format.h>

#include <charconv>
#include <variant>

#include "base/text.h"

namespace hlosim {
namespace {

using Member = std::variant<int64_t XlaKnobs::*, double XlaKnobs::*, bool XlaKnobs::*>;

struct Knob {
  std::string_view name;
  Member member;
  double least, most;
  std::string_view meaning;
};

constexpr double kAny = 9e18;

constexpr Knob kKnobs[] = {
    {"max_size_in_bytes", &XlaKnobs::max_size_in_bytes, -1, kAny, "bytes for values; -1: the device's"},
    {"alignment_in_bytes", &XlaKnobs::alignment_in_bytes, 1, 1 << 30, "of places on the chip"},
    {"scoped_vmem_limit_kib", &XlaKnobs::scoped_vmem_limit_kib, -1, 1e12,
     "scratch of one instruction; -1: the device's"},
    {"max_outstanding_prefetches", &XlaKnobs::max_outstanding_prefetches, -1, 1e9,
     "at a time; -1: any number"},
    {"max_outstanding_evictions", &XlaKnobs::max_outstanding_evictions, -1, 1e9, "at a time; -1: any number"},
    {"max_retries", &XlaKnobs::max_retries, 1, 1000, "tries per value"},
    {"max_repacks", &XlaKnobs::max_repacks, 0, 1e9, "times that everything may move, of one module"},
    {"min_overlap_to_async_copy_ratio", &XlaKnobs::min_overlap_to_async_copy_ratio, 0, 1e9,
     "time of a copy that work has to cover"},
    {"preferred_overlap_to_async_copy_ratio", &XlaKnobs::preferred_overlap_to_async_copy_ratio, 0, 1e9,
     "tried first"},
    {"max_overlap_to_mem_size_async_copy_ratio", &XlaKnobs::max_overlap_to_mem_size_async_copy_ratio, 0, 1e9,
     "longest interval, in copies of the whole memory"},
    {"async_copy_bandwidth_scaling_factor", &XlaKnobs::async_copy_bandwidth_scaling_factor, 1e-6, 1,
     "trust in the speed of copies"},
    {"while_execution_count", &XlaKnobs::while_execution_count, 1, 1e9, "of loops, in lengths of intervals"},
    {"scale_memory_boundedness", &XlaKnobs::scale_memory_boundedness, 0, 1,
     "benefits by the root of the size (SQRT, NO_SCALE)"},
    {"enable_cross_program_prefetch", &XlaKnobs::enable_cross_program_prefetch, 0, 1,
     "parameters brought by the run before"},
    {"enable_cross_program_prefetch_freeing", &XlaKnobs::enable_cross_program_prefetch_freeing, 0, 1,
     "given up after their last use"},
    {"enable_permissive_cross_program_prefetch", &XlaKnobs::enable_permissive_cross_program_prefetch, 0, 1,
     "also what looks like an activation"},
    {"default_cross_program_prefetch_heuristic", &XlaKnobs::default_cross_program_prefetch_heuristic, 0, 1,
     "chosen by benefit instead of size"},
    {"max_cross_program_prefetches", &XlaKnobs::max_cross_program_prefetches, 0, 1e6, "of one module"},
    {"inefficient_use_to_copy_ratio", &XlaKnobs::inefficient_use_to_copy_ratio, 0, 1e9,
     "bytes used per byte copied, at least"},
    {"enforce_prefetch_fifo_order", &XlaKnobs::enforce_prefetch_fifo_order, 0, 1,
     "done in the order of starts"},
    {"always_spill_to_default_memory", &XlaKnobs::always_spill_to_default_memory, 0, 1,
     "what is made on the chip is written back at once"},
    {"enable_sync_copy_replacement", &XlaKnobs::enable_sync_copy_replacement, 0, 1,
     "copies become asynchronous ones to the chip"},
    {"enable_sync_slice_replacement", &XlaKnobs::enable_sync_slice_replacement, 0, 1,
     "slices become asynchronous ones to the chip"},
    {"extend_async_copies_limit_for_sync_mem_op_conversion",
     &XlaKnobs::extend_async_copies_limit_for_sync_mem_op_conversion, 0, 1e9,
     "more prefetches at a time for these"},
    {"memory_bound_loop_optimizer_options.enabled", &XlaKnobs::loop_optimizer, 0, 1,
     "one decision for all iterations of unrolled loops"},
    {"memory_bound_loop_optimizer_options.desired_copy_ratio", &XlaKnobs::loop_desired_copy_ratio, 0, 1,
     "part of a copy that idle HBM has to cover"},
    {"memory_bound_loop_optimizer_options.allow_unsatisfied_fully_pipelined_prefetch",
     &XlaKnobs::loop_allow_unsatisfied_fully_pipelined_prefetch, 0, 1,
     "or else it begins an iteration ahead"},
    {"memory_bound_loop_optimizer_options.min_num_iterations", &XlaKnobs::loop_min_num_iterations, 0, 1e9,
     "that make a loop, at least"},
};

/// XLA has them, this assigner doesn't; with the value that turns them off.
struct Unmodelled {
  std::string_view name, off, why = {};
};
constexpr std::string_view kWindows =
    "how large the window of an operand is decides the code generator of the TPU, and HLO has no way to "
    "express "
    "that a "
    "kernel finds its first window filled";
constexpr Unmodelled kUnmodelled[] = {
    {"while_use_extra_outstanding_prefetch_limit", "0"},
    {"pipeline_overhead_window_size_mib", "0"},
    {"sliced_prefetch_options", ""},
    {"max_slices", "0"},
    {"min_bytes", "0"},
    {"preferred_slice_size", "0"},
    {"all_slice_time_permutations_threshold", "0"},
    {"use_repeated_instance_for_preferred_prefetch_time", "false"},
    {"autotuning_config", ""},
    {"msa_tensor_overrides", ""},
    {"window_prefetch_mode", "none", kWindows},
    {"enable_window_prefetch", "false", kWindows},
    {"reduce_scoped_memory_limit", "false"},
    {"allocate_reserved_scoped_memory_at_same_offset", "true"},
    {"expanded_scoped_alternate_memory_mode", "DISABLED"},
    {"enable_block_prefetching", "false"},
    {"allocate_across_sequential_calls", "false"},
};

Result<void> not_modelled(std::string_view name, std::string_view why) {
  return failure(
      fmt::format("the knob '{}' of XLA's assigner is not modelled{}{}", name, why.empty() ? "" : ": ", why),
      "docs/prefetch.md lists those that are");
}

template <class T>
bool read_whole(std::string_view text, T& value) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size();
}

struct Setter {
  XlaKnobs& knobs;
  std::string_view name, value;
  double least, most;

  Result<void> wrong(std::string_view kind) const {
    return failure(fmt::format("{}: '{}' is not {}", name, shown(value), kind));
  }
  Result<void> operator()(bool XlaKnobs::*member) const {
    if (value == "true" || value == "1" || value == "SQRT")
      knobs.*member = true;
    else if (value == "false" || value == "0" || value == "NO_SCALE")
      knobs.*member = false;
    else
      return wrong("true or false");
    return {};
  }
  Result<void> operator()(int64_t XlaKnobs::*member) const {
    int64_t number = 0;
    if (!read_whole(value, number) || static_cast<double>(number) < least ||
        static_cast<double>(number) > most)
      return wrong(fmt::format("a whole number from {} on", least));
    knobs.*member = number;
    return {};
  }
  Result<void> operator()(double XlaKnobs::*member) const {
    double number = 0;
    if (!read_whole(value, number) || !(number >= least && number <= most))
      return wrong(fmt::format("a number from {} to {}", least, most));
    knobs.*member = number;
    return {};
  }
};

}  // namespace

std::vector<KnobRow> knob_rows(const XlaKnobs& knobs) {
  std::vector<KnobRow> rows;
  for (const Knob& knob : kKnobs) {
    const std::string value =
        std::visit([&](auto member) { return fmt::format("{}", knobs.*member); }, knob.member);
    rows.push_back({std::string(knob.name), value, std::string(knob.meaning)});
  }
  return rows;
}

Result<void> set_knob(XlaKnobs& knobs, std::string_view name, std::string_view value) {
  std::vector<std::string_view> names;
  if (name == "extend_async_copies_limit") name = "extend_async_copies_limit_for_sync_mem_op_conversion";
  for (const Knob& knob : kKnobs) {
    if (knob.name == name) return std::visit(Setter{knobs, name, value, knob.least, knob.most}, knob.member);
    names.push_back(knob.name);
  }
  for (const Unmodelled& other : kUnmodelled)
    if (other.name == name) return value == other.off ? Result<void>() : not_modelled(name, other.why);
  std::string hint = did_you_mean(name, names);
  if (hint.empty()) hint = "docs/prefetch.md lists them";
  return failure(fmt::format("no knob '{}'", shown(name)), std::move(hint));
}

}  // namespace hlosim
