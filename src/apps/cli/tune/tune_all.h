// What the `hlosim tune …` commands have in common: they rewrite the chosen modules one by one, and report of
// each.
//
//   return tune_all(options.simulation, *setting, {options.output, options.format}, streams,
//                   [&](const Module& module, const Prepared& prepared) -> Result<TunedModule> { … });
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "console/simulation_setting.h"
#include "estimate/prepared.h"

namespace hlosim {

struct TunedModule {
  std::shared_ptr<const Module> module;
  std::string report;
};
/// `given` as it was read, `prepared` as it is estimated.
using Tuner = std::function<Result<TunedModule>(const Module& given, const Prepared& prepared)>;

/// The modules go to `path` unless it is empty, the reports to standard output; to standard error where the
/// modules take that (`-`): only one of the two can be piped on. `format`: of the reports, "json" or "text".
struct TuningOutput {
  std::string path, format;
  std::string_view command;  // "tune layout", for messages
};

/// The exit code; what is wrong is printed. `is_late`: as that of PreparedRun (estimate/prepared_run.h).
int tune_all(const SimulationOptions& options, const SimulationSetting& setting, const TuningOutput& output,
             Streams streams, const Tuner& tune, const std::function<bool()>& is_late = {});

}  // namespace hlosim
