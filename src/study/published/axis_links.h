// What the axes of a mesh have of a slice's links, and how long collectives take along them at best.
//
//   const Result<AxisLinks> links = AxisLinks::of(run.ici, run.dcn, device, slice);
//   links->seconds(CollectiveKind::kAllGather, {"fsdp"}, bytes)
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/source.h"
#include "interconnect/slice.h"
#include "model/device.h"
#include "ops/work.h"
#include "sharding/mesh.h"

namespace hlosim {

class AxisLinks {
 public:
  /// Errors: axes that can't be laid over the slice.
  static Result<AxisLinks> of(const Mesh& ici, const Mesh& dcn, const DeviceConfig& device,
                              const Slice& slice);

  /// Of an array of `bytes` (gathers: the result; scatters: the operand) along several axes at once: rings
  /// in all directions that the axes have links for; between slices over the hosts' network, each device its
  /// share, of what is left after the slice has done its part.
  double seconds(CollectiveKind kind, const std::vector<std::string>& axes, double bytes) const;

 private:
  struct Axis {
    double inside = 1, between = 1;  // members: devices of a slice, slices
    double rate = 0;                 // bytes per second that a device sends and receives along it
    double hops = 0;                 // between two members, on the average
  };
  std::map<std::string, Axis, std::less<>> axes_;
  double host_rate_ = 0;  // of one device, between slices
};

}  // namespace hlosim
