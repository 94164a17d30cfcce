// Speculative decoding: tokens that are drafted and then verified in one step, by an acceptance rate.
//
//   const Speculation speculation{.tokens = 4, .acceptance = 0.7};
//   speculation.acceptance_length()                // 2.77 tokens that a step gives a request
//   AcceptedDrafts drafts(speculation);
//   drafts.next()                                  // 0 to 4
//
// Each drafted token is accepted with the same probability, if the one before it is. A step gives a request
// the accepted tokens and one more, which the verification itself computes.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "workloads/model_config.h"

namespace hlosim {

struct Speculation {
  int64_t tokens = 0;     // drafted for a request in each step; 0: no speculation
  double acceptance = 0;  // probability, 0 to 1
  /// What drafts, on the devices of the model itself; none: n-grams of the request, without time on a device.
  std::optional<ModelConfig> draft{};
  uint64_t seed = 0;

  /// Tokens that a step gives a request, in the mean: (1 - a^(k+1)) / (1 - a).
  double acceptance_length() const {
    double sum = 1, reached = 1;
    for (int64_t i = 0; i < tokens; ++i) sum += reached *= acceptance;
    return sum;
  }
};

/// Numbers of accepted tokens, drawn. The same seed draws the same.
class AcceptedDrafts {
 public:
  explicit AcceptedDrafts(const Speculation& speculation) : random_(speculation.seed) {
    double reached = 1;
    for (int64_t i = 0; i < speculation.tokens; ++i) reached_.push_back(reached *= speculation.acceptance);
  }
  /// 0 to Speculation::tokens.
  int64_t next();

 private:
  std::vector<double> reached_;  // probability that so many and one more are accepted
  std::mt19937_64 random_;
};

/// 0 to 1, without 1. By hand: the library's distributions differ from one compiler to the next.
inline double even_draw(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

inline int64_t AcceptedDrafts::next() {
  if (reached_.empty()) return 0;
  const double drawn = even_draw(random_);
  size_t accepted = 0;
  while (accepted < reached_.size() && drawn < reached_[accepted]) ++accepted;
  return static_cast<int64_t>(accepted);
}

}  // namespace hlosim
