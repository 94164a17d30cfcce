#include "sim/loop_count.h"

#include <charconv>

namespace hlosim {

std::optional<int64_t> loop_count(const OpContext& loop) {
  const std::string_view config = loop.text(AttrKey::kBackendConfig);
  size_t at = config.find("known_trip_count");
  if (at == std::string_view::npos) return std::nullopt;
  at = config.find("\"n\"", at);
  if (at == std::string_view::npos) return std::nullopt;
  at = config.find_first_of("0123456789}", at + 3);
  int64_t count = 0;
  if (at == std::string_view::npos) return std::nullopt;
  const auto [end, error] = std::from_chars(config.data() + at, config.data() + config.size(), count);
  if (error != std::errc() || count < 0) return std::nullopt;
  return count;
}

}  // namespace hlosim
