#include "model/window_config.h"

#include <array>
#include <charconv>

namespace hlosim {
namespace {

std::string_view skip(std::string_view text, std::string_view letters) {
  while (!text.empty() && letters.find(text.front()) != std::string_view::npos) text.remove_prefix(1);
  return text;
}

/// What follows `"key":`, quotes escaped or not; empty without it.
std::string_view value_of(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = skip(text.substr(at + key.size()), "\\\" ");
  return rest.empty() || rest.front() != ':' ? std::string_view() : skip(rest.substr(1), " ");
}

}  // namespace

std::optional<GivenBlocks> given_blocks(std::string_view backend_config) {
  std::string_view rest = value_of(backend_config, "iteration_bounds");
  if (rest.empty() || rest.front() != '[') return std::nullopt;
  rest.remove_prefix(1);
  std::array<int64_t, 3> bounds{};
  for (int64_t& bound : bounds) {
    rest = skip(rest, "\\\" ,");
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), bound);
    if (error != std::errc() || bound <= 0) return std::nullopt;
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  }
  rest = skip(rest, "\\\" ");
  if (rest.empty() || rest.front() != ']') return std::nullopt;
  GivenBlocks given{bounds[1], bounds[0], bounds[2]};
  // Numbered as the bounds are.
  const std::string_view split = skip(value_of(backend_config, "megacore_split_dim"), "\\\"");
  if (!split.empty() && (split.front() == '0' || split.front() == '1'))
    given.shared = split.front() == '0' ? SharedDimension::kColumns : SharedDimension::kRows;
  return given;
}

}  // namespace hlosim
