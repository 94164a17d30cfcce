// The module that a profiled program ran: the profile's own, or one that was given.
//
//   ProgramModules modules(limits);
//   modules.give(std::move(module));
//   const Result<Module> ran = modules.of(profile->programs[0], true);
#pragma once

#include <vector>

#include "base/resource_limits.h"
#include "base/source.h"
#include "hlo/module.h"
#include "profile/profile.h"

namespace hlosim {

class ProgramModules {
 public:
  explicit ProgramModules(const Limits& limits) : limits_(limits) {}
  /// It stands for the programs of its name, whatever the profile has.
  void give(Module module);
  /// The given module of the program's name; of the `only` program the only one given, or of one without a
  /// name most of whose time goes into operations with its names; else the profile's own, read and verified.
  /// Errors: there is none; what is wrong with its proto.
  Result<Module> of(const ProfiledProgram& program, bool only) const;

 private:
  Limits limits_;
  std::vector<Module> given_;
};

}  // namespace hlosim
