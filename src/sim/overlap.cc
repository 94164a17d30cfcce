#include "sim/overlap.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace hlosim {
namespace {

/// Rounding errors of fractions of a stream stay far below this many picoseconds.
constexpr double kTolerance = 1e-3;

Picoseconds time_left(double left, Picoseconds stream, double share) {
  const double time = left * static_cast<double>(stream.count()) / share;
  if (!(time < 9.2e18)) return kForever;
  return Picoseconds(std::max<int64_t>(0, static_cast<int64_t>(std::ceil(time - kTolerance))));
}

}  // namespace

Picoseconds later(Picoseconds a, Picoseconds b) { return a > kForever - b ? kForever : a + b; }

Picoseconds times(Picoseconds time, int64_t count) {
  if (count == 0 || time.count() == 0) return Picoseconds(0);
  return time.count() > kForever.count() / count ? kForever : time * count;
}

size_t Overlap::start(Lane lane, Picoseconds latency, Picoseconds stream, double demand) {
  HLOSIM_CHECK(lane != Lane::kTensorCore && demand >= 0 && demand <= 1, "demand {}", demand);
  Transfer transfer;
  transfer.lane = lane;
  transfer.start = now_;
  transfer.ready = later(now_, latency);
  transfer.stream = stream;
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
  core_ = {nullptr, 1, 1, 1, hbm_work, {}};
  core_runs_ = hbm_work.count() > 0;
  while (core_runs_) advance(kForever);
  if (now_ < least) pass(least - now_);
}

void Overlap::wait_for(size_t ticket) {
  while (!transfers_[ticket].finished) advance(kForever);
}

void Overlap::collect_claims() {
  claim_count_ = 0;
  if (core_runs_) claims_[claim_count_++] = core_;
  for (Queue& queue : queues_) {
    if (queue.head == queue.tickets.size()) continue;
    Transfer& head = transfers_[queue.tickets[queue.head]];
    if (head.ready > now_) continue;
    if (!head.begun) head.begin = now_, head.begun = true;
    claims_[claim_count_++] = {&head, head.demand, head.left, 1, head.stream, {}};
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
    if (order[i]->demand > 0) order[i]->share = granted / order[i]->demand;
    rest -= granted;
  }
}

void Overlap::progress(Claim& claim, Picoseconds from) {
  const bool finished = claim.end <= now_;
  if (!finished)
    claim.left -=
        static_cast<double>((now_ - from).count()) * claim.share / static_cast<double>(claim.stream.count());
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
    claim.end = later(now_, time_left(claim.left, claim.stream, claim.share));
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
