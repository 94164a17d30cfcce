#include "model/kernel_blocks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/rounding.h"
#include "base/saturating.h"
#include "model/pallas/grouped_product.h"

namespace hlosim {
namespace {

/// Streams are cut into at most so many blocks per core.
constexpr int64_t kMostStreamBlocks = int64_t{1} << 20;

BlockTraffic divided(BlockTraffic traffic, double by) {
  for (double& bytes : traffic.in) bytes /= by;
  for (double& bytes : traffic.out) bytes /= by;
  return traffic;
}

double sum(const std::array<double, kDmaChannels>& bytes) {
  double all = 0;
  for (const double some : bytes) all += some;
  return all;
}

UnitWork divided(UnitWork work, double by) {
  for (double* unit : {&work.vpu, &work.eup, &work.xlu, &work.scalar, &work.ports, &work.copies}) *unit /= by;
  return work;
}

int8_t buffers_of(double blocks) { return blocks > 1 ? 2 : 1; }

void add_window(Kernel& kernel, double bytes, double blocks, bool is_result) {
  if (bytes > 0) kernel.windows.push_back({bytes, blocks * kernel.cores, buffers_of(blocks), is_result});
}

/// As few blocks of at most `most` as it takes, equally long, in whole steps of `unit`.
int64_t even_block(int64_t whole, int64_t most, int64_t unit) {
  if (whole <= most) return whole;
  return std::min(most, ceil_div(ceil_div(whole, ceil_div(whole, most)), unit) * unit);
}

/// The whole dimension, and even blocks of at most each power of two below it that is at least `least`.
struct BlockSizes {
  BlockSizes(int64_t whole, int64_t least, int64_t unit, int64_t most_blocks) {
    sizes[count++] = whole;
    for (int64_t size = int64_t{1} << 30; size >= least; size /= 2)
      if (size < whole && ceil_div(whole, size) <= most_blocks && count < sizes.size())
        sizes[count++] = even_block(whole, size, unit);
  }
  std::array<int64_t, 24> sizes{};
  size_t count = 0;
  const int64_t* begin() const { return sizes.data(); }
  const int64_t* end() const { return sizes.data() + count; }
};

// ── a product ──

/// What one core does of a product whose `shared` dimension all cores share.
ProductWork share_of(ProductWork work, SharedDimension shared, const Core& core) {
  const auto split = [&](ProductInput& input) {
    input.bytes /= core.cores(), input.convert /= core.cores(), input.bundles /= core.cores();
  };
  const int64_t cores = shared == SharedDimension::kNone ? 1 : core.device().cores;
  const bool batch = shared == SharedDimension::kBatch, rows = shared == SharedDimension::kRows;
  if (batch) work.matmul.batch = ceil_div(work.matmul.batch, cores);
  if (rows) work.matmul.m = ceil_div(work.matmul.m, cores);
  if (shared == SharedDimension::kColumns) work.matmul.n = ceil_div(work.matmul.n, cores);
  if (batch || rows) split(work.lhs);
  if (batch || shared == SharedDimension::kColumns) split(work.rhs);
  work.further_mxu /= core.cores();
  work.epilogue_bundles /= core.cores();
  work.other.bytes = divided(work.other.bytes, core.cores());
  work.other.units = divided(work.other.units, core.cores());
  return work;
}

void add(BlockTraffic& block, const ProductInput& input, double bytes) {
  if (input.channel >= 0) block.in[static_cast<size_t>(input.channel)] += bytes;
}

/// Makes the candidates of one core's share, and gives them to the search.
class ProductCandidates {
 public:
  ProductCandidates(const Core& core, const ProductWork& all, SharedDimension shared, KernelSearch& search)
      : core_(core), all_(all), share_(share_of(all, shared, core)), search_(search) {
    kernel_.cores = core.cores();
    kernel_.transfers = OverlapRule::kPorts;
    kernel_.blocks.shared = shared;
    kernel_.works.resize(1);
  }

  void consider_all() {
    constexpr int64_t kMostBlocks = int64_t{1} << 20;
    const MatmulWork& whole = share_.matmul;
    const Core::ProductBlock least = core_.smallest_block(share_.rate.rows);
    const BlockSizes ms(whole.m, least.m, share_.rate.rows, kMostBlocks);
    const BlockSizes ns(whole.n, least.n, core_.mxu_columns(), kMostBlocks);
    const BlockSizes ks(whole.k, least.k, core_.mxu_rows(), kMostBlocks);
    for (const int64_t k : ks)
      for (const int64_t m : ms)
        for (const int64_t n : ns) consider({1, m, n, k}, true);
    for (int64_t batch = 2; batch <= whole.batch && batch <= 4096; batch *= 2)
      consider({batch, whole.m, whole.n, whole.k}, true);
    if (search_.is_empty())  // nothing fits: the smallest blocks
      consider({1, ms.sizes[ms.count - 1], ns.sizes[ns.count - 1], ks.sizes[ks.count - 1]}, false);
  }

  void consider(const GivenBlocks& given) {
    const auto size = [](int64_t whole, int64_t blocks) {
      return ceil_div(whole, std::clamp<int64_t>(blocks, 1, whole));
    };
    const auto of_core = [&](int64_t blocks, SharedDimension dimension) {
      return kernel_.blocks.shared == dimension ? ceil_div(blocks, core_.device().cores) : blocks;
    };
    const MatmulWork& whole = share_.matmul;
    kernel_.blocks.given = true;
    consider({1, size(whole.m, of_core(given.m, SharedDimension::kRows)),
              size(whole.n, of_core(given.n, SharedDimension::kColumns)), size(whole.k, given.k)},
             false);
  }

 private:
  struct Size {
    int64_t batch, m, n, k;
  };

  /// All that depends on the sizes of blocks alone, then both orders of the loops.
  void consider(const Size& size, bool must_fit) {
    const MatmulWork& whole = share_.matmul;
    batches_ = as_double(ceil_div(whole.batch, size.batch));
    rows_ = as_double(ceil_div(whole.m, size.m));
    columns_ = as_double(ceil_div(whole.n, size.n));
    parts_ = as_double(ceil_div(whole.k, size.k));
    results_ = batches_ * rows_ * columns_;
    lhs_bytes_ = share_.lhs.bytes / (batches_ * rows_ * parts_);
    rhs_bytes_ = share_.rhs.bytes / (batches_ * columns_ * parts_);
    ProductBlocks& blocks = kernel_.blocks;
    blocks.batch = size.batch, blocks.m = size.m, blocks.n = size.n, blocks.k = size.k;
    set_windows();
    if (must_fit && !search_.fits(kernel_)) return;
    set_work();
    const UnitWork& work = kernel_.works.front();
    if (search_.excludes(units_time(work, kernel_.units, core_) * work.steps)) return;
    for (const bool rows_outside : {false, true}) {
      blocks.rows_outside = rows_outside;
      set_steps();
      search_.consider(kernel_);
    }
  }

  void set_windows() {
    kernel_.windows.clear();
    const ProductBlocks& blocks = kernel_.blocks;
    add_window(kernel_, share_.lhs.channel < 0 ? 0 : lhs_bytes_, batches_ * rows_ * parts_, false);
    add_window(kernel_, share_.rhs.channel < 0 ? 0 : rhs_bytes_, batches_ * columns_ * parts_, false);
    add_window(kernel_, sum(share_.other.bytes.in) / results_, results_, false);
    add_window(kernel_, sum(share_.other.bytes.out) / results_, results_, true);
    constexpr double kSumBytes = 4;  // sums of parts are f32
    kernel_.scratch = parts_ > 1 ? as_double(blocks.batch * blocks.m * blocks.n) * kSumBytes : 0;
  }

  /// Operands that the vector unit computes are computed each time that a block of them is taken up, results
  /// once; the bundles that feed the arrays and pop their results have slots for a part of that only.
  void set_work() {
    const ProductBlocks& blocks = kernel_.blocks;
    MatmulWork block = share_.matmul;
    block.batch = blocks.batch, block.m = blocks.m, block.n = blocks.n, block.k = blocks.k;
    UnitWork& work = kernel_.works.front();
    work = share_.other.units;
    work.steps = kernel_.grid_steps = results_ * parts_;
    work.mxu = core_.picoseconds(core_.product(block, share_.rate).alone()) * work.steps + share_.further_mxu;
    work.vpu += share_.lhs.convert * columns_ + share_.rhs.convert * rows_;
    work.around = share_.lhs.bundles * columns_ + share_.rhs.bundles * rows_ + share_.epilogue_bundles;
  }

  void set_steps() {
    const BlockTraffic result = divided(share_.other.bytes, results_);
    const double steps = results_ * parts_;
    BlockTraffic both = result, first, last;
    add(both, share_.lhs, lhs_bytes_), add(both, share_.rhs, rhs_bytes_);
    first.in = both.in, last.out = result.out;
    kernel_.first = first, kernel_.last = last;
    kernel_.steps.clear();
    kernel_.steps.push_back({1, 0, {}});
    double lhs_times = 1, rhs_times = 1;
    if (parts_ > 1) {
      BlockTraffic inner;
      add(inner, share_.lhs, lhs_bytes_), add(inner, share_.rhs, rhs_bytes_);
      kernel_.steps.push_back({results_ - 1, 0, both});
      kernel_.steps.push_back({steps - results_, 0, inner});
      if (results_ > batches_) lhs_times = columns_, rhs_times = rows_;
    } else {
      const bool rows_outside = kernel_.blocks.rows_outside;
      const double outer = rows_outside ? rows_ : columns_, inner = rows_outside ? columns_ : rows_;
      BlockTraffic at_outer = result, at_inner = result;
      if (rows_outside || inner > 1) add(at_outer, share_.lhs, lhs_bytes_);
      if (!rows_outside || inner > 1) add(at_outer, share_.rhs, rhs_bytes_);
      rows_outside ? add(at_inner, share_.rhs, rhs_bytes_) : add(at_inner, share_.lhs, lhs_bytes_);
      kernel_.steps.push_back({batches_ - 1, 0, both});
      kernel_.steps.push_back({batches_ * (outer - 1), 0, at_outer});
      kernel_.steps.push_back({steps - batches_ * outer, 0, at_inner});
      if (!rows_outside && rows_ > 1) lhs_times = columns_;
      if (rows_outside && columns_ > 1) rhs_times = rows_;
    }
    // Cores that share a dimension of the result read all of the other operand each.
    if (kernel_.blocks.shared == SharedDimension::kColumns) lhs_times *= kernel_.cores;
    if (kernel_.blocks.shared == SharedDimension::kRows) rhs_times *= kernel_.cores;
    kernel_.lhs_times = lhs_times, kernel_.rhs_times = rhs_times;
    // The windows of operands come first.
    VmemWindow* window = kernel_.windows.data();
    if (share_.lhs.channel >= 0 && lhs_bytes_ > 0)
      window++->fetches = all_.lhs.bytes * lhs_times / lhs_bytes_;
    if (share_.rhs.channel >= 0 && rhs_bytes_ > 0) window->fetches = all_.rhs.bytes * rhs_times / rhs_bytes_;
  }

  const Core& core_;
  const ProductWork& all_;
  const ProductWork share_;  // of one core
  KernelSearch& search_;
  Kernel kernel_;
  double batches_ = 1, rows_ = 1, columns_ = 1, parts_ = 1;  // numbers of blocks
  double results_ = 1;                                       // blocks of the result
  double lhs_bytes_ = 0, rhs_bytes_ = 0;                     // of one block
};

void check(const TimedKernel& planned) {
  HLOSIM_CHECK(planned.time.time >= 0 && !planned.kernel.steps.empty(), "{} ps in {} classes of steps",
               planned.time.time, planned.kernel.steps.size());
}

}  // namespace

TimedKernel stream_kernel(const Core& core, const StreamWork& work) {
  Kernel kernel;
  kernel.cores = core.cores();
  kernel.requests = Requests::kWhenFree;
  kernel.works.push_back(divided(work.units, core.cores()));
  const BlockTraffic all = divided(work.bytes, core.cores());
  const double bytes = sum(all.in) + sum(all.out);
  const double smallest = as_double(core.smallest_window().count());
  KernelSearch search(core);
  for (int64_t steps = 1; steps <= kMostStreamBlocks; steps *= 2) {
    const auto count = as_double(steps);
    if (steps > 1 && bytes / count < smallest && !search.is_empty()) break;
    const BlockTraffic block = divided(all, count);
    kernel.windows.clear();
    add_window(kernel, sum(block.in), count, false);
    add_window(kernel, sum(block.out), count, true);
    kernel.works.front().steps = kernel.grid_steps = count;
    kernel.first.in = block.in, kernel.last.out = block.out;
    kernel.steps.clear();
    kernel.steps.push_back({1, 0, {}});
    kernel.steps.push_back({count - 1, 0, block});
    if (!search.fits(kernel) && bytes / count >= smallest) continue;
    const KernelTime time = search.consider(kernel);
    if (work.in_few_blocks) break;
    // Smaller blocks only add latencies once these are longer than anything else.
    if (time.time > 2 * search.best().time.time) break;
  }
  if (search.is_empty()) search.consider(kernel);  // nothing fits: the smallest blocks
  check(search.best());
  return std::move(search).best();
}

TimedKernel product_kernel(const Core& core, const ProductWork& work,
                           const std::optional<GivenBlocks>& given) {
  KernelSearch search(core);
  const auto consider = [&](SharedDimension shared) {
    ProductCandidates candidates(core, work, shared, search);
    given ? candidates.consider(*given) : candidates.consider_all();
  };
  if (core.device().cores == 1) {
    consider(SharedDimension::kNone);
  } else {
    const auto may_share = [&](SharedDimension shared) {
      return !given || given->shared == SharedDimension::kNone || given->shared == shared;
    };
    if (work.matmul.batch > 1) consider(SharedDimension::kBatch);
    if (may_share(SharedDimension::kRows)) consider(SharedDimension::kRows);
    if (may_share(SharedDimension::kColumns)) consider(SharedDimension::kColumns);
  }
  check(search.best());
  return std::move(search).best();
}

bool walks_visits(const MatmulWork& work, const KernelConfig& config) {
  if (!work.ragged || config.ragged_walk == RaggedWalk::kVisits) return work.ragged;
  return work.tile.m > 0 && (config.ragged_walk == RaggedWalk::kGroups || work.ragged_terms);
}

bool runs_in_served_kernel(const MatmulWork& work, const KernelConfig& config) {
  if (!work.ragged || walks_visits(work, config)) return false;
  if (config.ragged_walk == RaggedWalk::kServed) return !work.ragged_terms;
  return work.m <= std::min(config.served_rows, config.ragged_rows - 1);
}

namespace {

/// Of a server's grouped product: the fewest columns of a block, in widths of an MXU.
constexpr int64_t kFewestMxuWidths = 2;

/// The least count from 1 to `most` for which `holds`, which stays true from there on; `most` where none
/// does. O(log most).
template <class F>
int64_t least_count(int64_t most, F&& holds) {
  for (int64_t low = 1; low < most;) {
    const int64_t middle = low + (most - low) / 2;
    if (holds(middle))
      most = middle;
    else
      low = middle + 1;
  }
  return std::max<int64_t>(most, 1);
}

/// Tiles and windows of a group's product: parts of the columns first, then of the depth, until they fit.
class ServedTile {
 public:
  ServedTile(const Core& core, const ProductWork& work)
      : core_(core),
        work_(work),
        whole_(work.matmul),
        rows_of_tile_(even_block(whole_.m, core.device().kernel.served_rows, 1)) {
    const KernelSearch search(core);
    const int64_t fewest = kFewestMxuWidths * core.mxu_columns();
    columns_ = least_count(ceil_div(whole_.n, fewest), [&](int64_t count) {
      take(count, 1);
      return search.fits(kernel) || tile.n <= fewest;
    });
    parts_ = least_count(ceil_div(whole_.k, core.mxu_rows()), [&](int64_t count) {
      take(columns_, count);
      return search.fits(kernel) || tile.k <= core.mxu_rows();
    });
    take(columns_, parts_);
  }

  MatmulWork tile;
  Kernel kernel;  // windows and scratch alone
  /// Numbers of tiles of a group.
  double rows() const { return as_double(ceil_div(whole_.m, tile.m)); }
  double columns() const { return as_double(ceil_div(whole_.n, tile.n)); }
  double parts() const { return as_double(ceil_div(whole_.k, tile.k)); }
  /// How often weights come in: parts of the depth anew for each tile of rows.
  double weight_times() const { return parts() > 1 ? rows() : 1; }

 private:
  void take(int64_t columns_of, int64_t parts_of) {
    tile = whole_;
    tile.batch = 1;
    tile.m = rows_of_tile_;
    tile.n = even_block(whole_.n, ceil_div(whole_.n, columns_of), core_.mxu_columns());
    tile.k = even_block(whole_.k, ceil_div(whole_.k, parts_of), core_.mxu_rows());
    const double m = as_double(tile.m), n = as_double(tile.n), k = as_double(tile.k);
    const double groups = std::max(work_.groups, 1.0);
    const double of_weights = work_.rhs.bytes / groups / as_double(whole_.n) / as_double(whole_.k);
    const double row = as_double(bit_width(whole_.lhs)) / 8;
    const double blocks = groups * columns();
    const auto buffers = static_cast<int8_t>(core_.device().kernel.served_buffers);
    kernel.windows.clear();
    if (work_.lhs.channel >= 0) kernel.windows.push_back({m * k * row, blocks * rows(), 2, false});
    if (work_.rhs.channel >= 0)
      kernel.windows.push_back({k * n * of_weights, blocks * parts() * weight_times(), buffers, false});
    kernel.windows.push_back({m * n * row, blocks * rows(), 2, true});
    kernel.scratch = m * n * 4;  // sums in f32
  }

  const Core& core_;
  const ProductWork& work_;
  const MatmulWork& whole_;
  const int64_t rows_of_tile_;
  int64_t columns_ = 1, parts_ = 1;
};

TimedKernel served_kernel(const Core& core, const ProductWork& work) {
  ServedTile served(core, work);
  TimedKernel planned;
  Kernel& kernel = planned.kernel = std::move(served.kernel);
  const MatmulWork& tile = served.tile;
  const double steps = std::max(
      1.0, std::ceil(work.groups / core.cores()) * served.rows() * served.columns() * served.parts());
  kernel.cores = core.cores();
  kernel.units = OverlapRule::kBundles;
  kernel.transfers = OverlapRule::kWindows;
  kernel.blocks = {1, tile.m, tile.n, tile.k};
  kernel.lhs_times = served.columns(), kernel.rhs_times = served.weight_times();
  UnitWork all = divided(work.other.units, core.cores());
  all.mxu = core.picoseconds(core.product_in_loop(tile, work.rate)) * steps;
  all.vpu += (work.lhs.convert + work.rhs.convert) / core.cores();
  all.begin = steps * as_double(core.device().overhead.grid_step.count());
  all.steps = steps;
  kernel.works.push_back(all);
  BlockTraffic streamed = divided(work.other.bytes, core.cores());
  add(streamed, work.lhs, work.lhs.bytes * served.columns() / core.cores());
  add(streamed, work.rhs, work.rhs.bytes * served.weight_times() / core.cores());
  const BlockTraffic block = divided(streamed, steps);
  kernel.first.in = block.in, kernel.last.out = block.out;
  kernel.steps.push_back({1, 0, {}});
  kernel.steps.push_back({steps - 1, 0, block});
  kernel.grid_steps = steps;
  planned.time = time_of(kernel, core);
  check(planned);
  return planned;
}

/// The kernel of megablox and tokamax with the tiles of the text, or the device's. A tile that reaches beyond
/// the depth or the columns is computed whole. What is fused around the product comes after it.
TimedKernel visiting_kernel(const Core& core, const ProductWork& work) {
  const MatmulWork& whole = work.matmul;
  const KernelConfig& config = core.device().kernel;
  GroupedProblem problem;
  problem.form = whole.ragged_terms ? GroupedForm::kWeightGradient : GroupedForm::kForward;
  problem.groups = whole.batch;
  problem.rows = saturating_multiply(whole.batch, whole.ragged_terms ? whole.k : whole.m);
  problem.depth = whole.ragged_terms ? whole.m : whole.k;
  problem.columns = whole.n;
  problem.lhs = whole.lhs, problem.rhs = whole.rhs;
  const double results =
      as_double(whole.ragged_terms ? problem.groups * problem.depth : problem.rows) * as_double(whole.n);
  // Of the result's type only the width is known here.
  const double written = sum(work.other.bytes.out) / std::max(results, 1.0);
  problem.result = written >= 4   ? ElementType::kF32
                   : written >= 2 ? ElementType::kBF16
                                  : ElementType::kF8E4M3FN;
  const RaggedTile tile = whole.tile.m > 0
                              ? whole.tile
                              : RaggedTile{config.ragged_rows, config.ragged_depth, config.ragged_columns};
  const GroupedBlocks blocks{.m = std::min(problem.rows, tile.m),
                             .k = std::min(problem.depth, tile.k),
                             .n = std::min(problem.columns, tile.n),
                             .cores = whole.tile.one_core ? 1 : core.device().cores};
  TimedKernel planned = std::move(grouped_product_cost(core.device(), problem, blocks, work.rate).planned);
  Kernel& kernel = planned.kernel;
  kernel.blocks.given = whole.tile.m > 0;
  StepClass after{1, static_cast<uint32_t>(kernel.works.size()), divided(work.other.bytes, kernel.cores)};
  double own = results * element_bytes(problem.result) / kernel.cores;
  for (double& bytes : after.traffic.out) {
    const double of_result = std::min(bytes, own);
    bytes -= of_result, own -= of_result;
  }
  UnitWork units = divided(work.other.units, kernel.cores);
  units.mxu = work.further_mxu / kernel.cores;
  if (units == UnitWork{} && after.traffic == BlockTraffic{}) return planned;
  kernel.works.push_back(units);
  kernel.steps.push_back(after);
  planned.time = time_of(kernel, core);
  return planned;
}

}  // namespace

TimedKernel ragged_kernel(const Core& core, const ProductWork& work) {
  if (runs_in_served_kernel(work.matmul, core.device().kernel)) return served_kernel(core, work);
  const MatmulWork& whole = work.matmul;
  if (walks_visits(whole, core.device().kernel)) {
    TimedKernel planned = visiting_kernel(core, work);
    check(planned);
    return planned;
  }
  MatmulWork tile = whole;
  tile.batch = 1;
  const KernelConfig& config = core.device().kernel;
  tile.m = std::min(whole.m, config.ragged_rows);
  tile.n = even_block(whole.n, config.ragged_columns, core.mxu_columns());
  tile.k = even_block(whole.k, config.ragged_depth, core.mxu_rows());
  const double groups = as_double(whole.batch) / core.cores(), columns = as_double(ceil_div(whole.n, tile.n));
  const double steps = std::max(
      1.0, groups * as_double(ceil_div(whole.m, tile.m)) * columns * as_double(ceil_div(whole.k, tile.k)));
  TimedKernel planned;
  Kernel& kernel = planned.kernel;
  kernel.cores = core.cores();
  kernel.units = OverlapRule::kTurns;
  kernel.requests = Requests::kAtOnce;
  kernel.blocks = {1, tile.m, tile.n, tile.k};
  kernel.lhs_times = columns;
  UnitWork all = divided(work.other.units, core.cores());
  all.mxu = core.picoseconds(core.product(tile, work.rate).alone()) * steps + work.further_mxu / core.cores();
  all.vpu += (work.lhs.convert + work.rhs.convert) / core.cores();
  // The vector unit waits for what the others bring, too.
  all.ports = std::max({all.eup, all.xlu, all.scalar, all.ports, all.copies});
  all.eup = all.xlu = all.scalar = all.copies = 0;
  // A step of a grid takes overhead.grid_step at least, however small its tile is. Groups that fill no tile
  // wait for their weights, and steps begin beside that.
  if (whole.m >= config.ragged_rows) {
    const double least = steps * as_double(core.device().overhead.grid_step.count());
    all.begin = std::max(least - units_time(all, kernel.units, core), 0.0);
  }
  kernel.works.push_back(all);
  BlockTraffic streamed = divided(work.other.bytes, core.cores());
  kernel.last.out = divided(streamed, steps).out;
  add(streamed, work.lhs, work.lhs.bytes * columns / core.cores());
  add(kernel.first, work.rhs, work.rhs.bytes / core.cores());
  // The weights of each further group are asked for when it begins.
  if (work.rhs.channel >= 0)
    kernel.waits =
        std::max(groups - 1, 0.0) * core.channels()[static_cast<size_t>(work.rhs.channel)].read_latency;
  kernel.steps.push_back({1, 0, streamed});
  kernel.grid_steps = steps;
  planned.time = time_of(kernel, core);
  check(planned);
  return planned;
}

}  // namespace hlosim
