#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <ostream>

#include "cli/commands.h"
#include "cli/device_input.h"
#include "cli/input.h"
#include "cli/run.h"
#include "hlo/printer.h"
#include "model/device.h"
#include "ops/op_table.h"
#include "tune/lower.h"

namespace hlosim {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string device;
  std::vector<std::string> overrides;
  std::string output = "-";
};

int lower_files(const Options& options, Streams streams) {
  const std::optional<Device> device = read_device(options.device, options.overrides, streams);
  if (!device) return kExitInput;
  std::string text;
  for (const std::string& file : options.files) {
    const ModuleInput input = read_module_input(file, false, streams);
    if (!input.ok) return kExitInput;
    for (const Module& module : input.modules) {
      if (!text.empty()) text += "\n";
      if (!is_plain(module)) {
        text += to_text(module, op_table());
        continue;
      }
      const Result<Module> lowered = lower(module, op_table(), device->config);
      if (!lowered) {
        streams.err << render(lowered.error());
        return kExitInput;
      }
      text += to_text(*lowered, op_table());
    }
  }
  return write_output(options.output, text, streams) ? kExitSuccess : kExitInput;
}

}  // namespace

std::function<int()> declare_lower(CLI::App& app, Streams streams) {
  const auto options = std::make_shared<Options>();
  app.add_option("FILE", options->files, "HLO text files; - is standard input")->required();
  app.add_option("--device", options->device, "Device file, or a built-in device")->required();
  app.add_option("--set", options->overrides,
                 "path=value: another value for a key of the device; may be repeated")
      ->allow_extra_args(false);
  app.add_option("-o,--output", options->output, "Output file; - is standard output")->capture_default_str();
  return [options, streams] { return lower_files(*options, streams); };
}

}  // namespace hlosim
