#include <fmt/format.h>

#include <memory>
#include <ostream>

#include "cli/commands.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "console/device_input.h"
#include "console/input.h"
#include "console/verbosity.h"
#include "model/device.h"
#include "model/device_names.h"
#include "report/device_json.h"

namespace hlosim {
namespace {

struct DevicesArguments {
  std::vector<std::string> names;
  DeviceChoices choices;
  std::string format = "text";
  std::string output = "-";
};

int list_devices(const DevicesArguments& options, Streams streams) {
  std::string text;
  if (options.format == "text") {
    text = builtin_devices_text();
  } else if (options.format == "markdown") {
    text = names_markdown() + "\n" + schema_markdown();
  } else {
    std::vector<Device> devices;
    for (const std::string& name : builtin_devices()) {
      std::optional<Device> device = read_device(name, {}, streams);
      if (!device) return kExitInput;
      if (options.format == "yaml") text += (text.empty() ? "" : "---\n") + to_yaml(*device);
      devices.push_back(std::move(*device));
    }
    if (options.format == "json") text = device_list_json(devices);
  }
  return write_output(options.output, text, streams) ? kExitSuccess : kExitInput;
}

int devices(const DevicesArguments& options, Streams streams) {
  const bool changes = !options.choices.overrides.empty() || !options.choices.xla_flags.empty();
  if (options.names.empty() && changes) {
    complain(fmt::format("{} needs the name of a device",
                         options.choices.overrides.empty() ? "--xla-flags" : "--set"),
             "", streams);
    return kExitInput;
  }
  if (options.names.empty() || options.format == "markdown") return list_devices(options, streams);
  std::vector<std::string> texts;
  bool ok = true;
  for (const std::string& name : options.names) {
    const std::optional<Device> device = read_device(name, options.choices, streams);
    if (!device) {
      ok = false;
      continue;
    }
    texts.push_back(options.format == "json"   ? to_json(*device)
                    : options.format == "yaml" ? to_yaml(*device)
                                               : to_text(*device));
  }
  const std::string text =
      options.format == "json"
          ? json_documents(texts)
          : fmt::format("{}", fmt::join(texts, options.format == "yaml" ? "---\n" : "\n"));
  if (!write_output(options.output, text, streams)) return kExitInput;
  return ok ? kExitSuccess : kExitInput;
}

}  // namespace

std::function<int()> declare_devices(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<DevicesArguments>();
  line.add_option("NAME", options->names, "Device files or built-in devices; none: list the built-in ones");
  declare_device_choices(line, options->choices);
  line.add_option("--format", options->format,
                  "text, yaml, json, or markdown: names of devices, and the keys of their files")
      .one_of({"text", "yaml", "json", "markdown"})
      .show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  line.format_by_suffix(options->format, options->output);
  return [options, streams] { return devices(*options, streams); };
}

}  // namespace hlosim
