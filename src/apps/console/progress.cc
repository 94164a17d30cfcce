#include "console/progress.h"

#include "base/text.h"
#include "console/verbosity.h"

#include <fmt/format.h>

#include <unistd.h>
#include <chrono>
#include <iostream>

namespace hlosim {

ProgressLine::ProgressLine(Streams streams, std::string what, std::function<std::string()> status) {
  if (streams.verbosity.quiet || &streams.err != &std::cerr || ::isatty(STDERR_FILENO) == 0) return;
  thread_ = std::thread(
      [this, streams, what = std::move(what), status = std::move(status)] { show(streams, what, status); });
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void ProgressLine::show(Streams streams, const std::string& what,
                        const std::function<std::string()>& status) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::unique_lock lock(mutex_);
  auto pause = std::chrono::milliseconds(2000);
  bool shown = false;
  while (!changed_.wait_for(lock, pause, [this] { return done_; })) {
    const std::chrono::duration<double> passed = Clock::now() - start;
    const std::string now = fmt::format("{}: {:.1f} s, {}", what, passed.count(), status());
    streams.err << "\r\x1b[K" << hlosim::shown(now, now.size()) << std::flush;
    shown = true;
    pause = std::chrono::milliseconds(500);
  }
  if (shown) streams.err << "\r\x1b[K" << std::flush;
}

}  // namespace hlosim
