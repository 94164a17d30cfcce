#include "propagate/stated.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <unordered_map>

#include "base/saturating.h"
#include "sharding/sharding_calls.h"

namespace hlosim {
namespace {

/// So many decide what the axes are.
constexpr size_t kMostDistinct = 256;
constexpr int64_t kMostDevices = int64_t{1} << 24;  // that DeviceAxes has numbers for

struct StatedText {
  InstructionId id;
  const Attr* attr;
  std::vector<TileAssignment> leaves;
};

tl::unexpected<Diagnostic> at(const Module& module, const Attr& attr, Diagnostic problem) {
  problem.source = module.source;
  problem.offset = attr.offset;
  return tl::unexpected(std::move(problem));
}

std::vector<ShapeRef> leaves_of(ShapeRef shape) {
  std::vector<ShapeRef> leaves;
  for_each_leaf(shape,
                [&](ShapeRef leaf) { leaves.push_back(leaf->is_buffer() ? leaf->elements[0] : leaf); });
  return leaves;
}

/// A token's sharding is that of what is sent to the host.
bool speaks_of_operands(const Instruction& instruction) {
  const std::vector<ShapeRef> leaves = leaves_of(instruction.shape);
  return std::none_of(leaves.begin(), leaves.end(), [](ShapeRef leaf) { return leaf->is_array(); });
}

/// Behind the string that begins at `quote`.
size_t behind_string(std::string_view text, size_t quote) {
  size_t at = quote + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

/// Calls f(begin, size, maximal) for each list of devices in the text of a sharding, and for the one device
/// of a maximal one. What strings of its metadata say is none.
template <class F>
void for_each_list(std::string_view text, F&& f) {
  constexpr std::string_view kTiles = "devices=[", kMaximal = "device=";
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at = behind_string(text, at);
      continue;
    }
    const bool tiles = text.substr(at).starts_with(kTiles);
    if (!tiles && !text.substr(at).starts_with(kMaximal)) {
      ++at;
      continue;
    }
    at = tiles ? text.find(']', at) : at + kMaximal.size() - 1;
    if (at == std::string_view::npos) return;
    const size_t end = std::min(text.find_first_not_of("0123456789,", ++at), text.size());
    if (end > at) f(at, end - at, !tiles);
    at = std::max(at, end);
  }
}

/// Outside of strings.
bool says(std::string_view text, std::string_view word) {
  for (size_t at = 0; at < text.size(); at = text[at] == '"' ? behind_string(text, at) : at + 1)
    if (text.substr(at).starts_with(word)) return true;
  return false;
}

std::vector<int64_t> numbers_in(std::string_view list) {
  std::vector<int64_t> numbers;
  while (!list.empty()) {
    int64_t number = 0;
    const auto read = std::from_chars(list.data(), list.data() + list.size(), number);
    if (read.ec != std::errc()) return {};
    numbers.push_back(number);
    list.remove_prefix(static_cast<size_t>(read.ptr - list.data()));
    if (list.starts_with(',')) list.remove_prefix(1);
  }
  return numbers;
}

/// The devices that the module's shardings list, ascending, if all list the same ones, maximal ones are among
/// them, and these aren't 0 … n-1; else empty.
std::vector<int64_t> names_of_devices(const Module& module, std::span<const ComputationId> computations) {
  std::vector<int64_t> names, single;
  bool differ = false;
  for (const ComputationId computation : computations)
    for (const InstructionId id : module[computation].instructions) {
      const Attr* attr = module[id].find(AttrKey::kSharding);
      if (!attr) continue;
      if (says(attr->text(), "<=[") || says(attr->text(), "mesh")) return {};
      for_each_list(attr->text(), [&](size_t at, size_t size, bool maximal) {
        std::vector<int64_t> devices = numbers_in(attr->text().substr(at, size));
        if (maximal) {
          single.insert(single.end(), devices.begin(), devices.end());
          return;
        }
        std::sort(devices.begin(), devices.end());
        differ = differ || devices.empty() || (!names.empty() && names != devices) ||
                 std::adjacent_find(devices.begin(), devices.end()) != devices.end() ||
                 devices.back() + 1 == static_cast<int64_t>(devices.size());
        names = std::move(devices);
      });
    }
  for (const int64_t device : single)
    differ = differ || !std::binary_search(names.begin(), names.end(), device);
  return differ ? std::vector<int64_t>() : names;
}

/// The text with the numbers of devices instead of their names.
std::string renumbered(std::string_view text, const std::vector<int64_t>& names) {
  std::string made;
  size_t done = 0;
  for_each_list(text, [&](size_t at, size_t size, bool) {
    std::vector<int64_t> devices = numbers_in(text.substr(at, size));
    for (int64_t& device : devices)
      device = std::lower_bound(names.begin(), names.end(), device) - names.begin();
    made += fmt::format("{}{}", text.substr(done, at - done), fmt::join(devices, ","));
    done = at + size;
  });
  return made + std::string(text.substr(done));
}

/// Reads all texts, equal ones once.
Result<std::vector<StatedText>> read_texts(const Module& module, std::span<const ComputationId> computations,
                                           const std::vector<int64_t>& names) {
  std::unordered_map<std::string_view, TileAssignment> known;  // of single arrays
  std::vector<StatedText> texts;
  for (const ComputationId computation : computations)
    for (const InstructionId id : module[computation].instructions) {
      const Instruction& instruction = module[id];
      const Attr* attr = instruction.find(AttrKey::kSharding);
      if (!attr) continue;
      const auto leaves = static_cast<size_t>(leaf_count(instruction.shape));
      const auto found = leaves == 1 ? known.find(attr->text()) : known.end();
      if (found != known.end()) {
        texts.push_back({id, attr, {found->second}});
        continue;
      }
      Result<std::vector<TileAssignment>> read =
          names.empty() ? read_tile_assignments(attr->text(), leaves)
                        : read_tile_assignments(renumbered(attr->text(), names), leaves);
      if (!read && speaks_of_operands(instruction)) continue;
      if (!read) return at(module, *attr, read.error());
      if (leaves == 1) known.emplace(attr->text(), read->front());
      texts.push_back({id, attr, std::move(*read)});
    }
  return texts;
}

int64_t named_devices(const TileAssignment& tiles) {
  return tiles.kind == TileAssignment::Kind::kMaximal ? saturating_add(tiles.device, 1) : tiles.devices();
}

/// The tilings of single arrays, equal ones read once.
class TilingReader {
 public:
  explicit TilingReader(StatedTilings& stated) : stated_(stated) { stated_.orders.emplace_back(); }

  Result<StatedTiling> read(const TileAssignment& tiles, ShapeRef shape, uint64_t open) {
    StatedTiling made;
    made.kind = tiles.kind;
    made.group = tiles.shard_group;
    made.open = open;
    made.tiling = Tiling(shape->rank());
    if (!tiles.is_tiled()) return made;
    for (size_t i = 0; i < tiles.open.size() && i < 64; ++i) made.open |= uint64_t{tiles.open[i]} << i;
    const bool copies =
        std::all_of(tiles.dimensions.begin(), tiles.dimensions.end(), [](int64_t n) { return n == 1; }) &&
        std::all_of(
            tiles.subgroups.begin(), tiles.subgroups.end(),
            [](const TileAssignment::Subgroup& group) { return group.type == SubgroupType::kReplicated; });
    if (copies) {
      made.kind = TileAssignment::Kind::kReplicated;
      return made;
    }
    Result<PlacedTiling> placed = tiling_of(stated_.axes, tiles, shape->rank());
    if (!placed) return tl::unexpected(placed.error());
    made.tiling = std::move(placed->tiling);
    made.order = order(std::move(placed->device_at));
    return made;
  }

 private:
  int32_t order(std::vector<int64_t> device_at) {
    const auto found = std::find(stated_.orders.begin(), stated_.orders.end(), device_at);
    const auto number = static_cast<int32_t>(found - stated_.orders.begin());
    if (found == stated_.orders.end()) stated_.orders.push_back(std::move(device_at));
    return number;
  }

  StatedTilings& stated_;
};

uint64_t open_dimensions(const Instruction& instruction) {
  if (sharding_call(instruction) == ShardingCall::kNone) return 0;
  uint64_t open = 0;
  for (const int64_t i : unspecified_dimensions(instruction))
    if (i < 64) open |= uint64_t{1} << i;
  return open;
}

void note_dimensions(const std::vector<SdyDimension>& dimensions, StatedTiling& said) {
  for (size_t i = 0; i < dimensions.size() && i < said.tiling.cuts.size() && i < 64; ++i) {
    said.open |= uint64_t{dimensions[i].open} << i;
    if (dimensions[i].priority == 0) continue;
    said.priorities.resize(said.tiling.cuts.size(), 0);
    said.priorities[i] = static_cast<uint8_t>(std::min<int64_t>(dimensions[i].priority, 255));
  }
}

}  // namespace

std::string StatedTilings::text(const Tiling& tiling, int32_t order) const {
  std::string text = to_text(axes, tiling);
  const std::vector<int64_t>& device_at = orders[static_cast<size_t>(order)];
  if ((device_at.empty() && names.empty()) || tiling.is_replicated()) return text;
  const Result<TileAssignment> tiles =
      read_tile_assignment(std::string_view(text).substr(1, text.size() - 2));
  HLOSIM_CHECK(tiles.has_value(), "{} was written here", text);
  if (!tiles->is_tiled()) return text;
  std::vector<int64_t> devices = list_devices(*tiles);
  for (int64_t& device : devices) {
    if (!device_at.empty()) device = device_at[static_cast<size_t>(axes.place_of(device))];
    if (!names.empty()) device = names[static_cast<size_t>(device)];
  }
  const size_t from = text.find("<="), behind = std::min(text.find(' '), text.size() - 1);
  if (from == std::string::npos) {  // a list as well: it begins behind the tiles
    const size_t list = text.find(']') + 1;
    return fmt::format("{}{}{}", text.substr(0, list), fmt::join(devices, ","), text.substr(behind));
  }
  return fmt::format("{}{}{}", text.substr(0, from), fmt::join(devices, ","), text.substr(behind));
}

Result<StatedTilings> read_stated(const Module& module, std::span<const ComputationId> computations,
                                  int64_t devices, bool some_devices) {
  std::vector<int64_t> names = some_devices ? names_of_devices(module, computations) : std::vector<int64_t>();
  const Result<std::vector<StatedText>> texts = read_texts(module, computations, names);
  if (!texts) return tl::unexpected(texts.error());
  int64_t named = 1;
  std::vector<TileAssignment> distinct;
  for (const StatedText& text : *texts)
    for (const TileAssignment& tiles : text.leaves) {
      named = std::max(named, named_devices(tiles));
      const bool looks = tiles.is_tiled() && distinct.size() < kMostDistinct;
      if (looks && std::find(distinct.begin(), distinct.end(), tiles) == distinct.end())
        distinct.push_back(tiles);
    }
  if (devices == 0) devices = names.empty() ? std::max(named, module.num_partitions()) : named;
  if (devices < 1 || devices > kMostDevices)
    return failure(fmt::format("{} devices, expected 1 to {}", devices, kMostDevices));
  StatedTilings stated(DeviceAxes(devices, distinct));
  stated.names = std::move(names);
  TilingReader reader(stated);
  stated.first = IdMap<InstructionId, int32_t>(module.instructions.size(), 0);
  stated.count = IdMap<InstructionId, int32_t>(module.instructions.size(), 0);
  for (const StatedText& text : *texts) {
    stated.first[text.id] = static_cast<int32_t>(stated.leaves.size());
    stated.count[text.id] = static_cast<int32_t>(text.leaves.size());
    const uint64_t open = open_dimensions(module[text.id]);
    const std::vector<std::vector<SdyDimension>> notes = sdy_dimensions(module[text.id]);
    const std::vector<ShapeRef> shapes = leaves_of(module[text.id].shape);
    for (size_t leaf = 0; leaf < text.leaves.size(); ++leaf) {
      const TileAssignment& tiles = text.leaves[leaf];
      if (named_devices(tiles) > devices)
        return at(
            module, *text.attr,
            failure(fmt::format("the sharding names {} devices, there are {}", named_devices(tiles), devices))
                .value());
      Result<StatedTiling> made = reader.read(tiles, shapes[leaf], open);
      if (!made) return at(module, *text.attr, made.error());
      if (notes.size() == text.leaves.size()) note_dimensions(notes[leaf], *made);
      stated.leaves.push_back(std::move(*made));
    }
  }
  return stated;
}

}  // namespace hlosim
