#include "console/module_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "console/verbosity.h"
#include "text/table.h"

namespace hlosim {

std::optional<std::vector<ModuleFile>> module_files(const std::vector<std::string>& paths, Streams streams) {
  std::vector<ModuleFile> files;
  for (const std::string& path : paths) {
    if (!is_folder(path)) {
      files.push_back({path, std::nullopt});
      continue;
    }
    Result<std::vector<DumpedModule>> modules = read_dump_folder(path);
    if (!modules) {
      tell(modules.error(), streams);
      return std::nullopt;
    }
    for (DumpedModule& module : *modules) {
      std::string best = module.best();
      files.push_back({std::move(best), std::move(module)});
    }
  }
  return files;
}

std::string file_list(const std::vector<ModuleFile>& files,
                      const std::function<bool(std::string_view, size_t)>& takes) {
  Table table({{"#"},
               {"module", Align::kLeft},
               {"platform", Align::kLeft},
               {"before", Align::kLeft},
               {"passes"},
               {"after", Align::kLeft},
               {"buffers", Align::kLeft},
               {"file", Align::kLeft}});
  const auto mark = [](const std::string& path) { return std::string(path.empty() ? "-" : "yes"); };
  for (size_t i = 0; i < files.size(); ++i) {
    const std::filesystem::path path = files[i].path;
    const std::optional<DumpedModule>& dumped = files[i].dumped;
    const std::string name = dumped ? dumped->name : path.stem().string();
    if (!takes(name, i)) continue;
    if (!dumped) {
      table.add({fmt::format("{}", i), name, "", "", "", "", "", files[i].path});
      continue;
    }
    table.add({fmt::format("{}", i), name, dumped->platform, mark(dumped->before),
               fmt::format("{}", dumped->passes.size()), mark(dumped->after), mark(dumped->buffers),
               path.filename().string()});
  }
  return table.empty() ? "" : table.text("");
}

}  // namespace hlosim
