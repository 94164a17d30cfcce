// Comparing implementations of one thing: they take turns in one process, and the best round of each counts.
//
//   Interleaved runs("f32 1024³", 2e9);
//   runs.add("ours", [&] { … });
//   runs.add("oneDNN", [&] { … });
//   runs.report();
//
// Other load on the machine comes and goes; in turns it meets all of them alike. With one thread the time is
// that of the thread on a processor, so that waiting for one does not count. "ours / this" is the speed of
// the first entry as a part of the other's: of their best rounds, and in brackets the quartiles and the
// median over rounds, each round against its own. What the hypervisor took away ("steal") is printed too:
// above 5 % the result should not be trusted.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace hlosim {

/// Processor time since the start of the machine, in ticks.
struct ProcessorTimes {
  long long all = 0, stolen = 0;

  static ProcessorTimes now() {
    std::ifstream stat("/proc/stat");
    std::string label;
    stat >> label;
    ProcessorTimes times;
    for (int i = 0; i < 8; ++i) {
      long long ticks = 0;
      stat >> ticks;
      times.all += ticks;
      if (i == 7) times.stolen = ticks;
    }
    return times;
  }
};

/// On a processor for this thread, or on the wall.
inline double seconds_now(bool of_this_thread) {
  timespec time{};
  clock_gettime(of_this_thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class Interleaved {
 public:
  /// `work`: operations or bytes of one run, for the rate that is printed.
  Interleaved(std::string title, double work) : title_(std::move(title)), work_(work) {}

  void add(std::string name, std::function<void()> run) {
    entries_.push_back({std::move(name), std::move(run), {}});
  }

  /// The best time of each, in seconds, over `rounds` rounds (and at least `seconds`); the first entry is
  /// compared with the others.
  std::vector<double> report(bool one_thread, int rounds = 9, double seconds = 0.3) {
    for (Entry& entry : entries_) entry.run();  // caches, code, memory
    const ProcessorTimes before = ProcessorTimes::now();
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&](auto since) {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
    };
    for (int round = 0; round < rounds || elapsed(start) < seconds; ++round)
      for (Entry& entry : entries_) {
        const double begin = seconds_now(one_thread);
        entry.run();
        entry.times.push_back(seconds_now(one_thread) - begin);
      }
    const ProcessorTimes after = ProcessorTimes::now();
    const double steal = 100.0 * static_cast<double>(after.stolen - before.stolen) /
                         static_cast<double>(std::max(1LL, after.all - before.all));
    std::vector<double> best;
    for (Entry& entry : entries_) best.push_back(*std::min_element(entry.times.begin(), entry.times.end()));
    for (size_t i = 0; i < entries_.size(); ++i) {
      std::printf("%-34s %-22s best %9.2f G/s  %10.3f us", title_.c_str(), entries_[i].name.c_str(),
                  work_ / best[i] / 1e9, best[i] * 1e6);
      if (i > 0) std::printf("   ours / this = %.2f %s", best[i] / best[0], quartiles(entries_[i]).c_str());
      if (steal > 5) std::printf("   (steal %.0f %%)", steal);
      std::printf("\n");
    }
    std::fflush(stdout);
    return best;
  }

 private:
  struct Entry {
    std::string name;
    std::function<void()> run;
    std::vector<double> times;
  };

  /// Of the quotients of `entry` and the first one, round by round: `[0.85 0.91 0.93]`.
  std::string quartiles(const Entry& entry) const {
    std::vector<double> quotients;
    for (size_t round = 0; round < entry.times.size(); ++round)
      quotients.push_back(entry.times[round] / entries_[0].times[round]);
    std::sort(quotients.begin(), quotients.end());
    const size_t last = quotients.size() - 1;
    char text[64];
    std::snprintf(text, sizeof text, "[%.2f %.2f %.2f]", quotients[last / 4], quotients[last / 2],
                  quotients[last - last / 4]);
    return text;
  }

  std::string title_;
  double work_;
  std::vector<Entry> entries_;
};

}  // namespace hlosim
