#include "cli/limit_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/quantity_text.h"
#include "base/text.h"
#include "cli/command_line.h"
#include "cli/verbosity.h"

namespace hlosim {
namespace {

std::string seconds_problem(const std::string& text) {
  const Result<double> number = TextForm<double>::read(text);
  return number && *number > 0 && *number <= 1e9 ? "" : fmt::format("'{}' is no number above 0", shown(text));
}

bool read_dimension(const std::string& text, Streams streams) {
  const size_t equals = text.find('=');
  stablehlo::DimensionSize size;
  if (equals != std::string::npos) size.name = text.substr(0, equals);
  const std::string number = text.substr(equals == std::string::npos ? 0 : equals + 1);
  const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), size.size);
  if (problem != std::errc() || end != number.data() + number.size() || size.size < 0) {
    complain(fmt::format("--dim: '{}' is no size", shown(text)), "8, batch=8 or arg0.1=8", streams);
    return false;
  }
  streams.mlir.dimensions.push_back(std::move(size));
  return true;
}

}  // namespace

void declare_limits(CommandLine& line, Limits& limits) {
  line.add_option("--max-rank", limits.rank, "Arrays of more dimensions are an error")
      .from(0)
      .show_default()
      .group("Limits");
  line.add_option("--max-devices", limits.devices, "Programs for more devices are an error")
      .from(1)
      .show_default()
      .group("Limits");
  line.add_option("--max-seconds", limits.seconds,
                  "End with an error after this time, and say what was under way")
      .check(seconds_problem)
      .group("Limits");
  line.add_option("--max-memory",
                  "End when it holds more memory: bytes, or 8GiB. run refuses modules whose arrays need "
                  "more; default there: 80 % of the machine's")
      .group("Limits");
  line.add_flag(
      "--partial",
      "Read text that was cut off, as logs and profiles hold it; what is missing is said, and becomes "
      "parameters and custom calls");
  line.add_option(
          "--dim",
          "Sizes of dynamic dimensions of a StableHLO program's arguments: 8 or batch=8 (the next one in "
          "order; a single one is that of all), arg0.1=8 (of argument 0, dimension 1); several: 8,128")
      .group("StableHLO");
}

bool read_dimensions(const CommandLine& line, Streams streams) {
  const std::optional<Option> given = line.find("--dim");
  if (!given) return true;
  for (const std::string& texts : given->values())
    for (size_t begin = 0; begin <= texts.size();) {
      const size_t end = std::min(texts.find(',', begin), texts.size());
      if (!read_dimension(texts.substr(begin, end - begin), streams)) return false;
      begin = end + 1;
    }
  return true;
}

bool read_limits(const CommandLine& line, Streams streams) {
  const std::optional<Option> memory = line.find("--max-memory");
  if (!memory || memory->count() == 0) return true;
  const std::string text = memory->values().back();
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  const Result<Bytes> bytes = TextForm<Bytes>::read(text + (digits ? "B" : ""));
  if (!bytes) {
    complain(fmt::format("--max-memory: {}", bytes.error().message), bytes.error().hint, streams);
    return false;
  }
  streams.limits.memory = bytes->count();
  return true;
}

}  // namespace hlosim
