#include "advise/deadline.h"

#include <limits>

namespace hlosim {

Deadline::Deadline(double seconds, const Stop* also) {
  if (seconds <= 0 && !also) return;
  thread_ = std::thread([this, seconds, also] { watch(seconds, also); });
}

Deadline::~Deadline() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Deadline::watch(double seconds, const Stop* also) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause(20);
  const double left = seconds > 0 ? seconds : std::numeric_limits<int32_t>::max();
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(left));
  std::unique_lock lock(mutex_);
  while (!changed_.wait_until(lock, std::min(end, Clock::now() + kPause), [this] { return done_; })) {
    if (also && also->asked()) return stop_.ask(also->why());
    if (Clock::now() >= end) return stop_.ask("the budget is over");
  }
}

}  // namespace hlosim
