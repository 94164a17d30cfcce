#include "partition_check/partition_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "array/arguments.h"
#include "array/memory_pool.h"
#include "base/saturating.h"
#include "dist/ranks.h"
#include "evaluate/devices/joint.h"
#include "exec/program.h"
#include "hlo/verifier.h"
#include "kernels/strided_copy.h"

namespace hlosim {
namespace {

using Arrays = std::vector<Array>;

/// A host that gives every device the same and takes what it gets.
class SomeHost : public HostTransfers {
 public:
  Result<Array> infeed(ShapeRef leaf, MemoryPool& pool) override { return some(leaf, pool); }
  Result<void> outfeed(const Array& /*leaf*/) override { return {}; }
  Result<Array> receive(int64_t /*channel*/, ShapeRef leaf, MemoryPool& pool) override {
    return some(leaf, pool);
  }
  Result<void> send(int64_t /*channel*/, const Array& /*leaf*/) override { return {}; }

 private:
  Result<Array> some(ShapeRef leaf, MemoryPool& pool) { return random_array(leaf, 0, next_++, pool); }
  uint64_t next_ = 1000;
};

/// A module's runs on all its devices.
class DevicesRun {
 public:
  DevicesRun(Module& module, const OpTable& table, int64_t devices, MemoryPool& pool)
      : module_(module), table_(table), devices_(devices), pool_(pool) {}

  Result<void> prepare(int64_t max_bytes) {
    DiagnosticList problems;
    if (!verify(module_, table_, problems)) return fault("the partitioned module is wrong: ", problems);
    ProgramOptions options;
    options.graph.max_constant_bytes = max_bytes;
    if (devices_ > 1) options.grid = DeviceGrid{1, devices_, false, false};
    program_ = Program::make(module_, table_, pool_, options, problems);
    if (!program_) return fault("it can't be run: ", problems);
    if (saturating_multiply(program_->peak_bytes(), devices_) > max_bytes)
      return failure("running it takes too much memory");
    return {};
  }

  Result<std::vector<Arrays>> run(std::vector<Arrays> inputs) {
    std::vector<DeviceState> states;
    std::vector<SomeHost> hosts(static_cast<size_t>(devices_));
    for (int64_t id = 0; id < devices_; ++id) {
      DeviceState& state = states.emplace_back(pool_);
      state.id = state.partition_id = id;
      state.rng_state = {1, 0};
      state.host = &hosts[static_cast<size_t>(id)];
    }
    if (devices_ == 1) {
      auto outputs = program_->run(states[0], std::move(inputs[0]));
      if (!outputs) return tl::unexpected(outputs.error());
      return std::vector<Arrays>{std::move(*outputs)};
    }
    JointRun run(DeviceGrid{1, devices_, false, false}, lone_rank());
    return program_->run_jointly(run, states, std::move(inputs));
  }

  std::span<const ShapeRef> parameters() const { return program_->parameters(); }

 private:
  static tl::unexpected<Diagnostic> fault(std::string_view what, const DiagnosticList& problems) {
    for (const Diagnostic& problem : problems.items())
      if (problem.severity == Severity::kError) return failure(fmt::format("{}{}", what, problem.message));
    return failure(fmt::format("{}no reason given", what));
  }

  Module& module_;
  const OpTable& table_;
  int64_t devices_;
  MemoryPool& pool_;
  std::unique_ptr<const Program> program_;
};

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

/// Does it do without other devices, and without knowing which one it runs on?
bool runs_alone(const Module& module, const OpTable& table) {
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions) {
      const OpDef& def = table[module[id].opcode];
      if (def.has(kCollective) || def.evaluation == EvaluationKind::kPartitionId) return false;
    }
  return true;
}

/// Sums of one array may be off by as much as its largest elements let them.
Tolerance tolerance_of(const Array& expected, MemoryPool& pool) {
  Tolerance tolerance = default_tolerance(expected.type());
  if (!is_float(expected.type()) && !is_complex(expected.type())) return tolerance;
  const double largest = compare(expected, zero_array(expected.shape, pool), tolerance).max_abs;
  tolerance.abs = std::max(tolerance.abs, tolerance.rel * largest);
  return tolerance;
}

bool worse(const Comparison& a, const Comparison& b) {
  return a.outside != b.outside ? a.outside > b.outside : a.max_abs > b.max_abs;
}

class Check {
 public:
  Check(const PartitionLayout& layout, Partitioned& parts, Partitioned& whole, const OpTable& table,
        const PartitionCheckOptions& options)
      : layout_(layout), parts_(parts), whole_(whole), table_(table), options_(options) {}

  Result<PartitionCheck> run() {
    const int64_t devices = layout_.axes.devices();
    // Without regions that are partitioned by hand every device would compute the same.
    alone_ = runs_alone(whole_.module, table_);
    DevicesRun ours(parts_.module, table_, devices, pool_);
    DevicesRun theirs(whole_.module, table_, alone_ ? 1 : devices, pool_);
    for (DevicesRun* one : {&theirs, &ours})
      if (const auto ready = one->prepare(options_.max_bytes); !ready) return tl::unexpected(ready.error());
    const Inputs inputs(layout_, pool_);
    Arrays globals;
    for (size_t leaf = 0; leaf < theirs.parameters().size(); ++leaf) {
      const ShapeRef shape = theirs.parameters()[leaf];
      globals.push_back(shape->is_array() ? random_array(shape, options_.seed, leaf, pool_)
                                          : Array{shape, {}, {}});
    }
    std::vector<Arrays> given(static_cast<size_t>(devices)),
        same(static_cast<size_t>(alone_ ? 1 : devices), globals);
    for (int64_t device = 0; device < devices; ++device)
      for (size_t leaf = 0; leaf < globals.size(); ++leaf)
        given[static_cast<size_t>(device)].push_back(
            globals[leaf].shape->is_array()
                ? inputs.of_device(globals[leaf], leaf, ours.parameters()[leaf], device)
                : globals[leaf]);
    const auto expected = theirs.run(std::move(same));
    if (!expected) return tl::unexpected(expected.error());
    const auto actual = ours.run(std::move(given));
    if (!actual) return tl::unexpected(actual.error());
    return compare_all(*actual, *expected, inputs);
  }

 private:
  PartitionCheck compare_all(const std::vector<Arrays>& actual, const std::vector<Arrays>& expected,
                             const Inputs& inputs) {
    PartitionCheck made;
    made.devices = layout_.axes.devices();
    for (size_t leaf = 0; leaf < expected[0].size(); ++leaf) {
      const ShapeRef shape = expected[0][leaf].shape;
      CheckedOutput& output = made.outputs.emplace_back();
      output.shape = to_text_without_layout(shape);
      if (!shape->is_array()) continue;
      for (size_t device = 0; device < actual.size(); ++device) {
        const PlacedTiling& placed = layout_.results[leaf];
        const int64_t place = inputs.place_of(placed, static_cast<int64_t>(device));
        const Part part = part_of(layout_.axes, placed.tiling, shape, place);
        const ShapeRef cut = shapes_.array(shape->element_type, part.sizes);
        Array mine = make_array(pool_, cut), theirs = make_array(pool_, cut);
        copy_part(part, actual[device][leaf], false, mine, false);
        copy_part(part, expected[alone_ ? 0 : device][leaf], true, theirs, false);
        const Comparison comparison =
            compare(mine, theirs, tolerance_of(expected[alone_ ? 0 : device][leaf], pool_));
        if (device > 0 && !worse(comparison, output.comparison)) continue;
        output.comparison = comparison;
        output.device = static_cast<int64_t>(device);
      }
    }
    return made;
  }

  const PartitionLayout& layout_;
  Partitioned& parts_;
  Partitioned& whole_;
  const OpTable& table_;
  const PartitionCheckOptions& options_;
  bool alone_ = false;
  MemoryPool pool_;
  ShapePool shapes_;
};

}  // namespace

bool PartitionCheck::agrees() const {
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const CheckedOutput& output) { return output.comparison.within(); });
}

Result<PartitionCheck> check_partition(const Module& module, const OpTable& table,
                                       const PartitionOptions& options, const PartitionCheckOptions& check) {
  PartitionOptions parts_options = options, whole_options = options;
  parts_options.reduce_results = true;
  Result<Partitioned> parts = partition(module, table, parts_options);
  if (!parts) return tl::unexpected(parts.error());
  whole_options.replicate_all = true;
  Result<Partitioned> whole = partition(module, table, whole_options);
  if (!whole) return tl::unexpected(whole.error());
  return Check(parts->layout, *parts, *whole, table, check).run();
}

}  // namespace hlosim
