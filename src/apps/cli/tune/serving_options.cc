#include "cli/tune/serving_options.h"

#include <algorithm>
#include <string_view>

namespace hlosim {
namespace {

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
  line.add_option("--weight-block", options.weight_block,
                  "Inputs of an output that share a scale of narrow weights; 0: all")
      .from(0);
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

void declare_speculation(CommandLine& line, ServingArguments& options) {
  line.add_option("--num-speculative-tokens", options.drafted,
                  "Speculative decoding: tokens drafted for a request in each step; 0: none")
      .between(0, 64);
  line.add_option("--acceptance-rate", options.acceptance,
                  "Probability that a drafted token is accepted, 0 to 1")
      .not_negative();
  line.add_option("--speculative-model", options.draft,
                  "Model file of what drafts, on the same devices; without: n-grams of the request");
}

void declare_prefill(CommandLine& line, ServingArguments& options) {
  line.add_option("--prefill-instances", options.prefill_instances,
                  "Instances that only compute prompts and hand caches over; 0: none")
      .between(0, 1 << 12);
  line.add_option("--decode-instances", options.decode_instances,
                  "With --prefill-instances: instances of --device that only decode")
      .between(1, 1 << 12)
      .show_default();
  line.add_option("--prefill-device", options.prefill_device,
                  "Device of a prefill instance, with its slice; without: as --device and --topology");
  line.add_option("--prefill-tp", options.prefill_tensor,
                  "Tensor parallelism of a prefill instance; 0: all devices of its slice, else --tp")
      .from(0);
}

}  // namespace

bool set_all_reduce_offload(const DeviceChoices& choices) {
  constexpr std::string_view kFlag = "xla_tpu_enable_sparse_core_collective_offload_all_reduce";
  return std::ranges::any_of(choices.xla_flags, [&](const std::string& flags) {
    return flags.starts_with('@') || flags.find(kFlag) != std::string::npos;
  });
}

void declare_serving_options(CommandLine& line, ServingArguments& options, Streams streams) {
  line.add_option("FILE", options.file, "Model file (examples/models); - is standard input").required();
  SimulationOptions& simulation = options.simulation;
  line.add_option("-d,--device", simulation.device, "Device file, or a built-in device, with a slice: v6e-8");
  declare_device_choices(line, simulation.choices);
  line.add_option("--topology", simulation.topology, "Slice topology, e.g. 2x4");
  declare_server(line, options);
  declare_speculation(line, options);
  declare_prefill(line, options);
  line.add_option("--isl", options.input, "Input tokens of a request").between(1, 1 << 24).show_default();
  line.add_option("--osl", options.output_length, "Output tokens of a request")
      .between(1, 1 << 24)
      .show_default();
  line.add_option("--random-range-ratio", options.least_share,
                  "Lengths are uniform between this fraction of --isl and --osl and the whole")
      .show_default();
  line.add_option("--concurrency", options.concurrency, "Concurrent requests").from(0);
  line.add_option("--request-rate", options.rate, "Requests per second, Poisson arrivals").not_negative();
  line.add_option("--trace", options.trace, "File of requests: seconds,input tokens,output tokens");
  line.add_option("--requests", options.requests,
                  "Number of requests; 0: 8 per concurrent request, at least 100")
      .between(0, 10'000'000);
  line.add_option("--seed", options.seed, "Seed of lengths and arrivals").from(0).show_default();
  line.add_option("--ttft", options.ttft, "Limit of the time to first token, ms").not_negative();
  line.add_option("--itl", options.itl, "Limit of the mean time per output token, ms").not_negative();
  line.add_flag("--predict", options.predict,
                "Answer step descriptions, a JSON object a line on standard input, with seconds");
  line.add_flag("--curve", options.curve,
                "Also simulate 1, 2, 4, ... concurrent requests up to --max-num-seqs");
  line.add_option("--html", options.page, "Write a page with that curve, its frontier and the report")
      .writes_file(streams.files);
  line.add_option("--price", options.price, "Price of a chip-hour; adds the cost per million tokens")
      .not_negative();
  line.add_option("--format", options.format, "text or json").one_of({"text", "json"}).show_default();
  line.add_option("-o,--output", options.output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  line.format_by_suffix(options.format, options.output);
}

}  // namespace hlosim
