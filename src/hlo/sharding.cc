#include "hlo/sharding.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <optional>
#include <string>

#include "base/saturating.h"
#include "base/text.h"
#include "hlo/replica_groups.h"

namespace hlosim {
namespace {

constexpr int64_t kMostDevices = int64_t{1} << 24;

/// The inside of the braces that `text` is, without blanks at the ends; nullopt: it is something else.
std::optional<std::string_view> inside(std::string_view text) {
  text = trimmed(text);
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return std::nullopt;
  return trimmed(text.substr(1, text.size() - 2));
}

/// Parts between `separator`s that stand outside of braces, brackets and quotes; empty ones are dropped.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  char quote = '\0';
  size_t begin = 0;
  const auto add = [&](size_t end) {
    if (const std::string_view part = trimmed(text.substr(begin, end - begin)); !part.empty())
      parts.push_back(part);
    begin = end + 1;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '{' || c == '[' || c == '(') {
      ++depth;
    } else if (c == '}' || c == ']' || c == ')') {
      --depth;
    } else if (c == separator && depth == 0) {
      add(i);
    }
  }
  add(text.size());
  return parts;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// One number from the start of `text`; those from 2^63 to 2^64 wrap, as everywhere in HLO text.
std::optional<int64_t> number(std::string_view& text) {
  const char* const end = text.data() + text.size();
  int64_t value = 0;
  auto result = std::from_chars(text.data(), end, value);
  if (result.ec == std::errc::result_out_of_range) {
    uint64_t wide = 0;
    result = std::from_chars(text.data(), end, wide);
    value = static_cast<int64_t>(wide);
  }
  if (result.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(result.ptr - text.data()));
  return value;
}

/// "2,1,2" up to `end`, which is taken too; nullopt: something else.
std::optional<std::vector<int64_t>> numbers(std::string_view& text, std::string_view end) {
  std::vector<int64_t> values;
  for (;;) {
    const std::optional<int64_t> value = number(text);
    if (!value) return std::nullopt;
    values.push_back(*value);
    if (take(text, ",")) continue;
    if (!end.empty() ? !take(text, end) : !text.empty()) return std::nullopt;
    return values;
  }
}

class ShardingReader {
 public:
  explicit ShardingReader(std::string_view text) : text_(text) {}

  Result<Sharding> read() {
    if (text_.starts_with("mesh[") || text_.starts_with("maximal_mesh[")) return read_mesh();
    Sharding sharding;
    size_t trailing = 0;
    for (const std::string_view word : split(text_, ' ')) {
      std::string_view rest = word;
      if (word == "replicated") {
        sharding.kind = Sharding::Kind::kReplicated;
      } else if (word == "manual") {
        sharding.kind = Sharding::Kind::kManual;
      } else if (word == "unknown") {
        sharding.kind = Sharding::Kind::kUnknown;
      } else if (word == "maximal") {
        sharding.kind = Sharding::Kind::kMaximal;
      } else if (take(rest, "device=")) {
        const auto device = numbers(rest, "");
        if (!device || device->size() != 1) return refuse();
        sharding.device = (*device)[0];
      } else if (take(rest, "devices=[")) {
        if (!read_devices(rest, sharding)) return refuse();
      } else if (take(rest, "<=[")) {
        if (!read_iota(rest, "")) return refuse();
      } else if (take(rest, "T(")) {
        if (!read_iota(reshape_, word)) return refuse();
      } else if (word == "last_tile_dim_replicate") {
        trailing = 1;
      } else if (take(rest, "last_tile_dims={")) {
        if (rest.find("unreduced") != std::string_view::npos ||
            rest.find("maximal") != std::string_view::npos)
          return refuse();
        trailing = split(rest.substr(0, rest.size() - 1), ',').size();
      } else if (!word.starts_with("metadata=") && word != "shard_as" && word != "shard_like" &&
                 word.find_first_not_of("0123456789") != std::string_view::npos) {
        return refuse();
      }
    }
    return sharding.is_tiled() ? assign(std::move(sharding), trailing)
                               : Result<Sharding>(std::move(sharding));
  }

 private:
  tl::unexpected<Diagnostic> refuse() const {
    return failure(fmt::format("the sharding {{{}}} is not understood", shown(text_)));
  }

  bool read_devices(std::string_view rest, Sharding& sharding) {
    sharding.kind = Sharding::Kind::kTiled;
    const auto tiles = numbers(rest, "]");
    if (!tiles) return false;
    sharding.tiles = *tiles;
    if (rest.empty()) return true;
    if (take(rest, "<=[")) return read_iota(rest, "");
    const auto list = numbers(rest, "");
    if (list) devices_ = *list;
    return list.has_value();
  }

  // "4,2]" or "4,2]T(1,0)"; or the former again, with "T(1,0)" as a word of its own.
  bool read_iota(std::string_view rest, std::string_view transposition) {
    reshape_ = rest;
    const auto sizes = numbers(rest, "]");
    if (!sizes) return false;
    std::string_view order_text = transposition.empty() ? rest : transposition;
    std::vector<int64_t> order;
    if (take(order_text, "T(")) {
      const auto permutation = numbers(order_text, ")");
      if (!permutation) return false;
      order = *permutation;
    }
    const int64_t count = std::accumulate(sizes->begin(), sizes->end(), int64_t{1}, [](int64_t a, int64_t b) {
      return b > 0 && a <= kMostDevices / b ? a * b : kMostDevices + 1;
    });
    if (count > kMostDevices) return false;
    const int64_t one_group[] = {1, count};
    ReplicaGroups iota;
    iota.form = ReplicaGroups::Form::kIota;
    iota.iota_dimensions = one_group;
    iota.iota_reshape = *sizes;
    iota.iota_transpose = order;
    const auto listed = list_replica_groups(iota, 0);
    if (!listed) return false;
    devices_ = listed->front();
    return true;
  }

  /// The tile of each device, from the devices in the order of the tiles; the last `trailing` numbers of
  /// tiles are copies.
  Result<Sharding> assign(Sharding sharding, size_t trailing) const {
    if (trailing > sharding.tiles.size()) return refuse();
    int64_t copies = 1, count = 1;
    for (size_t i = 0; i < sharding.tiles.size(); ++i) {
      const int64_t tiles = sharding.tiles[i];
      if (tiles < 1 || count > kMostDevices / tiles) return refuse();
      count *= tiles;
      if (i + trailing >= sharding.tiles.size()) copies *= tiles;
    }
    if (count != static_cast<int64_t>(devices_.size())) return refuse();
    sharding.tiles.resize(sharding.tiles.size() - trailing);
    sharding.tile_of.assign(devices_.size(), -1);
    for (size_t i = 0; i < devices_.size(); ++i) {
      const int64_t device = devices_[i];
      if (device < 0 || device >= count || sharding.tile_of[static_cast<size_t>(device)] >= 0)
        return refuse();
      sharding.tile_of[static_cast<size_t>(device)] = static_cast<int64_t>(i) / copies;
    }
    return sharding;
  }

  // Devices that differ along the axes of some dimension hold different tiles; the other axes are copies.
  Result<Sharding> read_mesh() const {
    const std::vector<std::string_view> parts = split(text_, ',');
    Sharding sharding;
    std::string mesh(parts.at(0));
    std::vector<std::string_view> dimensions;
    for (const std::string_view part : std::span(parts).subspan(1)) {
      if (part.starts_with("device_ids=")) mesh += fmt::format(", {}", part);
      if (part.starts_with("[")) {
        sharding.kind = Sharding::Kind::kTiled;
        dimensions = split(part.substr(1, part.size() - 2), ',');
      }
      if (part == "manual" || part.starts_with("manual=")) sharding.kind = Sharding::Kind::kManual;
      if (part.starts_with("unreduced")) return refuse();
    }
    if (!sharding.is_tiled()) return sharding;
    std::string all;
    for (const std::string_view dimension : dimensions) {
      std::string axes;
      for (const std::string_view axis : split(inside(dimension).value_or(""), ','))
        if (axis != "?") axes += fmt::format("{}{}", axes.empty() ? "" : ",", axis);
      const auto groups = mesh_groups(fmt::format("{} {{{}}}", mesh, axes));
      if (!groups) return tl::unexpected(groups.error());
      sharding.tiles.push_back(static_cast<int64_t>(groups->front().size()));
      if (!axes.empty()) all += fmt::format("{}{}", all.empty() ? "" : ",", axes);
    }
    const auto groups = mesh_groups(fmt::format("{} {{{}}}", mesh, all));
    if (!groups) return tl::unexpected(groups.error());
    sharding.tile_of.assign(groups->size() * groups->front().size(), -1);
    for (const std::vector<int64_t>& group : *groups)
      for (size_t tile = 0; tile < group.size(); ++tile) {
        if (group[tile] >= static_cast<int64_t>(sharding.tile_of.size())) return refuse();
        sharding.tile_of[static_cast<size_t>(group[tile])] = static_cast<int64_t>(tile);
      }
    return sharding;
  }

  static Result<std::vector<std::vector<int64_t>>> mesh_groups(const std::string& text) {
    ReplicaGroups groups;
    groups.form = ReplicaGroups::Form::kMesh;
    groups.text = text;
    return list_replica_groups(groups, 0);
  }

  std::string_view text_, reshape_;
  std::vector<int64_t> devices_;
};

/// Without the comments that count the leaves.
std::string without_comments(std::string_view text) {
  std::string plain(text);
  for (size_t at = 0; (at = plain.find("/*", at)) != std::string::npos;)
    plain.erase(at, std::min(plain.find("*/", at), plain.size() - 2) + 2 - at);
  return plain;
}

// ── does it fit a shape? ────────────────────────────────────────

/// What of one sharding decides where it fits.
struct Cut {
  bool tiled = false;           // cuts something at all
  size_t dimensions = 0;        // of the array that it is for, if tiled
  std::vector<int64_t> listed;  // device numbers
};

int64_t product(std::span<const int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, saturating_multiply);
}

/// By named axes: dimensions without an axis are whole, and a sharding of nothing else is one of copies.
Cut mesh_cut(std::string_view text) {
  Cut cut;
  if (std::string_view device = text; take(device, "maximal_mesh[device_id="))
    cut.listed = numbers(device, "]").value_or(cut.listed);
  const std::vector<std::string_view> parts = split(text, ',');
  for (const std::string_view part : std::span(parts).subspan(1)) {
    if (!part.starts_with("[") || part.size() < 2) continue;
    const std::vector<std::string_view> dimensions = split(part.substr(1, part.size() - 2), ',');
    cut.dimensions = dimensions.size();
    for (const std::string_view dimension : dimensions) {
      const std::vector<std::string_view> axes = split(inside(dimension).value_or(""), ',');
      cut.tiled |= std::any_of(axes.begin(), axes.end(), [](std::string_view axis) { return axis != "?"; });
    }
  }
  return cut;
}

/// The tiles of `devices=`, the last of them for subgroups of the given types. Where the data dimensions hold
/// one tile and all subgroups are of one type, nothing is cut.
void add_tiles(std::span<const int64_t> tiles, std::span<const std::string_view> subgroups, Cut& cut) {
  if (subgroups.size() > tiles.size()) return;
  const std::span<const int64_t> data = tiles.first(tiles.size() - subgroups.size());
  const bool one_type =
      std::adjacent_find(subgroups.begin(), subgroups.end(), std::not_equal_to<>()) == subgroups.end();
  cut.tiled = product(tiles) > 1 && (product(data) > 1 || !one_type);
  cut.dimensions = data.size();
}

Cut cut_of(std::string_view text) {
  if (text.starts_with("mesh[") || text.starts_with("maximal_mesh[")) return mesh_cut(text);
  Cut cut;
  std::vector<int64_t> tiles;
  std::vector<std::string_view> subgroups;
  for (const std::string_view word : split(text, ' ')) {
    std::string_view rest = word;
    if (take(rest, "device=")) {
      cut.listed = numbers(rest, "").value_or(cut.listed);
    } else if (take(rest, "devices=[")) {
      tiles = numbers(rest, "]").value_or(tiles);
      if (!rest.starts_with("<=")) cut.listed = numbers(rest, "").value_or(cut.listed);
    } else if (word == "last_tile_dim_replicate") {
      subgroups = {"replicated"};
    } else if (take(rest, "last_tile_dims={")) {
      subgroups = split(rest.substr(0, rest.size() - 1), ',');
    }
  }
  if (!tiles.empty()) add_tiles(tiles, subgroups, cut);
  return cut;
}

std::string devices_misfit(std::string_view text, std::vector<int64_t> devices) {
  std::sort(devices.begin(), devices.end());
  if (!devices.empty() && devices.front() < 0)
    return fmt::format("{{{}}} names device {}", shown(text), devices.front());
  if (const auto twice = std::adjacent_find(devices.begin(), devices.end()); twice != devices.end())
    return fmt::format("{{{}}} names device {} more than once", shown(text), *twice);
  return {};
}

std::string leaf_misfit(std::string_view text, const Cut& cut, ShapeRef leaf) {
  if (!cut.tiled || cut.dimensions == leaf->dimensions.size()) return {};
  return fmt::format("{{{}}} cuts {} dimension{}, but {} has {}", shown(text), cut.dimensions,
                     cut.dimensions == 1 ? "" : "s", to_text_without_layout(leaf), leaf->dimensions.size());
}

}  // namespace

std::string sharding_misfit(std::string_view text, ShapeRef shape) {
  if (shape->is_token()) return {};
  const std::string plain = without_comments(text);
  const std::string_view content = inside(plain).value_or("");
  const bool is_tuple = content.empty() || content.starts_with("{");
  if (is_tuple && !shape->is_tuple())
    return fmt::format("a tuple of shardings for {}, which is no tuple", to_text_without_layout(shape));
  const std::vector<std::string_view> singles =
      is_tuple ? split(content, ',') : std::vector<std::string_view>{content};
  std::vector<ShapeRef> leaves;
  for_each_leaf(shape, [&](ShapeRef leaf) { leaves.push_back(leaf); });
  if (leaves.empty() && singles.size() == 1) return {};  // XLA lets the empty tuple have one
  if (is_tuple && singles.size() != leaves.size())
    return fmt::format("{} shardings for the {} arrays of {}", singles.size(), leaves.size(),
                       to_text_without_layout(shape));
  std::string misfit;
  size_t next = 0;  // of the leaves
  for (const std::string_view single : singles) {
    const std::string_view text_of_one = is_tuple ? inside(single).value_or(single) : single;
    const Cut cut = cut_of(text_of_one);
    misfit = devices_misfit(text_of_one, cut.listed);
    for (const size_t end = is_tuple ? next + 1 : leaves.size(); misfit.empty() && next < end; ++next)
      misfit = leaf_misfit(text_of_one, cut, leaves[next]);
    if (!misfit.empty()) break;
  }
  return misfit;
}

Result<std::vector<Sharding>> read_sharding(std::string_view text, size_t leaves) {
  const std::string plain = without_comments(text);
  const auto content = inside(plain);
  if (!content) return failure(fmt::format("the sharding {} is not understood", shown(text)));
  std::vector<std::string_view> singles{*content};
  const bool is_tuple = content->empty() || content->starts_with("{");
  if (is_tuple) singles = split(*content, ',');
  std::vector<Sharding> shardings;
  for (const std::string_view single : singles) {
    Result<Sharding> sharding = ShardingReader(is_tuple ? inside(single).value_or(single) : single).read();
    if (!sharding) return tl::unexpected(sharding.error());
    shardings.push_back(std::move(*sharding));
  }
  if (!is_tuple) shardings.resize(leaves, shardings.front());
  if (shardings.size() != leaves)
    return failure(
        fmt::format("the sharding {} is for {} arrays, there are {}", shown(text), shardings.size(), leaves));
  return shardings;
}

}  // namespace hlosim
