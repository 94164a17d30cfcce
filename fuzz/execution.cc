#include "execution.h"

#include <execinfo.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "base/check.h"
#include "console/streams.h"
#include "tokens.h"

namespace hlosim::fuzz {
namespace {

using namespace std::chrono_literals;

constexpr int kFatal[] = {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL};
constexpr size_t kFrames = 3;  // that tell findings apart

/// Async-signal-safe as far as glibc has it: backtrace() was called before, and writes go to the descriptor.
void say_where(int signal_number) {
  std::array<void*, 48> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  ::backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
  ::raise(signal_number);  // SA_RESETHAND: this time it ends the process
}

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// "name+0x1a" of "program(name+0x1a)[0x5581]", where the program is our own; else empty.
std::string_view frame_of(std::string_view line, std::string_view program) {
  const size_t open = line.find('('), close = line.find(")[");
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  if (!line.substr(0, open).ends_with(program)) return {};
  return line.substr(open + 1, close - open - 1);
}

std::string program_name() {
  std::array<char, 4096> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  const std::string_view whole(path.data(), static_cast<size_t>(std::max<ssize_t>(size, 0)));
  return std::string(whole.substr(whole.rfind('/') + 1));
}

/// `line` with its numbers from `begin` on as #: they differ from one input to the next.
std::string without_numbers(std::string_view line, size_t begin) {
  std::string result(line.substr(0, begin));
  for (const char c : line.substr(begin, 300)) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit)
      result += c;
    else if (!result.ends_with('#'))
      result += '#';
  }
  return result;
}

/// The failed check or the sanitizer's summary, and the innermost functions of ours.
std::string key_of(std::string_view text) {
  std::string key;
  std::vector<std::string_view> frames;
  const std::string program = program_name();
  for (const std::string_view line : lines_of(text)) {
    const size_t check = line.find(": internal error: check failed: ");
    const size_t summary = line.find("SUMMARY: ");
    if (check != std::string_view::npos && key.empty()) key = without_numbers(line, check);
    if (summary != std::string_view::npos) key = line.substr(summary);
    if (line.starts_with("terminate called") && key.empty()) key = line;
    const std::string_view frame = frame_of(line, program);
    const bool is_ours = !frame.empty() && frame.find("check_failed") == std::string_view::npos &&
                         frame.find("say_where") == std::string_view::npos;
    if (is_ours) frames.push_back(frame);
  }
  // The handler itself stands first.
  for (size_t i = 0; i < std::min(frames.size(), kFrames + 1); ++i) key += fmt::format("\n  {}", frames[i]);
  return key;
}

/// All of it; false: the other end is gone.
bool receive(int socket, void* to, size_t size) {
  for (auto* at = static_cast<char*>(to); size > 0;) {
    const ssize_t got = ::read(socket, at, size);
    if (got <= 0) return false;
    at += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}
bool deliver(int socket, const void* from, size_t size) {
  for (const auto* at = static_cast<const char*>(from); size > 0;) {
    const ssize_t gone = ::send(socket, at, size, MSG_NOSIGNAL);
    if (gone <= 0) return false;
    at += gone;
    size -= static_cast<size_t>(gone);
  }
  return true;
}

}  // namespace

void report_signals(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  if (descriptor >= 0) {
    ::dup2(descriptor, STDERR_FILENO);
    ::close(descriptor);
  }
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
#if !defined(__SANITIZE_ADDRESS__)  // which says it itself
  static std::array<char, 1 << 16> stack;
  stack_t other{};
  other.ss_sp = stack.data();
  other.ss_size = stack.size();
  ::sigaltstack(&other, nullptr);
  std::array<void*, 2> frames{};
  ::backtrace(frames.data(), 2);  // loads what it needs
  struct sigaction action {};
  action.sa_handler = say_where;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
  for (const int number : kFatal) ::sigaction(number, &action, nullptr);
#endif
}

Outcome outcome_of(int wait_status, Fault ended_for, const std::string& file) {
  Outcome outcome;
  outcome.fault = ended_for;
  // A command that a limit ends without its help ends the process, as on the command line.
  const bool ended_well = WIFEXITED(wait_status) && (WEXITSTATUS(wait_status) == kExitSuccess ||
                                                     WEXITSTATUS(wait_status) == kExitInput);
  if (outcome.fault == Fault::kNone && !ended_well) outcome.fault = Fault::kSignal;
  if (outcome.fault == Fault::kNone) return outcome;
  outcome.text = file_text(file);
  if (outcome.fault == Fault::kHang) outcome.key = "takes too long";
  if (outcome.fault == Fault::kMemory) outcome.key = "takes too much memory";
  if (outcome.fault != Fault::kSignal) return outcome;
  outcome.key = WIFSIGNALED(wait_status) ? fmt::format("signal {}: ", WTERMSIG(wait_status))
                                         : fmt::format("exit code {}: ", WEXITSTATUS(wait_status));
  outcome.key += key_of(outcome.text);
  return outcome;
}

double processor_seconds(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

int64_t resident_bytes(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/statm", process));
  int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

int stop(pid_t process) {
  ::kill(process, SIGABRT);
  int status = 0;
  for (int i = 0; i < 100; ++i) {
    if (::waitpid(process, &status, WNOHANG) == process) return status;
    std::this_thread::sleep_for(10ms);
  }
  ::kill(process, SIGKILL);
  ::waitpid(process, &status, 0);
  return status;
}

void Apart::start() {
  std::array<int, 2> ends{};
  HLOSIM_CHECK(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  process_ = ::fork();
  HLOSIM_CHECK(process_ >= 0, "no further process");
  ::close(ends[process_ == 0 ? 0 : 1]);
  socket_ = ends[process_ == 0 ? 1 : 0];
  if (process_ > 0) return;
  report_signals(file_);
  serve();
}

/// In the child: an input, as its size and bytes, is answered by one byte.
void Apart::serve() const {
  for (;;) {
    uint64_t size = 0;
    if (!receive(socket_, &size, sizeof size)) ::_exit(0);
    std::string input(size, '\0');
    if (!receive(socket_, input.data(), size)) ::_exit(0);
    work_(input);
    if (!deliver(socket_, "", 1)) ::_exit(0);
  }
}

void Apart::end() {
  if (process_ == 0) return;
  ::close(socket_);
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  process_ = 0;
}

Outcome Apart::ended(int status, Fault fault) {
  ::close(socket_);
  process_ = 0;
  return outcome_of(status, fault, file_);
}

Outcome Apart::execute(const std::string& input) {
  if (process_ == 0) start();
  const double start = processor_seconds(process_);
  const uint64_t size = input.size();
  deliver(socket_, &size, sizeof size);
  deliver(socket_, input.data(), size);
  for (;;) {
    pollfd answer{socket_, POLLIN, 0};
    char done = 0;
    if (::poll(&answer, 1, 20) > 0) {
      if (receive(socket_, &done, 1)) return {};
      int status = 0;
      ::waitpid(process_, &status, 0);
      return ended(status, Fault::kNone);
    }
    Fault fault = Fault::kNone;
    if (processor_seconds(process_) - start > limits_.seconds) fault = Fault::kHang;
    if (resident_bytes(process_) > limits_.bytes) fault = Fault::kMemory;
    if (fault != Fault::kNone) return ended(stop(process_), fault);
  }
}

}  // namespace hlosim::fuzz
