#include "report/source_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace hlosim {
namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

/// One past the text in quotes that begins at `begin`, its closing quote included.
size_t end_of_quoted(std::string_view text, size_t begin) {
  size_t end = begin + 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

/// The value of a key in `{key="text" other=12 …}`, without quotes; empty: there is none.
std::string_view value_of(std::string_view text, std::string_view wanted) {
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '"') {
      at = end_of_quoted(text, at);
      continue;
    }
    const size_t begin = at;
    while (at < text.size() && is_word(text[at])) ++at;
    const std::string_view key = text.substr(begin, at - begin);
    if (at >= text.size() || text[at] != '=' || key != wanted) {
      if (at < text.size() && text[at] != '"') ++at;
      continue;
    }
    const size_t value = ++at;
    if (value < text.size() && text[value] == '"')
      return text.substr(value + 1, end_of_quoted(text, value) - value - 2);
    while (at < text.size() && is_word(text[at])) ++at;
    return text.substr(value, at - value);
  }
  return {};
}

int64_t number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

/// The rows `12 "text"` or `12 {key=value …}` of one table, by number.
std::map<int64_t, std::string_view> rows_of(std::string_view tables, std::string_view name) {
  std::map<int64_t, std::string_view> rows;
  size_t at = tables.find(name);
  if (at == std::string_view::npos) return rows;
  at += name.size();
  while (true) {
    at = tables.find_first_not_of(" \t\r\n", at);
    if (at == std::string_view::npos || tables[at] < '0' || tables[at] > '9') return rows;
    const size_t digits = tables.find_first_not_of("0123456789", at);
    const size_t open = tables.find_first_of("\"{", digits);
    if (open == std::string_view::npos) return rows;
    const char closing = tables[open] == '"' ? '"' : '}';
    size_t end = open + 1;
    while (end < tables.size() && tables[end] != closing) end += tables[end] == '\\' ? 2 : 1;
    rows[number(tables.substr(at, digits - at))] =
        tables.substr(open + 1, std::min(end, tables.size()) - open - 1);
    at = std::min(end + 1, tables.size());
  }
}

}  // namespace

bool has_lines(const SourceFile& source) {
  constexpr size_t kBeginning = 4096;  // of bytecode and artifacts, far more than it takes to a byte 0
  return source.text().substr(0, kBeginning).find('\0') == std::string_view::npos;
}

std::string_view metadata_value(const Instruction& instruction, std::string_view key) {
  const Attr* metadata = instruction.find(AttrKey::kMetadata);
  return metadata ? value_of(metadata->text(), key) : std::string_view();
}

std::string without_escapes(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

SourcePlaces::SourcePlaces(const Module& module) {
  if (module.stack_frames.empty()) return;
  const std::string_view tables = module.stack_frames;
  const auto files = rows_of(tables, "FileNames");
  const auto locations = rows_of(tables, "FileLocations");
  const auto frames = rows_of(tables, "StackFrames");
  const auto parent_of = [](std::string_view text) { return number(value_of(text, "parent_frame_id")); };
  // Parents are written one higher than they are, 1 being none; or, by some versions, as they are.
  const bool as_they_are = std::any_of(frames.begin(), frames.end(),
                                       [&](const auto& frame) { return parent_of(frame.second) == 0; });
  for (const auto& [frame, text] : frames) {
    const auto location = locations.find(number(value_of(text, "file_location_id")));
    if (location == locations.end()) continue;
    const auto file = files.find(number(value_of(location->second, "file_name_id")));
    if (file == files.end()) continue;
    frames_[frame] = {{file->second, number(value_of(location->second, "line"))},
                      number(value_of(location->second, "column")),
                      parent_of(text) - (as_they_are ? 0 : 1)};
  }
}

SourcePlace SourcePlaces::of(const Instruction& instruction) const {
  if (const std::string_view file = metadata_value(instruction, "source_file"); !file.empty())
    return {file, number(metadata_value(instruction, "source_line"))};
  if (frames_.empty()) return {};
  const auto frame = frames_.find(number(metadata_value(instruction, "stack_frame_id")));
  return frame == frames_.end() ? SourcePlace{} : frame->second.place;
}

std::string SourcePlaces::stack_of(const Instruction& instruction) const {
  if (frames_.empty()) return {};
  std::vector<const Frame*> stack;  // the innermost first
  auto at = frames_.find(number(metadata_value(instruction, "stack_frame_id")));
  // Parents that go around end as well.
  while (at != frames_.end() && stack.size() < frames_.size()) {
    stack.push_back(&at->second);
    at = frames_.find(at->second.parent);
  }
  std::string text;
  for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame)
    text += fmt::format("{}:{}:{}\n", without_escapes((*frame)->place.file), (*frame)->place.line,
                        (*frame)->column);
  return text;
}

}  // namespace hlosim
