#include <fmt/format.h>

#include <memory>
#include <optional>
#include <ostream>
#include <span>

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
  std::vector<std::string> blocks, arguments, lengths;
  std::string format = "text", output = "-";
};

/// "block_q=1024,block_kv=512"
Result<std::vector<KernelSetting>> settings_of(std::span<const std::string> texts, std::string_view option,
                                               std::span<const std::string_view> known) {
  std::vector<KernelSetting> settings;
  for (const std::string& text : texts) {
    size_t from = 0, depth = 0;
    for (size_t end = 0; end <= text.size(); ++end) {
      const char c = end < text.size() ? text[end] : ',';
      if (c == '[') ++depth;  // commas of an array's dimensions
      if (c == ']' && depth > 0) --depth;
      if (c != ',' || (depth > 0 && end < text.size())) continue;
      const std::string one = text.substr(from, end - from);
      const size_t equals = one.find('=');
      if (equals == std::string::npos || equals == 0)
        return failure(fmt::format("{}: '{}' is not NAME=VALUE", option, one),
                       known.empty() ? "" : fmt::format("one of {}", fmt::join(known, ", ")));
      settings.push_back({one.substr(0, equals), one.substr(equals + 1)});
      from = end + 1;
    }
  }
  return settings;
}

std::vector<KernelSetting> named_arguments_of(const KernelArguments& options) {
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

Result<KernelRequest> request_of(const KernelArguments& options) {
  const Result<std::vector<KernelSetting>> blocks =
      settings_of(options.blocks, "--blocks", kernel_blocks(options.kernel));
  if (!blocks) return tl::unexpected(blocks.error());
  Result<std::vector<KernelSetting>> arguments =
      settings_of(options.arguments, "--arg", kernel_arguments(options.kernel));
  if (!arguments) return tl::unexpected(arguments.error());
  if (options.tune && !blocks->empty())
    return failure("--tune looks for the best blocks, so --blocks can't be given as well");
  const std::vector<KernelSetting> named = named_arguments_of(options);
  arguments->insert(arguments->end(), named.begin(), named.end());
  return read_kernel(options.kernel, *arguments, *blocks, fmt::format("{}", fmt::join(options.lengths, ",")));
}

/// What `--tune` compares; the best of it is reported.
Result<KernelCost> best_of(const BlockRanking& ranking, const std::string& kernel) {
  if (!ranking.fitting.empty()) return ranking.fitting.front();
  if (ranking.rejected.empty()) return failure(fmt::format("{}: no blocks divide these sizes", kernel));
  const KernelCost& least = ranking.rejected.front();
  return failure(fmt::format("{}: no blocks fit into {}, {} need {}", kernel, to_text(least.vmem_limit),
                             block_text(least), to_text(least.vmem)));
}

int kernel(const KernelArguments& options, Streams streams) {
  const Result<KernelRequest> request = request_of(options);
  if (!request) {
    tell(request.error(), streams);
    return kExitInput;
  }
  const std::optional<Device> device = read_device(options.device, options.choices, streams);
  if (!device) return kExitInput;
  std::optional<BlockRanking> ranking;
  Result<KernelCost> cost = tl::unexpected(Diagnostic{});
  if (options.tune) {
    Result<BlockRanking> ranked = rank_blocks(device->config, *request);
    if (ranked) ranking = std::move(*ranked);
    cost = ranked ? best_of(*ranking, options.kernel) : tl::unexpected(ranked.error());
  }
  // Sizes that no block divides have an error of their own.
  if (!options.tune || !cost) {
    Result<KernelCost> without = kernel_cost(device->config, *request);
    if (!options.tune || !without) cost = std::move(without);
  }
  if (!cost) {
    tell(cost.error(), streams);
    return kExitInput;
  }
  KernelReport report = kernel_report(device->config, *request, *cost);
  if (ranking) report.origin = "the best that fit";
  const BlockRanking* const shown = ranking ? &*ranking : nullptr;
  const std::string text = options.format == "json" ? to_json(report, shown)
                           : ranking                ? to_text(report) + to_text(*ranking)
                                                    : to_text(report);
  return write_output(options.output, text, streams) ? kExitSuccess : kExitInput;
}

}  // namespace

std::function<int()> declare_kernel(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<KernelArguments>();
  line.add_option("KERNEL", options->kernel, fmt::format("{}", fmt::join(kernel_names(), ", "))).required();
  line.add_option("-d,--device", options->device, "Device file or built-in device").required();
  declare_device_choices(line, options->choices);
  line.add_option("--arg", options->arguments,
                  "Arguments by name: arrays, sizes and options, as in lhs=bf16[4096,512],form=forward")
      .one_value_each();
  line.add_option("--lengths", options->lengths,
                  "Rows of each group (8x512), or new tokens and keys of each sequence (64x1:1500,448:2048)")
      .one_value_each();
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
  line.add_flag("--tune", options->tune, "Rank the blocks that fit into VMEM, and report the best");
  line.add_option("--format", options->format, "text or json").one_of({"text", "json"}).show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  line.format_by_suffix(options->format, options->output);
  return [options, streams] { return kernel(*options, streams); };
}

}  // namespace hlosim
