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

struct ServingArguments {
  SimulationOptions simulation;
  std::string file, trace, output = "-", format = "text", weights = "bf16", products = "auto", cache = "bf16";
  std::string scheduler = "vllm", page, sampling = "greedy";
  int64_t tensor = 0, data = 1, expert = 1;
  int64_t input = 1000, output_length = 1000, concurrency = 0, requests = 0, seed = 0;
  int64_t batched_tokens = 0, seqs = 256, model_len = 0, block = 0;
  double rate = 0, utilization = 0, least_share = 1, price = 0, ttft = 0, itl = 0;
  bool predict = false, experts_on_tensor = false, curve = false;
};

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
    const Result<ServingSetup> setup = make_setup(input->model, *setting, *requests);
    if (!setup) return fail(setup.error());
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

void declare_server(CommandLine& line, ServingArguments& options) {
  line.add_option("--tp", options.tensor, "Tensor parallelism; 0: all devices that --dp and --ep leave")
      .from(0);
  line.add_option("--dp", options.data, "Data parallelism: groups of devices that share the requests")
      .from(1)
      .show_default();
  line.add_option("--ep", options.expert,
                  "Expert parallelism: devices that share the experts and the requests")
      .from(1)
      .show_default();
  line.add_flag("--enable-expert-parallel", options.experts_on_tensor,
                "Share whole experts out over the devices of --tp, not parts of each expert");
  line.add_option("--max-num-batched-tokens", options.batched_tokens,
                  "Maximum number of tokens in a step; 0: the server's default for the device")
      .between(0, 1 << 20);
  line.add_option("--max-num-seqs", options.seqs, "Maximum number of requests in a step")
      .between(1, 1 << 16)
      .show_default();
  line.add_option("--max-model-len", options.model_len,
                  "Maximum number of tokens of a request; 0: of the longest")
      .from(0);
  line.add_option("--block-size", options.block, "Tokens per cache page; 0: vLLM's choice").from(0);
  line.add_option("--weight-dtype", options.weights, "Stored type of layer weights")
      .one_of({"bf16", "int8", "int4", "fp8"})
      .show_default();
  line.add_option("--products", options.products,
                  "Matmuls in the stored type of the weights, in the widened type, or the faster of both")
      .one_of({"auto", "stored", "widened"})
      .show_default();
  line.add_option("--kv-cache-dtype", options.cache, "Stored type of keys and values")
      .one_of({"bf16", "fp8"})
      .show_default();
  line.add_option("--gpu-memory-utilization", options.utilization,
                  "Fraction of the memory for weights and cache; 0: the server's default");
  line.add_option("--sampling", options.sampling,
                  "greedy: the most likely token; random: by temperature, top-k and top-p")
      .one_of({"greedy", "random"})
      .show_default();
  line.add_option("--scheduler", options.scheduler,
                  "vllm: prompts in the steps of decodes; sglang: in steps of their own")
      .one_of({"vllm", "sglang"})
      .show_default();
}

}  // namespace

std::function<int()> declare_serving(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<ServingArguments>();
  line.add_option("FILE", options->file, "Model file (examples/models); - is standard input").required();
  SimulationOptions& simulation = options->simulation;
  line.add_option("--device", simulation.device, "Device file, or a built-in device, with a slice: v6e-8");
  declare_device_choices(line, simulation.choices);
  line.add_option("--topology", simulation.topology, "Slice topology, e.g. 2x4");
  declare_server(line, *options);
  line.add_option("--isl", options->input, "Input tokens of a request").between(1, 1 << 24).show_default();
  line.add_option("--osl", options->output_length, "Output tokens of a request")
      .between(1, 1 << 24)
      .show_default();
  line.add_option("--random-range-ratio", options->least_share,
                  "Lengths are uniform between this fraction of --isl and --osl and the whole")
      .show_default();
  line.add_option("--concurrency", options->concurrency, "Concurrent requests").from(0);
  line.add_option("--request-rate", options->rate, "Requests per second, Poisson arrivals").not_negative();
  line.add_option("--trace", options->trace, "File of requests: seconds,input tokens,output tokens");
  line.add_option("--requests", options->requests,
                  "Number of requests; 0: 8 per concurrent request, at least 100")
      .between(0, 10'000'000);
  line.add_option("--seed", options->seed, "Seed of lengths and arrivals").from(0).show_default();
  line.add_option("--ttft", options->ttft, "Limit of the time to first token, ms").not_negative();
  line.add_option("--itl", options->itl, "Limit of the mean time per output token, ms").not_negative();
  line.add_flag("--predict", options->predict,
                "Answer step descriptions, a JSON object a line on standard input, with seconds");
  line.add_flag("--curve", options->curve,
                "Also simulate 1, 2, 4, ... concurrent requests up to --max-num-seqs");
  line.add_option("--html", options->page, "Write a page with that curve, its frontier and the report")
      .writes_file(streams.files);
  line.add_option("--price", options->price, "Price of a chip-hour; adds the cost per million tokens")
      .not_negative();
  line.add_option("--format", options->format, "text or json").one_of({"text", "json"}).show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  return [options, streams] { return ServingCommand(*options, streams).run(); };
}

}  // namespace hlosim
