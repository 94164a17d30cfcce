#include "serving/disaggregation.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <queue>

#include "serving/server_engine.h"
#include "serving/serving_log.h"

namespace hlosim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Release {
  double time = 0;
  int64_t pages = 0;
};

struct PrefillInstance {
  ServerEngine engine;
  std::vector<Release> releases{};  // pages of caches that are pulled, by time
  double sent = 0;                  // when its network is free
  int64_t tokens = 0;               // of prompts that it has not done

  double ready() const {
    if (engine.can_step()) return engine.now();
    return releases.empty() ? kNever : std::max(engine.now(), releases.front().time);
  }
  void release_until(double time) {
    auto end = releases.begin();
    for (; end != releases.end() && end->time <= time; ++end) engine.release(end->pages);
    releases.erase(releases.begin(), end);
  }
};

/// A request whose prompt is done.
struct Handover {
  EngineRequest request;
  size_t from = 0;   // which prefill instance has its cache
  double done = 0;   // when the prompt was
  double there = 0;  // when the cache is here
};

struct DecodeInstance {
  ServerEngine engine;
  std::deque<Handover> asked{};   // without pages, by `done`
  std::deque<Handover> pulled{};  // on their way, by `there`
  double received = 0;            // when its network is free
  int64_t requests = 0;           // that it was given and has not ended

  double ready() const {
    if (engine.can_step()) return engine.now();
    double time = pulled.empty() ? kNever : pulled.front().there;
    if (!asked.empty() && engine.has_room_for(asked.front().request))
      time = std::min(time, asked.front().done);
    return std::max(engine.now(), time);
  }
};

void add_work(const EngineWork& one, double share, EngineWork& sum) {
  sum.steps += one.steps, sum.mixed_steps += one.mixed_steps, sum.preemptions += one.preemptions;
  sum.most_running = std::max(sum.most_running, one.most_running);
  sum.decode_seconds += share * one.decode_seconds, sum.mixed_seconds += share * one.mixed_seconds;
  sum.host_seconds += share * one.host_seconds;
  sum.cost.add(one.cost, share);
  sum.verifications += one.verifications, sum.accepted_drafts += one.accepted_drafts;
}

template <class Instance>
EngineWork work_of(const std::vector<Instance>& instances) {
  EngineWork sum;
  for (const Instance& one : instances)
    add_work(one.engine.work(), 1 / static_cast<double>(instances.size()), sum);
  return sum;
}

class DisaggregatedSimulation {
 public:
  DisaggregatedSimulation(const DisaggregatedServer& server, const std::vector<Request>& requests,
                          int64_t concurrency, const LatencyLimits& limits)
      : server_(server), requests_(requests), is_closed_(concurrency > 0), log_(requests, limits) {
    const auto add = [&](const ServingSide& side, auto& instances) {
      for (int64_t i = 0; i < side.instances; ++i)
        instances.push_back({.engine = ServerEngine(side.setup, side.memory, side.times, requests, log_)});
    };
    add(server.prefill, prefills_), add(server.decode, decodes_);
    for (PrefillInstance& one : prefills_) one.engine.hand_over_prompts();
    for (int64_t i = 0; i < concurrency; ++i) places_.push(0);
  }

  /// What begins first comes first, so that nothing arrives in the past of what follows.
  Result<DisaggregatedRun> run() {
    const auto earlier = [](const auto& a, const auto& b) { return a.ready() < b.ready(); };
    while (!log_.all_finished()) {
      PrefillInstance& prefill = *std::min_element(prefills_.begin(), prefills_.end(), earlier);
      DecodeInstance& decode = *std::min_element(decodes_.begin(), decodes_.end(), earlier);
      const double arrival = next_arrival();
      Result<void> done;
      if (arrival <= std::min(prefill.ready(), decode.ready()))
        arrive(arrival);
      else if (prefill.ready() <= decode.ready())
        done = step(prefill);
      else
        done = step(decode);
      if (!done) return tl::unexpected(done.error());
    }
    DisaggregatedRun made;
    static_cast<EngineWork&>(made.run) = work_of(decodes_);
    made.prefill = work_of(prefills_);
    for (const DecodeInstance& one : decodes_)
      made.run.seconds = std::max(made.run.seconds, one.engine.now());
    made.transfer = latency_of(transfers_);
    log_.summarize(made.run);
    return made;
  }

 private:
  double next_arrival() const {
    if (log_.all_arrived()) return kNever;
    if (!is_closed_) return log_.next().arrival;
    return places_.empty() ? kNever : places_.top();
  }

  void arrive(double time) {
    const auto fewer = [](const PrefillInstance& a, const PrefillInstance& b) { return a.tokens < b.tokens; };
    PrefillInstance& to = *std::min_element(prefills_.begin(), prefills_.end(), fewer);
    if (is_closed_) places_.pop();
    if (to.engine.is_idle()) to.engine.wait_until(time);
    to.tokens += log_.next().input;
    to.engine.enqueue({.request = log_.arrived(), .wanted = log_.next().input});
    log_.arrive(time);
  }

  Result<void> step(PrefillInstance& one) {
    one.engine.wait_until(one.ready());
    one.release_until(one.engine.now());
    if (!one.engine.can_step()) return {};
    if (const Result<void> done = one.engine.step(-kNever); !done) return done;
    for (const EngineRequest& request : one.engine.take_handed_over()) {
      one.tokens -= requests_[request.request].input;
      const auto fewer = [](const DecodeInstance& a, const DecodeInstance& b) {
        return a.requests < b.requests;
      };
      DecodeInstance& to = *std::min_element(decodes_.begin(), decodes_.end(), fewer);
      ++to.requests;
      const Handover made{request, static_cast<size_t>(&one - prefills_.data()), one.engine.now()};
      const auto later = [](const Handover& a, const Handover& b) { return a.done < b.done; };
      to.asked.insert(std::upper_bound(to.asked.begin(), to.asked.end(), made, later), made);
    }
    return {};
  }

  Result<void> step(DecodeInstance& one) {
    one.engine.wait_until(one.ready());
    const double now = one.engine.now();
    for (; !one.pulled.empty() && one.pulled.front().there <= now; one.pulled.pop_front())
      one.engine.join(one.pulled.front().request);
    for (; !one.asked.empty() && one.asked.front().done <= now; one.asked.pop_front())
      if (!pull(one, one.asked.front())) break;
    if (!one.engine.can_step()) return {};
    const size_t ended = log_.finished();
    if (const Result<void> done = one.engine.step(-kNever); !done) return done;
    one.requests -= static_cast<int64_t>(log_.finished() - ended);
    for (size_t i = ended; is_closed_ && i < log_.finished(); ++i) places_.push(one.engine.now());
    return {};
  }

  /// Sets pages aside and sends the cache. False: no room yet.
  bool pull(DecodeInstance& to, Handover handover) {
    PrefillInstance& from = prefills_[handover.from];
    const int64_t pages = handover.request.pages, input = requests_[handover.request.request].input;
    // Its last token is computed here: the next one follows from it.
    handover.request.wanted = handover.request.computed = input - 1;
    handover.request.pages = 0;
    if (!to.engine.reserve(handover.request)) return false;
    const CacheTransfer& transfer = server_.transfer;
    const double begin = std::max({to.engine.now(), from.sent, to.received});
    const double takes = static_cast<double>(input) * transfer.seconds_per_token, end = begin + takes;
    // Groups of devices of an instance have networks of their own.
    from.sent = begin + takes / static_cast<double>(server_.prefill.setup.replicas());
    to.received = begin + takes / static_cast<double>(server_.decode.setup.replicas());
    handover.there = end + transfer.latency;
    transfers_.emplace_back(handover.there - handover.done, 1);
    const auto sooner = [](const Release& a, const Release& b) { return a.time < b.time; };
    const Release release{handover.there, pages};
    from.releases.insert(std::upper_bound(from.releases.begin(), from.releases.end(), release, sooner),
                         release);
    to.pulled.push_back(handover);
    return true;
  }

  const DisaggregatedServer& server_;
  const std::vector<Request>& requests_;
  const bool is_closed_;
  ServingLog log_;
  std::vector<PrefillInstance> prefills_;
  std::vector<DecodeInstance> decodes_;
  std::priority_queue<double, std::vector<double>, std::greater<>> places_;  // when a further one may arrive
  std::vector<Sample> transfers_;
};

/// Seconds that a device's part of a token takes through its share of the host's network.
Result<double> seconds_per_token(const TransferSide& side) {
  const HostConfig& host = side.device.host;
  if (host.chips < 1 || host.dcn.bandwidth.count() <= 0)
    return failure(
        fmt::format("{} has no host.chips or no host.dcn.bandwidth: caches can't be sent", side.device.name));
  const auto devices = static_cast<double>(host.chips * side.device.devices_per_chip());
  return static_cast<double>(side.memory.bytes_per_token) * devices / host.dcn.bandwidth.count();
}

}  // namespace

Result<CacheTransfer> cache_transfer(const TransferSide& prefill, const TransferSide& decode) {
  const Result<double> send = seconds_per_token(prefill), receive = seconds_per_token(decode);
  if (!send) return tl::unexpected(send.error());
  if (!receive) return tl::unexpected(receive.error());
  // A request is on one group of devices of an instance, which has `tensor` of them.
  const auto latency = std::max(prefill.device.host.dcn.latency, decode.device.host.dcn.latency);
  return CacheTransfer{static_cast<double>(decode.memory.bytes_per_token * decode.setup.tensor),
                       std::max(*send, *receive), static_cast<double>(latency.count()) * 1e-12};
}

Result<DisaggregatedRun> serve_disaggregated(const DisaggregatedServer& server,
                                             const std::vector<Request>& requests, int64_t concurrency,
                                             const LatencyLimits& limits) {
  for (const ServingSide* side : {&server.prefill, &server.decode})
    if (const Result<void> fits = check_lengths(side->setup, requests); !fits)
      return tl::unexpected(fits.error());
  return DisaggregatedSimulation(server, requests, concurrency, limits).run();
}

}  // namespace hlosim
