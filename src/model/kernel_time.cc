#include "model/kernel_time.h"

#include <algorithm>

#include "base/rounding.h"

namespace hlosim {
namespace {

/// A kernel has to be faster by this factor to be taken instead of an earlier one with larger blocks.
constexpr double kFaster = 1 - 1e-9;

/// Of bytes that are moved while others are on their way.
double transfer_time(const DmaChannels& channels, const BlockTraffic& block) {
  double longest = 0;
  for (size_t i = 0; i < kDmaChannels; ++i)
    if (block.in[i] + block.out[i] > 0)
      longest = std::max(longest, channels[i].bus.time(block.in[i], block.out[i]));
  return longest;
}

/// Until all bytes have arrived.
double arrival_time(const DmaChannels& channels, const BlockTraffic& block) {
  double longest = 0;
  for (size_t i = 0; i < kDmaChannels; ++i) {
    const DmaChannel& channel = channels[i];
    const double in = block.in[i], out = block.out[i];
    if (in > 0 && out > 0) longest = std::max(longest, channel.bus.time(in, out));
    if (in > 0) longest = std::max(longest, channel.bus.time(in, 0) + channel.read_latency);
    if (out > 0) longest = std::max(longest, channel.bus.time(0, out) + channel.write_latency);
  }
  return longest;
}

double step_transfer_time(const DmaChannels& channels, const BlockTraffic& block, Requests requests,
                          double units) {
  switch (requests) {
    case Requests::kAhead:
      return transfer_time(channels, block);
    case Requests::kWhenFree:
      return std::max(transfer_time(channels, block), (units + arrival_time(channels, block)) / 2);
    case Requests::kAtOnce:
      break;
  }
  return arrival_time(channels, block);
}

}  // namespace

std::string_view to_text(SharedDimension shared) {
  constexpr std::string_view kNames[] = {"none", "batch", "rows", "columns"};
  return kNames[static_cast<size_t>(shared)];
}

bool Kernel::uses_dma() const {
  const auto moves = [](const BlockTraffic& block) { return block != BlockTraffic{}; };
  return moves(first) || moves(last) ||
         std::ranges::any_of(steps, [&](const StepClass& step) { return moves(step.traffic); });
}

double Kernel::vmem() const {
  double bytes = scratch;
  for (const VmemWindow& window : windows) bytes += window.bytes * window.buffers;
  return bytes;
}

double units_time(const UnitWork& work, OverlapRule overlap, const Core& core) {
  const double vector = std::max({work.vpu, work.eup, work.xlu});
  const double others = std::max({work.scalar, work.ports, work.copies});
  const double exposed = work.around > 0 ? core.exposed_vector(work.around, work.mxu) : 0;
  const double together =
      core.overlapped(core.overlapped(work.mxu + exposed, vector, overlap), others, overlap);
  return (together + work.apart + work.begin + work.waits) / work.steps;
}

template <class Terms>
KernelTime time_of(const Kernel& kernel, const Core& core, Terms& terms) {
  DmaChannels of_some;
  if (kernel.cores != core.cores()) of_some = core.channels(kernel.cores);
  const DmaChannels& channels = kernel.cores == core.cores() ? core.channels() : of_some;
  KernelTime time;
  time.first_in = arrival_time(channels, kernel.first);
  time.last_out = arrival_time(channels, kernel.last);
  double sum = 0, units = 0;
  uint32_t work = std::numeric_limits<uint32_t>::max();
  for (const StepClass& step : kernel.steps) {
    if (step.count <= 0) continue;
    if (step.work != work) {
      work = step.work;
      units = units_time(kernel.works[work], kernel.units, core);
    }
    const double transfers = step.traffic == BlockTraffic{}
                                 ? 0
                                 : step_transfer_time(channels, step.traffic, kernel.requests, units);
    const double together = core.overlapped(units, transfers, kernel.transfers);
    terms.add_step(step, units, transfers, together);
    sum += step.count * together;
  }
  time.time = time.first_in + time.last_out + kernel.waits + sum;
  return time;
}
template KernelTime time_of(const Kernel&, const Core&, NoTerms&);
template KernelTime time_of(const Kernel&, const Core&, KernelTerms&);

bool KernelSearch::fits(const Kernel& kernel) const {
  return kernel.vmem() <= std::max(as_double(core_.vmem_budget().count()), 1.0);
}

bool KernelSearch::takes(const TimedKernel& kernel) {
  if (!(kernel.time.time < best_.time.time * kFaster)) return false;
  best_ = kernel;
  return true;
}

KernelTime KernelSearch::consider(const Kernel& kernel) {
  const KernelTime time = time_of(kernel, core_);
  if (time.time < best_.time.time * kFaster) best_.kernel = kernel, best_.time = time;
  return time;
}

}  // namespace hlosim
