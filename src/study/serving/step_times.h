// Step times of a model server, from simulated modules of the model's decode and prefill steps.
//
//   StepTimes times(setup, device, options);
//   const Result<ServerStepCost> cost = times.cost({.decodes = 64, .context = 64 * 1500, .prefill = 448, …});
//
// Decode modules are simulated for every bucket of tokens with two short caches, and attention is taken off:
// the kernel of servers reads whole caches at a part of the memory's bandwidth, or takes what its rounds for
// single requests take, where that is longer. interpolation_error() is how
// far the time half way is from the line. Prefill modules give the time of a step with prompts, and the
// growth of attention with the length of a prompt. Models of many layers are simulated with one and with two
// turns of the pattern that repeats: all further turns take what the second one does. Speculation: a request
// has several tokens in a step, which read its cache once; a draft model runs once for each drafted token.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/source.h"
#include "estimate/estimate.h"
#include "model/device.h"
#include "serving/serving_setup.h"

namespace hlosim {

/// Of one device.
struct ServerStepCost {
  double seconds = 0;
  double draft_seconds = 0;  // of these, for a draft model
  double picojoules = 0;     // of all that the device file has figures for
  /// Seconds. Collectives include the stalls for them; the last entry is all other waiting.
  std::array<double, kCostCategoryCount + 1> by_category{};

  ServerStepCost& operator+=(const ServerStepCost& other) { return add(other, 1); }
  /// Adds `factor` times another cost.
  ServerStepCost& add(const ServerStepCost& other, double factor);
};

/// What a step does.
struct ServerStepLoad {
  int64_t decodes = 0;       // requests that decode: decode_tokens() of the setup each
  int64_t context = 0;       // tokens in the caches of all of these
  int64_t prefill = 0;       // tokens of prompts
  double prefill_pairs = 0;  // of those tokens and the ones before them, (end² - begin²) / 2 a chunk
};

class StepTimes {
 public:
  /// Grouped products run in servers' kernel, unless the device says that they walk by visits.
  /// Requires: `setup` and `options` outlive it.
  StepTimes(const ServingSetup& setup, const Device& device, const EstimateOptions& options);
  ~StepTimes();
  StepTimes(const StepTimes&) = delete;
  StepTimes& operator=(const StepTimes&) = delete;

  /// With the passes of the draft model, if there is one.
  /// Errors: the model's step can't be written for the mesh, or simulated.
  Result<ServerStepCost> cost(const ServerStepLoad& load);
  /// Seconds that attention takes for a request that decodes, in all layers, however short its cache is: a
  /// round of the kernel's loop by its arguments (model/pallas/paged_attention.h). 0 for latent attention.
  Result<double> attention_of_request();
  /// Of a step that decodes alone, at a mean length halfway between the simulated ones: linear over
  /// simulated time, less 1.
  Result<double> interpolation_error(int64_t requests);
  size_t simulated() const;  // modules

 private:
  struct DraftTimes;
  struct Decode {
    ServerStepCost base;  // without attention
    /// Of a token of a cache: of layers that see all of it, and of those that see their window.
    ServerStepCost per_token, per_windowed_token;
    ServerStepCost near, far;  // as simulated
  };
  Result<ServerStepCost> simulate(StepKind kind, int64_t batch, int64_t sequence);
  Result<ServerStepCost> simulate_layers(StepKind kind, int64_t batch, int64_t sequence, int64_t layers);
  Result<void> attend_by_pages(Decode& decode);
  Result<ServerStepCost> own_cost(const ServerStepLoad& load);
  Result<void> add_draft(ServerStepLoad load, ServerStepCost& cost);
  Result<const Decode*> decode(int64_t bucket);
  Result<const ServerStepCost*> prefill(int64_t bucket);
  Result<const ServerStepCost*> attention();  // of a pair of tokens

  const ServingSetup& setup_;
  const Device device_;
  const EstimateOptions& options_;
  int64_t period_ = 1, repeats_ = 1;
  static constexpr int64_t near_ = 128, far_ = 384;  // simulated lengths of the cache: little attention
  size_t simulated_ = 0;
  std::map<int64_t, Decode> decodes_;           // by bucket
  std::map<int64_t, ServerStepCost> prefills_;  // by bucket, without attention
  std::vector<ServerStepCost> attention_;       // none or one
  std::optional<double> attention_of_request_;
  std::unique_ptr<DraftTimes> draft_;  // none: no draft model
};

}  // namespace hlosim
