#include "cli/device_input.h"

#include <ostream>

namespace hlosim {

std::optional<Device> read_device(const std::string& name, std::span<const std::string> overrides,
                                  Streams streams) {
  std::vector<DeviceOverride> parsed;
  for (const std::string& text : overrides) {
    Result<DeviceOverride> one = parse_override(text);
    if (!one) {
      streams.err << render(one.error());
      return std::nullopt;
    }
    parsed.push_back(std::move(*one));
  }
  DiagnosticList problems;
  std::optional<Device> device = load_device(name, parsed, DeviceSearch::from_environment(), problems);
  for (const Diagnostic& problem : problems.items()) streams.err << render(problem);
  return device;
}

}  // namespace hlosim
