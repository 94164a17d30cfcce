// The chips that a module runs on: one slice of a torus or mesh, or several that a data-centre network joins.
//
//   Result<SliceRequest> request = parse_topology("4x4x8");
//   Result<Slice> slice = choose_slice(device.config, *request, module.num_partitions(), assumptions);
//   slice->text()                                  // "4x4x8 (torus)"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "model/assumptions.h"
#include "model/device.h"

namespace hlosim {

/// Slices of one shape. Chips are numbered slice by slice, x fastest; the devices of a chip follow each
/// other.
struct Slice {
  std::vector<int64_t> sides;    // chips of one slice, x first
  std::vector<bool> wraps;       // one per side: the links along it close to a ring
  int64_t devices_per_chip = 1;  // they share the chip's links
  bool twisted = false;          // going round a short side leads half way along the long ones (Interconnect)
  int64_t count = 1;             // slices

  int64_t chips_per_slice() const;
  int64_t chips() const { return chips_per_slice() * count; }
  int64_t devices() const { return chips() * devices_per_chip; }
  /// "2x2x1 (no wrap-around)", "16x16 (torus)", "4x16 (wraps along y)", "2 slices of 4x4x8 (twisted torus)"
  std::string text() const;
};

/// Which axes wrap around: as the generation's rule says (ici.wrap), none, all, or all with a twist.
enum class SliceForm : uint8_t { kRule, kMesh, kTorus, kTwisted };

struct SliceRequest {
  std::optional<Topology> topology;  // --topology; of one slice
  std::optional<int64_t> devices;    // --devices; of all slices
  SliceForm form = SliceForm::kRule;
  int64_t slices = 1;  // --slices
};

/// "4x4x8", or with a form: "4x4x8_twisted", "4x4_mesh", "3x5_torus". Sets topology and form.
Result<SliceRequest> parse_topology(std::string_view text);

/// What `needed` devices run on: slices of the requested topology; else of the most compact shape of the
/// requested (or needed) number of devices that fits into the generation's pod.
/// Errors: more devices needed than there are; a topology of another rank or beyond the pod; a twist of sides
/// other than k x k x 2k and k x 2k x 2k; slices of unequal size.
Result<Slice> choose_slice(const DeviceConfig& device, const SliceRequest& request, int64_t needed,
                           AssumptionList& assumptions);

}  // namespace hlosim
