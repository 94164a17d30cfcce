#include "base/source.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

#include "base/staged_files.h"
#include "base/text.h"

namespace hlosim {

LineColumn SourceFile::locate(uint32_t offset) const {
  const size_t end = std::min<size_t>(offset, text_.size());
  const std::string_view before(text_.data(), end);
  const size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return {1 + std::count(before.begin(), before.end(), '\n'), static_cast<int64_t>(end - line_start) + 1};
}

std::string_view SourceFile::line_at(uint32_t offset) const {
  const size_t at = std::min<size_t>(offset, text_.size());
  const std::string_view text(text_);
  size_t start = text.substr(0, at).rfind('\n');
  start = start == std::string_view::npos ? 0 : start + 1;
  size_t end = text.find('\n', at);
  if (end == std::string_view::npos) end = text.size();
  if (end > start && text[end - 1] == '\r') --end;
  return text.substr(start, end - start);
}

namespace {

const char* severity_word(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "error";
}

/// A byte inside a UTF-8 character, which takes no column of its own on a screen.
bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// The line and a caret below `column`; very long lines are cut around the caret.
std::string excerpt(std::string_view line, int64_t column) {
  constexpr size_t kWidth = 160;
  size_t caret = std::min(static_cast<size_t>(column - 1), line.size());
  std::string shown;
  if (line.size() > kWidth) {
    size_t start = caret > kWidth / 2 ? caret - kWidth / 2 : 0;
    while (start < caret && is_continuation(line[start])) ++start;
    size_t count = std::min(kWidth, line.size() - start);
    while (start + count < line.size() && is_continuation(line[start + count])) ++count;
    shown = std::string(start > 0 ? "..." : "") + std::string(line.substr(start, count)) +
            (start + count < line.size() ? "..." : "");
    caret = caret - start + (start > 0 ? 3 : 0);
  } else {
    shown = std::string(line);
  }
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\t') c = '?';
  std::string pad;
  for (size_t i = 0; i < caret && i < shown.size(); ++i)
    if (!is_continuation(shown[i])) pad += shown[i] == '\t' ? '\t' : ' ';
  return fmt::format("  {}\n  {}^\n", shown, pad);
}

/// Whether an excerpt would be signs that mean nothing: of a file that holds no text.
bool is_unreadable(std::string_view line) {
  const std::string_view head = line.substr(0, 160);
  const auto controls = std::ranges::count_if(head, [](char c) { return c >= 0 && c < 0x20 && c != '\t'; });
  const auto beyond_ascii = std::ranges::count_if(head, [](char c) { return c < 0; });
  const auto strange = static_cast<size_t>(controls + beyond_ascii);
  return controls > 0 && strange > 4 && 4 * strange > head.size();
}

/// Lines and columns say nothing of an artifact: it begins as bytecode does, or with a small number of 32
/// bits.
bool is_binary(std::string_view content) {
  return content.starts_with("ML\xEFR") ||
         (content.size() >= 4 && content.substr(2, 2) == std::string_view("\0\0", 2));
}

/// Names of files and texts of others stay within their line, whatever they hold.
std::string in_line(std::string_view text) { return shown(text, text.size()); }

}  // namespace

std::string render(const Diagnostic& diagnostic) {
  const char* const word = severity_word(diagnostic.severity);
  const std::string message = in_line(diagnostic.message);
  const std::string file = diagnostic.source ? in_line(diagnostic.source->name()) : std::string();
  std::string out;
  if (diagnostic.source && is_binary(diagnostic.source->text())) {
    out = fmt::format("{}: {}: {} at byte {}\n", file, word, message, diagnostic.offset);
  } else if (diagnostic.source) {
    const LineColumn at = diagnostic.source->locate(diagnostic.offset);
    out = fmt::format("{}:{}:{}: {}: {}\n", file, at.line, at.column, word, message);
    const std::string_view line = diagnostic.source->line_at(diagnostic.offset);
    if (!is_unreadable(line)) out += excerpt(line, at.column);
  } else {
    out = fmt::format("hlosim: {}: {}\n", word, message);
  }
  if (!diagnostic.hint.empty()) out += fmt::format("  hint: {}\n", in_line(diagnostic.hint));
  return out;
}

void DiagnosticList::add(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::kError && ++error_count_ > limit_) return;
  items_.push_back(std::move(diagnostic));
}

Result<SourcePtr> read_source(const std::string& path) {
  const bool standard_input = path == "-";
  const int fd = standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failure(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  std::string text;
  struct stat info {};
  const bool known = ::fstat(fd, &info) == 0;
  if (known && S_ISREG(info.st_mode) && info.st_size > 0) text.reserve(static_cast<size_t>(info.st_size) + 1);
  const bool is_device = known && S_ISCHR(info.st_mode);  // some have no end
  std::string error;
  // What a string grows by is set to zero: in small steps that stays in the cache until it is read into.
  constexpr size_t kStep = size_t{256} << 10, kMostOfDevice = size_t{256} << 20;
  for (;;) {
    const size_t old = text.size();
    const size_t spare = text.capacity() - old;
    const size_t room = spare > 0 ? std::min(spare, kStep) : kStep;
    text.resize(old + room);
    const ssize_t got = ::read(fd, text.data() + old, room);
    text.resize(old + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = std::strerror(errno);
    if (got <= 0) break;
    if (text.size() >= std::numeric_limits<uint32_t>::max()) {
      error = "larger than 4 GiB";
      break;
    }
    if (is_device && text.size() > kMostOfDevice) {
      error = "a device that gives more than 256 MiB";
      break;
    }
  }
  if (!standard_input) ::close(fd);
  if (!error.empty()) return failure(fmt::format("cannot read '{}': {}", path, error));
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);  // a mark that says UTF-8, as editors write
  return std::make_shared<const SourceFile>(standard_input ? "<stdin>" : path, std::move(text));
}

Result<void> write_file(const std::string& path, std::string_view text) {
  if (path == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
      return failure(fmt::format("cannot write standard output: {}", std::strerror(errno)));
    return {};
  }
  StagedFiles staged;
  const Result<void> added = staged.add(path, {&text, 1});
  return added ? staged.commit() : added;
}

}  // namespace hlosim
