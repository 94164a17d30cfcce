// Several devices running one program and talking to each other.
//
// The devices that this process runs go through the program together. What an instruction does on one device
// alone runs device by device, on several threads. An instruction at which devices meet - a collective, or
// control flow with collectives inside - is given all devices that reached it, and where their ways part
// (a loop that some leave earlier, a conditional) each group goes its way in turn: branch 0 first, the loop
// until the last one leaves. So all processes pass the meetings in one order, no device needs a thread or a
// stack, and deadlocks are detected immediately.
//
//   LockstepRun run(grid, lone_rank());
//   run.local_devices()                            // all of them, where one process runs them
//   run.name_of(3)                                 // for messages
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dist/ranks.h"
#include "evaluate/evaluate.h"
#include "ops/collective_groups.h"

namespace hlosim {

/// Why a device isn't where others are.
struct Absence {
  enum class Way : uint8_t { kNone, kLeft, kBranch };
  Way way = Way::kNone;
  const Instruction* instruction = nullptr;  // the while or conditional
  int64_t number = 0;                        // iterations, or the branch
};

/// One run of a program on a grid of devices. Ranks run neighbouring devices: rank r those of share r.
class LockstepRun {
 public:
  LockstepRun(const DeviceGrid& grid, Ranks& ranks);

  const DeviceGrid& grid() const { return grid_; }
  Ranks& ranks() const { return *ranks_; }
  int rank_of(int64_t device) const;
  /// Devices of this rank, by flattened id.
  Share local_devices() const { return local_; }

  /// "device 5 (replica 2, partition 1)".
  std::string name_of(int64_t device) const;

  Absence& absence(int64_t device) { return absences_[static_cast<size_t>(device - local_.begin)]; }
  /// "has left while.3 after 5 iterations". Requires: a device of this rank.
  std::string whereabouts(int64_t device);

  /// The first failure among devices, if there is one: the run ends. True: it has failed.
  bool check(std::span<const DeviceCall> calls);
  void fail(Diagnostic failure);
  bool failed() const { return failure_.has_value(); }
  const std::optional<Diagnostic>& failure() const { return failure_; }

 private:
  DeviceGrid grid_;
  Ranks* ranks_;
  Share local_;
  std::vector<Absence> absences_;
  std::optional<Diagnostic> failure_;
};

/// One run of one instruction on the devices that reached it together.
class CollectiveCall {
 public:
  /// `members` by ascending device.
  CollectiveCall(LockstepRun& run, const Module& module, const Instruction& instruction,
                 std::span<Invocation> members)
      : run_(run), module_(module), instruction_(instruction), members_(members) {}

  LockstepRun& run() const { return run_; }
  const Instruction& instruction() const { return instruction_; }
  std::span<Invocation> members() const { return members_; }
  /// Null: it isn't here.
  Invocation* member(int64_t device) const;
  MemoryPool& pool() const { return members_.front().device().pool(); }

  /// Ends the run with an error at this instruction.
  void fail(std::string message) const;
  /// The run or one of its devices has failed.
  bool failed() const;

 private:
  LockstepRun& run_;
  const Module& module_;
  const Instruction& instruction_;
  std::span<Invocation> members_;
};

/// Whether `devices`, a group that meets at `call`, has a member here, and if so, whether all are here who
/// should be: those of this rank, and by their word those of other ranks. `number` distinguishes the groups
/// of an instruction.
enum class Attendance : uint8_t { kNobody, kAll, kFailed };
Attendance meet(CollectiveCall& call, std::span<const int64_t> devices, size_t number);

}  // namespace hlosim
