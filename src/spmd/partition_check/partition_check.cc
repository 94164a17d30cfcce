#include "partition_check/partition_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "array/arguments.h"
#include "array/memory_pool.h"
#include "base/quantity_text.h"
#include "base/saturating.h"
#include "base/units.h"
#include "cpu_kernels/strided_copy.h"
#include "hlo/graph.h"
#include "hlo/number.h"
#include "modules/edit.h"
#include "ops/endless_loops.h"
#include "partition_check/device_runs.h"
#include "partition_check/same_form.h"
#include "partition_check/wide_floats.h"
#include "shrink/shrink.h"

namespace hlosim {
namespace {

using Arrays = std::vector<Array>;

/// Where a device's part of an array lies, and how much of it is inside.
struct Part {
  std::vector<int64_t> starts, sizes;
};

Part part_of(const DeviceAxes& axes, const Tiling& tiling, ShapeRef shape, int64_t place) {
  Part part;
  for (int64_t i = 0; i < shape->rank(); ++i) {
    const int64_t size = shard_size(axes, tiling.cut(i), shape->dim(i));
    const int64_t start = axes.index(place, tiling.cut(i)) * size;
    part.starts.push_back(start);
    part.sizes.push_back(std::clamp<int64_t>(shape->dim(i) - start, 0, size));
  }
  return part;
}

bool is_empty(const Part& part) {
  return std::find(part.sizes.begin(), part.sizes.end(), 0) != part.sizes.end();
}

/// Copies the elements of `part`, seen at `from` in `source`, to `to` in `target`; offsets are all or
/// nothing.
void copy_part(const Part& part, const Array& source, bool from_whole, Array& target, bool to_whole) {
  if (is_empty(part)) return;
  const int64_t width = byte_width(source.type());
  const auto strides = dense_strides(source.shape->dimensions),
             others = dense_strides(target.shape->dimensions);
  int64_t from = 0, to = 0;
  for (size_t i = 0; i < part.starts.size(); ++i) {
    if (from_whole) from += part.starts[i] * strides[i];
    if (to_whole) to += part.starts[i] * others[i];
  }
  StridedCopy(part.sizes, strides, others, width)
      .run_here(source.bytes() + from * width, target.bytes() + to * width);
}

/// NaN of floats, -1 of integers, true.
void fill_with_garbage(Array& array) {
  const int64_t bytes = data_bytes(array.shape);
  if (bytes > 0) std::memset(array.bytes(), is_pred(array.type()) ? 1 : 0xFF, static_cast<size_t>(bytes));
}

/// What each device gets of global inputs: all of them, or its parts.
class Inputs {
 public:
  Inputs(const PartitionLayout& layout, MemoryPool& pool) : layout_(layout), pool_(pool) {}

  Array of_device(const Array& global, size_t leaf, ShapeRef local, int64_t device) const {
    const PlacedTiling& placed = layout_.parameters[leaf];
    const int64_t place = place_of(placed, device);
    const bool neutral = placed.tiling.partial != 0 && placed.tiling.partial_kind == PartialKind::kSum &&
                         layout_.axes.index(place, list_of(placed.tiling.partial)) != 0;
    if (neutral) return zero_array(local, pool_);
    if (placed.tiling.cutting() == 0) return Array{local, global.data, {}};
    Array array = make_array(pool_, local);
    fill_with_garbage(array);
    copy_part(part_of(layout_.axes, placed.tiling, global.shape, place), global, true, array, false);
    return array;
  }

  int64_t place_of(const PlacedTiling& placed, int64_t device) const {
    if (placed.device_at.empty()) return layout_.axes.place_of(device);
    const auto found = std::find(placed.device_at.begin(), placed.device_at.end(), device);
    return found - placed.device_at.begin();
  }

 private:
  const PartitionLayout& layout_;
  MemoryPool& pool_;
};

bool worse(const Comparison& a, const Comparison& b) {
  return a.outside != b.outside ? a.outside > b.outside : a.max_abs > b.max_abs;
}

/// A partitioned module and what it is held against, ready to run.
class Check {
 public:
  Check(Partitioned parts, Partitioned whole, const OpTable& table, const PartitionCheckOptions& options)
      : parts_(std::move(parts)),
        whole_(std::move(whole)),
        options_(options),
        devices_(parts_.layout.axes.devices()),
        // Without regions that are partitioned by hand every device would compute the same.
        alone_(runs_alone(whole_.module, table)),
        ours_(parts_.module, table, devices_, pool_),
        theirs_(whole_.module, table, alone_ ? 1 : devices_, pool_) {}
  Check(const Check&) = delete;

  Result<void> prepare() {
    for (DevicesRun* one : {&theirs_, &ours_})
      if (const auto ready = one->prepare(options_.max_bytes); !ready) return ready;
    return {};
  }

  /// Of arrays alive at once. Inputs that all devices have are one array.
  int64_t bytes() const {
    int64_t inputs = 0, shared = 0;
    for (size_t leaf = 0; leaf < theirs_.parameters().size(); ++leaf) {
      const int64_t size = data_bytes(theirs_.parameters()[leaf]);
      inputs = saturating_add(inputs, size);
      if (is_shared(leaf)) shared = saturating_add(shared, size * (devices_ - 1));
    }
    return std::max(saturating_add(theirs_.peak_bytes(), inputs), ours_.peak_bytes() - shared);
  }
  double products() const { return ours_.products() + theirs_.products(); }
  const Partitioned& parts() const { return parts_; }
  const Partitioned& whole() const { return whole_; }
  int64_t devices() const { return devices_; }

  Result<PartitionCheck> run() {
    Arrays globals;
    for (size_t leaf = 0; leaf < theirs_.parameters().size(); ++leaf) {
      const ShapeRef shape = theirs_.parameters()[leaf];
      globals.push_back(shape->is_array() ? input(shape, leaf) : Array{shape, {}, {}});
    }
    const auto expected =
        theirs_.run(std::vector<Arrays>(static_cast<size_t>(alone_ ? 1 : devices_), globals));
    if (!expected) return tl::unexpected(expected.error());
    const Inputs inputs(parts_.layout, pool_);
    std::vector<Arrays> given(static_cast<size_t>(devices_));
    for (size_t leaf = 0; leaf < globals.size(); ++leaf) {
      for (int64_t device = 0; device < devices_; ++device)
        given[static_cast<size_t>(device)].push_back(
            globals[leaf].shape->is_array()
                ? inputs.of_device(globals[leaf], leaf, ours_.parameters()[leaf], device)
                : globals[leaf]);
      globals[leaf] = Array();
    }
    const auto actual = ours_.run(std::move(given));
    if (!actual) return tl::unexpected(actual.error());
    return compare_all(*actual, *expected, inputs);
  }

 private:
  bool is_shared(size_t leaf) const {
    const PlacedTiling& placed = parts_.layout.parameters[leaf];
    return placed.tiling.cutting() == 0 && placed.tiling.partial == 0;
  }

  Array input(ShapeRef shape, size_t leaf) {
    if (!options_.whole_numbers || !is_float(shape->element_type))
      return random_array(shape, options_.seed, leaf, pool_);
    const Array bits =
        random_array(shapes_.array(ElementType::kS32, shape->dimensions), options_.seed, leaf, pool_);
    Array made = make_array(pool_, shape);
    const auto width = static_cast<size_t>(byte_width(shape->element_type));
    for (int64_t i = 0; i < shape->element_count(); ++i) {
      const int number = static_cast<int>(static_cast<uint32_t>(bits.as<int32_t>()[i]) % 8) - 4;
      const uint64_t encoded = encode_number(shape->element_type, number);
      std::memcpy(made.bytes() + static_cast<size_t>(i) * width, &encoded, width);
    }
    return made;
  }

  PartitionCheck compare_all(const std::vector<Arrays>& actual, const std::vector<Arrays>& expected,
                             const Inputs& inputs) {
    PartitionCheck made;
    made.devices = devices_;
    for (size_t leaf = 0; leaf < expected[0].size(); ++leaf) {
      const ShapeRef shape = expected[0][leaf].shape;
      CheckedOutput& output = made.outputs.emplace_back();
      output.shape = to_text_without_layout(shape);
      if (!shape->is_array()) continue;
      Tolerance tolerance;
      for (size_t device = 0; device < actual.size(); ++device) {
        const Array& whole = expected[alone_ ? 0 : device][leaf];
        if (device == 0 || !alone_) tolerance = tolerance_of_sums(whole, pool_);
        const Comparison comparison =
            compare_part(actual[device][leaf], whole, leaf, device, inputs, tolerance);
        if (device > 0 && !worse(comparison, output.comparison)) continue;
        output.comparison = comparison;
        output.device = static_cast<int64_t>(device);
      }
    }
    return made;
  }

  Comparison compare_part(const Array& actual, const Array& expected, size_t leaf, size_t device,
                          const Inputs& inputs, const Tolerance& tolerance) {
    const PlacedTiling& placed = parts_.layout.results[leaf];
    if (placed.tiling.cutting() == 0) return compare(actual, expected, tolerance);
    const int64_t place = inputs.place_of(placed, static_cast<int64_t>(device));
    const Part part = part_of(parts_.layout.axes, placed.tiling, expected.shape, place);
    const ShapeRef cut = shapes_.array(expected.type(), part.sizes);
    Array mine = make_array(pool_, cut), theirs = make_array(pool_, cut);
    copy_part(part, actual, false, mine, false);
    copy_part(part, expected, true, theirs, false);
    return compare(mine, theirs, tolerance);
  }

  Partitioned parts_, whole_;
  const PartitionCheckOptions options_;
  int64_t devices_;
  bool alone_;
  MemoryPool pool_;
  ShapePool shapes_;
  DevicesRun ours_, theirs_;
};

/// An error for a loop that never ends once it is reached.
Result<void> expect_ends(const Module& module, const OpTable& table) {
  for (const ComputationId id : callees_first(module)) {
    for (const InstructionId at : module[id].instructions) {
      const Attr* condition = module[at].find(AttrKey::kCondition);
      if (!condition || loop_end(module, table, module[at]) != LoopEnd::kNever) continue;
      return tl::unexpected(Diagnostic{
          Severity::kError,
          fmt::format("{} never ends, so that no results can be compared: its condition {} is always true",
                      module[at].name, module[condition->computations()[0]].name),
          "partition it without --check", module.source, module[at].offset});
    }
  }
  return {};
}

Result<std::unique_ptr<Check>> made_ready(const Module& module, const OpTable& table,
                                          const PartitionOptions& options,
                                          const PartitionCheckOptions& check) {
  PartitionOptions parts_options = options, whole_options = options;
  parts_options.reduce_results = true;
  Result<Partitioned> parts = partition(module, table, parts_options);
  if (!parts) return tl::unexpected(parts.error());
  whole_options.replicate_all = true;
  whole_options.hoist_bytes = whole_options.combine_moves_bytes = whole_options.combine_reductions_bytes = 0;
  whole_options.windowed = {};
  Result<Partitioned> whole = partition(module, table, whole_options);
  if (!whole) return tl::unexpected(whole.error());
  auto made = std::make_unique<Check>(std::move(*parts), std::move(*whole), table, check);
  if (const auto ready = made->prepare(); !ready) return tl::unexpected(ready.error());
  return made;
}

/// Smaller sizes keep what is cut evenly so: of a dimension of 64 in 8 tiles a divisor of 8 may go.
std::vector<ShrinkBound> even_tiles(const Module& module) {
  std::vector<ShrinkBound> bounds;
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions) {
      const Attr* attr = module[id].find(AttrKey::kSharding);
      if (!attr) continue;
      std::vector<ShapeRef> leaves;
      for_each_leaf(module[id].shape, [&](ShapeRef leaf) { leaves.push_back(leaf); });
      const auto tiles = read_tile_assignments(attr->text(), leaves.size());
      for (size_t leaf = 0; tiles && leaf < leaves.size(); ++leaf) {
        if (!leaves[leaf]->is_array() || !(*tiles)[leaf].is_tiled()) continue;
        const std::vector<int64_t>& counts = (*tiles)[leaf].dimensions;
        for (size_t i = 0; i < counts.size() && i < leaves[leaf]->dimensions.size(); ++i) {
          const int64_t size = leaves[leaf]->dimensions[i];
          if (size > 0 && size % counts[i] == 0)
            bounds.push_back({id, static_cast<int64_t>(leaf), static_cast<int64_t>(i), size / counts[i]});
        }
      }
    }
  return bounds;
}

struct Smaller {
  std::unique_ptr<Check> check;
  int64_t scale = 1;
};

/// The largest of the smaller modules of the same form that takes little, else the smallest of them; nullopt:
/// there is none that takes few enough bytes.
std::optional<Smaller> smaller_check(const Module& module, const Check& full, const OpTable& table,
                                     const PartitionOptions& options, const PartitionCheckOptions& check) {
  PartitionOptions small_options = options;
  small_options.devices = full.devices();
  small_options.choices = &full.parts().choices;
  ShrinkOptions shrinking;
  shrinking.bounds = even_tiles(module);
  std::optional<Smaller> best;
  for (const int64_t factor : {2, 2, 3, 2, 2, 5, 2, 2, 7, 2, 2, 3, 2, 2, 2}) {
    shrinking.scale *= factor;
    for (shrinking.min_size = 8; shrinking.min_size > 1; shrinking.min_size /= 4) {
      Result<Shrunk> small = shrink(module, table, shrinking);
      if (!small) return best;
      auto ready = made_ready(small->module, table, small_options, check);
      if (!ready || !same_form(full.parts().module, (*ready)->parts().module)) continue;
      const int64_t bytes = (*ready)->bytes();
      if (bytes > check.max_bytes || (best && bytes > best->check->bytes())) continue;
      const bool is_easy = bytes <= check.easy_bytes && (*ready)->products() <= check.easy_products;
      best = Smaller{std::move(*ready), shrinking.scale};
      if (is_easy) return best;
    }
  }
  return best;
}

/// The same with all floats as wide as they get; nullopt: they can't be widened.
std::optional<Partitioned> widened(const Partitioned& from, const OpTable& table) {
  std::optional<Module> wide = with_wide_floats(from.module, table);
  if (!wide) return std::nullopt;
  Partitioned made;
  made.module = std::move(*wide);
  made.devices = from.devices;
  made.layout = from.layout;
  return made;
}

/// Where floats disagree: would they without the rounding of each step? Then that is all they differ by.
void check_without_rounding(const Check& full, const OpTable& table, const PartitionCheckOptions& check,
                            PartitionCheck& made) {
  std::optional<Partitioned> parts = widened(full.parts(), table), whole = widened(full.whole(), table);
  if (!parts || !whole) return;
  Check wide(std::move(*parts), std::move(*whole), table, check);
  if (!wide.prepare() || wide.bytes() > check.max_bytes) return;
  const Result<PartitionCheck> again = wide.run();
  if (!again || !again->agrees()) return;
  int64_t outside = 0;
  for (const CheckedOutput& output : made.outputs) outside += output.comparison.outside;
  made.notes.push_back(
      fmt::format("the same program in f64 agrees; rounded to fewer bits at each step, {} element{} {} off "
                  "by more than the tolerance, as sums are taken in another order",
                  outside, outside == 1 ? "" : "s", outside == 1 ? "is" : "are"));
  made.outputs = again->outputs;
}

}  // namespace

bool PartitionCheck::agrees() const {
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const CheckedOutput& output) { return output.comparison.within(); });
}

Result<PartitionCheck> check_partition(const Module& module, const OpTable& table,
                                       const PartitionOptions& options, const PartitionCheckOptions& check) {
  if (module.replica_count() > 1) {  // each does the same beside the others
    Module alone = module.copy();
    drop_header(alone, AttrKey::kReplicaCount);
    Result<PartitionCheck> one = check_partition(alone, table, options, check);
    if (one) one->notes.push_back(fmt::format("one of {} replicas is compared", module.replica_count()));
    return one;
  }
  if (const auto ends = expect_ends(module, table); !ends) return tl::unexpected(ends.error());
  auto full = made_ready(module, table, options, check);
  if (!full) return tl::unexpected(full.error());
  std::optional<Smaller> smaller;
  const int64_t bytes = (*full)->bytes();
  if (bytes > check.easy_bytes || (*full)->products() > check.easy_products)
    smaller = smaller_check(module, **full, table, options, check);
  if (!smaller && bytes > check.max_bytes)
    return failure(
        fmt::format("running it takes {}, more than {}, and no smaller sizes make the same program",
                    to_text(Bytes(bytes)), to_text(Bytes(check.max_bytes))));
  Check& run = smaller ? *smaller->check : **full;
  Result<PartitionCheck> made = run.run();
  if (!made) return made;
  if (!made->agrees()) check_without_rounding(run, table, check, *made);
  if (smaller)
    made->notes.push_back(
        fmt::format("compared at smaller sizes, dimensions divided by up to {}: the program there has the "
                    "same instructions, operands and collectives",
                    smaller->scale));
  return made;
}

}  // namespace hlosim
