#include "cli/execute/run_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/rounding.h"
#include "base/saturating.h"
#include "cpu_kernels/strided_copy.h"
#include "hlo/number.h"

namespace hlosim {
namespace {

/// Of the leaves of one parameter or result.
Result<void> add_global_leaves(Module& module, const Instruction& instruction, const DeviceGrid& grid,
                               std::vector<GlobalLeaf>& leaves) {
  std::vector<ShapeRef> shapes;
  for_each_leaf(instruction.shape, [&](ShapeRef leaf) { shapes.push_back(leaf); });
  std::vector<TileAssignment> shardings(shapes.size());
  if (const Attr* attr = instruction.find(AttrKey::kSharding)) {
    auto read = read_tile_assignments(attr->text(), shapes.size());
    if (!read) {
      Diagnostic error = read.error();
      error.message = fmt::format("{}: {}", instruction.name, error.message);
      error.source = module.source;
      error.offset = attr->offset;
      return tl::unexpected(std::move(error));
    }
    shardings = std::move(*read);
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    const int64_t rank = shapes[i]->is_array() ? shapes[i]->rank() : -1;
    GlobalLeaf& leaf = leaves.emplace_back(
        GlobalLeaf{shapes[i], shapes[i], held_parts(shardings[i], grid.partitions, rank)});
    if (!leaf.sharding.is_tiled()) continue;
    const auto& tiles = leaf.sharding.tiles;
    if (!leaf.shape->is_array() || static_cast<int64_t>(tiles.size()) != leaf.shape->rank() ||
        static_cast<int64_t>(leaf.sharding.tile_of.size()) != grid.partitions)
      return failure(fmt::format("{}: the sharding [{}] on {} devices does not fit {} on {} partition{}",
                                 instruction.name, fmt::join(tiles, ","), leaf.sharding.tile_of.size(),
                                 to_text_without_layout(leaf.shape), grid.partitions,
                                 grid.partitions == 1 ? "" : "s"));
    std::vector<int64_t> sizes;
    for (size_t d = 0; d < tiles.size(); ++d)
      sizes.push_back(saturating_multiply(tiles[d], leaf.shape->dimensions[d]));
    leaf.bound = module.shapes().with_dimensions(leaf.shape, sizes);
  }
  return {};
}

/// The index of a tile, dimension by dimension.
std::vector<int64_t> tile_index(const HeldParts& sharding, int64_t partition) {
  std::vector<int64_t> index(sharding.tiles.size());
  int64_t tile = sharding.tile_of[static_cast<size_t>(partition)];
  for (size_t d = index.size(); d-- > 0; tile /= sharding.tiles[d]) index[d] = tile % sharding.tiles[d];
  return index;
}

/// Where a tile lies in the global array, and how much of it is inside of `sizes`.
struct TilePlace {
  int64_t offset = 0;  // elements
  std::vector<int64_t> sizes;
};
TilePlace place_of(const GlobalLeaf& leaf, int64_t partition, const Array& global) {
  const std::vector<int64_t> index = tile_index(leaf.sharding, partition);
  const std::vector<int64_t> strides = dense_strides(leaf.bound->dimensions);
  TilePlace place;
  for (size_t d = 0; d < index.size(); ++d) {
    const int64_t begin = index[d] * leaf.shape->dimensions[d];
    const int64_t left = std::max<int64_t>(0, global.size(static_cast<int64_t>(d)) - begin);
    place.offset += begin * strides[d];
    place.sizes.push_back(std::min(leaf.shape->dimensions[d], left));
  }
  return place;
}

std::string folder_of(const std::string& folder, int64_t device) {
  return fmt::format("{}{}device-{}", folder, folder.ends_with('/') ? "" : "/", device);
}

}  // namespace

Result<std::vector<GlobalLeaf>> global_parameters(Module& module, const DeviceGrid& grid) {
  std::vector<GlobalLeaf> leaves;
  for (const InstructionId id : module.entry_computation().parameters)
    if (const auto added = add_global_leaves(module, module[id], grid, leaves); !added)
      return tl::unexpected(added.error());
  return leaves;
}

Result<std::vector<GlobalLeaf>> global_results(Module& module, const DeviceGrid& grid) {
  std::vector<GlobalLeaf> leaves;
  if (const auto added = add_global_leaves(module, module.root(module.entry), grid, leaves); !added)
    return tl::unexpected(added.error());
  return leaves;
}

namespace {

std::vector<GlobalLeaf> whole_leaves(const Module& module, std::span<const InstructionId> instructions) {
  std::vector<GlobalLeaf> leaves;
  for (const InstructionId id : instructions)
    for_each_leaf(module[id].shape, [&](ShapeRef leaf) { leaves.push_back({leaf, leaf, HeldParts()}); });
  return leaves;
}

/// Are the parts those of these arrays? `any`: some array is really cut; `single`: more than one tile is
/// enough.
bool are_parts(std::span<const GlobalLeaf> whole, std::span<const GlobalLeaf> parts, bool single, bool& any) {
  if (whole.size() != parts.size()) return false;
  for (size_t i = 0; i < whole.size(); ++i) {
    const ShapeRef all = whole[i].shape, part = parts[i].shape;
    if (all->kind != part->kind || all->rank() != part->rank()) return false;
    for (int64_t d = 0; all->is_array() && d < all->rank(); ++d) {
      const int64_t tiles =
          parts[i].sharding.is_tiled() ? parts[i].sharding.tiles[static_cast<size_t>(d)] : 1;
      if (ceil_div(all->dim(d), tiles) != part->dim(d)) return false;
      any = any || all->dim(d) != part->dim(d) || (single && tiles > 1);
    }
  }
  return true;
}

}  // namespace

std::vector<GlobalLeaf> whole_parameters(const Module& module) {
  return whole_leaves(module, module.entry_computation().parameters);
}

std::vector<GlobalLeaf> whole_results(const Module& module) {
  const InstructionId root[] = {module.entry_computation().root};
  return whole_leaves(module, root);
}

bool take_whole_sizes(const Module& whole, Module& parts, std::vector<GlobalLeaf>& parameters,
                      std::vector<GlobalLeaf>& results) {
  const std::vector<GlobalLeaf> inputs = whole_parameters(whole), outputs = whole_results(whole);
  const bool single = whole.num_partitions() == 1;
  bool any = false;
  if (!are_parts(inputs, parameters, single, any) || !are_parts(outputs, results, single, any) || !any)
    return false;
  const auto take = [&](const std::vector<GlobalLeaf>& from, std::vector<GlobalLeaf>& to) {
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i].shape->is_array())
        to[i].bound = parts.shapes().with_dimensions(to[i].shape, from[i].shape->dimensions);
  };
  take(inputs, parameters);
  take(outputs, results);
  return true;
}

Result<LeafArrays> read_global_inputs(const InputOptions& options, std::span<const ParameterLeaf> names,
                                      std::span<const GlobalLeaf> leaves, ShapePool& shapes,
                                      MemoryPool& pool) {
  std::vector<ParameterLeaf> wanted;
  for (size_t i = 0; i < leaves.size(); ++i) {
    wanted.push_back({leaves[i].bound, names[i].name});
    if (!leaves[i].sharding.is_tiled() || options.made) continue;
    // A file may hold less than the bound, where the last tile is padded.
    std::vector<char> dynamic;
    for (const int64_t tiles : leaves[i].sharding.tiles) dynamic.push_back(tiles > 1);
    const auto flags = std::make_unique<bool[]>(dynamic.size());
    std::copy(dynamic.begin(), dynamic.end(), flags.get());
    wanted.back().shape = shapes.array(leaves[i].shape->element_type, leaves[i].bound->dimensions, nullptr,
                                       {flags.get(), dynamic.size()});
  }
  Result<LeafArrays> globals = read_inputs(options, wanted, pool);
  if (!globals) return globals;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Array& global = (*globals)[i];
    if (!global.sizes) continue;
    for (size_t d = 0; d < leaves[i].sharding.tiles.size(); ++d) {
      const int64_t tiles = leaves[i].sharding.tiles[d];
      if (ceil_div(global.size(static_cast<int64_t>(d)), tiles) == leaves[i].shape->dimensions[d]) continue;
      return failure(fmt::format("{}: {} elements of dimension {} in {} tiles make tiles of {}, expected {}",
                                 names[i].name, global.size(static_cast<int64_t>(d)), d, tiles,
                                 ceil_div(global.size(static_cast<int64_t>(d)), tiles),
                                 leaves[i].shape->dimensions[d]));
    }
  }
  return globals;
}

Array part_of_global(const Array& global, const GlobalLeaf& leaf, int64_t partition, MemoryPool& pool) {
  if (!leaf.sharding.is_tiled()) return Array{leaf.shape, global.data, global.sizes};
  Array part = make_array(pool, leaf.shape);
  const TilePlace place = place_of(leaf, partition, global);
  const int64_t width = byte_width(leaf.shape->element_type), bytes = data_bytes(leaf.shape);
  if (bytes > 0) std::memset(part.bytes(), 0, static_cast<size_t>(bytes));
  const HeldParts& held = leaf.sharding;
  if (!held.summand.empty() && held.partial == PartialKind::kSum &&
      held.summand[static_cast<size_t>(partition)] != 0)
    return part;
  if (std::find(place.sizes.begin(), place.sizes.end(), 0) == place.sizes.end())
    StridedCopy(place.sizes, dense_strides(leaf.bound->dimensions), dense_strides(leaf.shape->dimensions),
                width)
        .run(global.bytes() + place.offset * width, part.bytes());
  return part;
}

namespace {

/// a += b, or the larger or the smaller of them; of complex numbers part by part.
void combine(Array& a, const Array& b, PartialKind kind) {
  const ElementType type = a.type() == ElementType::kC64    ? ElementType::kF32
                           : a.type() == ElementType::kC128 ? ElementType::kF64
                                                            : a.type();
  const auto width = static_cast<size_t>(byte_width(type));
  const int64_t count = data_bytes(a.shape) / static_cast<int64_t>(width);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t x = 0, y = 0;
    std::memcpy(&x, a.bytes() + static_cast<size_t>(i) * width, width);
    std::memcpy(&y, b.bytes() + static_cast<size_t>(i) * width, width);
    const bool floats = is_float(type);
    if (kind == PartialKind::kSum) {
      x = floats ? encode_number(type, decode_float(type, x) + decode_float(type, y)) : x + y;
    } else {
      const auto signed_of = [&](uint64_t bits) {
        return static_cast<int64_t>(bits << (64 - 8 * width)) >> (64 - 8 * width);
      };
      const bool less = floats                    ? decode_float(type, y) < decode_float(type, x)
                        : is_signed_integer(type) ? signed_of(y) < signed_of(x)
                                                  : y < x;
      if (less == (kind == PartialKind::kMin)) x = y;
    }
    std::memcpy(a.bytes() + static_cast<size_t>(i) * width, &x, width);
  }
}

/// The summands of the part that `partition` has the first of, put together.
Array summed(std::span<const LeafArrays> partitions, size_t leaf, const HeldParts& held, size_t partition,
             MemoryPool& pool) {
  const Array& first = partitions[partition][leaf];
  Array sum = make_array(pool, first.shape);
  if (data_bytes(first.shape) > 0)
    std::memcpy(sum.bytes(), first.bytes(), static_cast<size_t>(data_bytes(first.shape)));
  std::vector<bool> seen(partitions.size(), false);
  seen[0] = true;
  for (size_t p = 0; p < partitions.size(); ++p) {
    const auto number = static_cast<size_t>(held.summand[p]);
    if (held.tile_of[p] != held.tile_of[partition] || seen[number]) continue;
    seen[number] = true;
    combine(sum, partitions[p][leaf], held.partial);
  }
  return sum;
}

}  // namespace

LeafArrays global_outputs(std::span<const LeafArrays> partitions, std::span<const GlobalLeaf> leaves,
                          MemoryPool& pool) {
  LeafArrays globals;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const GlobalLeaf& leaf = leaves[i];
    if (!leaf.sharding.is_tiled()) {
      globals.push_back(partitions[0][i]);
      continue;
    }
    Array global = make_array(pool, leaf.bound);
    const int64_t width = byte_width(leaf.shape->element_type);
    const std::vector<int64_t>& summand = leaf.sharding.summand;
    for (size_t p = 0; p < partitions.size(); ++p) {
      if (!summand.empty() && summand[p] != 0) continue;
      const TilePlace place = place_of(leaf, static_cast<int64_t>(p), global);
      if (!summand.empty()) {
        const Array sum = summed(partitions, i, leaf.sharding, p, pool);
        StridedCopy(place.sizes, dense_strides(leaf.shape->dimensions), dense_strides(leaf.bound->dimensions),
                    width)
            .run(sum.bytes(), global.bytes() + place.offset * width);
        continue;
      }
      StridedCopy(place.sizes, dense_strides(leaf.shape->dimensions), dense_strides(leaf.bound->dimensions),
                  width)
          .run(partitions[p][i].bytes(), global.bytes() + place.offset * width);
    }
    globals.push_back(std::move(global));
  }
  return globals;
}

Result<DeviceInputs> read_device_inputs(const InputOptions& options, const LockstepRun& run,
                                        std::span<const ParameterLeaf> leaves, MemoryPool& pool) {
  const Share local = run.local_devices();
  DeviceInputs inputs;
  const bool has_lists = options.at_hand.size() > 1;
  if (has_lists && static_cast<int64_t>(options.at_hand.size()) != run.grid().devices())
    return failure(fmt::format("lists of arrays are given: {}; devices that run: {}", options.at_hand.size(),
                               run.grid().devices()));
  std::error_code error;
  if (!has_lists &&
      (options.folder.empty() || !std::filesystem::is_directory(folder_of(options.folder, 0), error))) {
    Result<LeafArrays> same = read_inputs(options, leaves, pool);
    if (!same) return tl::unexpected(same.error());
    inputs.devices.assign(static_cast<size_t>(local.size()), *same);
    return inputs;
  }
  inputs.shared = false;
  for (int64_t device = local.begin; device < local.end; ++device) {
    InputOptions own = options;
    if (has_lists)
      own.at_hand = options.at_hand.subspan(static_cast<size_t>(device), 1);
    else
      own.folder = folder_of(options.folder, device);
    Result<LeafArrays> read = read_inputs(own, leaves, pool);
    if (!read) {
      read.error().message = fmt::format("{}: {}", run.name_of(device), read.error().message);
      return tl::unexpected(read.error());
    }
    inputs.devices.push_back(std::move(*read));
  }
  return inputs;
}

Result<std::vector<LeafArrays>> gather_outputs(LockstepRun& run, std::vector<LeafArrays> local, int number,
                                               MemoryPool& pool) {
  Ranks& ranks = run.ranks();
  if (ranks.size() == 1) return local;
  std::vector<int> peers;
  for (int rank = 0; rank < ranks.size(); ++rank)
    if (rank != ranks.rank()) peers.push_back(rank);
  if (const auto met = ranks.meet(peers, {static_cast<uint64_t>(number), "the end of the run"}); !met)
    return tl::unexpected(met.error());
  for (const LeafArrays& values : local)
    for (const Array& leaf : values)
      if (leaf.sizes) return failure("outputs with sizes known only when it runs, on several ranks");
  int64_t device_bytes = 0;
  for (const Array& leaf : local[0]) device_bytes += data_bytes(leaf.shape);
  std::vector<Message> outgoing(peers.size()), incoming(peers.size());
  if (ranks.rank() != 0) {
    for (const LeafArrays& values : local)
      for (const Array& leaf : values)
        outgoing[0].insert(outgoing[0].end(), leaf.bytes(), leaf.bytes() + data_bytes(leaf.shape));
    ranks.exchange(peers, outgoing, incoming);
    return std::vector<LeafArrays>();
  }
  for (size_t i = 0; i < peers.size(); ++i)
    incoming[i].resize(
        static_cast<size_t>(share_of(run.grid().devices(), ranks.size(), peers[i]).size() * device_bytes));
  ranks.exchange(peers, outgoing, incoming);
  const LeafArrays shapes = local[0];
  for (size_t i = 0; i < peers.size(); ++i) {
    const std::byte* at = incoming[i].data();
    const Share devices = share_of(run.grid().devices(), ranks.size(), peers[i]);
    for (int64_t device = devices.begin; device < devices.end; ++device) {
      LeafArrays& values = local.emplace_back();
      for (const Array& leaf : shapes) {
        const int64_t bytes = data_bytes(leaf.shape);
        values.push_back({leaf.shape, pool.allocate(bytes), leaf.sizes});
        if (bytes > 0) std::memcpy(values.back().bytes(), at, static_cast<size_t>(bytes));
        at += bytes;
      }
    }
  }
  return local;
}

}  // namespace hlosim
