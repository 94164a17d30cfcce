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
#include "serving/disaggregation.h"
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
    Result<ServingSetup> setup = make_setup(options_, input->model, *setting, *requests);
    if (!setup) return fail(setup.error());
    if (!options_.draft.empty()) {
      const std::optional<ModelInput> draft = read_model({.file = options_.draft}, streams_);
      if (!draft) return kExitInput;
      setup->speculation.draft = draft->model;
    }
    if (const Result<void> fault = check_speculation(*setup); !fault) return fail(fault.error());
    if (options_.prefill_instances > 0) return run_apart(*setup, *setting, *requests);
    return options_.predict ? predict(*setup, *setting) : simulate(*setup, *setting, *requests);
  }

 private:
  int fail(const Diagnostic& diagnostic) {
    tell(diagnostic, streams_);
    return kExitInput;
  }

  int fail(const std::string& side, const Diagnostic& diagnostic) {
    return fail(failure(side + diagnostic.message, diagnostic.hint).value());
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
    if (options_.prefill_instances == 0 &&
        (options_.decode_instances > 1 || options_.prefill_tensor > 0 || !options_.prefill_device.empty()))
      return failure("--decode-instances, --prefill-device and --prefill-tp need --prefill-instances",
                     "as in --prefill-instances=1");
    const bool drafts = options_.drafted > 0;
    if (drafts != (options_.acceptance >= 0) || (!drafts && !options_.draft.empty()))
      return failure(
          "--num-speculative-tokens and --acceptance-rate go together, with or without "
          "--speculative-model",
          "as in --num-speculative-tokens=4 --acceptance-rate=0.7");
    if (options_.acceptance > 1)
      return failure(fmt::format("--acceptance-rate is {}, expected 0 to 1", options_.acceptance));
    return {};
  }

  static Result<void> check_speculation(const ServingSetup& setup) {
    const Speculation& speculation = setup.speculation;
    if (setup.decode_tokens() > setup.max_batched_tokens)
      return failure(
          fmt::format("--num-speculative-tokens={}: {} tokens of one request are more than "
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
    return make_requests(request_mix());
  }

  RequestMix request_mix() const {
    RequestMix mix{options_.input,
                   options_.output_length,
                   options_.least_share,
                   options_.concurrency,
                   options_.rate,
                   options_.requests,
                   static_cast<uint64_t>(options_.seed)};
    if (mix.requests == 0) mix.requests = default_requests(options_.concurrency);
    return mix;
  }

  static Result<ServingSetup> make_setup(const ServingArguments& options, const ModelConfig& model,
                                         const SimulationSetting& setting,
                                         const std::vector<Request>& requests) {
    ServingSetup setup;
    setup.model = model;
    setup.data = options.data, setup.expert = options.expert;
    setup.experts_on_tensor = options.experts_on_tensor;
    setup.offloads_all_reduces = !set_all_reduce_offload(options.simulation.choices);
    const SliceRequest& asked = setting.estimate.simulate.slice;
    const int64_t others = setup.data * setup.expert;
    setup.tensor = std::max<int64_t>(1, options.tensor);
    if (asked.topology || asked.devices) {
      AssumptionList assumptions;
      const Result<Slice> slice = choose_slice(setting.device.config, asked, 1, assumptions);
      if (!slice) return tl::unexpected(slice.error());
      if (options.tensor == 0) setup.tensor = std::max<int64_t>(1, slice->devices() / others);
      if (setup.devices() != slice->devices())
        return failure(fmt::format("--tp={} --dp={} --ep={} are {} devices, but there are {}", setup.tensor,
                                   setup.data, setup.expert, setup.devices(), slice->devices()));
    }
    setup.weight_block = options.weight_block;
    store_types(stored_weight_type(options.weights),
                options.cache == "fp8" ? ElementType::kF8E4M3FN : ElementType::kBF16, options.products,
                setting.device.config, setup);
    setup.sampling = options.sampling == "random" ? Sampling::kRandom : Sampling::kGreedy;
    apply_server_defaults(setup, scheduler_kind(options.scheduler), setting.device.config.generation);
    if (options.batched_tokens > 0) setup.max_batched_tokens = options.batched_tokens;
    if (options.utilization > 0) setup.memory_utilization = options.utilization;
    setup.max_seqs = options.seqs, setup.block_size = options.block;
    setup.speculation.tokens = options.drafted;
    setup.speculation.acceptance = std::max(options.acceptance, 0.0);
    setup.speculation.seed = static_cast<uint64_t>(options.seed);
    setup.host_seconds = host_step_seconds(setting.device.config, setup.mixed_steps);
    int64_t longest = 0;
    for (const Request& one : requests) longest = std::max(longest, one.input + one.output);
    setup.max_model_len = options.model_len > 0 ? options.model_len : longest;
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
    ServingReport report = report_of(setup, made->memory, made->run, setting.device.config);
    report.attention_of_request = made->attention_of_request;
    report.interpolation_error = made->interpolation_error, report.simulated = times.simulated();
    if (has_curve()) report.curve = curve_of(setup, setting);
    return print(report);
  }

  ServingReport report_of(const ServingSetup& setup, const ServingMemory& memory, const ServingRun& run,
                          const DeviceConfig& device) const {
    return {.setup = setup,
            .memory = memory,
            .run = run,
            .device = device.name,
            .cache_read = device.kernel.cache_read,
            .devices_per_chip = device.devices_per_chip(),
            .price = options_.price,
            .ttft_ms = options_.ttft,
            .itl_ms = options_.itl};
  }

  int print(const ServingReport& report) {
    if (!options_.page.empty() && !write_output(options_.page, to_html(report), streams_)) return kExitInput;
    const std::string text = options_.format == "json" ? to_json(report) : to_text(report);
    return write_output(options_.output, text, streams_) ? kExitSuccess : kExitInput;
  }

  /// The setting of a prefill instance; null, with what is wrong printed.
  std::optional<SimulationSetting> read_prefill_setting() const {
    SimulationOptions simulation = options_.simulation;
    if (!options_.prefill_device.empty())
      simulation.device = options_.prefill_device, simulation.topology.clear();
    return read_simulation(simulation, streams_);
  }

  Result<ServingSetup> make_prefill_setup(const ServingSetup& decode, const SimulationSetting& setting,
                                          const std::vector<Request>& requests) const {
    const SliceRequest& slice = setting.estimate.simulate.slice;
    ServingArguments options = options_;
    options.data = options.expert = 1;
    options.tensor = options_.prefill_tensor;
    if (options.tensor == 0 && !slice.topology && !slice.devices) options.tensor = options_.tensor;
    Result<ServingSetup> setup = make_setup(options, decode.model, setting, requests);
    if (!setup) return failure("prefill instances: " + setup.error().message, setup.error().hint);
    setup->speculation = decode.speculation;
    return setup;
  }

  /// The instances that compute prompts, and the way of their caches to those that decode.
  struct PrefillSide {
    SimulationSetting setting;
    ServingSetup setup;
    ServingMemory memory;
    CacheTransfer link;
  };

  /// Null, with what is wrong printed.
  std::optional<PrefillSide> make_prefill_side(const ServingSetup& setup, const ServingMemory& memory,
                                               const DeviceConfig& device,
                                               const std::vector<Request>& requests) {
    std::optional<SimulationSetting> setting = read_prefill_setting();
    if (!setting) return std::nullopt;
    const Result<ServingSetup> prefill = make_prefill_setup(setup, *setting, requests);
    if (!prefill) return fail(prefill.error()), std::nullopt;
    const Result<ServingMemory> own = serving_memory(*prefill, setting->device.config);
    if (!own) return fail("prefill instances: ", own.error()), std::nullopt;
    const Result<CacheTransfer> link =
        cache_transfer({*prefill, *own, setting->device.config}, {setup, memory, device});
    if (!link) return fail(link.error()), std::nullopt;
    return PrefillSide{std::move(*setting), *prefill, *own, *link};
  }

  int run_apart(const ServingSetup& setup, const SimulationSetting& setting,
                const std::vector<Request>& requests) {
    const Result<ServingMemory> memory = serving_memory(setup, setting.device.config);
    if (!memory) return fail("decode instances: ", memory.error());
    const std::optional<PrefillSide> prefill =
        make_prefill_side(setup, *memory, setting.device.config, requests);
    if (!prefill) return kExitInput;
    StepTimes times(setup, setting.device, setting.estimate);
    StepTimes prefill_times(prefill->setup, prefill->setting.device, prefill->setting.estimate);
    if (options_.predict)
      return answer({{setup, times}, PredictedSide{prefill->setup, prefill_times}, prefill->link});
    const DisaggregatedServer server{
        {prefill->setup, prefill->memory, prefill_times, options_.prefill_instances},
        {setup, *memory, times, options_.decode_instances},
        prefill->link};
    return simulate_apart(server, *prefill, setting.device.config, requests);
  }

  int simulate_apart(const DisaggregatedServer& server, const PrefillSide& prefill,
                     const DeviceConfig& device, const std::vector<Request>& requests) {
    const ServingSetup& setup = server.decode.setup;
    StepTimes& times = server.decode.times;
    if (const Result<void> possible =
            check_limits(prefill.setup, options_.input, {options_.ttft, 0}, server.prefill.times);
        !possible)
      return fail(possible.error());
    if (const Result<void> possible = check_limits(setup, options_.input, {0, options_.itl}, times);
        !possible)
      return fail(possible.error());
    const Result<DisaggregatedRun> made =
        serve_disaggregated(server, requests, options_.concurrency, {options_.ttft, options_.itl});
    if (!made) return fail(made.error());
    const Result<double> error = times.interpolation_error(std::max<int64_t>(1, made->run.most_running));
    if (!error) return fail(error.error());
    const Result<double> each = times.attention_of_request();
    if (!each) return fail(each.error());
    const DeviceConfig& prefill_device = prefill.setting.device.config;
    const PrefillReport prefill_report{prefill.setup,
                                       prefill.memory,
                                       made->prefill,
                                       prefill_device.name,
                                       prefill_device.devices_per_chip(),
                                       options_.prefill_instances,
                                       prefill.link,
                                       made->transfer};
    ServingReport report = report_of(setup, server.decode.memory, made->run, device);
    report.attention_of_request = *each;
    report.interpolation_error = *error;
    report.prefill = &prefill_report, report.instances = options_.decode_instances;
    if (has_curve()) report.curve = serving_curve(server, request_mix(), report.chips());
    report.simulated = times.simulated() + server.prefill.times.simulated();
    return print(report);
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

  int predict(const ServingSetup& setup, const SimulationSetting& setting) {
    if (const Result<ServingMemory> memory = serving_memory(setup, setting.device.config); !memory)
      return fail(memory.error());
    StepTimes times(setup, setting.device, setting.estimate);
    return answer({{setup, times}});
  }

  /// Answers every line at once, since the program that asks waits for it.
  int answer(const PredictedServer& server) {
    for (std::string line; std::getline(streams_.in, line);)
      if (!line.empty()) streams_.out << predict_step_line(line, server) << std::endl;
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
