#include "evaluate/devices/joint.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace hlosim {

LockstepRun::LockstepRun(const DeviceGrid& grid, Ranks& ranks)
    : grid_(grid),
      ranks_(&ranks),
      local_(share_of(grid.devices(), ranks.size(), ranks.rank())),
      absences_(static_cast<size_t>(local_.size())) {}

int LockstepRun::rank_of(int64_t device) const { return part_of(grid_.devices(), ranks_->size(), device); }

std::string LockstepRun::name_of(int64_t device) const {
  if (grid_.partitions == 1) return fmt::format("device {} (replica {})", device, device);
  if (grid_.replicas == 1) return fmt::format("device {} (partition {})", device, device);
  return fmt::format("device {} (replica {}, partition {})", device, device / grid_.partitions,
                     device % grid_.partitions);
}

std::string LockstepRun::whereabouts(int64_t device) {
  const Absence& absence = this->absence(device);
  switch (absence.way) {
    case Absence::Way::kLeft:
      return fmt::format("has left {} after {} iteration{}", absence.instruction->name, absence.number,
                         absence.number == 1 ? "" : "s");
    case Absence::Way::kBranch:
      return fmt::format("takes branch {} of {}", absence.number, absence.instruction->name);
    case Absence::Way::kNone:
      break;
  }
  return "is elsewhere";
}

bool LockstepRun::check(std::span<const DeviceCall> calls) {
  for (const DeviceCall& call : calls) {
    if (failed()) break;
    if (!call.device->failed()) continue;
    Diagnostic failure = *call.device->failure();
    if (grid_.devices() > 1)
      failure.message = fmt::format("{}: {}", name_of(call.device->id), failure.message);
    fail(std::move(failure));
  }
  return failed();
}

void LockstepRun::fail(Diagnostic failure) {
  if (!failure_) failure_ = std::move(failure);
}

Invocation* CollectiveCall::member(int64_t device) const {
  const auto found =
      std::lower_bound(members_.begin(), members_.end(), device,
                       [](const Invocation& member, int64_t id) { return member.device().id < id; });
  return found != members_.end() && found->device().id == device ? &*found : nullptr;
}

void CollectiveCall::fail(std::string message) const {
  Diagnostic failure;
  failure.message = fmt::format("{}: {}", instruction_.name, message);
  failure.source = module_.source;
  failure.offset = instruction_.opcode_offset;
  run_.fail(std::move(failure));
}

bool CollectiveCall::failed() const {
  return run_.failed() || std::any_of(members_.begin(), members_.end(),
                                      [](const Invocation& member) { return member.device().failed(); });
}

namespace {

std::string list_of(std::span<const int64_t> devices) {
  constexpr size_t kShown = 16;
  std::string text = fmt::format("{}", fmt::join(devices.first(std::min(devices.size(), kShown)), ","));
  return devices.size() > kShown ? fmt::format("{{{},… {} in all}}", text, devices.size())
                                 : fmt::format("{{{}}}", text);
}

}  // namespace

Attendance meet(CollectiveCall& call, std::span<const int64_t> devices, size_t number) {
  LockstepRun& run = call.run();
  int64_t here = -1, missing = -1;
  std::vector<int> peers;
  for (const int64_t device : devices) {
    if (const int rank = run.rank_of(device); rank != run.ranks().rank())
      peers.push_back(rank);
    else if (call.member(device))
      here = here < 0 ? device : here;
    else
      missing = missing < 0 ? device : missing;
  }
  if (here < 0) return Attendance::kNobody;
  if (missing >= 0) {
    call.fail(fmt::format("{} is waiting for {}, which {}; the group is {}", run.name_of(here),
                          run.name_of(missing), run.whereabouts(missing), list_of(devices)));
    return Attendance::kFailed;
  }
  if (peers.empty()) return Attendance::kAll;
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  const Instruction& instruction = call.instruction();
  const uint64_t key = (static_cast<uint64_t>(instruction.opcode_offset) << 24) + number + 1;
  const Result<void> met =
      run.ranks().meet(peers, {key, fmt::format("{} {} of devices {}", to_text(instruction.opcode),
                                                instruction.name, list_of(devices))});
  if (met) return Attendance::kAll;
  call.fail(met.error().message);
  return Attendance::kFailed;
}

}  // namespace hlosim
