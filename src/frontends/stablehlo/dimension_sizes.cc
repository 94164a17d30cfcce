#include "stablehlo/dimension_sizes.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"

namespace hlosim::stablehlo {

Result<std::vector<DimensionSize>> parse_dimensions(std::string_view text) {
  std::vector<DimensionSize> sizes;
  for (const std::string& part : split(text, ',')) {
    const std::string_view one = part;
    const size_t equals = one.find('=');
    DimensionSize size;
    if (equals != std::string_view::npos) size.name = one.substr(0, equals);
    const std::string_view number = one.substr(equals == std::string_view::npos ? 0 : equals + 1);
    const auto [stop, problem] = std::from_chars(number.data(), number.data() + number.size(), size.size);
    if (problem != std::errc() || stop != number.data() + number.size() || size.size < 0)
      return failure(fmt::format("'{}' is not a size", shown(one)), "8, batch=8 or arg0.1=8");
    sizes.push_back(std::move(size));
  }
  return sizes;
}

}  // namespace hlosim::stablehlo
