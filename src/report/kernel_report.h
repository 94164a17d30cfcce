// The cost of a kernel by its blocks, part by part.
//
//   std::cout << to_text(kernel_report(device.config, *request, *cost));
#pragma once

#include <string>
#include <vector>

#include "report/kernel_request.h"

namespace hlosim {

/// One line: what takes time, or keeps a unit busy meanwhile.
struct KernelPart {
  std::string name;
  Picoseconds time{};
  std::string what;
};

struct KernelReport {
  std::string kernel, device;
  KernelCost cost;
  bool tuned = false;    // blocks were looked for
  std::string origin;    // of blocks that were not given: "the best that fit"
  std::string bound_by;  // what takes most of the time: "MXU", "HBM", "steps"
  std::vector<KernelPart> parts;
  double share_of_peak = 0;  // of the bf16 peak, by the kernel alone
};

KernelReport kernel_report(const DeviceConfig& device, const KernelRequest& request, const KernelCost& cost);
/// What takes most of the kernel's time: a unit, or time that no unit works.
std::string bound_of(const DeviceConfig& device, const KernelCost& cost);
/// What takes the time of the kernel itself, for those who explain a call.
std::vector<KernelPart> kernel_parts(const DeviceConfig& device, const KernelCost& cost);
/// "block_q=1024, block_kv=1024"
std::string block_text(const KernelCost& cost);

std::string to_text(const KernelReport& report);
/// The fastest blocks, and those that VMEM has no room for. Requires: some fit.
std::string to_text(const BlockRanking& ranking);
/// {"schema_version", "kernel", "device", "time_ps", …}, with a ranking also "ranking" and "rejected"; ends
/// in '\n'.
std::string to_json(const KernelReport& report, const BlockRanking* ranking = nullptr);

}  // namespace hlosim
