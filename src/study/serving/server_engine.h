// An engine of a server: requests that wait and run on one group of devices, step by step.
//
//   ServerEngine engine(setup, memory, times, requests, log);
//   engine.enqueue({.request = 0, .wanted = requests[0].input});
//   while (!engine.is_idle())
//     if (const Result<void> done = engine.step(horizon); !done) return …;
//
// As vLLM schedules: a step first takes one token (and the drafted ones) of every request that decodes, then
// chunks of prompts, first come, first served, up to max_batched_tokens; a request is let in while max_seqs
// and the cache have room, and the last one in is thrown out and starts again when the cache runs full.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "base/source.h"
#include "serving/server.h"
#include "serving/serving_log.h"
#include "serving/speculation.h"

namespace hlosim {

struct EngineRequest {
  size_t request = 0;
  int64_t computed = 0;  // tokens in the cache
  /// Tokens before the next one: the prompt and, after a preemption, the tokens generated so far.
  int64_t wanted = 0;
  int64_t made = 0;  // tokens of the answer
  int64_t pages = 0;
  double first = 0, last = 0;  // times of tokens
  bool decodes() const { return computed >= wanted; }
};

class ServerEngine {
 public:
  /// `memory` is that of one group of devices; the engine has the pages of setup.replicas() groups.
  /// Requires: all outlive it.
  ServerEngine(const ServingSetup& setup, const ServingMemory& memory, StepTimes& times,
               const std::vector<Request>& requests, ServingLog& log)
      : setup_(setup),
        memory_(memory),
        times_(times),
        requests_(requests),
        log_(log),
        free_pages_(memory.pages * setup.replicas()),
        drafts_(setup.speculation) {}

  void enqueue(const EngineRequest& one) { waiting_.push_back(one); }
  /// For prefill alone: requests whose prompt is computed leave, and keep their pages until release().
  void hand_over_prompts() { hands_over_ = true; }
  std::vector<EngineRequest> take_handed_over() { return std::exchange(handed_over_, {}); }
  void release(int64_t pages) { free_pages_ += pages; }
  /// For decode alone: pages for a request whose cache comes from elsewhere. False: no room for it.
  bool reserve(EngineRequest& one);
  bool has_room_for(const EngineRequest& one) const;
  /// The request has its cache. Requires: reserve() gave it pages.
  void join(const EngineRequest& one) {
    --reserved_;
    running_.push_back(one);
  }
  /// Something runs, or what waits first has room.
  bool can_step() const {
    return !running_.empty() || (!waiting_.empty() && pages_of(waiting_.front().wanted + 1) <= free_pages_);
  }

  bool is_idle() const { return waiting_.empty() && running_.empty(); }
  double now() const { return now_; }
  void wait_until(double time) { now_ = std::max(now_, time); }
  const EngineWork& work() const { return work_; }

  /// A step from now() on. Steps that are alike but for growing caches are taken together, until one ends at
  /// `horizon` or later. Errors: of StepTimes. Requires: !is_idle().
  Result<void> step(double horizon);

 private:
  struct Chunk {
    size_t place = 0;
    int64_t tokens = 0;
  };

  int64_t pages_of(int64_t tokens) const { return memory_.pages_of(tokens); }
  int64_t tokens_left(const EngineRequest& one) const { return requests_[one.request].output - one.made; }
  bool throw_one_out();
  void grow(size_t place);
  std::vector<Chunk> chunks(int64_t budget);
  Result<void> decode_steps(ServerStepLoad load, double horizon);
  void advance(const ServerStepCost& cost, bool mixed);
  int64_t decode(double before, double gap);
  int64_t take_tokens(EngineRequest& one);
  void log_tokens(EngineRequest& one, int64_t tokens);
  void leave();

  const ServingSetup& setup_;
  const ServingMemory& memory_;
  StepTimes& times_;
  const std::vector<Request>& requests_;
  ServingLog& log_;
  int64_t free_pages_;
  AcceptedDrafts drafts_;
  std::deque<EngineRequest> waiting_;
  std::vector<EngineRequest> running_, handed_over_;
  int64_t reserved_ = 0;  // requests with pages that don't run yet
  bool hands_over_ = false;
  double now_ = 0;
  EngineWork work_;
};

}  // namespace hlosim
