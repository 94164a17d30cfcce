#include "cli/study/profile_input.h"

#include <filesystem>

#include "profile/read_profile.h"

namespace hlosim {

Result<Profile> read_profile_input(const std::string& path, Streams streams) {
  std::vector<std::string> files = {path};
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    Result<ProfileRun> run = find_profile_run(path);
    if (!run) return tl::unexpected(run.error());
    files = std::move(run->files);
  }
  for (const std::string& file : files)
    if (auto used = streams.files.reads(file); !used) return tl::unexpected(used.error());
  return read_profile(path);
}

}  // namespace hlosim
