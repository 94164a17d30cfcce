// What a program that calls a command exchanges with it beside the line: values in place of files.
//
//   Exchange exchange;
//   exchange.inputs.push_back({.path = "<0>", .source = text, .modules = {module}});  // "<0>" of the line
//   exchange.outputs = [&](const std::string& device, std::span<const Array> leaves) {
//     …                                                                               // of `run`
//   };
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "array/array.h"
#include "array/npy.h"
#include "base/source.h"
#include "hlo/module.h"

namespace hlosim {

struct SweepProgress;  // study/sweep_run.h

/// Stands for a file.
struct InputAtHand {
  std::string path;                                    // that the line names
  SourcePtr source;                                    // its text, or bytes that have to be unpacked
  std::vector<std::shared_ptr<const Module>> modules;  // the modules in it, if they were read already
};

struct Exchange {
  std::vector<InputAtHand> inputs;
  /// The arguments of `run`: of each device, or one list for all; empty: the line says where they are.
  std::vector<std::vector<NumpyArray>> arrays;
  /// Gets what `run` gives back, device by device; the name is empty where there is one. The arrays are gone
  /// after the call.
  std::function<void(const std::string& device, std::span<const Array> leaves)> outputs;
  /// How far `sweep` is; the caller's, which looks at it now and then.
  SweepProgress* sweep = nullptr;
  /// Gets whatever is wrong or worth knowing, which nobody prints then.
  std::function<void(const Diagnostic&)> on_diagnostic;
};

}  // namespace hlosim
