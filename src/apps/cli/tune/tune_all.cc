#include "cli/tune/tune_all.h"

#include <fmt/format.h>

#include <ostream>
#include <vector>

#include "cli/run.h"
#include "cli/tune/made_text.h"
#include "console/input.h"
#include "console/verbosity.h"
#include "estimate/prepared_run.h"
#include "hlo/printer.h"
#include "ops/op_table.h"

namespace hlosim {

int tune_all(const SimulationOptions& options, const SimulationSetting& setting, const TuningOutput& output,
             Streams streams, const Tuner& tune, const std::function<bool()>& is_late) {
  std::vector<std::string> modules, reports;
  const bool ok = for_each_chosen(options, setting, streams, [&](const Module& module) {
    const Step step(fmt::format("tuned {}", module.name), streams);
    PreparedRun run;
    run.is_late = is_late;
    const Result<Prepared> prepared = prepare(module, op_table(), setting.device, setting.estimate, run);
    if (!prepared) {
      tell(prepared.error(), streams);
      return false;
    }
    if (prepared->spread && !setting.estimate.mesh)
      note(prepared->assumptions.items().front().text, streams);  // that it was partitioned
    Result<TunedModule> tuned = tune(module, *prepared);
    if (!tuned) {
      tell(tuned.error(), streams);
      return false;
    }
    if (!output.path.empty()) {
      modules.push_back(to_text(*tuned->module, op_table()));
      if (const auto checked = verify_emitted_text(modules.back(), output.command, module.name); !checked) {
        tell(checked.error(), streams);
        return false;
      }
    }
    reports.push_back(std::move(tuned->report));
    return true;
  });
  if (reports.empty()) return kExitInput;
  if (!output.path.empty() &&
      !write_output(output.path, fmt::format("{}", fmt::join(modules, "\n")), streams))
    return kExitInput;
  (output.path == "-" ? streams.err : streams.out)
      << (output.format == "json" ? json_documents(reports) : fmt::format("{}", fmt::join(reports, "\n")));
  return ok ? kExitSuccess : kExitInput;
}

}  // namespace hlosim
