// The time that a search may take, and what of it other work needs.
//
//   SearchClock clock(10, {});
//   while (!clock.is_over(0.6)) …              // the other 4 seconds are for something else
//   clock.reserve(0.5);                        // half a second before the end it is over, too
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

namespace hlosim {

class SearchClock {
 public:
  /// `budget`: seconds from now on; 0: any time. `now`: in seconds; none: the clock of the machine.
  SearchClock(double budget, std::function<double()> now)
      : budget_(budget), now_(now ? std::move(now) : machine_time), begin_(now_()) {}

  /// `part` of the budget is gone, or there is no more left than is reserved.
  bool is_over(double part = 1) const { return budget_ > 0 && passed() > limit(part); }
  /// The greater part of what is_over() allows is gone.
  bool is_late(double part = 1) const { return budget_ > 0 && passed() > kLate * limit(part); }
  /// Work of so many seconds comes after what asks is_over().
  void reserve(double seconds) { reserved_ = seconds; }
  /// Seconds since the beginning.
  double passed() const { return now_() - begin_; }

 private:
  static constexpr double kLate = 0.8;  // guess
  double limit(double part) const { return std::min(budget_ * part, budget_ - reserved_); }
  static double machine_time() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  double budget_, reserved_ = 0;
  std::function<double()> now_;
  double begin_;
};

}  // namespace hlosim
