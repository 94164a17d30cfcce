// Processes that do one piece of work together, on one machine or on several.
//
// All ranks go through the same program. Where some of them have to exchange something they meet first: each
// says what it has come for, so that ranks which have lost each other find out instead of waiting forever.
//
//   Ranks& ranks = lone_rank();                     // or *launched_ranks()
//   const Share mine = share_of(files.size(), ranks.size(), ranks.rank());
//   for (int64_t i = mine.begin; i < mine.end; ++i) …
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/source.h"

namespace hlosim {

/// What a rank has come for: the same `key` on all that are to meet.
struct Meeting {
  uint64_t key = 0;
  std::string what;  // for messages: "all-reduce.1 of devices 0, 4"
};

using Message = std::vector<std::byte>;

/// Called from one thread at a time.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Waits until all of `peers` (without this rank, ascending) are at the same meeting. Errors, within a
  /// second of the moment when it is sure: a peer is at another meeting, a peer has finished, the ranks
  /// wait for each other in a circle.
  virtual Result<void> meet(std::span<const int> peers, const Meeting& meeting) = 0;

  /// Sends outgoing[i] to peers[i] and fills incoming[i], whose size is known, from there. All of `peers` and
  /// this rank call it after the same meet().
  virtual void exchange(std::span<const int> peers, std::span<const Message> outgoing,
                        std::span<Message> incoming) = 0;

  /// Waits until every rank has finished. Error: some rank waits for this one to meet it again.
  virtual Result<void> finish() = 0;

  /// Ends all ranks at once with an exit code, after this one has said why. Returns only when it is alone.
  virtual void abandon(int exit_code) = 0;
};

/// One process that is alone.
Ranks& lone_rank();

/// This process among those that were started together by `mpirun`. Null: it wasn't, or hlosim was built
/// without MPI. At most one at a time; its end is that of MPI.
std::unique_ptr<Ranks> launched_ranks();

/// Some launcher of MPI programs has started this process together with others.
bool launched_together();
/// It has, but hlosim was built without MPI.
bool mpirun_without_mpi_support();

/// The i-th of `parts` nearly equal parts of [0, count).
struct Share {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};
Share share_of(int64_t count, int parts, int i);
/// The part that `index` lies in. Requires: 0 <= index < count.
int part_of(int64_t count, int parts, int64_t index);

}  // namespace hlosim
