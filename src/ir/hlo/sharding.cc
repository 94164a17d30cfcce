#include "hlo/sharding.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <optional>
#include <string>

#include "base/bracketed_text.h"
#include "base/saturating.h"
#include "base/text.h"

namespace hlosim {
namespace {

/// The inside of the braces that `text` is, without blanks at the ends; nullopt: it is something else.
std::optional<std::string_view> inside(std::string_view text) {
  text = trimmed(text);
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return std::nullopt;
  return trimmed(text.substr(1, text.size() - 2));
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
    if (take_word(text, ",")) continue;
    if (!end.empty() ? !take_word(text, end) : !text.empty()) return std::nullopt;
    return values;
  }
}

/// What of one sharding decides where it fits.
struct Cut {
  bool tiled = false;           // cuts something at all
  size_t dimensions = 0;        // of the array that it is for, if tiled
  int64_t devices = 0;          // that it is for, if tiled
  std::vector<int64_t> listed;  // device numbers
};

int64_t product(std::span<const int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, saturating_multiply);
}

/// Devices of `mesh['x'=2,'y'=4]`, with which `text` begins.
int64_t mesh_devices(std::string_view text) {
  int64_t devices = 1;
  text = text.substr(0, text.find(']'));
  for (size_t at = text.find('='); at != std::string_view::npos; at = text.find('=')) {
    text.remove_prefix(at + 1);
    devices = saturating_multiply(devices, number(text).value_or(1));
  }
  return devices;
}

/// By named axes: dimensions without an axis are whole, and a sharding of nothing else is one of copies.
Cut mesh_cut(std::string_view text) {
  Cut cut;
  if (std::string_view device = text; take_word(device, "maximal_mesh[device_id="))
    cut.listed = numbers(device, "]").value_or(cut.listed);
  if (text.starts_with("mesh[")) cut.devices = mesh_devices(text);
  const std::vector<std::string_view> parts = split_outside_brackets(text, ",");
  for (const std::string_view part : std::span(parts).subspan(1)) {
    if (!part.starts_with("[") || part.size() < 2) continue;
    const std::vector<std::string_view> dimensions =
        split_outside_brackets(part.substr(1, part.size() - 2), ",");
    cut.dimensions = dimensions.size();
    for (const std::string_view dimension : dimensions) {
      const std::vector<std::string_view> axes = split_outside_brackets(inside(dimension).value_or(""), ",");
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
  cut.devices = product(tiles);
}

Cut cut_of(std::string_view text) {
  if (text.starts_with("mesh[") || text.starts_with("maximal_mesh[")) return mesh_cut(text);
  Cut cut;
  std::vector<int64_t> tiles;
  std::vector<std::string_view> subgroups;
  for (const std::string_view word : split_outside_brackets(text, " ")) {
    std::string_view rest = word;
    if (take_word(rest, "device=")) {
      cut.listed = numbers(rest, "").value_or(cut.listed);
    } else if (take_word(rest, "devices=[")) {
      tiles = numbers(rest, "]").value_or(tiles);
      if (!rest.starts_with("<=")) cut.listed = numbers(rest, "").value_or(cut.listed);
    } else if (word == "last_tile_dim_replicate") {
      subgroups = {"replicated"};
    } else if (take_word(rest, "last_tile_dims={")) {
      subgroups = split_outside_brackets(rest.substr(0, rest.size() - 1), ",");
    }
  }
  if (!tiles.empty()) add_tiles(tiles, subgroups, cut);
  return cut;
}

std::string devices_misfit(std::string_view text, const Cut& cut, int64_t partitions) {
  std::vector<int64_t> devices = cut.listed;
  std::sort(devices.begin(), devices.end());
  if (!devices.empty() && devices.front() < 0)
    return fmt::format("{{{}}} names device {}", shown(text), devices.front());
  if (const auto twice = std::adjacent_find(devices.begin(), devices.end()); twice != devices.end())
    return fmt::format("{{{}}} names device {} more than once", shown(text), *twice);
  if (partitions <= 1) return {};
  const bool single = devices.size() == 1 && cut.devices == 0;
  if ((cut.tiled || single) && !devices.empty() && devices.back() >= partitions)
    return fmt::format("{{{}}} names device {}, expected one below num_partitions={}", shown(text),
                       devices.back(), partitions);
  if (cut.tiled && cut.devices != partitions)
    return fmt::format("{{{}}} is for {} devices, expected num_partitions={}", shown(text), cut.devices,
                       partitions);
  return {};
}

std::string leaf_misfit(std::string_view text, const Cut& cut, ShapeRef leaf) {
  if (!cut.tiled || cut.dimensions == leaf->dimensions.size()) return {};
  return fmt::format("{{{}}} shards {} dimension{}, but {} has {}", shown(text), cut.dimensions,
                     cut.dimensions == 1 ? "" : "s", to_text_without_layout(leaf), leaf->dimensions.size());
}

}  // namespace

std::string sharding_misfit(std::string_view text, ShapeRef shape, int64_t partitions) {
  if (shape->is_token()) return {};
  const std::string plain = without_comments(text);
  const std::string_view content = inside(plain).value_or("");
  const bool is_tuple = content.empty() || content.starts_with("{");
  if (is_tuple && !shape->is_tuple())
    return fmt::format("a tuple of shardings for {}, which is not a tuple", to_text_without_layout(shape));
  const std::vector<std::string_view> singles =
      is_tuple ? split_outside_brackets(content, ",") : std::vector<std::string_view>{content};
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
    misfit = devices_misfit(text_of_one, cut, partitions);
    for (const size_t end = is_tuple ? next + 1 : leaves.size(); misfit.empty() && next < end; ++next)
      misfit = leaf_misfit(text_of_one, cut, leaves[next]);
    if (!misfit.empty()) break;
  }
  return misfit;
}

}  // namespace hlosim
