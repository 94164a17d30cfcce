#include "cli/limit_options.h"

#include "cli/command_line.h"

namespace hlosim {

void declare_limits(CommandLine& line, Limits& limits) {
  line.add_option("--max-rank", limits.rank, "Arrays of more dimensions are an error")
      .from(0)
      .show_default()
      .group("Limits");
  line.add_option("--max-devices", limits.devices, "Programs for more devices are an error")
      .from(1)
      .show_default()
      .group("Limits");
}

}  // namespace hlosim
