#include "base/staged_files.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/files_in_use.h"

namespace hlosim {
namespace {

constexpr size_t kLargestWrite = size_t{1} << 30;  // the kernel writes at most 2 GiB at once

/// Why not all of `text` could be written; empty if it could.
std::string write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), std::min(text.size(), kLargestWrite));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return std::strerror(errno);
    text.remove_prefix(static_cast<size_t>(put));
  }
  return {};
}

std::string write_and_close(int fd, const TextSource& text) {
  constexpr size_t kBuffered = size_t{1} << 16;  // parts may be a few bytes
  std::string error, buffer;
  const auto flush = [&] {
    if (error.empty()) error = write_all(fd, buffer);
    buffer.clear();
  };
  text([&](std::string_view part) {
    if (buffer.size() + part.size() > kBuffered) flush();
    if (part.size() <= kBuffered)
      buffer += part;
    else if (error.empty())
      error = write_all(fd, part);
  });
  flush();
  if (::close(fd) != 0 && error.empty()) error = std::strerror(errno);
  return error;
}

bool is_special_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/// Where the file will be: links are followed, also those whose target isn't there yet. Empty: they go round
/// in circles.
std::string behind_links(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;  // as Linux has it
  std::error_code error;
  fs::path at = path;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!fs::is_symlink(fs::symlink_status(at, error))) return at.string();
    at = at.parent_path() / fs::read_symlink(at, error);  // an absolute target stands alone
  }
  return {};
}

tl::unexpected<Diagnostic> cannot_write(const std::string& path, const std::string& error) {
  return failure(fmt::format("cannot write '{}': {}", path, error));
}

}  // namespace

StagedFiles::~StagedFiles() {
  for (const File& file : files_) ::unlink(file.temporary.c_str());
}

Result<void> StagedFiles::add(const std::string& path, std::span<const std::string_view> parts) {
  return add(path, [&](const TextSink& out) {
    for (const std::string_view part : parts) out(part);
  });
}

Result<void> StagedFiles::add(const std::string& path, const TextSource& text) {
  if (in_use_)
    if (auto used = in_use_->writes(path); !used) return used;
  const std::lock_guard lock(mutex_);  // umask() below is the process's, too
  if (is_special_file(path)) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return cannot_write(path, std::strerror(errno));
    const std::string error = write_and_close(fd, text);
    if (!error.empty()) return cannot_write(path, error);
    return {};
  }
  File file{{}, behind_links(path), path};
  if (file.target.empty()) return cannot_write(path, std::strerror(ELOOP));
  file.temporary = file.target + ".XXXXXX";
  const int fd = ::mkstemp(file.temporary.data());
  if (fd < 0) return cannot_write(path, std::strerror(errno));
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(fd, 0666 & ~mask);
  files_.push_back(file);
  const std::string error = write_and_close(fd, text);
  if (!error.empty()) return cannot_write(path, error);
  return {};
}

Result<void> StagedFiles::commit() {
  while (!files_.empty()) {
    const File& file = files_.front();
    if (::rename(file.temporary.c_str(), file.target.c_str()) != 0)
      return cannot_write(file.path, std::strerror(errno));
    files_.erase(files_.begin());
  }
  return {};
}

Result<void> write_file(const std::string& path, const TextSource& text) {
  StagedFiles staged;
  const Result<void> added = staged.add(path, text);
  return added ? staged.commit() : added;
}

}  // namespace hlosim
