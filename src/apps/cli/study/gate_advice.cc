#include "cli/study/gate_advice.h"

#include <algorithm>

#include "advise/advice_text.h"
#include "advise/advise.h"
#include "base/check.h"
#include "console/verbosity.h"
#include "ops/op_table.h"

namespace hlosim {

bool GateAdviser::add_to(GateResult& result, const std::vector<GateRun>& runs, Streams streams) const {
  HLOSIM_CHECK(kept_.size() == runs.size(), "a module for each run");
  const auto slower = std::ranges::count_if(result.modules, &GateModule::got_slower);
  if (slower == 0) return true;
  AdviceOptions options;
  options.budget = seconds_ / static_cast<double>(slower);
  options.worth = 0, options.stop = &streams.stop;
  for (GateModule& module : result.modules) {
    if (!module.got_slower()) continue;
    const Step step("tried changes of " + module.run->title(), streams);
    const Kept& kept = kept_[static_cast<size_t>(module.run - runs.data())];
    const TrialSetup setup{std::nullopt, kept.module, kept.setting->device, kept.setting->estimate};
    const Result<AdviceReport> found = advise(setup, op_table(), options);
    if (!found) return tell(found.error(), streams), false;
    module.advice = advice_of_report(*found);
  }
  return true;
}

}  // namespace hlosim
