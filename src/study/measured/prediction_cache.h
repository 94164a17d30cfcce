// Times of cases that are asked for again and again, with other constants each time. What a part of the cases
// depends on is found out once; it is simulated again only where one of those constants has another value.
//
//   PredictionCache kept({part_of_case, predict_parts}, constants.size());
//   kept.learn(factors);
//   kept.times(factors)                            // by case
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace hlosim {

/// Cases in parts that are simulated as a whole: a case, or all operations of a program.
struct PartedPredictor {
  std::vector<size_t> part_of;  // by case; parts count from 0
  /// Times of all cases of the parts `which`, one part after the other, each by the order of its cases, when
  /// constant j is exp(factors[j]) times what it was; nothing where there is none.
  std::function<std::vector<std::optional<double>>(std::span<const double> factors,
                                                   std::span<const size_t> which)>
      predict;
};

class PredictionCache {
 public:
  PredictionCache(PartedPredictor predictor, size_t constants);

  /// Finds out which constants each part depends on near `factors`, within a factor of two: first all of them
  /// move at once, then half of those that matter, and so on. What was known to matter stays so.
  void learn(std::span<const double> factors);
  /// By case. Requires: learn() was called.
  std::vector<std::optional<double>> times(std::span<const double> factors);

 private:
  using Times = std::vector<std::optional<double>>;
  struct Part {
    std::vector<size_t> cases;
    std::vector<bool> depends;                     // by constant
    std::unordered_map<std::string, Times> known;  // by the factors of those that it depends on
  };

  std::string key(const Part& part, std::span<const double> factors) const;
  std::vector<Times> predict(std::span<const double> factors, std::span<const size_t> which) const;
  std::vector<size_t> moved_by(size_t begin, size_t end, std::span<const double> factors,
                               const std::vector<size_t>& which, const std::vector<Times>& still) const;
  void learn(size_t begin, size_t end, std::span<const double> factors, const std::vector<size_t>& which,
             const std::vector<Times>& still);

  PartedPredictor predictor_;
  size_t constants_;
  std::vector<Part> parts_;
};

}  // namespace hlosim
