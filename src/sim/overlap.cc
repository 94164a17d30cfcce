#include "sim/overlap.h"

#include <algorithm>

#include "base/check.h"
#include "base/rounding.h"

namespace hlosim {
namespace {

using OverlapWork = Overlap::Work;
constexpr int64_t kFullRate = int64_t{1} << Overlap::kWorkBits;
/// Shares are rounded: what is left of the last picosecond because of it is no picosecond of its own.
constexpr int64_t kTolerance = 1000;

OverlapWork work_of(Picoseconds stream) {
  return static_cast<OverlapWork>(stream.count()) << Overlap::kWorkBits;
}

/// Picoseconds until the work is done.
Picoseconds time_left(OverlapWork left, int64_t rate) {
  left -= rate / kTolerance;
  if (left <= 0) return Picoseconds(0);
  const double about = static_cast<double>(left) / static_cast<double>(rate);
  if (!(about < 9.2e18)) return kForever;
  // Division in double precision is right to a step or two where it is much faster than in whole numbers.
  if (about > 1e14) return Picoseconds(static_cast<int64_t>(ceil_div(left, rate)));
  auto time = static_cast<int64_t>(about);
  while (static_cast<OverlapWork>(time) * rate < left) ++time;
  while (time > 0 && static_cast<OverlapWork>(time - 1) * rate >= left) --time;
  return Picoseconds(time);
}

}  // namespace

Picoseconds times(Picoseconds time, int64_t count) {
  if (count == 0 || time.count() == 0) return Picoseconds(0);
  return time.count() > kForever.count() / count ? kForever : time * count;
}

/// Behind what it has to wait for; else where nothing is in flight.
Lane Overlap::lane_of_links(const LinkSet& links) const {
  const auto meets = [&](Lane lane) {
    const Queue& in = queue(lane);
    return std::any_of(in.tickets.begin() + static_cast<std::ptrdiff_t>(in.head), in.tickets.end(),
                       [&](size_t ticket) {
                         const Transfer& other = transfers_[ticket];
                         return !other.links || other.links->meets(links);
                       });
  };
  if (meets(Lane::kIci)) return Lane::kIci;
  return in_flight(Lane::kIci) > 0 && (meets(Lane::kIciBeside) || in_flight(Lane::kIciBeside) == 0)
             ? Lane::kIciBeside
             : Lane::kIci;
}

/// By an earlier one of the other lane of links.
bool Overlap::is_blocked(size_t ticket) const {
  const Transfer& transfer = transfers_[ticket];
  if (!is_of_links(transfer.lane)) return false;
  const Queue& other = queue(transfer.lane == Lane::kIci ? Lane::kIciBeside : Lane::kIci);
  for (size_t i = other.head; i < other.tickets.size() && other.tickets[i] < ticket; ++i) {
    const Transfer& earlier = transfers_[other.tickets[i]];
    if (!transfer.links || !earlier.links || earlier.links->meets(*transfer.links)) return true;
  }
  return false;
}

size_t Overlap::start(Lane lane, Picoseconds latency, Picoseconds stream, double demand,
                      std::shared_ptr<const LinkSet> links) {
  HLOSIM_CHECK(lane != Lane::kTensorCore && demand >= 0 && demand <= 1, "demand {}", demand);
  if (links && lane == Lane::kIci) lane = lane_of_links(*links);
  Transfer transfer;
  transfer.lane = lane;
  transfer.links = std::move(links);
  transfer.start = now_;
  transfer.ready = later(now_, latency);
  transfer.stream = stream;
  transfer.left = work_of(stream);
  transfer.demand = demand;
  transfers_.push_back(transfer);
  queues_[static_cast<size_t>(lane)].tickets.push_back(transfers_.size() - 1);
  ++running_;
  return transfers_.size() - 1;
}

void Overlap::pass(Picoseconds time) {
  const Picoseconds end = later(now_, time);
  while (now_ < end && running_ > 0) advance(end);
  now_ = end;
}

void Overlap::run(Picoseconds stream, Picoseconds hbm_work) {
  const Picoseconds least = later(now_, stream);
  if (running_ == 0) {
    now_ = std::max(least, later(now_, hbm_work));
    return;
  }
  core_ = {nullptr, 1, work_of(hbm_work), kFullRate, {}};
  core_runs_ = hbm_work.count() > 0;
  while (core_runs_) advance(kForever);
  if (now_ < least) pass(least - now_);
}

void Overlap::wait_for(size_t ticket) {
  while (!transfers_[ticket].finished) advance(kForever);
}

double Overlap::Transfer::left_part() const {
  return stream.count() == 0 ? 0 : static_cast<double>(left) / static_cast<double>(work_of(stream));
}

Overlap::State Overlap::state() const {
  State state;
  state.now = now_;
  for (const Queue& queue : queues_)
    for (size_t i = queue.head; i < queue.tickets.size(); ++i) {
      const Transfer& transfer = transfers_[queue.tickets[i]];
      state.running.push_back(queue.tickets[i]);
      state.left.push_back(transfer.left);
      state.begun.push_back(transfer.begun);
    }
  return state;
}

int64_t Overlap::repeats(const State& before) const {
  const State after = state();
  const Picoseconds took = now_ - before.now;
  if (after.running != before.running || after.begun != before.begun || took.count() <= 0) return 0;
  int64_t most = (kForever - now_).count() / took.count();
  for (size_t i = 0; i < after.running.size(); ++i) {
    const Transfer& transfer = transfers_[after.running[i]];
    // It must not begin, and must have a picosecond of work left.
    if (!transfer.begun && transfer.ready > now_)
      most = std::min(most, ((transfer.ready - now_).count() - 1) / took.count());
    const OverlapWork done = before.left[i] - after.left[i];
    if (done > 0) {
      const OverlapWork times = (transfer.left - kFullRate) / done;
      most = times < most ? static_cast<int64_t>(times) : most;
    }
  }
  return std::max<int64_t>(0, most);
}

void Overlap::repeat(const State& before, int64_t count) {
  for (size_t i = 0; i < before.running.size(); ++i) {
    Transfer& transfer = transfers_[before.running[i]];
    transfer.left -= (before.left[i] - transfer.left) * count;
  }
  now_ = later(now_, times(now_ - before.now, count));
}

void Overlap::collect_claims() {
  claim_count_ = 0;
  if (core_runs_) claims_[claim_count_++] = core_;
  for (Queue& queue : queues_) {
    if (queue.head == queue.tickets.size()) continue;
    Transfer& head = transfers_[queue.tickets[queue.head]];
    if (head.ready > now_ || (!head.begun && is_blocked(queue.tickets[queue.head]))) continue;
    if (!head.begun) head.begin = now_, head.begun = true;
    claims_[claim_count_++] = {&head, head.demand, head.left, kFullRate, {}};
  }
}

void Overlap::share_bandwidth() {
  double total = 0;
  for (size_t i = 0; i < claim_count_; ++i) total += claims_[i].demand;
  if (total <= 1) return;
  // Smallest demand first: it gets what it asks for, or an equal part of what is left.
  std::array<Claim*, kLaneCount + 1> order;
  for (size_t i = 0; i < claim_count_; ++i) order[i] = &claims_[i];
  std::sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(claim_count_),
      [](const Claim* a, const Claim* b) { return a->demand != b->demand ? a->demand < b->demand : a < b; });
  double rest = 1;
  for (size_t i = 0; i < claim_count_; ++i) {
    const double granted = std::min(order[i]->demand, rest / static_cast<double>(claim_count_ - i));
    if (order[i]->demand > 0 && granted < order[i]->demand)
      order[i]->rate = std::max<int64_t>(
          1, static_cast<int64_t>(granted / order[i]->demand * static_cast<double>(kFullRate)));
    rest -= granted;
  }
}

void Overlap::progress(Claim& claim, Picoseconds from) {
  const bool finished = claim.end <= now_;
  if (!finished) claim.left -= static_cast<OverlapWork>((now_ - from).count()) * claim.rate;
  if (!claim.transfer) {
    core_.left = claim.left;
    core_runs_ = !finished;
    return;
  }
  claim.transfer->left = claim.left;
  if (!finished) return;
  claim.transfer->finished = true;
  claim.transfer->end = now_;
  ++queues_[static_cast<size_t>(claim.transfer->lane)].head;
  --running_;
}

void Overlap::advance(Picoseconds limit) {
  collect_claims();
  share_bandwidth();
  Picoseconds next = limit;
  for (size_t i = 0; i < claim_count_; ++i) {
    Claim& claim = claims_[i];
    claim.end = later(now_, time_left(claim.left, claim.rate));
    next = std::min(next, claim.end);
  }
  for (const Queue& queue : queues_)
    if (queue.head < queue.tickets.size())
      if (const Picoseconds ready = transfers_[queue.tickets[queue.head]].ready; ready > now_)
        next = std::min(next, ready);
  const Picoseconds from = now_;
  now_ = next;
  for (size_t i = 0; i < claim_count_; ++i) progress(claims_[i], from);
}

}  // namespace hlosim
