#include "study/sweep_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/hash.h"
#include "base/regular_file.h"
#include "base/text.h"

namespace hlosim {
namespace {

constexpr size_t kChecksumDigits = 16, kKeyDigits = 32;
constexpr size_t kHead =
    kChecksumDigits + 1 + kKeyDigits + 1;  // of a line: checksum and key, a blank behind each

uint64_t checksum(std::string_view text) { return Fnv1a().add_text(text).value(); }

bool read_values(std::string_view text, std::vector<double>& values) {
  while (!text.empty()) {
    if (text[0] != ' ') return false;
    text.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return false;
    values.push_back(value);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
  return values.size() == sweep_metrics().size();
}

/// A line of a journal, or the beginning of one: as far as it goes it begins with a checksum and a key.
bool begins_as_journal(std::string_view line) {
  for (size_t i = 0; i < std::min(line.size(), kHead); ++i) {
    const bool is_blank = i == kChecksumDigits || i == kHead - 1;
    if (is_blank ? line[i] != ' ' : hex_digit(line[i]) < 0) return false;
  }
  return true;
}

/// Some line has all that lines begin with, or the only one was torn before.
bool is_journal(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of('\n'), text.size());
  text.remove_prefix(begin);
  if (text.find('\n') == std::string_view::npos) return begins_as_journal(text);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.size() >= kHead && begins_as_journal(line)) return true;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return false;
}

/// Error: nothing in the file looks like a journal, so nobody should write to it.
Result<void> read_file(const std::string& path, ResultsByKey& results, int64_t& damaged) {
  const Result<SourcePtr> source = read_regular(path);
  if (!source) return tl::unexpected(source.error());
  std::string_view text = (*source)->text();
  if (!is_journal(text))
    return failure(fmt::format("'{}' is not a journal of a sweep", path),
                   "--journal names another, or a new one");
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    damaged += !line.empty() && (end == std::string_view::npos || !read_journal_line(line, results));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return {};
}

Diagnostic system_error(std::string_view what, const std::string& path) {
  return failure(fmt::format("can't {} {}: {}", what, path, std::strerror(errno))).value();
}

}  // namespace

std::string journal_line(std::string_view key, const SweepResult& result) {
  std::string text(key);
  if (result.ok()) {
    text += " ok";
    for (const double value : result.values) text += fmt::format(" {}", value);
  } else {
    text += " error " + result.error;
  }
  return fmt::format("{:016x} {}", checksum(text), text);
}

bool read_journal_line(std::string_view line, ResultsByKey& results) {
  if (line.size() < kHead || line[kChecksumDigits] != ' ' || line[kHead - 1] != ' ') return false;
  // As text: a number would forgive a damaged digit that is a capital letter now.
  const std::string expected = fmt::format("{:016x}", checksum(line.substr(kChecksumDigits + 1)));
  if (line.substr(0, kChecksumDigits) != expected) return false;
  const std::string key(line.substr(kChecksumDigits + 1, kKeyDigits));
  const std::string_view what = line.substr(kHead);
  SweepResult result;
  if (what.starts_with("error ") && what.size() > 6)
    result.error = what.substr(6);
  else if (!what.starts_with("ok") || !read_values(what.substr(2), result.values))
    return false;
  results.insert_or_assign(key, std::move(result));
  return true;
}

Result<ResultsByKey> read_journal(const std::string& path, int64_t& damaged) {
  ResultsByKey results;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored))
    if (auto read = read_file(path, results, damaged); !read) return tl::unexpected(read.error());
  const std::filesystem::path whole = path;
  const std::filesystem::path folder = whole.has_parent_path() ? whole.parent_path() : ".";
  const std::string prefix = whole.filename().string() + ".";
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || name.size() == prefix.size() ||
        name.find_first_not_of("0123456789", prefix.size()) != std::string::npos)
      continue;
    if (auto read = read_file(entry.path().string(), results, damaged); !read)
      return tl::unexpected(read.error());
  }
  return results;
}

Journal::~Journal() {
  if (file_ >= 0) ::close(file_);
}

Result<void> Journal::open(const std::string& path) {
  path_ = path;
  if (Result<void> regular = expect_regular(path); !regular) return regular;
  file_ = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) return tl::unexpected(system_error("write", path));
  struct stat about {};
  char last = '\n';
  if (::fstat(file_, &about) == 0 && about.st_size > 0 && ::pread(file_, &last, 1, about.st_size - 1) != 1)
    return tl::unexpected(system_error("read", path));
  // A torn line ends where the next one begins.
  if (last != '\n' && ::write(file_, "\n", 1) != 1) return tl::unexpected(system_error("write", path));
  return {};
}

Result<void> Journal::add(std::string_view key, const SweepResult& result) {
  const std::string line = journal_line(key, result) + "\n";
  const std::lock_guard lock(mutex_);
  for (size_t done = 0; done < line.size();) {
    const ssize_t written = ::write(file_, line.data() + done, line.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return tl::unexpected(system_error("write", path_));
    done += static_cast<size_t>(written);
  }
  return {};
}

}  // namespace hlosim
