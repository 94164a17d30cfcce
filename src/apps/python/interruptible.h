// Long work that Python can interrupt.
//
//   Stop stop;
//   const CallResult done = interruptible(stop, 2.5, [] {}, [&] { return call(line, exchange, stop); });
//
// The work runs on a thread of its own, without the interpreter's lock; the thread of Python waits for it and
// sees to signals, whose handlers Python runs on its main thread only.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>

#include "base/stop.h"

namespace hlosim::python {

/// Runs `work` to its end. While it runs, `look` is called about ten times a second with the lock held. A
/// signal whose handler raises, an exception of `look` and `max_seconds` ask `stop`; work that doesn't hear
/// it goes on to its end first. Throws what a handler or `look` raised.
void run_interruptibly(Stop& stop, std::optional<double> max_seconds, const std::function<void()>& look,
                       const std::function<void()>& work);

template <class Work>
std::invoke_result_t<Work> interruptible(Stop& stop, std::optional<double> max_seconds,
                                         const std::function<void()>& look, Work&& work) {
  std::optional<std::invoke_result_t<Work>> result;
  run_interruptibly(stop, max_seconds, look, [&] { result.emplace(work()); });
  return std::move(*result);
}

}  // namespace hlosim::python
