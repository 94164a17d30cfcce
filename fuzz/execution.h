// Executions of a target in a process of its own, so that whatever it does can be seen.
//
//   Apart apart([&](const std::string& input) { target.run(bench, input, choice); }, limits, file);
//   const Outcome outcome = apart.execute(input);
//   if (outcome.fault != Fault::kNone) std::cerr << outcome.key;
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace hlosim::fuzz {

enum class Fault : uint8_t { kNone, kSignal, kHang, kMemory };

/// From here on it is a finding.
struct ExecutionLimits {
  double seconds = 20;  // of the processor's time
  int64_t bytes = int64_t{3} << 30;
};

struct Outcome {
  Fault fault = Fault::kNone;
  std::string key;   // the same for the same fault: what failed, and from where it was called
  std::string text;  // what the process said on standard error
};

/// To be called first in a process that is watched: standard error goes to `file`, and signals that end the
/// process say where they hit.
void report_signals(const std::string& file);

/// What the end of a process means. `wait_status` as waitpid() gives it, `file` as report_signals() had it.
Outcome outcome_of(int wait_status, Fault ended_for, const std::string& file);

/// Processor time, and bytes in memory, of a process; 0: it has ended.
double processor_seconds(pid_t process);
int64_t resident_bytes(pid_t process);

/// Ends a process that takes too long, so that it says where it is; waits for its end.
int stop(pid_t process);

/// A process that runs work on one input after the other, and is started anew when it ends: what faults costs
/// a process, what doesn't costs next to nothing.
class Apart {
 public:
  /// `file`: where standard error goes.
  Apart(std::function<void(const std::string&)> work, ExecutionLimits limits, std::string file)
      : work_(std::move(work)), limits_(limits), file_(std::move(file)) {}
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;
  ~Apart() { end(); }

  Outcome execute(const std::string& input);

 private:
  void start();
  void end();
  Outcome ended(int status, Fault fault);
  [[noreturn]] void serve() const;

  std::function<void(const std::string&)> work_;
  ExecutionLimits limits_;
  std::string file_;
  pid_t process_ = 0;  // 0: none
  int socket_ = -1;    // to it
};

}  // namespace hlosim::fuzz
