#include "study/fit_table.h"

#include <fmt/format.h>

#include "base/number_text.h"
#include "text/json.h"
#include "text/table.h"

namespace hlosim {
namespace {

/// Of a token, in seconds; 0: there are none.
double seconds_per_token(const FitTrial& trial, const FitWords& words) {
  const int64_t tokens = words.tokens(trial.size);
  return tokens > 0 ? static_cast<double>(trial.time.count()) * 1e-12 / static_cast<double>(tokens) : 0;
}

std::string rate_text(double per_token) { return per_token > 0 ? fmt::format("{:.1f}", 1 / per_token) : "-"; }

std::string answer(const FitSearch& search, const FitWords& words, const DeviceConfig& device) {
  const std::string there =
      fmt::format("{} of {}", to_text(*device_capacity(device, device.hbm())), device.name);
  if (search.largest == 0) return fmt::format("no {} fits into the {}", words.key, there);
  const std::string limit = search.is_limited ? ", which is the largest size allowed" : "";
  return fmt::format("largest {} that fits into the {}: {}{}", words.key, there, search.largest, limit);
}

}  // namespace

std::string to_text(const FitSearch& search, const FitWords& words, const DeviceConfig& device) {
  const Bytes capacity = *device_capacity(device, device.hbm());
  Table table({{std::string(words.key)},
               {"HBM peak"},
               {"used"},
               {"step time"},
               {"a token"},
               {"tokens/s"},
               {"", Align::kLeft, 90}});
  for (const FitTrial& trial : search.trials) {
    const double per_token = seconds_per_token(trial, words);
    table.add({fmt::format("{}", trial.size), to_text(trial.peak), percent_text(trial.peak / capacity),
               to_text(trial.time), to_text(ceil_picoseconds(per_token * 1e12)), rate_text(per_token),
               trial.fits() ? "fits" : trial.problem});
  }
  return answer(search, words, device) + "\n\n" + table.text("  ");
}

std::string to_json(const FitSearch& search, const FitWords& words, const DeviceConfig& device) {
  Json trials = Json::array();
  for (const FitTrial& trial : search.trials) {
    const double per_token = seconds_per_token(trial, words);
    trials.push_back({{"size", trial.size},
                      {"hbm_peak_bytes", trial.peak.count()},
                      {"fits", trial.fits()},
                      {"problem", trial.fits() ? Json(nullptr) : Json(trial.problem)},
                      {"time_ps", trial.time.count()},
                      {"tokens", words.tokens(trial.size)},
                      {"seconds_per_token", per_token}});
  }
  const Json json = {{"schema_version", 1},
                     {"key", std::string(words.key)},
                     {"device", device.name},
                     {"usable_bytes", device_capacity(device, device.hbm())->count()},
                     {"largest", search.largest > 0 ? Json(search.largest) : Json(nullptr)},
                     {"is_limited", search.is_limited},
                     {"trials", std::move(trials)}};
  return json.dump(2) + "\n";
}

}  // namespace hlosim
