// The command line of `hlosim serving`.
#pragma once

#include <cstdint>
#include <string>

#include "console/command_line.h"
#include "console/simulation_setting.h"
#include "console/streams.h"

namespace hlosim {

struct ServingArguments {
  SimulationOptions simulation;
  int64_t weight_block = 0;
  std::string file, trace, output = "-", format = "text", weights = "bf16", products = "auto", cache = "bf16";
  std::string scheduler = "vllm", page, sampling = "greedy";
  int64_t tensor = 0, data = 1, expert = 1;
  int64_t input = 1000, output_length = 1000, concurrency = 0, requests = 0, seed = 0;
  int64_t batched_tokens = 0, seqs = 256, model_len = 0, block = 0;
  double rate = 0, utilization = 0, least_share = 1, price = 0, ttft = 0, itl = 0;
  int64_t drafted = 0;
  std::string draft, prefill_device;
  int64_t prefill_instances = 0, decode_instances = 1, prefill_tensor = 0;
  double acceptance = -1;  // below 0: not given
  bool predict = false, experts_on_tensor = false, curve = false;
};

/// Do these flags decide which core drives all-reduces? A file of flags is taken to have all that matter.
bool set_all_reduce_offload(const DeviceChoices& choices);

void declare_serving_options(CommandLine& line, ServingArguments& options, Streams streams);

}  // namespace hlosim
