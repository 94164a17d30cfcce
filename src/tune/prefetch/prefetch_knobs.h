// The knobs of XLA's memory-space assignment, by XLA's names.
//
//   XlaKnobs knobs;
//   set_knob(knobs, "max_retries", "3")            // an error names what is wrong with the name or the value
//   read_knobs(knobs, source)                      // max_retries: 3  overrides { … }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace hlosim {

/// Which instructions an override is about; what isn't given doesn't matter.
struct InstructionMatcher {
  std::optional<std::string> instruction_name_regex;  // the whole name
  std::optional<std::string> instruction_regex;       // the whole text of the instruction
  std::optional<int64_t> size_gte, size_lte;          // bytes of the array
  std::optional<int64_t> operand_number;              // of an operand
  std::vector<int64_t> tuple_index;                   // of the array inside of the result or operand
  bool operator==(const InstructionMatcher&) const = default;
};

struct PreferredPrefetchOverride {
  InstructionMatcher use;                    // the user
  std::optional<double> prefetch_eagerness;  // part of the time from the definition to the use, from its end
  std::optional<InstructionMatcher> after_instruction, before_instruction;
  std::optional<int64_t> logical_time;
  bool operator==(const PreferredPrefetchOverride&) const = default;
};

struct SortOrderOverride {
  enum class Kind : uint8_t { kFirst, kLast, kValue };
  InstructionMatcher position;                     // that defines the value
  std::optional<InstructionMatcher> position_use;  // one of its users
  Kind kind = Kind::kFirst;
  int64_t value = 0;  // of kValue: lower ones come first; others count as 0
  bool operator==(const SortOrderOverride&) const = default;
};

/// Defaults are XLA's; the ratios are those of all of its own tests, as the code sets none.
struct XlaKnobs {
  int64_t max_size_in_bytes = -1;      // -1: the device's memory without the scratch
  int64_t alignment_in_bytes = 1024;   // in XLA 1; a tile of 8 rows is never less on a TPU
  int64_t scoped_vmem_limit_kib = -1;  // -1: the device's
  int64_t max_outstanding_prefetches = -1, max_outstanding_evictions = -1;
  int64_t max_retries = 1, max_repacks = 0;
  double min_overlap_to_async_copy_ratio = 0.8, preferred_overlap_to_async_copy_ratio = 1.5,
         max_overlap_to_mem_size_async_copy_ratio = 10;
  double async_copy_bandwidth_scaling_factor = 1;
  int64_t while_execution_count = 5;
  bool scale_memory_boundedness = true;  // benefit by the root of the size: SQRT; else NO_SCALE
  bool enable_cross_program_prefetch = true, enable_cross_program_prefetch_freeing = true,
       enable_permissive_cross_program_prefetch = false, default_cross_program_prefetch_heuristic = false;
  int64_t max_cross_program_prefetches = 1;
  double inefficient_use_to_copy_ratio = 0.5;  // as TPU compilers set it; 0 in the code
  bool enforce_prefetch_fifo_order = false;
  bool always_spill_to_default_memory = false;
  bool enable_sync_copy_replacement = false, enable_sync_slice_replacement = false;
  int64_t extend_async_copies_limit_for_sync_mem_op_conversion = 0;
  // memory_bound_loop_optimizer_options; as in XLA's tests but for `enabled`
  bool loop_optimizer = false, loop_allow_unsatisfied_fully_pipelined_prefetch = false;
  double loop_desired_copy_ratio = 0.7, loop_min_num_iterations = 3;
  std::vector<PreferredPrefetchOverride> preferred_prefetch_overrides;  // the first that fits counts
  std::vector<SortOrderOverride> msa_sort_order_overrides;
  bool operator==(const XlaKnobs&) const = default;
};

struct KnobRow {
  std::string name, value, meaning;
};
/// What set_knob() takes, with what `knobs` has.
std::vector<KnobRow> knob_rows(const XlaKnobs& knobs);

/// Errors: an unknown knob; one of XLA's that isn't modelled, unless it is set to what turns it off; a value
/// of another kind.
Result<void> set_knob(XlaKnobs& knobs, std::string_view name, std::string_view value);

/// Reads protobuf's text format: knobs by name (those with a dot as fields of a message), and
/// `preferred_prefetch_overrides { overrides { … } }`, `msa_sort_order_overrides { … }` or what stands inside
/// of these alone. Errors: with their place in the text.
Result<void> read_knobs(XlaKnobs& knobs, const SourcePtr& source);

}  // namespace hlosim
