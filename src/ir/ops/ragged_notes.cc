#include "ops/ragged_notes.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "hlo/frontend.h"
#include "hlo/row_groups.h"

namespace hlosim {
namespace {

/// False: no three whole numbers from 1 on.
bool read_tile(std::string_view text, RaggedTile& tile) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int64_t* size : {&tile.m, &tile.k, &tile.n}) {
    while (at != end && *at == ' ') ++at;
    const auto [rest, error] = std::from_chars(at, end, *size);
    const bool is_last = size == &tile.n;
    if (error != std::errc() || *size < 1 || (is_last ? rest != end : rest == end || *rest != ','))
      return false;
    at = is_last ? rest : rest + 1;
  }
  return true;
}

bool read_number(std::string_view text, double& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(number) && number >= 1;
}

}  // namespace

RaggedNotes ragged_notes(const Instruction& instruction) {
  RaggedNotes notes;
  const auto tiling = frontend_attribute(instruction, kRaggedTilingAttribute);
  if (tiling && !read_tile(*tiling, notes.tile)) {
    notes.constraint = 12, notes.tile = {};
    notes.fault = fmt::format("{} is \"{}\", expected rows, contracted terms and columns: \"512,1024,1024\"",
                              kRaggedTilingAttribute, *tiling);
  }
  const auto groups = frontend_attribute(instruction, kRowGroupsAttribute);
  if (groups && !read_number(*groups, notes.row_groups)) {
    notes.constraint = 13, notes.row_groups = 0;
    notes.fault =
        fmt::format("{} is \"{}\", expected a number of groups from 1 on", kRowGroupsAttribute, *groups);
  }
  const auto one_core = frontend_attribute(instruction, kOneCoreAttribute);
  notes.tile.one_core = one_core == "true";
  if (one_core && *one_core != "true" && *one_core != "false") {
    notes.constraint = 14;
    notes.fault = fmt::format("{} is \"{}\", expected true or false", kOneCoreAttribute, *one_core);
  }
  return notes;
}

}  // namespace hlosim
