// Changes that may win back what modules of a gate lost.
//
//   GateAdviser adviser(*seconds);                         // of --advise
//   adviser.keep(module, setting);                          // each run, in the order of the gate's
//   if (!adviser.add_to(result, runs, streams)) …           // the advice of those that got slower
#pragma once

#include <memory>
#include <vector>

#include "console/simulation_setting.h"
#include "console/streams.h"
#include "hlo/module.h"
#include "study/gate.h"

namespace hlosim {

class GateAdviser {
 public:
  /// `seconds`: for all modules that got slower, in equal parts; 0: no limit.
  explicit GateAdviser(double seconds) : seconds_(seconds) {}

  /// The module and the setting of the next run. `setting` outlives the adviser.
  void keep(const std::shared_ptr<const Module>& module, const SimulationSetting& setting) {
    kept_.push_back({module, &setting});
  }

  /// Tries changes of those that got slower. `runs` are those that were kept, and the result is of them.
  /// False, with what is wrong printed: a module can't be simulated, or the program was stopped.
  bool add_to(GateResult& result, const std::vector<GateRun>& runs, Streams streams) const;

 private:
  struct Kept {
    std::shared_ptr<const Module> module;
    const SimulationSetting* setting;
  };

  double seconds_;
  std::vector<Kept> kept_;  // by run
};

}  // namespace hlosim
