#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <vector>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/run.h"
#include "cli/tune/serving_options.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/list_options.h"
#include "console/model_input.h"
#include "console/simulation_setting.h"
#include "console/step_choice.h"
#include "console/verbosity.h"
#include "serving/server_defaults.h"
#include "serving/serving_search.h"

namespace hlosim {
namespace {

struct TuneServingArguments {
  std::string file, devices, chips = "1,2,4,8", weights = "bf16", caches = "bf16";
  std::string concurrency = "8,16,32,64,128,256", batched_tokens = "512,2048";
  std::string scheduler = "vllm", format = "text", output = "-";
  DeviceChoices choices;
  int64_t input = 1000, output_length = 1000, model_len = 0;
  double utilization = 0, ttft = 0, itl = 0;
  bool everything = false;
};

Result<std::vector<StoredChoice>> read_types(const char* option, const std::string& text,
                                             std::initializer_list<std::string_view> known) {
  const Result<std::vector<std::string>> words = read_words(option, text);
  if (!words) return tl::unexpected(words.error());
  std::vector<StoredChoice> types;
  for (const std::string& word : *words) {
    if (std::find(known.begin(), known.end(), word) == known.end())
      return failure(fmt::format("{}: '{}' is none of {}", option, shown(word), fmt::join(known, ", ")));
    types.push_back({word, stored_weight_type(word)});
  }
  return types;
}

class TuneServingCommand {
 public:
  TuneServingCommand(const TuneServingArguments& options, Streams streams)
      : options_(options), streams_(streams) {}

  int run() {
    const std::optional<ModelInput> input = read_model({.file = options_.file}, streams_);
    if (!input) return kExitInput;
    if (const Result<void> read = read_space(); !read) return fail(read.error());
    if (!read_devices()) return kExitInput;
    space_.base.model = input->model;
    space_.base.offloads_all_reduces = !set_all_reduce_offload(options_.choices);
    ServingSearchText text{"hlosim serving " + options_.file, "", options_.everything};
    for (const std::string& one : options_.choices.overrides) text.behind += " --set='" + one + "'";
    for (const std::string& one : options_.choices.xla_flags) text.behind += " --xla-flags='" + one + "'";
    const std::vector<ServingPoint> points = search_serving(space_);
    const std::string made = options_.format == "json"  ? to_json(space_, points, text)
                             : options_.format == "csv" ? to_csv(space_, points, text)
                                                        : to_text(space_, points, text);
    return write_output(options_.output, made, streams_) ? kExitSuccess : kExitInput;
  }

 private:
  int fail(const Diagnostic& diagnostic) {
    tell(diagnostic, streams_);
    return kExitInput;
  }

  Result<void> read_space() {
    if (options_.utilization < 0 || options_.utilization > 1)
      return failure(fmt::format("--gpu-memory-utilization is {}, expected 0 to 1; 0: the server's default",
                                 options_.utilization));
    auto chips = read_counts("--chips", options_.chips, 1 << 14);
    if (!chips) return tl::unexpected(chips.error());
    auto requests = read_counts("--concurrency", options_.concurrency, 1 << 16);
    if (!requests) return tl::unexpected(requests.error());
    auto tokens = read_counts("--max-num-batched-tokens", options_.batched_tokens, 1 << 20);
    if (!tokens) return tl::unexpected(tokens.error());
    auto weights = read_types("--weight-dtype", options_.weights, {"bf16", "int8", "int4", "fp8"});
    if (!weights) return tl::unexpected(weights.error());
    auto caches = read_types("--kv-cache-dtype", options_.caches, {"bf16", "fp8"});
    if (!caches) return tl::unexpected(caches.error());
    for (StoredChoice& one : *caches)
      if (one.type == ElementType::kInvalid) one.type = ElementType::kBF16;
    space_.chips = std::move(*chips), space_.concurrency = std::move(*requests);
    space_.batched_tokens = std::move(*tokens);
    space_.weights = std::move(*weights), space_.caches = std::move(*caches);
    space_.input = options_.input, space_.output = options_.output_length;
    space_.limits = {options_.ttft, options_.itl};
    apply_server_defaults(space_.base, scheduler_kind(options_.scheduler), "");
    if (options_.utilization > 0) space_.base.memory_utilization = options_.utilization;
    space_.base.max_model_len =
        options_.model_len > 0 ? options_.model_len : options_.input + options_.output_length;
    return {};
  }

  bool read_devices() {
    const Result<std::vector<std::string>> names = read_words("--device", options_.devices);
    if (!names) return fail(names.error()), false;
    for (const std::string& name : *names) {
      SimulationOptions simulation;
      simulation.device = name, simulation.choices = options_.choices;
      std::optional<SimulationSetting> setting = read_simulation(simulation, streams_);
      if (!setting) return false;
      const SliceRequest& slice = setting->estimate.simulate.slice;
      if (slice.topology || slice.devices)
        return fail(failure(fmt::format("--device: '{}' is a slice", shown(name)),
                            "name the generation; --chips has the sizes of slices")
                        .value()),
               false;
      settings_.push_back(std::make_unique<SimulationSetting>(std::move(*setting)));
      space_.devices.push_back({name, &settings_.back()->device, &settings_.back()->estimate});
    }
    return true;
  }

  const TuneServingArguments& options_;
  Streams streams_;
  std::vector<std::unique_ptr<SimulationSetting>> settings_;
  ServingSearchSpace space_;
};

}  // namespace

std::function<int()> declare_tune_serving(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<TuneServingArguments>();
  line.add_option("FILE", options->file, "Model file (examples/models); - is standard input").required();
  line.add_option("-d,--device", options->devices, "Devices to compare: v6e,v7x").required();
  declare_device_choices(line, options->choices);
  line.add_option("--chips", options->chips, "Numbers of chips to compare").show_default();
  line.add_option("--weight-dtype", options->weights, "Stored types of layer weights: bf16, int8, int4, fp8")
      .show_default();
  line.add_option("--kv-cache-dtype", options->caches, "Stored types of keys and values: bf16, fp8")
      .show_default();
  line.add_option("--concurrency", options->concurrency, "Numbers of concurrent requests").show_default();
  line.add_option("--max-num-batched-tokens", options->batched_tokens, "Limits of the tokens in a step")
      .show_default();
  line.add_option("--isl", options->input, "Input tokens of a request").between(1, 1 << 24).show_default();
  line.add_option("--osl", options->output_length, "Output tokens of a request")
      .between(1, 1 << 24)
      .show_default();
  line.add_option("--max-model-len", options->model_len,
                  "Maximum number of tokens of a request; 0: --isl and --osl")
      .from(0);
  line.add_option("--gpu-memory-utilization", options->utilization,
                  "Fraction of the memory for weights and cache; 0: the server's default");
  line.add_option("--scheduler", options->scheduler,
                  "vllm: prompts in the steps of decodes; sglang: in steps of their own")
      .one_of({"vllm", "sglang"})
      .show_default();
  line.add_option("--ttft", options->ttft, "Limit of the median time to first token, ms").not_negative();
  line.add_option("--itl", options->itl, "Limit of the mean time per output token, ms").not_negative();
  line.add_flag("--all", options->everything, "List all possible configurations, not the frontier alone");
  line.add_option("--format", options->format, "text, json or csv")
      .one_of({"text", "json", "csv"})
      .show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  line.format_by_suffix(options->format, options->output);
  return [options, streams] { return TuneServingCommand(*options, streams).run(); };
}

}  // namespace hlosim
