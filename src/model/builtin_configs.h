// The files of configs/, embedded into the library when it is built (cmake/embed_configs.cmake).
#pragma once

#include <span>
#include <string_view>

namespace hlosim {

struct BuiltinConfig {
  std::string_view name;  // "v4"
  std::string_view text;
};

/// By name.
std::span<const BuiltinConfig> builtin_configs();

}  // namespace hlosim
