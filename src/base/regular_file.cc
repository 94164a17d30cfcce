#include "base/regular_file.h"

#include <fmt/format.h>

#include <sys/stat.h>

namespace hlosim {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

Result<void> expect_regular(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) return {};
  return failure(fmt::format("cannot read '{}': {}", path, kind_of(info.st_mode)),
                 "a regular file is expected here");
}

Result<SourcePtr> read_regular(const std::string& path) {
  if (path == "-") return read_source(path);
  if (Result<void> regular = expect_regular(path); !regular)
    return tl::unexpected(std::move(regular.error()));
  return read_source(path);
}

}  // namespace hlosim
