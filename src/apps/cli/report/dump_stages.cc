#include "cli/report/dump_stages.h"

#include <fmt/format.h>

#include <algorithm>

#include "console/input.h"
#include "console/verbosity.h"
#include "estimate/estimate.h"
#include "ops/op_table.h"
#include "report/report.h"

namespace hlosim {
namespace {

std::optional<Metrics> figures_of(const Module& module, const SimulationSetting& setting, Streams streams) {
  const Step step(fmt::format("simulated {} before optimisation", module.name), streams);
  EstimateOptions options = setting.estimate;
  options.simulate.keep_timeline = false;
  const Result<Estimate> estimate = hlosim::estimate(module, op_table(), setting.device, options);
  if (estimate) {
    const Report report = make_report(module, op_table(), setting.device, *estimate);
    return make_figures(report, module, op_table(), *estimate);
  }
  Diagnostic diagnostic = estimate.error();
  if (!diagnostic.source) diagnostic.message = fmt::format("module {}: {}", module.name, diagnostic.message);
  tell(diagnostic, streams);
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<StagePair>> stage_pairs(const std::vector<ModuleFile>& files,
                                                  std::vector<Metrics> after,
                                                  const SimulationSetting& setting, Streams streams) {
  std::vector<StagePair> pairs;
  bool ok = true;
  for (Metrics& one : after) {
    const auto file = std::find_if(files.begin(), files.end(),
                                   [&](const ModuleFile& f) { return f.path == one.module_file; });
    if (file == files.end() || !file->dumped || file->dumped->before.empty() ||
        file->dumped->before == file->path)
      continue;
    const ModuleInput input = read_module_input(file->dumped->before, false, streams);
    ok = ok && input.ok;
    if (!input.ok || input.modules.empty()) continue;
    std::optional<Metrics> before = figures_of(input.modules[0], setting, streams);  // a dump has one module
    ok = ok && before.has_value();
    if (before) pairs.push_back({std::move(*before), std::move(one)});
  }
  if (!ok) return std::nullopt;
  return pairs;
}

}  // namespace hlosim
