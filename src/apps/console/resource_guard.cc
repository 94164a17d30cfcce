#include "console/resource_guard.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "base/units.h"
#include "console/streams.h"
#include "console/verbosity.h"

namespace hlosim {
namespace {

constexpr std::chrono::milliseconds kPause(20), kPatience(1000);

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  return set;
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN;
}

/// Bytes that the process holds in memory; 0: not to be found out.
int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  file >> all >> resident;
  return file ? resident * ::sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace

ResourceGuard::ResourceGuard(Streams streams, bool watches_memory)
    : streams_(streams), watches_memory_(watches_memory && streams.limits.memory) {
  takes_signals_ = &streams.err == &std::cerr && streams.ranks.size() == 1 && !is_ignored(SIGINT);
  if (!takes_signals_ && !streams.limits.seconds && !watches_memory_) return;
  if (takes_signals_) {  // threads that are begun from here on leave them to this one
    const sigset_t set = interrupts();
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  thread_ = std::thread([this] { watch(); });
}

ResourceGuard::~ResourceGuard() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_one();
  if (takes_signals_) ::pthread_kill(thread_.native_handle(), SIGINT);
  thread_.join();
  if (takes_signals_) ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

/// A short while, or until the next signal; false: all is done.
bool ResourceGuard::wait() {
  if (!takes_signals_) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, kPause, [this] { return done_.load(); });
  }
  const sigset_t set = interrupts();
  const timespec pause{0, std::chrono::nanoseconds(kPause).count()};
  const int signal = ::sigtimedwait(&set, nullptr, &pause);
  if (done_) return false;
  if (signal != SIGINT) return true;
  const bool again = interrupted_.exchange(true);
  if (again || !streams_.stop.is_heard()) end("interrupted");
  streams_.stop.ask("interrupted");
  patience_ = Clock::now() + kPatience;
  return true;
}

void ResourceGuard::watch() {
  while (wait()) {
    check_time(Clock::now());
    if (watches_memory_) check_memory();
  }
}

void ResourceGuard::check_time(Clock::time_point now) {
  const std::optional<double> most = streams_.limits.seconds;
  if (streams_.stop.asked()) {
    if (now >= patience_) end(streams_.stop.why());
  } else if (most && std::chrono::duration<double>(now - start_).count() >= *most) {
    const std::string why = fmt::format("not done after {} s (--max-seconds)", *most);
    if (!streams_.stop.is_heard()) end(why);
    streams_.stop.ask(why);
    patience_ = now + kPatience;
  }
}

void ResourceGuard::check_memory() {
  const int64_t held = resident_bytes();
  if (held <= *streams_.limits.memory) return;
  end(fmt::format("needs more than {} (--max-memory)", to_text(Bytes(*streams_.limits.memory))));
}

void ResourceGuard::end(const std::string& why) {
  complain(why, streams_.verbosity.under_way.text(), streams_);
  streams_.err.flush();
  if (interrupted_) std::_Exit(kExitInterrupted);
  std::_Exit(kExitInput);
}

}  // namespace hlosim
