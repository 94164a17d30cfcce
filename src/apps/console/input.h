// From file names to verified modules, with everything wrong printed; and results to files.
//
//   ModuleInput input = read_module_input("-", false, streams);
//   if (!input.ok) return kExitInput;              // what is wrong is printed already
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "base/source.h"
#include "console/streams.h"
#include "hlo/module.h"

namespace hlosim {

/// The text of `path`, unpacked (input/hlo_file.h); `-` is the streams' standard input, the same text each
/// time.
Result<SourcePtr> read_input(const std::string& path, Streams streams);

struct ModuleInput {
  std::vector<Module> modules;
  bool ok = false;  // everything was read and verified
};

/// Reads the modules of `path`, verifies them unless `parse_only`, prints all findings.
ModuleInput read_module_input(const std::string& path, bool parse_only, Streams streams);

/// One JSON document of several: itself when it is alone, else an array.
std::string json_documents(const std::vector<std::string>& documents);

/// Writes a result to `path` as a whole or not at all; `-` is the streams' standard output. Says what is
/// wrong.
bool write_output(const std::string& path, std::string_view text, Streams streams);

}  // namespace hlosim
