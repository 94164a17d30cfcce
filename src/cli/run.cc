#include "cli/run.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <istream>
#include <ostream>
#include <vector>

namespace hlosim {

int run(std::span<const std::string> args, std::istream& /*in*/, std::ostream& out, std::ostream& err) {
  CLI::App app("Performance model of XLA HLO modules on TPUs.", "hlosim");
  app.set_version_flag("--version", fmt::format("hlosim {}", HLOSIM_VERSION));

  std::vector<std::string> reversed(args.rbegin(), args.rend());  // the order that CLI11 takes
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::Success& request) {  // --help, --version
    app.exit(request, out, err);
    return kExitSuccess;
  } catch (const CLI::Error& error) {
    err << "hlosim: " << error.what() << "\nRun `hlosim --help` for the commands and options.\n";
    return kExitUsage;
  }
  if (args.empty()) {
    err << app.help();
    return kExitUsage;
  }
  return kExitSuccess;
}

}  // namespace hlosim
