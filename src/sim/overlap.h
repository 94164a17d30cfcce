// Simulated time in which the TensorCore and transfers beside it go on together, sharing HBM.
//
// The TensorCore runs one instruction after the other. One takes `stream` on its own, and HBM has to serve
// it for `hbm_work` (at its full rate) meanwhile; it asks for its bytes as fast as it can get them, and ends
// when both are over. A transfer is a stream of its own: it asks for the share `demand` of HBM, in [0, 1],
// as long as it runs. When the demands exceed 1 they are served max-min fair: small ones fully, the others
// equally; a transfer that gets less than it asked for runs that much slower. Each lane works its transfers
// off one after the other, in the order of their start. A permute that takes some links only goes beside
// another that takes none of these (both ways round a ring), in a lane of its own.
//
// What is left of a stream is counted in whole parts of a picosecond, so that doing a thing n times at once
// (repeat) gives exactly what doing it n times one after the other does.
//
//   Overlap time;
//   const size_t copy = time.start(Lane::kDmaIn, latency, stream, 1.0);    // takes all of HBM
//   time.pass(Picoseconds(500));                   // the TensorCore meanwhile
//   time[copy].finished
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/saturating.h"
#include "base/units.h"
#include "interconnect/interconnect.h"
#include "sim/timeline.h"

namespace hlosim {

/// time × count, held at kForever.
Picoseconds times(Picoseconds time, int64_t count);

class Overlap {
 public:
  /// Picoseconds of a stream on its own, times 2^40.
  __extension__ typedef __int128 Work;
  static constexpr int kWorkBits = 40;

  struct Transfer {
    Lane lane = Lane::kDmaIn;
    std::shared_ptr<const LinkSet> links;  // of Lane::kIci; null: all
    Picoseconds start{};                   // issued
    Picoseconds ready{};  // the latency is over; transfers waiting in a queue have theirs meanwhile
    Picoseconds begin{};  // head of its lane and ready
    Picoseconds end{};
    Picoseconds stream{};
    double demand = 0;
    Work left = 0;  // of the stream
    bool begun = false, finished = false;
    /// Part of the stream that is not done, [0, 1].
    double left_part() const;
  };

  /// Where things stand between two instructions.
  struct State {
    Picoseconds now{};
    std::vector<size_t> running;  // tickets
    std::vector<Work> left;       // of each
    std::vector<bool> begun;
  };

  Picoseconds now() const { return now_; }
  const Transfer& operator[](size_t ticket) const { return transfers_[ticket]; }
  size_t transfer_count() const { return transfers_.size(); }
  /// Transfers of a lane that were started and are not finished.
  size_t in_flight(Lane lane) const { return queue(lane).tickets.size() - queue(lane).head; }
  /// The one of them that finishes first. Requires: in_flight(lane) > 0.
  size_t first_in_flight(Lane lane) const { return queue(lane).tickets[queue(lane).head]; }
  bool idle() const { return running_ == 0; }

  /// Starts a transfer now; returns its ticket. With `links`, which are of Lane::kIci, it may be in the lane
  /// beside.
  size_t start(Lane lane, Picoseconds latency, Picoseconds stream, double demand,
               std::shared_ptr<const LinkSet> links = nullptr);
  /// The TensorCore spends `time` without HBM.
  void pass(Picoseconds time);
  /// The TensorCore runs an instruction to its end.
  void run(Picoseconds stream, Picoseconds hbm_work);
  /// The TensorCore stands still until the transfer is finished.
  void wait_for(size_t ticket);

  State state() const;
  /// How many times more the same that was done since `before` would take the same time and leave the same
  /// transfers running: 0 where one of them began or ended meanwhile.
  int64_t repeats(const State& before) const;
  /// Does it `count` times more. Requires: count <= repeats(before).
  void repeat(const State& before, int64_t count);

 private:
  struct Queue {
    std::vector<size_t> tickets;
    size_t head = 0;
  };
  struct Claim {
    Transfer* transfer = nullptr;  // null: the TensorCore
    double demand = 0;
    Work left = 0;
    int64_t rate = 0;  // work done in a picosecond
    Picoseconds end{};
  };
  const Queue& queue(Lane lane) const { return queues_[static_cast<size_t>(lane)]; }

  Lane lane_of_links(const LinkSet& links) const;
  bool is_blocked(size_t ticket) const;
  /// Goes on to the next event, `limit` at the latest.
  void advance(Picoseconds limit);
  void collect_claims();
  void share_bandwidth();
  void progress(Claim& claim, Picoseconds from);

  Picoseconds now_{};
  std::vector<Transfer> transfers_;
  std::array<Queue, kLaneCount> queues_;
  size_t running_ = 0;
  bool core_runs_ = false;
  Claim core_;
  std::array<Claim, kLaneCount + 1> claims_;
  size_t claim_count_ = 0;
};

}  // namespace hlosim
