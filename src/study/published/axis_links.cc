#include "published/axis_links.h"

#include "sharding/mesh_order.h"

namespace hlosim {

Result<AxisLinks> AxisLinks::of(const Mesh& ici, const Mesh& dcn, const DeviceConfig& device,
                                const Slice& slice) {
  AxisLinks links;
  const int64_t cores = slice.devices_per_chip;
  const double link = device.ici.bandwidth.count() / static_cast<double>(cores);
  const Result<MeshOnTorus> order = mesh_order(ici, slice.sides, cores, "", "mesh");
  if (!order) return tl::unexpected(order.error());
  for (size_t i = 0; i < ici.axes.size(); ++i) {
    Axis& axis = links.axes_[ici.axes[i].name];
    axis.inside = static_cast<double>(ici.axes[i].size);
    for (const TorusPart& part : order->axes[i]) {
      const bool is_ring = part.size == slice.sides[part.dimension] && slice.wraps[part.dimension];
      axis.rate += is_ring && part.size > 2 ? 2 * link : link;
      axis.hops += static_cast<double>(part.size) / (is_ring ? 4 : 3);
    }
    // Devices of one chip alone: as fast as the memory they share.
    if (order->axes[i].empty())
      axis.rate = device.ici.die_to_die ? device.ici.die_to_die->count()
                                        : device_rates(device, device.hbm()).total.count();
  }
  for (const MeshAxis& axis : dcn.axes) links.axes_[axis.name].between = static_cast<double>(axis.size);
  links.host_rate_ = device.host.dcn.bandwidth.count() / static_cast<double>(device.host.chips * cores);
  return links;
}

double AxisLinks::seconds(CollectiveKind kind, const std::vector<std::string>& axes, double bytes) const {
  double inside = 1, between = 1, rate = 0, hops = 0;
  for (const std::string& name : axes) {
    const auto found = axes_.find(name);
    if (found == axes_.end()) continue;
    inside *= found->second.inside, between *= found->second.between, rate += found->second.rate,
        hops += found->second.hops;
  }
  const double rounds = kind == CollectiveKind::kAllReduce ? 2 : 1;
  double seconds = 0;
  if (inside > 1 && rate > 0) {
    // All-to-all: every byte takes a link for each hop.
    const double share = kind == CollectiveKind::kAllToAll ? hops : (inside - 1) / inside;
    seconds += rounds * share * bytes / rate;
  }
  if (between > 1) seconds += rounds * (between - 1) / between * bytes / inside / host_rate_;
  return seconds;
}

}  // namespace hlosim
