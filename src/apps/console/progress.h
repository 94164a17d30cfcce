// A line on the terminal that says that something long is still going on.
//
//   const ProgressLine line(streams, "sweep", [&] { return fmt::format("{} points", done.load()); });
//   …                                              // the line goes when it ends
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "console/streams.h"

namespace hlosim {

/// While it lives: after two seconds, and twice a second from then on, shows how long it has been and what
/// `status` returns (called from another thread). The line goes away at the end. Nothing at all where the
/// streams' err is no terminal.
class ProgressLine {
 public:
  ProgressLine(Streams streams, std::string what, std::function<std::string()> status);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

 private:
  void show(Streams streams, const std::string& what, const std::function<std::string()>& status);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace hlosim
