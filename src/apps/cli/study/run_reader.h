// Runs of modules from files: simulated, or read from saved reports.
//
//   RunReader reader(options, false, streams);     // options: --device and the others of simulations
//   Runs runs;
//   reader.read("old.hlo", runs)                   // false, with what is wrong printed
//   runs.figures[0].module_name
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "console/simulation_setting.h"
#include "report/figures.h"
#include "report/html/html.h"

namespace hlosim {

/// Metrics of the modules of a file, and for a page what it shows of each.
struct Runs {
  std::vector<Metrics> figures;
  std::vector<HtmlModule> pages;
};

class RunReader {
 public:
  /// `takes_pages`: also fills Runs::pages. `options` has to outlive the reader.
  RunReader(const SimulationOptions& options, bool takes_pages, Streams streams)
      : options_(options), takes_pages_(takes_pages), streams_(streams) {}

  /// Adds the runs of every chosen module of a file or folder; false, with what is wrong printed.
  bool read(const std::string& file, Runs& runs);

 private:
  bool simulate(const std::string& file, Runs& runs);

  const SimulationOptions& options_;
  bool takes_pages_;
  Streams streams_;
  std::optional<SimulationSetting> setting_;
};

}  // namespace hlosim
