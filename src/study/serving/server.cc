#include "serving/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

namespace hlosim {
namespace {

/// A value and how often it came.
using Sample = std::pair<double, int64_t>;

Latency latency(std::vector<Sample> samples) {
  Latency made;
  int64_t count = 0;
  double sum = 0;
  for (const auto& [value, times] : samples) count += times, sum += value * static_cast<double>(times);
  if (count == 0) return made;
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double part) {
    auto left = static_cast<int64_t>(part * static_cast<double>(count - 1));
    for (const auto& [value, times] : samples)
      if ((left -= times) < 0) return value * 1e3;
    return samples.back().first * 1e3;
  };
  made.mean = sum / static_cast<double>(count) * 1e3;
  made.median = at(0.5), made.p99 = at(0.99);
  return made;
}

struct Running {
  size_t request = 0;
  int64_t computed = 0;  // tokens in the cache
  /// Tokens before the next one: the prompt and, after a preemption, the tokens generated so far.
  int64_t wanted = 0;
  int64_t made = 0;  // tokens of the answer
  int64_t pages = 0;
  double first = 0, last = 0;  // times of tokens
  bool decodes() const { return made > 0 && computed >= wanted; }
};

class Server {
 public:
  Server(const ServingSetup& setup, const ServingMemory& memory, StepTimes& times,
         const std::vector<Request>& requests, int64_t concurrency, const LatencyLimits& limits)
      : setup_(setup),
        memory_(memory),
        times_(times),
        requests_(requests),
        concurrency_(concurrency),
        limits_(limits),
        free_pages_(memory.pages * setup.replicas()) {}

  Result<ServingRun> run() {
    for (const Request& one : requests_)
      if (one.input + one.output > setup_.max_model_len)
        return failure(fmt::format("a request of {} + {} tokens is longer than {}", one.input, one.output,
                                   setup_.max_model_len),
                       "--max-model-len");
    while (finished_ < requests_.size()) {
      arrive();
      if (waiting_.empty() && running_.empty()) {
        now_ = requests_[arrived_].arrival;
        continue;
      }
      if (const Result<void> done = step(); !done) return tl::unexpected(done.error());
    }
    return summary();
  }

 private:
  int64_t pages_of(int64_t tokens) const { return (tokens + memory_.page - 1) / memory_.page; }

  void arrive() {
    while (arrived_ < requests_.size()) {
      const bool room = concurrency_ > 0 ? arrived_ - finished_ < static_cast<size_t>(concurrency_)
                                         : requests_[arrived_].arrival <= now_;
      if (!room) return;
      Running one;
      one.request = arrived_;
      one.wanted = requests_[arrived_].input;
      arrivals_.push_back(concurrency_ > 0 ? now_ : requests_[arrived_].arrival);
      waiting_.push_back(one);
      ++arrived_;
    }
  }

  /// Preempts the request admitted last, if another one runs.
  bool throw_one_out() {
    if (running_.size() < 2) return false;
    Running last = running_.back();
    running_.pop_back();
    free_pages_ += last.pages;
    last.wanted += last.made > 0 ? last.computed - last.wanted : 0;
    last.computed = last.pages = 0;
    waiting_.push_front(last);
    ++made_.preemptions;
    return true;
  }

  /// Pages for so many tokens of the one at `place`. False: it was thrown out itself.
  bool grow(size_t place, int64_t tokens) {
    const int64_t more = pages_of(tokens) - running_[place].pages;
    while (more > free_pages_) {
      if (!throw_one_out()) return false;
      if (place >= running_.size()) return false;
    }
    running_[place].pages += more, free_pages_ -= more;
    return true;
  }

  struct Chunk {
    size_t place = 0;
    int64_t tokens = 0;
  };

  /// Tokens of prompts that this step takes: of those that run first, then of new ones.
  std::vector<Chunk> chunks(int64_t budget) {
    std::vector<Chunk> taken;
    const auto take = [&](size_t place) {
      Running& one = running_[place];
      const int64_t tokens = std::min(budget, one.wanted - one.computed);
      taken.push_back({place, tokens});
      budget -= tokens;
    };
    for (size_t i = 0; i < running_.size() && budget > 0; ++i)
      if (!running_[i].decodes()) take(i);
    while (budget > 0 && !waiting_.empty() &&
           static_cast<int64_t>(running_.size()) < std::min(setup_.max_seqs, setup_.max_batched_tokens)) {
      Running& one = waiting_.front();
      const int64_t pages = pages_of(one.wanted + 1);
      if (pages > free_pages_) break;
      one.pages = pages, free_pages_ -= pages;
      running_.push_back(one);
      waiting_.pop_front();
      take(running_.size() - 1);
    }
    return taken;
  }

  Result<void> step() {
    for (size_t i = 0; i < running_.size(); ++i)
      if (running_[i].decodes()) grow(i, running_[i].computed + 1);
    int64_t decodes = 0, context = 0;
    for (const Running& one : running_)
      if (one.decodes()) ++decodes, context += one.computed + 1;
    const int64_t budget = setup_.max_batched_tokens - (setup_.mixed_steps ? decodes : 0);
    const std::vector<Chunk> taken = chunks(budget);
    made_.most_running = std::max(made_.most_running, static_cast<int64_t>(running_.size()));
    ServerStepLoad load{decodes, context, 0, 0};
    for (const Chunk& chunk : taken) {
      const auto begin = static_cast<double>(running_[chunk.place].computed);
      const double end = begin + static_cast<double>(chunk.tokens);
      load.prefill += chunk.tokens, load.prefill_pairs += (end * end - begin * begin) / 2;
    }
    if (!setup_.mixed_steps && load.prefill > 0) load.decodes = load.context = 0;
    if (load.prefill == 0) return decode_steps(load);
    const Result<ServerStepCost> cost = times_.cost(load);
    if (!cost) return tl::unexpected(cost.error());
    advance(*cost, true);
    for (size_t i = 0; i < running_.size(); ++i)
      if (load.decodes > 0 && running_[i].decodes()) token(running_[i]);
    for (const Chunk& chunk : taken) {
      Running& one = running_[chunk.place];
      one.computed += chunk.tokens;
      if (one.computed >= one.wanted) first_token(one);
    }
    leave();
    return {};
  }

  /// Steps that only decode, until a request ends, arrives, or may need a page that is not free.
  Result<void> decode_steps(ServerStepLoad load) {
    int64_t count = 1 << 20;
    for (const Running& one : running_) count = std::min(count, requests_[one.request].output - one.made);
    const int64_t spare = free_pages_ / static_cast<int64_t>(running_.size());
    count = std::clamp<int64_t>(count, 1, std::max<int64_t>(1, spare * memory_.page));
    const bool watches = concurrency_ == 0 && arrived_ < requests_.size();
    for (int64_t i = 0; i < count; ++i) {
      const Result<ServerStepCost> cost = times_.cost(load);
      if (!cost) return tl::unexpected(cost.error());
      advance(*cost, false);
      load.context += load.decodes;
      if (i == 0) {
        for (Running& one : running_) gap(one);
      } else {
        gaps_.emplace_back(cost->seconds + setup_.host_seconds, load.decodes);
        tokens_at_.emplace_back(now_, load.decodes);
      }
      for (Running& one : running_) one.last = now_, ++one.made, ++one.computed;
      if (watches && requests_[arrived_].arrival <= now_) break;
    }
    for (Running& one : running_) {
      const int64_t more = pages_of(one.computed) - one.pages;
      if (more > 0) one.pages += more, free_pages_ -= more;
    }
    leave();
    return {};
  }

  void advance(const ServerStepCost& cost, bool mixed) {
    now_ += cost.seconds + setup_.host_seconds;
    ++made_.steps, made_.mixed_steps += mixed ? 1 : 0;
    (mixed ? made_.mixed_seconds : made_.decode_seconds) += cost.seconds;
    made_.host_seconds += setup_.host_seconds;
    made_.work += cost;
  }
  void gap(const Running& one) {
    gaps_.emplace_back(now_ - one.last, 1);
    tokens_at_.emplace_back(now_, 1);
  }
  void token(Running& one) {
    gap(one);
    one.last = now_, ++one.made, ++one.computed;
  }
  void first_token(Running& one) {
    if (one.made > 0) {  // it was thrown out, and goes on
      gap(one);
    } else {
      one.first = now_;
      first_tokens_.emplace_back(now_ - arrivals_[one.request], 1);
      tokens_at_.emplace_back(now_, 1);
    }
    one.last = now_, ++one.made;
  }

  void leave() {
    const auto ends = [&](const Running& one) {
      const Request& request = requests_[one.request];
      if (one.made < request.output) return false;
      const double each =
          request.output > 1 ? (one.last - one.first) / static_cast<double>(request.output - 1) : 0.0;
      if (request.output > 1) per_token_.emplace_back(each, 1);
      const double ttft = one.first - arrivals_[one.request];
      good_ += (limits_.ttft_ms <= 0 || ttft * 1e3 <= limits_.ttft_ms) &&
               (limits_.tpot_ms <= 0 || each * 1e3 <= limits_.tpot_ms);
      free_pages_ += one.pages;
      ++finished_;
      made_.input_tokens += request.input, made_.output_tokens += request.output;
      return true;
    };
    running_.erase(std::remove_if(running_.begin(), running_.end(), ends), running_.end());
  }

  ServingRun summary() {
    made_.seconds = now_;
    made_.requests = static_cast<int64_t>(finished_);
    made_.ttft = latency(std::move(first_tokens_));
    made_.tpot = latency(std::move(per_token_));
    made_.itl = latency(std::move(gaps_));
    made_.good_share = static_cast<double>(good_) / static_cast<double>(finished_);
    double second = 0, tokens = 0;
    for (const auto& [time, count] : tokens_at_) {
      if (std::floor(time) > second) second = std::floor(time), tokens = 0;
      tokens += static_cast<double>(count);
      made_.peak_output_rate = std::max(made_.peak_output_rate, tokens);
    }
    return made_;
  }

  const ServingSetup& setup_;
  const ServingMemory& memory_;
  StepTimes& times_;
  const std::vector<Request>& requests_;
  int64_t concurrency_;
  LatencyLimits limits_;
  int64_t free_pages_;
  std::deque<Running> waiting_;
  std::vector<Running> running_;
  std::vector<double> arrivals_;  // by request
  size_t arrived_ = 0, finished_ = 0;
  int64_t good_ = 0;
  double now_ = 0;
  std::vector<Sample> first_tokens_, per_token_, gaps_, tokens_at_;
  ServingRun made_;
};

}  // namespace

Result<ServingRun> serve(const ServingSetup& setup, const ServingMemory& memory, StepTimes& times,
                         const std::vector<Request>& requests, int64_t concurrency,
                         const LatencyLimits& limits) {
  return Server(setup, memory, times, requests, concurrency, limits).run();
}

}  // namespace hlosim
