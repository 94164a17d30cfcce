// Without zlib and libzstd. The page unpacks gzip itself, as browsers can (src/apps/in_browser/page.js).
#include "input/packed.h"

#include <fmt/format.h>

namespace hlosim {

Result<std::string> unpacked(std::string_view, std::string_view name, size_t) {
  return failure(fmt::format("cannot unpack '{}': Zstandard is not read in a browser", name),
                 "unpack it first: zstd -d; or pack it with gzip");
}

}  // namespace hlosim
