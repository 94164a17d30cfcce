// What belongs to one device while it runs a module: its memory, its random state, its host channels.
//
//   DeviceState device(pool);
//   device.id = 3;
//   program.run(device, inputs)                    // what it leaves there: random state, sends under way
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array/array.h"
#include "base/source.h"
#include "base/stop.h"
#include "hlo/module.h"

namespace hlosim {

/// Where infeed and recv take values from and outfeed and send put them. `channel` is the infeed_config,
/// outfeed_config or channel id; the leaves of a value come one after another.
class HostTransfers {
 public:
  virtual ~HostTransfers() = default;
  virtual Result<Array> infeed(ShapeRef leaf, MemoryPool& pool) = 0;
  virtual Result<void> outfeed(const Array& leaf) = 0;
  virtual Result<Array> receive(int64_t channel, ShapeRef leaf, MemoryPool& pool) = 0;
  virtual Result<void> send(int64_t channel, const Array& leaf) = 0;
};

class DeviceState {
 public:
  explicit DeviceState(MemoryPool& pool) : pool_(&pool) {}

  MemoryPool& pool() const { return *pool_; }

  int64_t id = 0;  // flattened: replica · partitions + partition
  int64_t replica_id = 0;
  int64_t partition_id = 0;
  HostTransfers* host = nullptr;               // null: no infeed, outfeed, send or recv
  std::array<uint64_t, 2> rng_state = {0, 0};  // of rng and rng-get-and-update-state: low, high word

  /// What has been sent to the device and it has not received yet, by channel.
  std::map<int64_t, std::vector<std::vector<Array>>> under_way;

  /// Ends the run with an error at `instruction`; the first one counts. Values made after it are never seen.
  void fail(const Module& module, const Instruction& instruction, std::string message);
  void fail(Diagnostic error);
  bool failed() const { return failure_.has_value(); }

  const Stop* stop = nullptr;  // null: nobody may wish that the run ends
  /// Somebody wishes it: the run fails at `instruction`.
  bool stops_at(const Module& module, const Instruction& instruction) {
    if (!stop || !stop->asked()) return false;
    fail(module, instruction, stop->why());
    return true;
  }
  /// A loop around what was stopped says how far it was.
  void stopped_in(const Instruction& loop, int64_t iteration);

  const std::optional<Diagnostic>& failure() const { return failure_; }

 private:
  MemoryPool* pool_;
  std::optional<Diagnostic> failure_;
};

}  // namespace hlosim
