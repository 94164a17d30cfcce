#include "model/compute_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "layout/sizes.h"
#include "ops/work.h"

namespace hlosim {
namespace {

double ceil_div(double a, double b) { return std::ceil(a / b); }

/// One MXU streams `issues` row groups through each of `tiles` tiles of the right operand.
double cycles_of_one_mxu(const MatmulRate& rate, double issues, double tiles, double latch) {
  const double stream = static_cast<double>(rate.cadence.count()) * issues;
  const double unhidden = std::max(latch - stream, 0.0) * (tiles - 1);
  return stream * tiles + latch + unhidden + static_cast<double>(rate.latency.count());
}

double cycles_of_mxus(const DeviceConfig& device, const MatmulWork& work, const MatmulRate& rate,
                      int64_t units) {
  if (work.batch == 0 || work.m == 0 || work.n == 0 || work.k == 0) return 0;
  const MxuConfig& mxu = device.mxu;
  const auto depth = static_cast<double>(mxu.rows);
  const double issues = ceil_div(static_cast<double>(work.m), static_cast<double>(rate.rows));
  const double tiles = static_cast<double>(work.batch) * ceil_div(static_cast<double>(work.k), depth) *
                       ceil_div(static_cast<double>(work.n), static_cast<double>(mxu.columns));
  // A tile that is not full deep loads fewer rows.
  const double latch =
      static_cast<double>(rate.latch_cadence.count()) *
      ceil_div(std::min(static_cast<double>(work.k), depth), static_cast<double>(rate.latch_rows));
  double best = std::numeric_limits<double>::infinity();
  for (int64_t parts = 1; parts <= units; ++parts) {
    const auto split = static_cast<double>(parts);
    if (parts > 1 && split > issues) break;
    const double tiles_each = ceil_div(tiles * split, static_cast<double>(units));
    best = std::min(best, cycles_of_one_mxu(rate, ceil_div(issues, split), tiles_each, latch));
  }
  return best * static_cast<double>(rate.passes);
}

}  // namespace

double mxu_cycles(const DeviceConfig& device, const MatmulWork& work, const MatmulRate& rate) {
  return cycles_of_mxus(device, work, rate, device.mxu.count * device.cores);
}

double core_mxu_cycles(const DeviceConfig& device, const MatmulWork& work, const MatmulRate& rate) {
  return cycles_of_mxus(device, work, rate, device.mxu.count);
}

double vector_registers(const VpuConfig& vpu, ShapeRef array) {
  if (!array->is_array() || array->rank() == 0) return 0;
  const auto whole = static_cast<double>(vpu.lanes * vpu.sublanes);
  double elements = 0;
  if (array->layout && !array->layout->tiles.empty()) {
    elements = static_cast<double>(allocated_elements(array));
  } else {
    const auto dimension = [&](int64_t k) {  // the k-th fastest
      if (k >= array->rank()) return int64_t{1};
      return array->dim(array->layout ? array->layout->minor_to_major[static_cast<size_t>(k)]
                                      : array->rank() - 1 - k);
    };
    const auto minor = static_cast<double>(dimension(0)), second = static_cast<double>(dimension(1));
    if (minor <= 0 || second <= 0) return 0;
    elements = array->rank() == 1 ? minor
                                  : static_cast<double>(array->element_count()) / (minor * second) *
                                        ceil_div(minor, static_cast<double>(vpu.lanes)) *
                                        ceil_div(second, static_cast<double>(vpu.sublanes)) * whole;
  }
  const bool native = std::find(vpu.native_types.begin(), vpu.native_types.end(), array->element_type) !=
                      vpu.native_types.end();
  const int bits = native ? bit_width(array->element_type) : std::max(bit_width(array->element_type), 32);
  return std::ceil(elements * bits / 32 / whole);
}

namespace {

/// Registers that the array's elements would fill with a lane each, by those that they do fill.
double in_full_lanes(const VpuConfig& vpu, ShapeRef array) {
  const bool packed = bit_width(array->element_type) < 32 &&
                      std::find(vpu.native_types.begin(), vpu.native_types.end(), array->element_type) !=
                          vpu.native_types.end();
  return packed ? 32.0 / bit_width(array->element_type) : 1;
}

}  // namespace

VectorSlots vector_slots(const VpuConfig& vpu, const VectorWork& work) {
  VectorSlots slots;
  if (!work.shape) return slots;
  if (work.shape->is_scalar()) {
    slots.scalar = work.per_element;
    return slots;
  }
  // The cross-lane units take 1024 elements as long whatever their width.
  const double elements = work.op == VectorOp::kTranspose ? in_full_lanes(vpu, work.shape) : 1;
  const double registers = vector_registers(vpu, work.shape) * work.per_element * elements;
  const VectorOpCost& cost = op_cost(vpu, work.op);
  slots.alu = registers * cost.alu;
  slots.eup = registers * cost.eup;
  slots.xlu = registers * cost.xlu;
  return slots;
}

double side_by_side(double a, double b, double exponent) {
  if (exponent == 2) return std::hypot(a, b);
  const double longer = std::max(a, b), shorter = std::min(a, b);
  if (longer <= 0 || shorter <= 0 || !std::isfinite(longer)) return longer;
  return longer * std::pow(1 + std::pow(shorter / longer, exponent), 1 / exponent);
}

VectorSlots conversion_work(const VpuConfig& vpu, ShapeRef array) {
  VectorSlots slots;
  if (!array->is_array() || array->rank() == 0) return slots;
  const double per_register = conversion_slots(vpu, array->element_type);
  if (per_register > 0) slots.alu = vector_registers(vpu, array) * per_register;
  return slots;
}

}  // namespace hlosim
