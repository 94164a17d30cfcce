// Modules of a folder of dumps before and after optimisation.
#pragma once

#include <optional>
#include <vector>

#include "console/module_files.h"
#include "console/simulation_setting.h"
#include "report/dump_table.h"

namespace hlosim {

/// The figures of each module of `after` as it was before optimisation, lowered as if no compiler had touched
/// it, with those of what it became. Modules without a file from before are left out. Null, with what is
/// wrong printed, when one of these files is wrong.
std::optional<std::vector<StagePair>> stage_pairs(const std::vector<ModuleFile>& files,
                                                  std::vector<Metrics> after,
                                                  const SimulationSetting& setting, Streams streams);

}  // namespace hlosim
