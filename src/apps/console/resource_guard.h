// Stops a command that exceeds its limits or is interrupted, and prints the step that was in progress.
//
//   ResourceGuard guard(streams);  // limits: streams.limits; Ctrl-C where the streams are the process's
//   const int code = action();
//   return guard.interrupted() ? kExitInterrupted : code;
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string>
#include <thread>

#include "console/streams.h"

namespace hlosim {

/// While it exists: requests streams.stop after --max-seconds and at the first Ctrl-C. Ends the process if
/// nothing polls the stop or the command still runs a second later, at a second Ctrl-C, and when the process
/// holds more memory than --max-memory. Ctrl-C keeps its handler where the streams' err isn't the process's,
/// among several ranks, and where it is ignored already.
class ResourceGuard {
 public:
  /// `watches_memory`: what the process holds; else the command keeps to the limit itself.
  ResourceGuard(Streams streams, bool watches_memory);
  ResourceGuard(const ResourceGuard&) = delete;
  ResourceGuard& operator=(const ResourceGuard&) = delete;
  ~ResourceGuard();

  bool interrupted() const { return interrupted_; }

 private:
  using Clock = std::chrono::steady_clock;

  void watch();
  bool wait();
  void check_time(Clock::time_point now);
  void check_memory();
  [[noreturn]] void end(const std::string& why);

  Streams streams_;
  const bool watches_memory_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point patience_{};  // when what was asked has to have ended
  bool takes_signals_ = false;
  sigset_t before_{};  // signals that were blocked
  std::atomic<bool> done_ = false, interrupted_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace hlosim
