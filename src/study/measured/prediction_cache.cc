#include "measured/prediction_cache.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace hlosim {
namespace {

constexpr double kWide = 0.6;     // of a logarithm: nearly twice as much
constexpr double kNarrow = 0.02;  // where a device with that much doesn't exist

/// Different for neighbours, so that what they do doesn't cancel.
double uneven(size_t constant) {
  const double golden = 0.6180339887498949 * static_cast<double>(constant + 1);
  return 0.75 + 0.5 * (golden - std::floor(golden));
}

bool has_any(const std::vector<std::optional<double>>& times) {
  return std::any_of(times.begin(), times.end(), [](const auto& time) { return time.has_value(); });
}

}  // namespace

PredictionCache::PredictionCache(PartedPredictor predictor, size_t constants)
    : predictor_(std::move(predictor)), constants_(constants) {
  for (size_t i = 0; i < predictor_.part_of.size(); ++i) {
    const size_t part = predictor_.part_of[i];
    if (part >= parts_.size()) parts_.resize(part + 1);
    parts_[part].cases.push_back(i);
  }
  for (Part& part : parts_) part.depends.resize(constants);
}

std::string PredictionCache::key(const Part& part, std::span<const double> factors) const {
  std::string key;
  for (size_t j = 0; j < constants_; ++j) {
    if (!part.depends[j]) continue;
    char raw[sizeof(double)];
    std::memcpy(raw, &factors[j], sizeof raw);
    key.append(raw, sizeof raw);
  }
  return key;
}

std::vector<PredictionCache::Times> PredictionCache::predict(std::span<const double> factors,
                                                             std::span<const size_t> which) const {
  const Times all = which.empty() ? Times() : predictor_.predict(factors, which);
  std::vector<Times> times;
  auto at = all.begin();
  for (const size_t part : which) {
    const auto end = at + static_cast<std::ptrdiff_t>(parts_[part].cases.size());
    times.emplace_back(at, end);
    at = end;
  }
  return times;
}

/// Places in `which` of those that at least one of these constants moves; `still`: their times without.
std::vector<size_t> PredictionCache::moved_by(size_t begin, size_t end, std::span<const double> factors,
                                              const std::vector<size_t>& which,
                                              const std::vector<Times>& still) const {
  std::vector<size_t> open(which.size()), moved;
  std::iota(open.begin(), open.end(), size_t{0});
  for (const double size : {kWide, kNarrow}) {
    std::vector<bool> refused(which.size());
    for (const double step : {size, -size}) {
      std::vector<double> tried(factors.begin(), factors.end());
      for (size_t j = begin; j < end; ++j) tried[j] += step * uneven(j);
      std::vector<size_t> parts, left;
      for (const size_t i : open) parts.push_back(which[i]);
      const std::vector<Times> times = predict(tried, parts);
      for (size_t k = 0; k < open.size(); ++k) {
        const bool is_gone = has_any(still[open[k]]) && !has_any(times[k]);
        if (is_gone) refused[open[k]] = true;
        (is_gone || times[k] == still[open[k]] ? left : moved).push_back(open[k]);
      }
      open = std::move(left);
    }
    std::erase_if(open, [&](size_t i) { return !refused[i]; });
  }
  moved.insert(moved.end(), open.begin(), open.end());  // there is no such device: who knows
  std::sort(moved.begin(), moved.end());
  return moved;
}

void PredictionCache::learn(size_t begin, size_t end, std::span<const double> factors,
                            const std::vector<size_t>& which, const std::vector<Times>& still) {
  // Who depends on all of them needs no further tests.
  std::vector<size_t> open;
  std::vector<Times> open_still;
  for (size_t i = 0; i < which.size(); ++i) {
    const std::vector<bool>& depends = parts_[which[i]].depends;
    if (std::all_of(depends.begin() + static_cast<std::ptrdiff_t>(begin),
                    depends.begin() + static_cast<std::ptrdiff_t>(end), [](bool one) { return one; }))
      continue;
    open.push_back(which[i]);
    open_still.push_back(still[i]);
  }
  if (open.empty()) return;
  std::vector<size_t> moved;
  std::vector<Times> moved_still;
  for (const size_t i : moved_by(begin, end, factors, open, open_still)) {
    moved.push_back(open[i]);
    moved_still.push_back(open_still[i]);
  }
  if (moved.empty()) return;
  if (end - begin == 1) {
    for (const size_t part : moved) {
      parts_[part].depends[begin] = true;
      parts_[part].known.clear();
    }
    return;
  }
  const size_t middle = begin + (end - begin) / 2;
  learn(begin, middle, factors, moved, moved_still);
  learn(middle, end, factors, moved, moved_still);
}

void PredictionCache::learn(std::span<const double> factors) {
  std::vector<size_t> all(parts_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  std::vector<Times> still = predict(factors, all);
  // A part without any time has nothing to learn.
  std::vector<size_t> which;
  std::vector<Times> which_still;
  for (const size_t part : all) {
    if (!has_any(still[part])) continue;
    which.push_back(part);
    which_still.push_back(still[part]);
  }
  if (constants_ > 0 && !which.empty()) learn(0, constants_, factors, which, which_still);
  for (const size_t part : all) parts_[part].known.insert_or_assign(key(parts_[part], factors), still[part]);
}

std::vector<std::optional<double>> PredictionCache::times(std::span<const double> factors) {
  std::vector<std::string> keys;
  std::vector<size_t> unknown;
  for (size_t i = 0; i < parts_.size(); ++i) {
    keys.push_back(key(parts_[i], factors));
    if (!parts_[i].known.contains(keys[i])) unknown.push_back(i);
  }
  std::vector<Times> made = predict(factors, unknown);
  for (size_t k = 0; k < unknown.size(); ++k)
    parts_[unknown[k]].known.emplace(keys[unknown[k]], std::move(made[k]));
  std::vector<std::optional<double>> times(predictor_.part_of.size());
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Times& known = parts_[i].known.at(keys[i]);
    for (size_t k = 0; k < known.size(); ++k) times[parts_[i].cases[k]] = known[k];
  }
  return times;
}

}  // namespace hlosim
