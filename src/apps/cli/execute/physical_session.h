// `hlosim run --physical`: what the options say, and running a module on real bytes as they do.
//
//   PhysicalSetting setting;
//   if (!setting.prepare(choices, module, seed, streams)) return 2;
//   const Result<PhysicalResult> result = setting.run(module, device, inputs, options);
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "console/device_input.h"
#include "physical/physical_run.h"

namespace hlosim {

struct PhysicalChoices {
  bool wanted = false;
  std::string device;
  DeviceChoices choices;
  std::string schedule;  // empty: the module's, or the best that is found
  std::string layouts = "module";
  int64_t alignment = 64;
  bool any() const {
    return !device.empty() || !choices.overrides.empty() || !choices.xla_flags.empty() || !schedule.empty() ||
           layouts != "module" || alignment != 64;
  }
};

/// A module that is about to be made a program of: layouts, calls and copies as its memory needs them, then
/// where everything lies.
class PhysicalSetting {
 public:
  PhysicalSetting();
  ~PhysicalSetting();
  /// Changes `module`; says what is wrong.
  bool prepare(const PhysicalChoices& choices, Module& module, uint64_t seed, Streams streams);
  int64_t bytes() const;
  Result<PhysicalResult> run(Module& module, DeviceState& device, std::vector<Array> inputs,
                             const ProgramOptions& program) const;
  /// `4,096 bytes of S(0), 512 bytes of S(1); 17 steps, 8,192 bytes written`
  std::string summary(const PhysicalResult& result) const;

 private:
  std::unique_ptr<BufferAnalysis> analysis_;
  std::map<int64_t, int64_t> capacities_;
};

}  // namespace hlosim
