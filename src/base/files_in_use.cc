#include "base/files_in_use.h"

#include <fmt/format.h>

#include <sys/stat.h>
#include <filesystem>

#include "base/file_path.h"
#include "base/text.h"

namespace hlosim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHint = "every result needs a file of its own";

tl::unexpected<Diagnostic> would_overwrite(const std::string& what, const std::string& output,
                                           const std::string& input) {
  return failure(
      fmt::format("{}: '{}' would overwrite the input '{}'", what, shown(output, 200), shown(input, 200)),
      kHint);
}

/// All that tells a file: its path without links, and its number where it is there. Empty: nothing can be
/// lost by writing to it.
std::vector<std::string> identities(const std::string& path, bool is_input) {
  struct stat info {};
  const bool is_there = ::stat(path.c_str(), &info) == 0;
  if (is_there ? !S_ISREG(info.st_mode) : is_input) return {};
  std::vector<std::string> names = {without_links(path).string()};
  if (is_there) names.push_back(fmt::format("device {} inode {}", info.st_dev, info.st_ino));
  return names;
}

}  // namespace

const FilesInUse::Use* FilesInUse::find(const std::vector<std::string>& names) const {
  for (const std::string& name : names)
    if (const auto found = uses_.find(name); found != uses_.end()) return &found->second;
  return nullptr;
}

Result<void> FilesInUse::reads(const std::string& path) {
  if (path == "-") return {};
  const std::vector<std::string> names = identities(path, true);
  const std::lock_guard lock(mutex_);
  const Use* const other = find(names);
  const Use output = other ? *other : Use{};
  // From here on the file is an input by all its names: a command that goes on without it may not write it
  // either.
  for (auto& [name, use] : uses_)
    if (!output.what.empty() && use.what == output.what && use.path == output.path) use = {"", path};
  for (const std::string& name : names) uses_.emplace(name, Use{"", path});
  if (!output.what.empty()) return would_overwrite(output.what, output.path, path);
  return {};
}

Result<void> FilesInUse::writes(const std::string& what, const std::string& path) {
  const std::vector<std::string> names =
      path == "-" ? std::vector<std::string>{"-"} : identities(path, false);
  const std::lock_guard lock(mutex_);
  const Use* const other = find(names);
  if (other && other->what.empty()) return would_overwrite(what, path, other->path);
  if (other && other->what != what)
    return failure(
        fmt::format("{}: '{}' is the same file as that of {}", what, shown(path, 200), other->what), kHint);
  for (const std::string& name : names) uses_.emplace(name, Use{what, path});
  return {};
}

Result<void> FilesInUse::writes(const std::string& path) {
  if (path == "-") return {};
  {
    const std::lock_guard lock(mutex_);
    const Use* const known = find(identities(path, false));
    if (known && !known->what.empty()) return {};
  }
  return writes("the result", path);
}

}  // namespace hlosim
