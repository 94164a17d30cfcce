#include "base/file_path.h"

namespace hlosim {

namespace fs = std::filesystem;

fs::path above(const fs::path& folder, const fs::path& name) {
  std::error_code ignored;
  const bool is_folder = !name.empty() && name.filename() != ".." &&
                         fs::is_directory(fs::symlink_status(folder / name, ignored));
  return is_folder ? name.parent_path() : name / "..";
}

fs::path without_detours(const fs::path& path) {
  fs::path shortest;
  for (const fs::path& part : path) {
    if (part == "..")
      shortest = above({}, shortest);
    else if (!part.empty() && part != ".")
      shortest /= part;
  }
  return shortest.empty() && !path.empty() ? "." : shortest;
}

fs::path without_links(const fs::path& path) {
  constexpr int kMostLinks = 40;  // as Linux takes
  std::error_code failed;
  fs::path file = fs::absolute(path, failed);
  if (failed) file = path;  // the folder we stand in is gone
  // What a link points to may be yet to be written, which weakly_canonical() takes for no link.
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(file, failed)); ++i)
    file = file.parent_path() / fs::read_symlink(file, failed);
  const fs::path found = fs::weakly_canonical(file, failed);
  return failed ? without_detours(file) : found;
}

}  // namespace hlosim
