#include "serving/measured_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/saturating.h"
#include "base/text.h"
#include "estimate/named_slice.h"
#include "published/published_run.h"
#include "serving/server_defaults.h"
#include "serving/server_simulation.h"
#include "serving/serving_text.h"
#include "text/entry_fields.h"
#include "text/read_json.h"

namespace hlosim {
namespace {

struct TimeKey {
  std::string_view key;
  ServedTime time;
};
/// The first one that an entry has is compared: steps that only decode before means that prompts are part of.
constexpr TimeKey kTimeKeys[] = {
    {"itl_ms_median", ServedTime::kItlMedian},   {"itl_ms", ServedTime::kItlMedian},
    {"itl_ms_mean", ServedTime::kItlMean},       {"tpot_ms_median", ServedTime::kTpotMedian},
    {"tpot_ms_mean", ServedTime::kTpotMean},     {"tpot_ms", ServedTime::kTpotMean},
    {"ttft_ms_median", ServedTime::kTtftMedian}, {"ttft_ms_mean", ServedTime::kTtftMean}};

struct StoredWord {
  std::string_view begins;
  ElementType type;
};
constexpr StoredWord kStored[] = {{"bf16", ElementType::kBF16},
                                  {"int8", ElementType::kS8},
                                  {"int4", ElementType::kS4},
                                  {"fp8", ElementType::kF8E4M3FN}};

constexpr std::string_view kReaderKeys[] = {"id",   "chips", "source",
                                            "tier", "notes", "context_during_decode"};

class MeasuredServerReader {
 public:
  MeasuredServerReader(const Value& entry, DiagnosticList& problems)
      : fields_(entry, "an entry", problems), problems_(problems) {}

  MeasuredServer read() {
    const size_t before = problems_.error_count();
    fields_.text("device", made_.device, EntryFields::kNeeded);
    fields_.whole("jax_devices", made_.devices, 1, EntryFields::kNeeded);
    framework();
    model();
    types();
    mesh();
    load();
    measured();
    if (const Value* flags = fields_.object("flags")) server_flags(*flags);
    if (problems_.error_count() == before) finish();
    for (const std::string_view key : kReaderKeys) fields_.find(key);
    for (const Value* left : fields_.rest())
      assume(fmt::format("{} is not known: it changes nothing here", shown(left->key)));
    return std::move(made_);
  }

 private:
  void assume(std::string line) { made_.assumptions.push_back(std::move(line)); }

  void framework() {
    std::string name, phase;
    fields_.text("framework", name, EntryFields::kNeeded);
    fields_.text("phase", phase);
    const bool is_sglang = name.starts_with("SGLang");
    if (!is_sglang && !name.starts_with("vLLM"))
      fields_.wrong("framework", fmt::format("\"framework\" is not \"{}\"", shown(name)),
                    "it begins with vLLM or SGLang");
    apply_server_defaults(made_.setup, is_sglang ? SchedulerKind::kSglang : SchedulerKind::kVllm,
                          made_.device);
    assume(fmt::format("{} of the usable memory for weights and cache, pages of vLLM's choice",
                       made_.setup.memory_utilization));
  }

  void model() {
    const Value* object = fields_.object("model", EntryFields::kNeeded);
    if (!object) return;
    EntryFields own(*object, "\"model\"", problems_);
    if (const Value* dims = own.find("dims"); dims && dims->is_scalar())
      return own.wrong("dims", "the entry does not give the model's dimensions");
    if (const Value* attention = own.find("attention"); attention && attention->is_scalar())
      return own.wrong("attention",
                       fmt::format("attention of this kind is not modelled: {}", shown(attention->text, 60)));
    made_.setup.model = read_published_model(*object, problems_, made_.assumptions);
  }

  ElementType stored(std::string_view key) {
    std::string word;
    fields_.text(key, word, EntryFields::kNeeded);
    for (const StoredWord& one : kStored)
      if (std::string_view(word).starts_with(one.begins)) {
        if (word.size() > one.begins.size()) assume(fmt::format("{}: {}", key, shown(word, 120)));
        return one.type;
      }
    assume(fmt::format("{} \"{}\" is treated as bf16", key, shown(word, 60)));
    return ElementType::kBF16;
  }

  void types() {
    made_.weights = stored("weight_dtype");
    if (made_.weights == ElementType::kBF16) made_.weights = ElementType::kInvalid;
    made_.setup.cache_type = stored("kv_dtype");
  }

  /// Experts dealt out over the devices that also cut heads. hlosim's axis `expert` is one of its own, which
  /// copies attention and deals requests out, as `data` does in such a server.
  void mesh() {
    const Value* object = fields_.object("mesh");
    ServingSetup& setup = made_.setup;
    if (!object) {
      if (made_.devices > 1) fields_.wrong("mesh", "the entry does not give the mesh of its devices");
      return;
    }
    EntryFields axes(*object, "\"mesh\"", problems_);
    axes.whole("tensor", setup.tensor, 1), axes.whole("data", setup.data, 1);
    axes.whole("expert", setup.expert, 1);
    for (const Value* left : axes.rest())
      return problems_.add(
          error_at_key(*left, fmt::format("the axis \"{}\" of the mesh is not modelled", shown(left->key)),
                       "axes are tensor, data and expert"));
    if (setup.devices() == made_.devices) return;
    if (saturating_multiply(setup.tensor, setup.data) == made_.devices && setup.expert == made_.devices) {
      setup.expert = std::exchange(setup.data, 1);
      setup.experts_on_tensor = setup.tensor > 1;
      return;
    }
    fields_.wrong("mesh",
                  fmt::format("the mesh has {} places for {} devices", setup.devices(), made_.devices));
  }

  void load() {
    RequestMix& mix = made_.mix;
    fields_.whole("batch", mix.concurrency, 1, EntryFields::kNeeded);
    fields_.whole("input_len", mix.input, 1, EntryFields::kNeeded);
    fields_.whole("output_len", mix.output, 0, EntryFields::kNeeded);
    if (mix.output == 0) {
      mix.output = 1;
      assume("output_len 0: the step of the last tokens of a prompt has logits and a token all the same");
    }
  }

  void measured() {
    const Value* object = fields_.object("measured", EntryFields::kNeeded);
    if (!object) return;
    EntryFields own(*object, "\"measured\"", problems_);
    own.pass_over({"duration_s", "peak_output_tok_s", "requests_per_s", "ttft_ms"});
    for (const TimeKey& one : kTimeKeys) {
      double ms = 0;
      // Of requests with one token the first one is all there is.
      const bool is_first = kind_of(one.time) == "ttft";
      if (!own.positive(one.key, ms) || made_.ms > 0 || is_first != (made_.mix.output == 1)) continue;
      made_.time = one.time, made_.ms = ms;
    }
    own.positive("output_tok_s", made_.rate);
    double total = 0;
    if (own.positive("total_tok_s", total) && made_.rate == 0)
      made_.rate = total, made_.rate_has_prompts = true;
    if (made_.ms == 0 && made_.rate == 0)
      fields_.wrong("measured", "no time between tokens and no throughput is measured");
    own.whole("requests", made_.mix.requests, 1);
    for (const Value* left : own.rest()) assume(fmt::format("measured.{} is not compared", shown(left->key)));
  }

  void server_flags(const Value& object) {
    EntryFields flags(object, "\"flags\"", problems_);
    ServingSetup& setup = made_.setup;
    if (flags.whole("max_num_batched_tokens", setup.max_batched_tokens, 1)) said_tokens_ = true;
    flags.whole("max_num_seqs", setup.max_seqs, 1), said_seqs_ = flags.find("max_num_seqs") != nullptr;
    if (!flags.whole("max_model_len", setup.max_model_len, 1)) setup.max_model_len = 0;
    flags.positive("random_range_ratio", made_.mix.least_share);
    flags.positive("gpu_memory_utilization", setup.memory_utilization);
    flags.whole("block_size", setup.block_size, 1);
    const Value* chunk = flags.find("chunked_prefill_size");
    if (chunk && chunk->annotation == kJsonNumber)
      said_tokens_ = flags.whole("chunked_prefill_size", setup.max_batched_tokens, 1);
    bool hides_host = true;
    if (flags.flag("async_scheduling", hides_host) && !hides_host)
      assume("async_scheduling: the host's time between steps is the same with and without");
    for (const Value* left : flags.rest())
      assume(fmt::format("flags.{} changes nothing here", shown(left->key)));
  }

  void finish() {
    ServingSetup& setup = made_.setup;
    RequestMix& mix = made_.mix;
    if (!said_tokens_) assume(fmt::format("steps of at most {} tokens of prompts", setup.max_batched_tokens));
    if (!said_seqs_) {
      setup.max_seqs = std::max(setup.max_seqs, mix.concurrency);
      assume(fmt::format("at most {} requests in a step", setup.max_seqs));
    }
    if (mix.least_share > 1)
      fields_.wrong("flags", fmt::format("\"random_range_ratio\" is {}, above 1", mix.least_share));
    if (!object_says_length()) setup.max_model_len = mix.input + mix.output;
    if (mix.requests == 0) {
      mix.requests = default_requests(mix.concurrency);
      assume(fmt::format("{} requests", mix.requests));
    }
    if (const std::optional<ModelFault> fault = model_fault(setup.model))
      fields_.wrong("model", fmt::format("the model is not sound: {}", fault->message));
  }
  bool object_says_length() const { return made_.setup.max_model_len >= made_.mix.input + made_.mix.output; }

  EntryFields fields_;
  DiagnosticList& problems_;
  MeasuredServer made_;
  bool said_tokens_ = false, said_seqs_ = false;
};

double ms_of(const ServingRun& run, ServedTime time) {
  switch (time) {
    case ServedTime::kItlMedian:
      return run.itl.median;
    case ServedTime::kItlMean:
      return run.itl.mean;
    case ServedTime::kTpotMedian:
      return run.tpot.median;
    case ServedTime::kTpotMean:
      return run.tpot.mean;
    case ServedTime::kTtftMedian:
      return run.ttft.median;
    case ServedTime::kTtftMean:
      return run.ttft.mean;
    case ServedTime::kNone:
      return 0;
  }
  return 0;
}

Result<void> predict_into(const MeasuredServer& measured, const Device& device,
                          ServerPrediction& prediction) {
  ServingSetup setup = measured.setup;
  store_types(measured.weights, setup.cache_type, "auto", device.config, setup);
  setup.host_seconds = host_step_seconds(device.config, setup.mixed_steps);
  EstimateOptions options;
  SliceRequest asked;
  asked.devices = measured.devices;
  Result<SliceRequest> slice = on_named_slice(asked, measured.device, device);
  if (!slice) return tl::unexpected(slice.error());
  options.simulate.slice = std::move(*slice);
  StepTimes times(setup, device, options);
  const Result<SimulatedServer> made =
      simulate_server(setup, device.config, times, make_requests(measured.mix), measured.mix.concurrency, {});
  if (!made) return tl::unexpected(made.error());
  const ServingRun& run = made->run;
  if (measured.ms > 0) prediction.ms = ms_of(run, measured.time);
  const int64_t tokens = run.output_tokens + (measured.rate_has_prompts ? run.input_tokens : 0);
  if (measured.rate > 0) prediction.rate = static_cast<double>(tokens) / run.seconds;
  const ServingReport report{.setup = setup,
                             .memory = made->memory,
                             .run = run,
                             .device = device.config.name,
                             .cache_read = device.config.kernel.cache_read,
                             .attention_of_request = made->attention_of_request,
                             .interpolation_error = made->interpolation_error,
                             .simulated = times.simulated()};
  std::vector<std::string> lines = serving_assumptions(report);
  std::move(lines.begin(), lines.end(), std::back_inserter(prediction.assumptions));
  return {};
}

}  // namespace

std::string_view kind_of(ServedTime time) {
  switch (time) {
    case ServedTime::kItlMedian:
    case ServedTime::kItlMean:
      return "itl";
    case ServedTime::kTpotMedian:
    case ServedTime::kTpotMean:
      return "tpot";
    case ServedTime::kTtftMedian:
    case ServedTime::kTtftMean:
      return "ttft";
    case ServedTime::kNone:
      break;
  }
  return "token";
}

MeasuredServer read_measured_server(const Value& entry, DiagnosticList& problems) {
  return MeasuredServerReader(entry, problems).read();
}

ServerPrediction predict_server(const MeasuredServer& measured, const Device& device) {
  ServerPrediction prediction;
  prediction.assumptions = measured.assumptions;
  if (const Result<void> done = predict_into(measured, device, prediction); !done)
    prediction.reason = done.error().message;
  return prediction;
}

}  // namespace hlosim
