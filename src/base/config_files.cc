#include "base/config_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/regular_file.h"

namespace hlosim {

namespace fs = std::filesystem;

namespace {

/// Something that can be opened: no directory, and there.
bool is_readable_path(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return !error && fs::exists(status) && !fs::is_directory(status);
}

}  // namespace

std::string find_config_file(const std::string& name, const ConfigSearch& search,
                             std::vector<std::string>& tried) {
  const std::string with_suffix = name.ends_with(".yaml") ? name : name + ".yaml";
  std::vector<fs::path> candidates;
  if (search.beside.empty()) {
    candidates.emplace_back(name);
  } else {
    const fs::path directory = fs::path(search.beside).parent_path();
    candidates.push_back(directory / name);
    candidates.push_back(directory / with_suffix);
  }
  if (!fs::path(name).has_parent_path())
    for (const std::string& directory : search.folders) {
      candidates.push_back(fs::path(directory) / name);
      candidates.push_back(fs::path(directory) / with_suffix);
    }
  // A file may extend one of its own name: the next in the order.
  for (size_t i = candidates.size(); !search.beside.empty() && i-- > 0;) {
    std::error_code error;
    if (!fs::equivalent(candidates[i], search.beside, error)) continue;
    candidates.erase(candidates.begin(), candidates.begin() + static_cast<long>(i) + 1);
    break;
  }
  for (const fs::path& candidate : candidates) {
    if (std::find(tried.begin(), tried.end(), candidate.string()) != tried.end()) continue;
    tried.push_back(candidate.string());
    if (is_readable_path(candidate)) return candidate.string();
  }
  return {};
}

std::vector<std::string> config_files_in(const std::string& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".yaml") paths.push_back(entry->path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> names;
  for (const fs::path& path : paths) names.push_back(path.string());
  return names;
}

Result<SourcePtr> read_config_file(const std::string& path) { return read_regular(path); }

std::string canonical_path(const std::string& path) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(path, error);
  return error ? path : canonical.string();
}

}  // namespace hlosim
