// A wish that long work ends, and why; who does the work asks now and then.
//
//   Stop stop;
//   stop.ask("interrupted");                       // from another thread
//   if (stop.asked()) return failure(stop.why());
#pragma once

#include <atomic>
#include <string>
#include <utility>

namespace hlosim {

class Stop {
 public:
  /// The first wish counts. From one thread only.
  void ask(std::string why) {
    if (asked()) return;
    why_ = std::move(why);
    asked_.store(true, std::memory_order_release);
  }
  bool asked() const { return asked_.load(std::memory_order_acquire); }
  /// Requires: asked().
  const std::string& why() const { return why_; }

  /// While it lives, somebody asks; else the wish is in vain.
  class Listener {
   public:
    explicit Listener(Stop& stop) : stop_(stop) { ++stop_.listeners_; }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener() { --stop_.listeners_; }

   private:
    Stop& stop_;
  };
  bool is_heard() const { return listeners_ > 0; }

 private:
  std::atomic<bool> asked_ = false;
  std::atomic<int> listeners_ = 0;
  std::string why_;
};

}  // namespace hlosim
