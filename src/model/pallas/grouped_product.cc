#include "model/pallas/grouped_product.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/rounding.h"

namespace hlosim {
namespace {

class GroupedProduct {
 public:
  GroupedProduct(const DeviceConfig& device, const GroupedProblem& problem, const GroupedBlocks& blocks,
                 const MatmulRate& rate)
      : device_(device),
        problem_(problem),
        blocks_(blocks),
        rate_(rate),
        visits_(tile_visits(problem, blocks.m, problem.form == GroupedForm::kWeightGradient)),
        steps_(device, cores_) {
    steps_.kernel().units = OverlapRule::kBundles;
    steps_.kernel().transfers = OverlapRule::kWindows;
  }

  KernelCost cost() && {
    const bool is_gradient = problem_.form == GroupedForm::kWeightGradient;
    is_gradient ? add_gradient() : add_product();
    Kernel& kernel = steps_.kernel();
    kernel.blocks = {1, blocks_.m, blocks_.n, blocks_.k};
    kernel.blocks.given = true;
    // With several parts of the depth a product fetches both tiles at every step.
    const bool fetches_all = !is_gradient && parts_ > 1;
    kernel.lhs_times =
        as_double(all_columns_) * (fetches_all ? visits_.all / std::max(visits_.tiles, 1.0) : 1);
    kernel.rhs_times = is_gradient ? parts_ : fetches_all ? visits_.all / std::max(visits_.groups, 1.0) : 1;
    KernelCost cost = std::move(steps_).finish();
    cost.grid = is_gradient ? std::vector<int64_t>{all_columns_, whole(parts_), whole(visits_.all)}
                            : std::vector<int64_t>{all_columns_, whole(visits_.all), whole(parts_)};
    cost.computed = cost.steps;
    cost.blocks = {{"tile_m", blocks_.m},
                   {"tile_k", blocks_.k},
                   {"tile_n", blocks_.n},
                   {"input_buffer_count", blocks_.buffers}};
    if (cores_ > 1) cost.blocks.push_back({"cores", cores_});
    // Of the tiles, what the groups need.
    cost.flops = Flops(static_cast<int64_t>(
        std::min(2 * used_rows() * as_double(problem_.depth) * as_double(problem_.columns), 9e18)));
    return cost;
  }

 private:
  using Step = KernelSteps::Step;
  static int64_t whole(double count) { return static_cast<int64_t>(std::min(count + 0.5, 9e18)); }
  double registers(int64_t rows, int64_t columns) const {
    return as_double(rows) * as_double(columns) / steps_.core().register_elements();
  }
  double used_rows() const {
    if (problem_.sizes.empty()) return as_double(problem_.rows);
    double rows = 0;
    for (const int64_t size : problem_.sizes) rows += as_double(size);
    return rows;
  }
  double cycles(int64_t m, int64_t k, int64_t n) const {
    return steps_.core().product_in_loop({.m = m, .n = n, .k = k}, rate_);
  }
  void add_window(double bytes, int64_t buffers, bool is_result) {
    steps_.kernel().windows.push_back(
        {bytes, 0, static_cast<int8_t>(std::min<int64_t>(buffers, 8)), is_result});
  }

  /// Grid: columns, visits, parts of the depth. A tile of the left operand comes when the visit is of another
  /// tile, weights when it is of another group; with several parts both come at every step.
  void add_product() {
    const double lhs = as_double(blocks_.m) * as_double(blocks_.k) * element_bytes(problem_.lhs);
    const double rhs = as_double(blocks_.k) * as_double(blocks_.n) * element_bytes(problem_.rhs);
    const double out = as_double(blocks_.m) * as_double(blocks_.n) * element_bytes(problem_.result);
    add_window(lhs, blocks_.buffers, false), add_window(rhs, 2, false), add_window(out, 2, true);
    steps_.kernel().scratch = as_double(blocks_.m) * as_double(blocks_.n) * 4;
    steps_.kernel().first.in[0] = lhs + rhs, steps_.kernel().last.out[0] = out;
    const Step inner = product_step(false), last = product_step(true);
    const auto add = [&](double count, Step step, double read, double written) {
      step.read = read, step.written = written;
      steps_.add(count, step);
    };
    if (parts_ > 1) {
      const double results = columns_ * visits_.all;
      add(results * (parts_ - 1), inner, lhs + rhs, 0);
      add(columns_ * visits_.tiles, last, lhs + rhs, out);
      add(columns_ * (visits_.all - visits_.tiles), last, lhs + rhs, 0);
      return;
    }
    const double both = visits_.aligned, weights = std::max(visits_.groups - 1 - both, 0.0);
    const double tiles = std::max(visits_.tiles - 1 - both, 0.0);
    add(1, last, 0, out);
    add(columns_ * (both + 1) - 1, last, lhs + rhs, out);
    add(columns_ * weights, last, rhs, 0);
    add(columns_ * tiles, last, lhs, out);
    add(columns_ * std::max(visits_.all - 1 - both - weights - tiles, 0.0), last, 0, 0);
  }

  /// A product, added to the sum in VMEM; the last part of a result masks the rows of other groups.
  Step product_step(bool is_last) const {
    Step step;
    step.mxu = cycles(blocks_.m, blocks_.k, blocks_.n);
    step.multiply_adds = as_double(blocks_.m) * as_double(blocks_.k) * as_double(blocks_.n);
    const double results = registers(blocks_.m, blocks_.n);
    step.slots.alu = results * device_.kernel.accumulator;
    add_conversions(step, registers(blocks_.m, blocks_.k), registers(blocks_.k, blocks_.n));
    if (!is_last) return step;
    step.slots.alu += results * (device_.kernel.mask + (problem_.scaled ? 1 : 0));
    if (problem_.depth % blocks_.k != 0)
      step.slots.alu += (registers(blocks_.m, blocks_.k) + registers(blocks_.k, blocks_.n)) *
                        device_.kernel.mask * device_.kernel.masked_operand;
    return step;
  }

  /// Grid: columns, parts of the depth, visits. The sum of a group stays until the group ends; rows of other
  /// groups are masked in both operands.
  void add_gradient() {
    const double lhs = as_double(blocks_.m) * as_double(blocks_.k) * element_bytes(problem_.lhs);
    const double rhs = as_double(blocks_.m) * as_double(blocks_.n) * element_bytes(problem_.rhs);
    const double out = as_double(blocks_.k) * as_double(blocks_.n) * element_bytes(problem_.result);
    add_window(lhs, blocks_.buffers, false), add_window(rhs, blocks_.buffers, false);
    add_window(out, 2, true);
    steps_.kernel().scratch = as_double(blocks_.k) * as_double(blocks_.n) * 4;
    steps_.kernel().first.in[0] = lhs + rhs, steps_.kernel().last.out[0] = out;
    const double results = columns_ * parts_;
    const double both = visits_.aligned, groups = std::max(visits_.groups - 1 - both, 0.0);
    const double tiles = std::max(visits_.tiles - 1 - both, 0.0);
    const auto add = [&](double count, double read, double written) {
      Step step = gradient_step(written > 0);
      step.read = read, step.written = written;
      steps_.add(count, step);
    };
    add(1, 0, out);
    add(results * (both + 1) - 1, lhs + rhs, out);
    add(results * groups, 0, out);
    add(results * tiles, lhs + rhs, 0);
  }

  Step gradient_step(bool ends_group) const {
    Step step;
    step.mxu = cycles(blocks_.k, blocks_.m, blocks_.n);
    step.multiply_adds = as_double(blocks_.m) * as_double(blocks_.k) * as_double(blocks_.n);
    const double sums = registers(blocks_.k, blocks_.n);
    const double packed = steps_.core().is_native(problem_.lhs) ? 0.5 : 1;
    step.slots.alu = sums * device_.kernel.accumulator;
    step.slots.alu +=
        (registers(blocks_.m, blocks_.k) + registers(blocks_.m, blocks_.n)) * device_.kernel.mask * packed;
    if (ends_group) step.slots.alu += sums * device_.kernel.mask;
    return step;
  }

  /// Operands of types that the arrays don't take.
  void add_conversions(Step& step, double lhs, double rhs) const {
    step.slots.alu += lhs * rate_.lhs_convert + rhs * rate_.rhs_convert;
  }

  const DeviceConfig& device_;
  const GroupedProblem& problem_;
  const GroupedBlocks& blocks_;
  const MatmulRate rate_;
  const TileVisits visits_;
  const int64_t all_columns_ = ceil_div(problem_.columns, blocks_.n);
  const int64_t cores_ = blocks_.cores > 0 && all_columns_ % blocks_.cores == 0 ? blocks_.cores : 1;
  const double columns_ = as_double(ceil_div(all_columns_, cores_));  // of one core
  const double parts_ = as_double(ceil_div(problem_.depth, blocks_.k));
  KernelSteps steps_;
};

/// Keeps counts exact.
constexpr int64_t kMostGroupedSize = int64_t{1} << 30;

Result<void> check(const DeviceConfig& device, const GroupedProblem& problem, const GroupedBlocks& blocks) {
  if (Result<void> checked = check_kernel_sizes("grouped product",
                                                {{"rows", problem.rows},
                                                 {"depth", problem.depth},
                                                 {"columns", problem.columns},
                                                 {"groups", problem.groups},
                                                 {"tile_m", blocks.m},
                                                 {"tile_k", blocks.k},
                                                 {"tile_n", blocks.n},
                                                 {"input_buffer_count", blocks.buffers},
                                                 {"cores", blocks.cores}},
                                                kMostGroupedSize);
      !checked)
    return checked;
  if (blocks.cores > device.cores)
    return failure(
        fmt::format("grouped product: {} cores, but {} has {}", blocks.cores, device.name, device.cores));
  int64_t rows = 0;
  for (const int64_t size : problem.sizes) {
    if (size < 0 || size > problem.rows)
      return failure(
          fmt::format("grouped product: a group of {} rows, expected 0 to {}", size, problem.rows));
    rows += size;
  }
  if (rows > problem.rows)
    return failure(
        fmt::format("grouped product: groups of {} rows together, but {} rows", rows, problem.rows));
  if (!problem.sizes.empty() && static_cast<int64_t>(problem.sizes.size()) != problem.groups)
    return failure(
        fmt::format("grouped product: {} sizes for {} groups", problem.sizes.size(), problem.groups));
  return {};
}

}  // namespace

TileVisits tile_visits(const GroupedProblem& problem, int64_t tile, bool visits_empty) {
  TileVisits visits;
  if (problem.sizes.empty()) {
    // No border of dealt groups is at that of a tile.
    visits.groups = as_double(std::min(problem.groups, problem.rows));
    visits.tiles = as_double(ceil_div(problem.rows, tile));
    visits.all = visits.tiles + visits.groups - 1;
    return visits;
  }
  int64_t begin = 0, last_tile = -1;
  for (const int64_t size : problem.sizes) {
    if (size == 0) {
      visits.all += visits_empty ? 1 : 0;
      visits.groups += visits_empty ? 1 : 0;
      continue;
    }
    const int64_t first = begin / tile, end = ceil_div(begin + size, tile);
    visits.all += as_double(end - first);
    visits.tiles += as_double(end - std::max(first, last_tile + 1));
    visits.aligned += begin > 0 && begin % tile == 0 ? 1 : 0;
    visits.groups += 1;
    last_tile = end - 1;
    begin += size;
  }
  return visits;
}

Result<KernelCost> grouped_product_cost(const DeviceConfig& device, const GroupedProblem& problem,
                                        const GroupedBlocks& blocks) {
  if (Result<void> checked = check(device, problem, blocks); !checked) return tl::unexpected(checked.error());
  const Result<MatmulRate> rate =
      kernel_rate(device, "grouped product", problem.lhs, problem.rhs, problem.precision);
  if (!rate) return tl::unexpected(rate.error());
  return GroupedProduct(device, problem, blocks, *rate).cost();
}

KernelCost grouped_product_cost(const DeviceConfig& device, const GroupedProblem& problem,
                                const GroupedBlocks& blocks, const MatmulRate& rate) {
  return GroupedProduct(device, problem, blocks, rate).cost();
}

std::vector<KernelPass> grouped_product_passes(const DeviceConfig& device, const GroupedProblem& problem) {
  std::vector<KernelPass> passes;
  passes.push_back(
      {"group metadata",
       {},
       {},
       ceil_picoseconds(device.kernel.group_list * as_double(device.overhead.smallest_fusion.count()))});
  if (problem.copied) {
    const double bytes = problem.form == GroupedForm::kWeightGradient
                             ? as_double(problem.groups) * as_double(problem.depth)
                             : as_double(problem.rows);
    const double result = bytes * as_double(problem.columns) * element_bytes(problem.result);
    passes.push_back(kernel_pass(device, "result copied", result, result));
  }
  return passes;
}

std::vector<GroupedBlocks> grouped_block_candidates(const DeviceConfig& device,
                                                    const GroupedProblem& problem) {
  const int64_t lanes = Core(device).lanes();
  const auto parts_of = [&](int64_t size) {  // the whole, and even parts of whole lanes
    std::vector<int64_t> sizes{size};
    for (int64_t parts = 2; parts <= 16; ++parts)
      if (size % parts == 0 && size / parts % lanes == 0) sizes.push_back(size / parts);
    return sizes;
  };
  std::vector<GroupedBlocks> candidates;
  for (int64_t m = 1024; m >= 128; m /= 2)
    if (problem.rows % m == 0)
      for (const int64_t k : parts_of(problem.depth))
        for (const int64_t n : parts_of(problem.columns)) candidates.push_back({m, k, n});
  return candidates;
}

}  // namespace hlosim
