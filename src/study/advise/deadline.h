// A moment at which work is asked to stop.
//
//   const Deadline deadline(10, &users_stop);
//   options.stop = &deadline.stop();               // asked after ten seconds, or when the user's is
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/stop.h"

namespace hlosim {

class Deadline {
 public:
  /// `seconds` from now; 0: never. `also`: a stop that is handed on; may be null.
  Deadline(double seconds, const Stop* also);
  Deadline(const Deadline&) = delete;
  ~Deadline();

  const Stop& stop() const { return stop_; }
  bool is_over() const { return stop_.asked(); }

 private:
  void watch(double seconds, const Stop* also);

  Stop stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace hlosim
