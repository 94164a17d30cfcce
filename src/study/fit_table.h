// A search for the largest size that fits as text and JSON.
//
//   streams.out << to_text(search, {.key = "batch", .tokens = [](int64_t batch) { return 2048 * batch; }},
//   device);
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "study/fit_search.h"

namespace hlosim {

struct FitWords {
  std::string_view key;                         // of what is searched: "batch"
  std::function<int64_t(int64_t size)> tokens;  // of one program of a size, on all devices together
};

/// For people: the answer, and a row for each size that was tried.
std::string to_text(const FitSearch& search, const FitWords& words, const DeviceConfig& device);
/// Everything, in base units.
std::string to_json(const FitSearch& search, const FitWords& words, const DeviceConfig& device);

}  // namespace hlosim
