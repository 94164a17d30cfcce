#include "report/limiting_key.h"

#include <fmt/format.h>

#include <algorithm>

namespace hlosim {

PortLimits::PortLimits(const DeviceConfig& device, size_t space)
    : device_(device), memory_(device), space_(space) {
  if (space != memory_.hbm()) return;
  const SpaceRates own = device_rates(device, device.hbm());
  const BusRate& rates = memory_.rates(space);
  const double alone = 1e12 / own.total.count();
  if (rates.total > alone) total_ = kDma;
  // A direction without a rate of its own goes by that of both, one with is no faster than the memory.
  if (!device.hbm().read)
    read_ = total_;
  else if (rates.read <= alone)
    read_ = kBandwidth;
  if (!device.hbm().write)
    write_ = total_;
  else if (rates.write <= alone)
    write_ = kBandwidth;
}

void PortLimits::add(const Traffic& traffic, Picoseconds busy, int64_t executions) {
  const auto read = static_cast<double>(traffic.read.count()),
             written = static_cast<double>(traffic.written.count());
  const auto times = static_cast<double>(executions);
  const BusRate& rates = memory_.rates(space_);
  const double exact = memory_.busy_exactly(space_, traffic);
  times_[kNoRate] += times * std::max(0.0, static_cast<double>(busy.count()) - exact);
  if (!rates.takes_turns) {
    // The slowest of three: alone, or no key by itself makes it faster.
    const std::array<double, 3> each = {(read + written) * rates.total, read * rates.read,
                                        written * rates.write};
    const std::array<Limit, 3> limits = {kBandwidth, kRead, kWrite};
    const auto slowest = std::max_element(each.begin(), each.end());
    const bool alone = std::count(each.begin(), each.end(), *slowest) == 1;
    times_[alone ? limits[static_cast<size_t>(slowest - each.begin())] : kNoRate] += times * exact;
    return;
  }
  const double both = std::min(read, written);
  if (2 * rates.total >= rates.read + rates.write) {
    times_[total_] += times * both * 2 * rates.total;
  } else {
    times_[read_] += times * both * rates.read;
    times_[write_] += times * both * rates.write;
  }
  times_[read_] += times * (read - both) * rates.read;
  times_[write_] += times * (written - both) * rates.write;
}

std::string PortLimits::key() const {
  const auto longest = std::max_element(times_.begin(), times_.end());
  if (*longest <= 0) return {};
  const std::string& name = device_.memory[space_].name;
  switch (static_cast<Limit>(longest - times_.begin())) {
    case kBandwidth:
      return fmt::format("memory.{}.bandwidth", name);
    case kDma:
      return "dma.bandwidth";
    case kRead:
      return fmt::format("memory.{}.read", name);
    case kWrite:
      return fmt::format("memory.{}.write", name);
    case kNoRate:
      break;
  }
  return {};
}

}  // namespace hlosim
