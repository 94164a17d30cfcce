// Costs of many collectives on one slice, what they have in common worked out once.
//
//   CollectiveCosts costs(device.config, slice, grid);
//   for (const OpContext& op : collectives) total += costs.of(op, assumptions)->time();
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>

#include "interconnect/collective_cost.h"

namespace hlosim {

/// Where the members of groups are is found once for all collectives of the same groups; a cost once for all
/// that have the kind and the bytes in common, too.
class CollectiveCosts {
 public:
  /// All outlive the object.
  CollectiveCosts(const DeviceConfig& device, const Slice& slice, const DeviceGrid& grid);
  ~CollectiveCosts();
  CollectiveCosts(const CollectiveCosts&) = delete;
  CollectiveCosts& operator=(const CollectiveCosts&) = delete;

  /// The same as cost_collective(), assumptions included. `kind`: another than the opcode says
  /// (model/fused_collectives.h).
  Result<CollectiveCost> of(const OpContext& op, AssumptionList& assumptions,
                            AxisOrder order = AxisOrder::kRotation, std::optional<CollectiveKind> kind = {});

 private:
  struct Placed;  // groups, and where their members are
  struct Known {
    CollectiveCost cost;
    AssumptionList assumptions;  // that it rests on
  };
  /// Groups, kind, order; bytes with padding, of scalars, without padding.
  using Key = std::tuple<const Placed*, CollectiveKind, AxisOrder, int64_t, int64_t, int64_t>;

  Result<Placed*> placed(const OpContext& op);
  CollectiveCost price(Placed& placed, CollectiveCost cost, AxisOrder order, AssumptionList& assumptions);

  const DeviceConfig& device_;
  const Slice& slice_;
  const DeviceGrid& grid_;
  std::unordered_map<std::string, std::unique_ptr<Placed>> placed_;  // by what the text has of the groups
  std::map<Key, Known> known_;
};

}  // namespace hlosim
