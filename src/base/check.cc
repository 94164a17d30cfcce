#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace hlosim::internal {

void check_failed(const char* file, int line, const char* condition, const std::string& detail) {
  fmt::print(stderr, "{}:{}: internal error: check failed: {}{}{}\n", file, line, condition,
             detail.empty() ? "" : ": ", detail);
  std::fflush(stderr);
  std::abort();
}

}  // namespace hlosim::internal
