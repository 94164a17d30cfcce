// What runs in place of custom calls as the command line says: kernels of --kernel, entries of
// --custom-calls.
//
//   const std::optional<StandIns> custom_call_overrides = StandIns::read(options, constants, pool, streams);
//   custom_call_overrides->warn_of_unused(module, streams);
//   const CustomCallHandlers handlers = custom_call_overrides->handlers();   // of ProgramOptions
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "evaluate/evaluate.h"
#include "exec/stand_in.h"
#include "model/custom_call_costs.h"

namespace hlosim {

struct StandInOptions {
  std::vector<std::string> kernels;  // NAME=FILE
  std::string custom_calls;          // a YAML file
};

class StandIns {
 public:
  /// Nothing, with what is wrong printed. Constants of kernels that leave out their values become what
  /// `elided` says, by `seed`; one larger than `max_constant_bytes` is an error.
  struct Constants {
    std::string elided;
    uint64_t seed = 0;
    int64_t max_bytes = 0;
  };
  static std::optional<StandIns> read(const StandInOptions& options, const Constants& constants,
                                      MemoryPool& pool, Streams streams);

  /// Kernels first, then entries.
  CustomCallHandlers handlers() const;
  /// Warns of what no custom call of the module asks for.
  void warn_of_unused(const Module& module, Streams streams) const;
  /// What the kernel that needs most needs beside the module that calls it.
  int64_t peak_bytes() const;

 private:
  struct Kernel {
    std::string name;
    StandIn stand_in;
  };
  bool add_kernel(const std::string& text, const Constants& constants, MemoryPool& pool, Streams streams);

  CustomCallCosts entries_;
  std::vector<Kernel> kernels_;
};

}  // namespace hlosim
