#include "console/device_input.h"

#include <fmt/format.h>

#include <ostream>

#include "console/command_line.h"
#include "console/input.h"
#include "console/run_config.h"
#include "console/verbosity.h"
#include "flags/xla_flags.h"
#include "model/device_files.h"
#include "model/device_overrides.h"

namespace hlosim {
namespace {

/// The flags of all texts and files; null, with what is wrong printed.
std::optional<std::vector<XlaFlag>> read_flags(const std::vector<std::string>& texts, Streams streams) {
  std::vector<XlaFlag> flags;
  DiagnosticList problems;
  for (const std::string& text : texts) {
    SourcePtr source = std::make_shared<const SourceFile>("--xla-flags", text);
    if (text.starts_with('@')) {
      const Result<SourcePtr> file = read_input(text.substr(1), streams);
      if (!file) {
        tell(file.error(), streams);
        return std::nullopt;
      }
      source = *file;
    }
    const std::vector<XlaFlag> more = read_xla_flags(source, problems);
    flags.insert(flags.end(), more.begin(), more.end());
  }
  tell(problems, streams);
  if (problems.has_errors()) return std::nullopt;
  return flags;
}

/// What the flags and --set say, in this order. `device`: by itself.
std::optional<std::vector<DeviceOverride>> overrides_of(const DeviceChoices& choices, const Device& device,
                                                        Streams streams) {
  const std::optional<std::vector<XlaFlag>> flags = read_flags(choices.xla_flags, streams);
  if (!flags) return std::nullopt;
  DiagnosticList problems;
  std::vector<DeviceOverride> overrides = xla_flag_overrides(*flags, device.config, problems);
  tell(problems, streams);
  if (problems.has_errors()) return std::nullopt;
  for (const std::string& text : choices.overrides) {
    Result<DeviceOverride> one = parse_override(text);
    if (!one) {
      tell(one.error(), streams);
      return std::nullopt;
    }
    overrides.push_back(std::move(*one));
  }
  return overrides;
}

}  // namespace

void declare_device_choices(CommandLine& line, DeviceChoices& choices) {
  line.add_option("--set", choices.overrides,
                  "Overrides a key of the device file: memory.hbm.bandwidth=2TB/s; may be repeated")
      .one_value_each()
      .group("Device");
  line.add_option("--xla-flags", choices.xla_flags,
                  "Compiler flags as in XLA_FLAGS and LIBTPU_INIT_ARGS, or @FILE with them; may be repeated")
      .one_value_each()
      .group("Device");
}

std::optional<CompilerChoices> read_compiler(const DeviceChoices& choices, const Device& device,
                                             Streams streams) {
  const std::optional<std::vector<XlaFlag>> flags = read_flags(choices.xla_flags, streams);
  if (!flags) return std::nullopt;
  DiagnosticList problems;
  const CompilerChoices made = compiler_choices(*flags, device.config, problems);
  tell(problems, streams);
  if (problems.has_errors()) return std::nullopt;
  return made;
}

bool claim_files_of(const Device& device, Streams streams) {
  for (const std::string& file : files_of(device)) {
    const Result<void> used = streams.files.reads(file);
    if (!used) return tell(used.error(), streams), false;
  }
  return true;
}

std::optional<Device> read_device(const std::string& name, const DeviceChoices& choices, Streams streams) {
  DiagnosticList problems;
  const DeviceSearch search = DeviceSearch::from_environment();
  Step step(fmt::format("device {}", name), streams);
  const SourcePtr configured = device_of_run_config(name, streams);
  std::optional<Device> device =
      configured ? load_device(configured, {}, search, problems) : load_device(name, {}, search, problems);
  // It states every value of a device; what the user changed about it isn't to be told from that.
  if (device && configured) device->changes.clear();
  if (device && (!choices.overrides.empty() || !choices.xla_flags.empty())) {
    const std::optional<std::vector<DeviceOverride>> overrides = overrides_of(choices, *device, streams);
    if (!overrides) return std::nullopt;
    if (!overrides->empty()) device = with_overrides(*device, *overrides, problems);
    if (device && configured)
      std::erase_if(device->changes, [](const DeviceChange& change) { return !change.from_set; });
  }
  tell(problems, streams);
  if (device && !claim_files_of(*device, streams)) return std::nullopt;
  if (device)
    step.add(
        fmt::format(": {}, {}, fingerprint {}", device->config.name, device->file, device->fingerprint()));
  return device;
}

}  // namespace hlosim
