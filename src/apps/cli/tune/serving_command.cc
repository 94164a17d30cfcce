#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/run.h"
#include "cli/tune/serving_options.h"
#include "console/command_line.h"
#include "console/input.h"
#include "console/model_input.h"
#include "console/simulation_setting.h"
#include "console/step_choice.h"
#include "console/verbosity.h"
#include "interconnect/slice.h"
#include "serving/server_defaults.h"
#include "serving/server_simulation.h"
#include "serving/serving_text.h"
#include "serving/step_predictor.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

class ServingCommand {
 public:
  ServingCommand(const ServingArguments& options, Streams streams) : options_(options), streams_(streams) {}

  int run() {
    if (const Result<void> fault = check(); !fault) return fail(fault.error());
    const std::optional<ModelInput> input = read_model({.file = options_.file}, streams_);
    if (!input) return kExitInput;
    std::optional<SimulationSetting> setting = read_simulation(options_.simulation, streams_);
    if (!setting) return kExitInput;
    const Result<std::vector<Request>> requests = read_requests();
    if (!requests) return fail(requests.error());
    Result<ServingSetup> setup = make_setup(input->model, *setting, *requests);
    if (!setup) return fail(setup.error());
    if (!options_.draft.empty()) {
      const std::optional<ModelInput> draft = read_model({.file = options_.draft}, streams_);
      if (!draft) return kExitInput;
      setup->speculation.draft = draft->model;
    }
    if (const Result<void> fault = check_speculation(*setup); !fault) return fail(fault.error());
    return options_.predict ? predict(*setup, *setting) : simulate(*setup, *setting, *requests);
  }

 private:
  int fail(const Diagnostic& diagnostic) {
    tell(diagnostic, streams_);
    return kExitInput;
  }

  Result<void> check() const {
    const int ways = (options_.concurrency > 0) + (options_.rate > 0) + !options_.trace.empty();
    if (options_.predict && (ways > 0 || options_.file == "-" || options_.output != "-" || has_curve()))
      return failure("--predict takes steps from standard input and answers on standard output",
                     "without --concurrency, --request-rate, --trace, --curve, --html and -o");
    if (has_curve() && (!options_.trace.empty() || options_.least_share < 1))
      return failure("--curve and --html have requests of one length each",
                     "without --trace and --random-range-ratio");
    if (ways != 1 && !options_.predict)
      return failure("expected exactly one of --concurrency, --request-rate and --trace",
                     "as in --concurrency=64");
    if (options_.utilization < 0 || options_.utilization > 1)
      return failure(fmt::format("--gpu-memory-utilization is {}, expected 0 to 1; 0: the server's default",
                                 options_.utilization));
    if (options_.least_share <= 0 || options_.least_share > 1)
      return failure(fmt::format("--random-range-ratio is {}, expected more than 0 and at most 1",
                                 options_.least_share));
    const bool drafts = options_.drafted > 0;
    if (drafts != (options_.acceptance >= 0) || (!drafts && !options_.draft.empty()))
      return failure("--num-speculative-tokens and --acceptance-rate go together, with or without "
                     "--speculative-model",
                     "as in --num-speculative-tokens=4 --acceptance-rate=0.7");
    if (options_.acceptance > 1)
      return failure(fmt::format("--acceptance-rate is {}, expected 0 to 1", options_.acceptance));
    return {};
  }

  static Result<void> check_speculation(const ServingSetup& setup) {
    const Speculation& speculation = setup.speculation;
    if (setup.decode_tokens() > setup.max_batched_tokens)
      return failure(fmt::format("--num-speculative-tokens={}: {} tokens of one request are more than "
                                 "--max-num-batched-tokens={}",
                                 speculation.tokens, setup.decode_tokens(), setup.max_batched_tokens));
    if (speculation.draft && speculation.draft->vocab != setup.model.vocab)
      return failure(fmt::format("--speculative-model: {} has {} tokens in its vocabulary, {} has {}",
                                 speculation.draft->name, speculation.draft->vocab, setup.model.name,
                                 setup.model.vocab));
    return {};
  }

  bool has_curve() const { return options_.curve || !options_.page.empty(); }

  Result<std::vector<Request>> read_requests() const {
    if (!options_.trace.empty()) {
      const Result<SourcePtr> source = read_input(options_.trace, streams_);
      if (!source) return tl::unexpected(source.error());
      return read_request_trace(*source);
    }
    if (options_.predict) return std::vector<Request>{{0, options_.input, options_.output_length}};
    RequestMix mix{options_.input,
                   options_.output_length,
                   options_.least_share,
                   options_.concurrency,
                   options_.rate,
                   options_.requests,
                   static_cast<uint64_t>(options_.seed)};
    if (mix.requests == 0) mix.requests = default_requests(options_.concurrency);
    return make_requests(mix);
  }

  Result<ServingSetup> make_setup(const ModelConfig& model, SimulationSetting& setting,
                                  const std::vector<Request>& requests) const {
    ServingSetup setup;
    setup.model = model;
    setup.data = options_.data, setup.expert = options_.expert;
    setup.experts_on_tensor = options_.experts_on_tensor;
    const SliceRequest& asked = setting.estimate.simulate.slice;
    const int64_t others = setup.data * setup.expert;
    setup.tensor = std::max<int64_t>(1, options_.tensor);
    if (asked.topology || asked.devices) {
      AssumptionList assumptions;
      const Result<Slice> slice = choose_slice(setting.device.config, asked, 1, assumptions);
      if (!slice) return tl::unexpected(slice.error());
      if (options_.tensor == 0) setup.tensor = std::max<int64_t>(1, slice->devices() / others);
      if (setup.devices() != slice->devices())
        return failure(fmt::format("--tp={} --dp={} --ep={} are {} devices, but there are {}", setup.tensor,
                                   setup.data, setup.expert, setup.devices(), slice->devices()));
    }
    store_types(stored_weight_type(options_.weights),
                options_.cache == "fp8" ? ElementType::kF8E4M3FN : ElementType::kBF16, options_.products,
                setting.device.config, setup);
    setup.sampling = options_.sampling == "random" ? Sampling::kRandom : Sampling::kGreedy;
    apply_server_defaults(setup, scheduler_kind(options_.scheduler), setting.device.config.generation);
    if (options_.batched_tokens > 0) setup.max_batched_tokens = options_.batched_tokens;
    if (options_.utilization > 0) setup.memory_utilization = options_.utilization;
    setup.max_seqs = options_.seqs, setup.block_size = options_.block;
    setup.speculation.tokens = options_.drafted;
    setup.speculation.acceptance = std::max(options_.acceptance, 0.0);
    setup.speculation.seed = static_cast<uint64_t>(options_.seed);
    setup.host_seconds = host_step_seconds(setting.device.config);
    int64_t longest = 0;
    for (const Request& one : requests) longest = std::max(longest, one.input + one.output);
    setup.max_model_len = options_.model_len > 0 ? options_.model_len : longest;
    return setup;
  }

  int simulate(const ServingSetup& setup, const SimulationSetting& setting,
               const std::vector<Request>& requests) {
    const LatencyLimits limits{options_.ttft, options_.itl};
    if (const Result<ServingMemory> memory = serving_memory(setup, setting.device.config); !memory)
      return fail(memory.error());
    StepTimes times(setup, setting.device, setting.estimate);
    if (const Result<void> possible = check_limits(setup, options_.input, limits, times); !possible)
      return fail(possible.error());
    const Result<SimulatedServer> made =
        simulate_server(setup, setting.device.config, times, requests, options_.concurrency, limits);
    if (!made) return fail(made.error());
    const DeviceConfig& device = setting.device.config;
    ServingReport report{.setup = setup,
                         .memory = made->memory,
                         .run = made->run,
                         .device = device.name,
                         .cache_read = device.kernel.cache_read,
                         .devices_per_chip = device.devices_per_chip(),
                         .interpolation_error = made->interpolation_error,
                         .simulated = times.simulated(),
                         .price = options_.price,
                         .ttft_ms = options_.ttft,
                         .itl_ms = options_.itl};
    if (has_curve()) report.curve = curve_of(setup, setting);
    if (!options_.page.empty() && !write_output(options_.page, to_html(report), streams_)) return kExitInput;
    const std::string text = options_.format == "json" ? to_json(report) : to_text(report);
    return write_output(options_.output, text, streams_) ? kExitSuccess : kExitInput;
  }

  std::vector<ServingPoint> curve_of(const ServingSetup& setup, const SimulationSetting& setting) const {
    return serving_curve({.setup = setup,
                          .device = {options_.simulation.device, &setting.device, &setting.estimate},
                          .weights = {options_.weights, stored_weight_type(options_.weights)},
                          .cache = {options_.cache, setup.cache_type},
                          .products = options_.products,
                          .input = options_.input,
                          .output = options_.output_length,
                          .concurrency = options_.concurrency});
  }

  /// Answers every line at once, since the program that asks waits for it.
  int predict(const ServingSetup& setup, const SimulationSetting& setting) {
    if (const Result<ServingMemory> memory = serving_memory(setup, setting.device.config); !memory)
      return fail(memory.error());
    StepTimes times(setup, setting.device, setting.estimate);
    for (std::string line; std::getline(streams_.in, line);)
      if (!line.empty()) streams_.out << predict_step_line(line, setup, times) << std::endl;
    return streams_.out ? kExitSuccess : kExitInput;
  }

  const ServingArguments& options_;
  Streams streams_;
};

}  // namespace

std::function<int()> declare_serving(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<ServingArguments>();
  declare_serving_options(line, *options, streams);
  return [options, streams] { return ServingCommand(*options, streams).run(); };
}

}  // namespace hlosim
