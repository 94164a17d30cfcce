#include "python/interruptible.h"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace py = pybind11;

namespace hlosim::python {
namespace {

constexpr std::chrono::milliseconds kPause(100);

/// Work on a thread of its own; its end waits for it.
class Worker {
 public:
  explicit Worker(const std::function<void()>& work) : thread_([this, &work] { run(work); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { thread_.join(); }

  /// True: it is done.
  bool wait(std::chrono::milliseconds pause) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, pause, [this] { return done_; });
  }
  /// Requires: it is done.
  const std::exception_ptr& failure() const { return failure_; }

 private:
  void run(const std::function<void()>& work) {
    try {
      work();
    } catch (...) {  // memory that isn't there: Python says so
      failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

/// What a signal's handler or `look` raises, which asks `stop`; null: nothing.
std::exception_ptr see_to_python(Stop& stop, const std::function<void()>& look) {
  const py::gil_scoped_acquire lock;
  try {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    look();
  } catch (py::error_already_set&) {
    stop.ask("interrupted");
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace

void run_interruptibly(Stop& stop, std::optional<double> max_seconds, const std::function<void()>& look,
                       const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::exception_ptr raised, failure;
  {
    const py::gil_scoped_release no_lock;
    Worker worker(work);
    while (!worker.wait(kPause)) {
      if (max_seconds && std::chrono::duration<double>(Clock::now() - start).count() >= *max_seconds)
        stop.ask(fmt::format("not done after {} s (max_seconds)", *max_seconds));
      if (!raised) raised = see_to_python(stop, look);
    }
    failure = worker.failure();
  }
  if (raised) std::rethrow_exception(raised);
  if (failure) std::rethrow_exception(failure);
  look();
}

}  // namespace hlosim::python
