// The files of configs/, embedded into the library when it is built (cmake/embed_files.cmake).
//
//   for (const BuiltinConfig& config : builtin_configs()) std::cout << config.name << '\n';      // v2, v3, …
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
