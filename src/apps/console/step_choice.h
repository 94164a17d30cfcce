// Options of `hlosim model` that say what a step does.
//
//   StepChoice choice;
//   declare_step(line, choice);                    // the options
//   const Result<StepOptions> step = step_options(choice, mesh);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "console/command_line.h"
#include "layout/element_type.h"
#include "workloads/step_options.h"

namespace hlosim {

struct StepChoice {
  std::string kind = "train";
  std::optional<int64_t> batch;
  int64_t sequence = 2048, page_size = 0, vocab_tiles = 1, stack_axis = 0;
  std::string compute = "bf16", params = "f32", moments = "f32", quantize = "none";
  int64_t weight_block = 0;
  std::string weights = "params", cache = "compute", sampling = "logits";
  std::string optimizer = "adamw", attention = "splash", remat = "full";
  std::vector<std::string> keep, blocks, expert_tiles;
  std::string expert_kernel = "megablox";
  bool unroll = false, loop = false, one_hot = false, gradients = false, gather_stored = false,
       automatic = false;
  bool experts_on_fsdp = false, experts_on_tensor = false, split_backward = false, quantized_gather = false,
       logit_bound = false, ring_of_experts = false;
  std::string grads = "params";
  double clip_norm = 1, ragged_buffer_factor = 0;
  bool operator==(const StepChoice&) const = default;
};

/// All of them; `choice` outlives the line.
void declare_step(CommandLine& line, StepChoice& choice);

/// The type of weights stored as int8, int4 or fp8; kInvalid for any other word.
ElementType stored_weight_type(std::string_view word);

/// On this mesh. Errors: words that no option knows.
Result<StepOptions> step_options(const StepChoice& choice, const Mesh& mesh);

}  // namespace hlosim
