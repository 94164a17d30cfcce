// YAML files of users, by name and by folder.
//
//   std::vector<std::string> tried;
//   const std::string path = find_config_file("my", {.folders = search.directories}, tried);
//   // "configs/my.yaml"; empty: none of `tried` can be read
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/source.h"

namespace hlosim {

struct ConfigSearch {
  std::string beside;  // the file whose `extends:` has the name; empty: the user gave it
  std::span<const std::string> folders = {};  // looked through for names without a folder
};

/// The first readable file that `name` may mean: itself or, for `beside`, next to that file; then in the
/// folders, with or without ".yaml". A file that extends one of its own name means the next one. Adds the
/// paths looked at to `tried`. Empty: none.
std::string find_config_file(const std::string& name, const ConfigSearch& search,
                             std::vector<std::string>& tried);

/// Paths of the .yaml files of a folder, sorted; none where it can't be read.
std::vector<std::string> config_files_in(const std::string& folder);

/// The content of such a file.
Result<SourcePtr> read_config_file(const std::string& path);

/// One name for a file, whatever links and detours lead to it.
std::string canonical_path(const std::string& path);

/// "v4.yaml" of "configs/v4.yaml".
inline std::string file_name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }
/// "v4" of "configs/v4.yaml" and of "v4".
inline std::string config_name_of(const std::string& path) {
  const std::string name = file_name_of(path);
  return name.ends_with(".yaml") ? name.substr(0, name.size() - 5) : name;
}

}  // namespace hlosim
