// The files that a command line names, folders of dumps opened.
//
//   const auto files = module_files({"dump/", "a.hlo"}, streams);           // null: what is wrong is printed
//   for (const ModuleFile& file : *files) std::cout << file.path;
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "console/streams.h"
#include "input/dump_folder.h"

namespace hlosim {

struct ModuleFile {
  std::string path;
  std::optional<DumpedModule> dumped;  // where it came from a folder
};

/// A folder's modules by what shows most of each (DumpedModule::best()); other files as they stand. Null,
/// with what is wrong printed.
std::optional<std::vector<ModuleFile>> module_files(const std::vector<std::string>& paths, Streams streams);

/// Which files belong to which module, as a table of those whose name (as far as file names show it) and
/// number `takes` wants; empty when there is none.
std::string file_list(const std::vector<ModuleFile>& files,
                      const std::function<bool(std::string_view, size_t)>& takes);

}  // namespace hlosim
