#include "serving/server.h"

#include <fmt/format.h>

#include <limits>

#include "serving/server_engine.h"
#include "serving/serving_log.h"

namespace hlosim {

Result<ServingRun> serve(const ServingSetup& setup, const ServingMemory& memory, StepTimes& times,
                         const std::vector<Request>& requests, int64_t concurrency,
                         const LatencyLimits& limits) {
  if (const Result<void> fits = check_lengths(setup, requests); !fits) return tl::unexpected(fits.error());
  ServingLog log(requests, limits);
  ServerEngine engine(setup, memory, times, requests, log);
  const bool is_closed = concurrency > 0;
  while (!log.all_finished()) {
    const double now = engine.now();
    while (!log.all_arrived() &&
           (is_closed ? log.arrived() - log.finished() < static_cast<size_t>(concurrency)
                      : log.next().arrival <= now)) {
      engine.enqueue({.request = log.arrived(), .wanted = log.next().input});
      log.arrive(is_closed ? now : log.next().arrival);
    }
    if (engine.is_idle()) {
      engine.wait_until(log.next().arrival);
      continue;
    }
    const bool watches = !is_closed && !log.all_arrived();
    const double horizon = watches ? log.next().arrival : std::numeric_limits<double>::infinity();
    if (const Result<void> done = engine.step(horizon); !done) return tl::unexpected(done.error());
  }
  ServingRun run;
  static_cast<EngineWork&>(run) = engine.work();
  run.seconds = engine.now();
  log.summarize(run);
  return run;
}

Result<void> check_lengths(const ServingSetup& setup, const std::vector<Request>& requests) {
  for (const Request& one : requests)
    if (one.input + one.output > setup.max_model_len)
      return failure(fmt::format("a request of {} + {} tokens is longer than {}", one.input, one.output,
                                 setup.max_model_len),
                     "--max-model-len");
  return {};
}

}  // namespace hlosim
