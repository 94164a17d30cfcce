// From file names to verified modules, with everything wrong printed.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "base/source.h"
#include "cli/commands.h"
#include "hlo/module.h"

namespace hlosim {

/// The text of `path`; `-` is the streams' standard input.
Result<SourcePtr> read_input(const std::string& path, std::istream& in);

struct ModuleInput {
  std::vector<Module> modules;
  bool ok = false;  // everything was read and verified
};

/// Reads the modules of `path`, verifies them unless `parse_only`, prints all findings.
ModuleInput read_module_input(const std::string& path, bool parse_only, Streams streams);

}  // namespace hlosim
