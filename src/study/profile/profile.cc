#include "profile/profile.h"

#include <charconv>

namespace hlosim {

const ProfiledProgram* Profile::program(uint64_t id) const {
  for (const ProfiledProgram& one : programs)
    if (one.id == id) return &one;
  return nullptr;
}

ProgramName parse_program_name(std::string_view text) {
  const size_t open = text.rfind('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return {std::string(text), {}};
  uint64_t id = 0;
  const char* const end = text.data() + text.size() - 1;
  const auto [at, error] = std::from_chars(text.data() + open + 1, end, id);
  if (error != std::errc() || at != end) return {std::string(text), {}};
  return {std::string(text.substr(0, open)), id};
}

std::string instruction_name(std::string_view text) {
  if (!text.starts_with('%')) return {};
  const size_t end = text.find(" = ");
  const std::string_view name = text.substr(1, end == std::string_view::npos ? end : end - 1);
  return name.find(' ') == std::string_view::npos ? std::string(name) : std::string();
}

}  // namespace hlosim
