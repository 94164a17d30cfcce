// The blocked product.
//
//            rhs   k × n, in panels of one or two vectors of columns
//            ┌──┬──┬──┐
//   lhs      ├──┼──┼──┤   k is cut into blocks of at most 384 steps, so that
//   ┌──┬──┐  └──┴──┴──┘     a panel of lhs (12 rows) stays in the L1 cache, and
//   ├──┼──┤  ┌──┬──┬──┐     a block of rhs (480 columns) in the L2 cache
//   └──┴──┘  └──┴──┴──┘   while all their tiles are computed.
//
// A task computes some rows × some columns for all of k. An operand is packed once for all tasks, or by each
// task for itself when that repeats nothing or the packed operand would be too large. How the result is cut
// into tasks may depend on the number of threads, as no element's sum does.
#include <algorithm>

#include "base/rounding.h"
#include "cpu_kernels/matmul_recipe.h"
#include "cpu_kernels/scratch.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kBlockSteps = 384;
constexpr int64_t kBlockColumnBytes = 480 * 4;  // of one step of rhs
constexpr int64_t kPackedBytes = int64_t{16}
                                 << 20;  // of an operand packed for all tasks: a part of the L3 cache
constexpr int64_t kLeastTaskRows = 96, kLeastTaskColumns = 192;

const std::byte* at(const MatmulOperand& operand, int64_t row, int64_t column) {
  return static_cast<const std::byte*>(operand.data) +
         (row * operand.row_stride + column * operand.column_stride) * byte_width(operand.type);
}

std::byte* at(const MatmulResult& result, int64_t row, int64_t column) {
  return static_cast<std::byte*>(result.data) +
         (row * result.row_stride + column * result.column_stride) * byte_width(result.type);
}

/// [0, size) in `count` parts that differ by one at most.
struct EvenParts {
  int64_t size, count;
  int64_t begin(int64_t i) const { return i * (size / count) + std::min(i, size % count); }
};

struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

/// A part of the product that is computed in one go: all of k as far as sums are concerned.
class BlockedProduct {
 public:
  BlockedProduct(const Matmul& product, const MatmulRecipe& recipe, const MatmulLevel& level)
      : product_(product),
        recipe_(recipe),
        level_(level),
        tiles_(level.tiles->kinds[static_cast<size_t>(recipe.kind)]),
        direct_(recipe.sums_are_result && product.result.column_stride == 1),
        panel_columns_(tiles_.vector_columns * MatmulTiles::kMaxVectors),
        panels_{product.m, ceil_div(product.m, tiles_.rows)},
        steps_(ceil_div(product.k, tiles_.group)) {
    block_steps_ = matmul_block_steps(steps_);
    blocks_ = ceil_div(steps_, block_steps_);
  }

  void run();

 private:
  /// Rows (as panels) × columns × blocks of k that share what is packed for all tasks.
  struct Part {
    Range panels, columns, blocks;
    const std::byte* lhs = nullptr;  // packed for all tasks, or null
    const std::byte* rhs = nullptr;
    const int32_t* biases = nullptr;  // with rhs: [block][column]
  };
  struct Sums {
    std::byte* data;
    int64_t stride;  // in steps
  };

  void run_part(const Part& part, bool share_rhs);
  void run_tasks(const Part& part);
  void run_task(const Part& part, Range panels, Range columns);
  void multiply(const Part& part, int64_t block, Range panels, Range columns, const std::byte* rhs,
                const int32_t* biases, Sums sums, std::byte* lhs_panel);
  void pack_lhs(int64_t block, int64_t panel, std::byte* packed) const;
  void pack_rhs(int64_t block, Range columns, std::byte* packed, int32_t* biases) const;
  void store(Range rows, Range columns, Sums sums) const;

  Range rows_of(Range panels) const { return {panels_.begin(panels.begin), panels_.begin(panels.end)}; }
  Range steps_of(int64_t block) const {
    return {block * block_steps_, std::min(steps_, (block + 1) * block_steps_)};
  }
  Range ks_of(int64_t block) const {
    const Range steps = steps_of(block);
    return {steps.begin * tiles_.group, std::min(product_.k, steps.end * tiles_.group)};
  }
  int64_t steps_in(Range blocks) const {
    return std::min(steps_, blocks.end * block_steps_) - blocks.begin * block_steps_;
  }
  /// Columns that packed panels of `columns` take: of the last panel one or two vectors.
  int64_t padded(int64_t columns) const {
    return ceil_div(columns, tiles_.vector_columns) * tiles_.vector_columns;
  }

  const Matmul& product_;
  const MatmulRecipe& recipe_;
  const MatmulLevel& level_;
  const MatmulTiles& tiles_;
  bool direct_;  // tiles write the result
  int64_t panel_columns_;
  EvenParts panels_;  // of rows
  int64_t steps_, block_steps_ = 0, blocks_ = 0;
};

void BlockedProduct::run() {
  // Blocks of k whose packed operands have a bounded size; the result holds the sums in between.
  const int64_t bytes = tiles_.step_bytes;
  const int64_t most_blocks = direct_ ? kPackedBytes / (kBlockSteps * bytes * 2 * kLeastTaskRows) : blocks_;
  const int64_t block_columns = kBlockColumnBytes / bytes;
  for (int64_t block = 0; block < blocks_; block += most_blocks) {
    const Range blocks = {block, std::min(blocks_, block + most_blocks)};
    const int64_t row_bytes = steps_in(blocks) * bytes;
    const bool all_shared =
        thread_count() > 1 && row_bytes * (product_.m + padded(product_.n)) <= kPackedBytes;
    const bool rhs_only = product_.n <= block_columns && row_bytes * product_.m > kPackedBytes;
    const int64_t most_panels =
        rhs_only ? panels_.count
                 : std::max<int64_t>(2 * kLeastTaskRows, kPackedBytes / row_bytes) / tiles_.rows;
    for (int64_t panel = 0; panel < panels_.count; panel += most_panels) {
      const Range panels = {panel, std::min(panels_.count, panel + most_panels)};
      Part part{panels, {0, product_.n}, blocks};
      if (rhs_only) {
        run_part(part, true);
        continue;
      }
      Scratch packed(row_bytes * rows_of(panels).size());
      const int64_t begin = rows_of(panels).begin;
      parallel_for(panels.size() * blocks.size(), 16, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t b = blocks.begin + i / panels.size(), p = panels.begin + i % panels.size();
          const int64_t step = steps_of(b).begin - steps_of(blocks.begin).begin;
          pack_lhs(
              b, p,
              packed.as<std::byte>() +
                  (step * rows_of(panels).size() + (panels_.begin(p) - begin) * steps_of(b).size()) * bytes);
        }
      });
      part.lhs = packed.as<std::byte>();
      run_part(part, all_shared);
    }
  }
}

void BlockedProduct::run_part(const Part& part, bool share_rhs) {
  if (!share_rhs) return run_tasks(part);
  const int64_t columns = part.columns.size(), panels = ceil_div(columns, panel_columns_);
  const int64_t bytes = tiles_.step_bytes;
  Scratch packed(steps_in(part.blocks) * padded(columns) * bytes);
  Scratch biases(recipe_.compensate ? part.blocks.size() * padded(columns) * 4 : 0);
  parallel_for(panels * part.blocks.size(), 4, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t block = i / panels, column = i % panels * panel_columns_;
      const int64_t step = block * block_steps_;
      const int64_t b = part.blocks.begin + block;
      pack_rhs(b, {column, std::min(columns, column + panel_columns_)},
               packed.as<std::byte>() + (step * padded(columns) + column * steps_of(b).size()) * bytes,
               biases.as<int32_t>() + block * padded(columns) + column);
    }
  });
  Part shared = part;
  shared.rhs = packed.as<std::byte>();
  shared.biases = recipe_.compensate ? biases.as<int32_t>() : nullptr;
  run_tasks(shared);
}

void BlockedProduct::run_tasks(const Part& part) {
  // A few tasks per thread, of whole panels. Where a task packs rhs itself, it has all rows unless there are
  // too few columns; where it packs lhs, all columns.
  const int64_t threads = thread_count(), wanted = threads == 1 ? 1 : 4 * threads;
  const int64_t columns = part.columns.size(), most_columns = kBlockColumnBytes / tiles_.step_bytes;
  const int64_t share = ceil_div(columns, wanted);
  const int64_t task_columns =
      ceil_div(std::clamp(share, std::min(kLeastTaskColumns, most_columns), most_columns), panel_columns_) *
      panel_columns_;
  const int64_t column_tasks = ceil_div(columns, task_columns);
  const int64_t rows = rows_of(part.panels).size();
  const int64_t row_tasks = std::clamp<int64_t>(
      std::max(part.lhs == nullptr ? rows / 384 : int64_t{1}, ceil_div(wanted, column_tasks)), 1,
      std::max<int64_t>(1, rows / kLeastTaskRows));
  const EvenParts row_parts{part.panels.size(), row_tasks};
  parallel_for(column_tasks * row_tasks, 1, [&](int64_t first, int64_t last) {
    while (first < last) {
      // Neighbouring tasks of the same columns as one.
      const int64_t column = first / row_tasks, row = first % row_tasks;
      const int64_t count = part.lhs == nullptr ? 1 : std::min(last - first, row_tasks - row);
      run_task(part,
               {part.panels.begin + row_parts.begin(row), part.panels.begin + row_parts.begin(row + count)},
               {column * task_columns, std::min(columns, (column + 1) * task_columns)});
      first += count;
    }
  });
}

void BlockedProduct::run_task(const Part& part, Range panels, Range columns) {
  const Range rows = rows_of(panels);
  const int64_t bytes = tiles_.step_bytes;
  Scratch own_rhs(part.rhs ? 0 : block_steps_ * padded(columns.size()) * bytes);
  Scratch own_biases(recipe_.compensate && !part.rhs ? padded(columns.size()) * 4 : 0);
  Scratch own_lhs(part.lhs ? 0 : block_steps_ * tiles_.rows * bytes);
  Scratch own_sums(direct_ ? 0 : rows.size() * columns.size() * bytes);
  const Sums sums = direct_ ? Sums{at(product_.result, rows.begin, columns.begin), product_.result.row_stride}
                            : Sums{own_sums.as<std::byte>(), columns.size()};
  const int64_t all_columns = padded(part.columns.size());
  for (int64_t block = part.blocks.begin; block < part.blocks.end; ++block) {
    const std::byte* rhs = own_rhs.as<std::byte>();
    const int32_t* biases = recipe_.compensate ? own_biases.as<int32_t>() : nullptr;
    if (part.rhs) {
      const int64_t step = (block - part.blocks.begin) * block_steps_;
      rhs = part.rhs + (step * all_columns + columns.begin * steps_of(block).size()) * bytes;
      if (part.biases) biases = part.biases + (block - part.blocks.begin) * all_columns + columns.begin;
    } else {
      pack_rhs(block, columns, own_rhs.as<std::byte>(), own_biases.as<int32_t>());
    }
    multiply(part, block, panels, columns, rhs, biases, sums, own_lhs.as<std::byte>());
  }
  if (!direct_) store(rows, columns, sums);
}

void BlockedProduct::multiply(const Part& part, int64_t block, Range panels, Range columns,
                              const std::byte* rhs, const int32_t* biases, Sums sums, std::byte* lhs_panel) {
  const Range steps = steps_of(block), part_rows = rows_of(part.panels);
  const int64_t bytes = tiles_.step_bytes, first_row = rows_of(panels).begin;
  const int64_t steps_before = (block - part.blocks.begin) * block_steps_;
  for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
    const Range rows = rows_of({panel, panel + 1});
    const std::byte* lhs = lhs_panel;
    if (part.lhs)
      lhs = part.lhs +
            (steps_before * part_rows.size() + (rows.begin - part_rows.begin) * steps.size()) * bytes;
    else
      pack_lhs(block, panel, lhs_panel);
    for (int64_t column = 0; column < columns.size(); column += panel_columns_) {
      const int64_t count = std::min(panel_columns_, columns.size() - column);
      const int64_t vectors = ceil_div(count, tiles_.vector_columns);
      tiles_.tiles[static_cast<size_t>(vectors - 1)][static_cast<size_t>(rows.size() - 1)](
          steps.size(), lhs, rhs + column * steps.size() * bytes, biases ? biases + column : nullptr,
          sums.data + ((rows.begin - first_row) * sums.stride + column) * bytes, sums.stride, count,
          block > 0);
    }
  }
}

void BlockedProduct::pack_lhs(int64_t block, int64_t panel, std::byte* packed) const {
  const Range rows = rows_of({panel, panel + 1}), ks = ks_of(block);
  recipe_.lhs.pack({.data = at(product_.lhs, rows.begin, ks.begin),
                    .lane_stride = product_.lhs.row_stride,
                    .k_stride = product_.lhs.column_stride,
                    .lanes = rows.size(),
                    .k = ks.size(),
                    .width = rows.size(),
                    .values = recipe_.lhs.values,
                    .flip = recipe_.lhs.flip},
                   packed);
}

void BlockedProduct::pack_rhs(int64_t block, Range columns, std::byte* packed, int32_t* biases) const {
  const Range ks = ks_of(block);
  const int64_t steps = steps_of(block).size();
  for (int64_t column = 0; column < columns.size(); column += panel_columns_) {
    const int64_t lanes = std::min(panel_columns_, columns.size() - column);
    std::byte* panel = packed + column * steps * tiles_.step_bytes;
    recipe_.rhs.pack({.data = at(product_.rhs, ks.begin, columns.begin + column),
                      .lane_stride = product_.rhs.column_stride,
                      .k_stride = product_.rhs.row_stride,
                      .lanes = lanes,
                      .k = ks.size(),
                      .width = padded(lanes),
                      .values = recipe_.rhs.values,
                      .flip = recipe_.rhs.flip},
                     panel);
    if (recipe_.compensate) level_.pack->minus_128_sums(panel, steps, padded(lanes), biases + column);
  }
}

void BlockedProduct::store(Range rows, Range columns, Sums sums) const {
  recipe_.store({.sums = sums.data,
                 .sums_stride = sums.stride,
                 .rows = rows.size(),
                 .columns = columns.size(),
                 .result = at(product_.result, rows.begin, columns.begin),
                 .row_stride = product_.result.row_stride,
                 .column_stride = product_.result.column_stride});
}

}  // namespace

int64_t matmul_block_steps(int64_t steps) {
  return ceil_div(ceil_div(steps, ceil_div(steps, kBlockSteps)), 8) * 8;
}

void blocked_matmul(const Matmul& product, const MatmulRecipe& recipe, const MatmulLevel& level) {
  BlockedProduct(product, recipe, level).run();
}

}  // namespace hlosim
