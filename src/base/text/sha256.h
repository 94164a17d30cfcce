// SHA-256 (FIPS 180-4), for texts that a page's Content-Security-Policy names.
//
//   fmt::format("'sha256-{}'", base64(sha256(style)))
#pragma once

#include <string>
#include <string_view>

namespace hlosim {

/// 32 bytes.
std::string sha256(std::string_view text);

}  // namespace hlosim
