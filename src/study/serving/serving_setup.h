// A server of a language model: which model, on which mesh, stored how, and how much it takes into one step.
//
//   ServingSetup setup{.model = model, .tensor = 8};
//   setup.max_model_len = 2048;
//   StepTimes times(setup, device, estimate_options);              // step_times.h
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/saturating.h"
#include "layout/element_type.h"
#include "serving/speculation.h"
#include "workloads/model_config.h"
#include "workloads/step_options.h"

namespace hlosim {

struct ServingSetup {
  ModelConfig model;
  int64_t tensor = 1, data = 1, expert = 1;         // axes of the mesh; `data` and `expert` deal requests out
  bool experts_on_tensor = false;                   // whole experts are dealt out over `tensor`, too
  ElementType weight_type = ElementType::kInvalid;  // of the layers' products; kInvalid: bf16
  int64_t weight_block = 0;                         // inputs of an output that share a scale; 0: all
  ElementType cache_type = ElementType::kBF16;
  Quantization quantization = Quantization::kNone;  // of products with stored weights; none: widened
  Sampling sampling = Sampling::kGreedy;

  int64_t max_batched_tokens = 1024;  // of one step
  int64_t max_seqs = 256;             // requests of one step
  int64_t max_model_len = 2048;       // tokens of a request, prompt and answer
  int64_t block_size = 0;             // tokens of a page of the cache; 0: as vLLM chooses
  double memory_utilization = 0.9;    // of the memory that a program can use: weights and cache
  bool mixed_steps = true;            // chunks of prompts ride along with decodes; false: steps of their own
  bool offloads_all_reduces = true;   // SparseCores drive all-reduces where the device has some
  double host_seconds = 0;            // between two steps on the device
  Speculation speculation{};

  /// Tokens of a request that decodes, in one step: the next one and the drafted ones.
  int64_t decode_tokens() const { return 1 + speculation.tokens; }
  /// Requests that a step can decode.
  int64_t most_decodes() const { return std::min(max_seqs, max_batched_tokens / decode_tokens()); }
  int64_t devices() const { return saturating_multiply(saturating_multiply(tensor, data), expert); }
  /// Groups of devices that requests are dealt out to.
  int64_t replicas() const { return data * expert; }
  Mesh mesh() const {
    Mesh made;
    for (const auto& [name, size] :
         {std::pair<const char*, int64_t>{"data", data}, {"expert", expert}, {"tensor", tensor}})
      if (size > 1) made.axes.push_back({name, size});
    return made;
  }
};

/// The setup of the model that drafts: on the same devices, with bf16 weights and the same type of cache.
inline std::optional<ServingSetup> draft_setup(const ServingSetup& setup) {
  if (!setup.speculation.draft) return std::nullopt;
  ServingSetup draft = setup;
  draft.model = *setup.speculation.draft;
  draft.weight_type = ElementType::kInvalid, draft.weight_block = 0, draft.quantization = Quantization::kNone;
  draft.speculation = {};
  return draft;
}

/// Tokens that a step of `tokens` computes: the next of 16, 32, 64, … (vllm-project/tpu-inference,
/// runner/utils.py); at most max_batched_tokens or max_seqs, whichever is more.
inline int64_t token_bucket(const ServingSetup& setup, int64_t tokens) {
  int64_t bucket = 16 * setup.replicas();
  const int64_t most = std::max(setup.max_batched_tokens, setup.max_seqs);
  while (bucket < tokens && bucket < most) bucket *= 2;
  return bucket;
}

}  // namespace hlosim
