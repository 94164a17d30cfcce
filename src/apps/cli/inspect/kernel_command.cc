#include <fmt/format.h>

#include <memory>
#include <optional>
#include <ostream>

#include "cli/commands.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "console/device_input.h"
#include "console/input.h"
#include "console/verbosity.h"
#include "report/kernel_report.h"

namespace hlosim {
namespace {

struct KernelArguments {
  std::string kernel, device;
  DeviceChoices choices;
  std::optional<std::string> q, k, v, x, w, bias, window, soft_cap, precision;
  bool causal = false, residuals = false, segments = false, tune = false;
  std::vector<std::string> blocks;
  std::string format = "text", output = "-";
};

std::vector<KernelSetting> arguments_of(const KernelArguments& options) {
  std::vector<KernelSetting> settings;
  const std::pair<const char*, const std::optional<std::string>*> texts[] = {
      {"q", &options.q},
      {"k", &options.k},
      {"v", &options.v},
      {"x", &options.x},
      {"w", &options.w},
      {"bias", &options.bias},
      {"window", &options.window},
      {"soft_cap", &options.soft_cap},
      {"precision", &options.precision}};
  for (const auto& [name, text] : texts)
    if (*text) settings.push_back({name, **text});
  const std::pair<const char*, bool> flags[] = {
      {"causal", options.causal}, {"residuals", options.residuals}, {"segments", options.segments}};
  for (const auto& [name, given] : flags)
    if (given) settings.push_back({name, "true"});
  return settings;
}

/// "block_q=1024,block_kv=512"
Result<std::vector<KernelSetting>> blocks_of(const KernelArguments& options) {
  std::vector<KernelSetting> settings;
  for (const std::string& text : options.blocks) {
    size_t from = 0;
    while (from <= text.size()) {
      const size_t end = std::min(text.find(',', from), text.size());
      const std::string one = text.substr(from, end - from);
      const size_t equals = one.find('=');
      if (equals == std::string::npos || equals == 0)
        return failure(fmt::format("--blocks: '{}' is not NAME=SIZE", one),
                       fmt::format("one of {}", fmt::join(kernel_blocks(options.kernel), ", ")));
      settings.push_back({one.substr(0, equals), one.substr(equals + 1)});
      from = end + 1;
    }
  }
  return settings;
}

Result<KernelRequest> request_of(const KernelArguments& options) {
  Result<std::vector<KernelSetting>> blocks = blocks_of(options);
  if (!blocks) return tl::unexpected(blocks.error());
  if (options.tune && !blocks->empty())
    return failure("--tune looks for the best blocks, so --blocks can't be given as well");
  return read_kernel(options.kernel, arguments_of(options), *blocks);
}

int kernel(const KernelArguments& options, Streams streams) {
  const Result<KernelRequest> request = request_of(options);
  if (!request) {
    tell(request.error(), streams);
    return kExitInput;
  }
  const std::optional<Device> device = read_device(options.device, options.choices, streams);
  if (!device) return kExitInput;
  const Result<KernelCost> cost = kernel_cost(device->config, *request);
  if (!cost) {
    tell(cost.error(), streams);
    return kExitInput;
  }
  const KernelReport report = kernel_report(device->config, *request, *cost);
  const std::string text = options.format == "json" ? to_json(report) : to_text(report);
  return write_output(options.output, text, streams) ? kExitSuccess : kExitInput;
}

}  // namespace

std::function<int()> declare_kernel(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<KernelArguments>();
  line.add_option("KERNEL", options->kernel,
                  "flash_attention, linear_softmax_cross_entropy_loss, or one of them with _vjp")
      .required();
  line.add_option("--device", options->device, "Device file or built-in device").required();
  declare_device_choices(line, options->choices);
  line.add_option("--q", options->q, "Queries: bf16[batch,sequence,heads,head size]");
  line.add_option("--k", options->k, "Keys, with their own sequence and number of heads");
  line.add_option("--v", options->v, "Values");
  line.add_flag("--causal", options->causal, "Causal mask");
  line.add_option("--window", options->window, "Sliding window: keys visible to a query");
  line.add_option("--bias", options->bias, "Bias added to the logits: f32[batch,heads,queries,keys]");
  line.add_option("--soft-cap", options->soft_cap, "Soft cap of the logits");
  line.add_flag("--residuals", options->residuals, "Also return each row's maximum and sum");
  line.add_flag("--segments", options->segments, "Segment ids: tokens attend to their own segment only");
  line.add_option("--precision", options->precision, "DEFAULT, HIGH or HIGHEST");
  line.add_option("--x", options->x, "Activations of the loss: f32[tokens,hidden]");
  line.add_option("--w", options->w, "Weights of the loss: bf16[hidden,vocabulary]");
  line.add_option("--blocks", options->blocks,
                  "Block sizes, as in block_q=1024,block_kv=1024; default: the best that fit in VMEM")
      .one_value_each();
  line.add_flag("--tune", options->tune, "Rank the block sizes that fit in VMEM");
  line.add_option("--format", options->format, "text or json").one_of({"text", "json"}).show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  return [options, streams] { return kernel(*options, streams); };
}

}  // namespace hlosim
