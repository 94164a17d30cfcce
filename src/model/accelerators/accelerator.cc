#include "accelerators/accelerator.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "base/text.h"

namespace hlosim {
namespace {

using Names = std::string_view;

constexpr Names kV2[] = {"v2"}, kV2Kinds[] = {"tpu v2"};
constexpr Names kV3[] = {"v3"}, kV3Kinds[] = {"tpu v3"};
constexpr Names kV4[] = {"v4"}, kV4Kinds[] = {"tpu v4", "tpu-v4-podslice"};
constexpr Names kV5e[] = {"v5litepod", "v5e", "v5lite"};
constexpr Names kV5eKinds[] = {"tpu v5 lite", "tpu v5e", "tpu-v5-lite-podslice", "tpu-v5-lite-device"};
constexpr Names kV5p[] = {"v5p"}, kV5pKinds[] = {"tpu v5", "tpu v5p", "tpu-v5p-slice"};
constexpr Names kV6e[] = {"v6e", "trillium"};
constexpr Names kV6eKinds[] = {"tpu v6 lite", "tpu v6e", "tpu-v6e-slice", "tpu trillium"};
constexpr Names kV7x[] = {"tpu7x", "v7x", "ironwood"};
constexpr Names kV7xKinds[] = {"tpu v7x", "tpu v7", "tpu ironwood"};

constexpr Names kV2Slices[] = {"2x2", "4x4", "8x8", "8x16", "16x16"};
constexpr Names kV3Slices[] = {"2x2", "4x4", "4x8", "8x8", "8x16", "16x16", "16x32", "32x32"};
constexpr Names kLiteSlices[] = {"1x1", "2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16"};
constexpr Names kV4Slices[] = {"2x2x1", "2x2x2", "2x2x4",  "2x4x4",  "4x4x4",   "4x4x8",   "4x4x12",
                               "4x8x8", "8x8x8", "8x8x12", "8x8x16", "8x16x16", "16x16x16"};
constexpr Names kV5pSlices[] = {
    "2x2x1",    "2x2x2",    "2x2x4",   "2x4x4",    "4x4x4",    "4x4x8",   "4x4x12",   "4x8x8",    "4x4x20",
    "4x8x12",   "4x4x28",   "8x8x8",   "4x12x12",  "4x8x20",   "4x4x44",  "8x8x12",   "4x4x52",   "4x8x28",
    "4x12x20",  "8x8x16",   "4x4x68",  "8x12x12",  "4x4x76",   "8x8x20",  "4x12x28",  "4x8x44",   "4x4x92",
    "8x12x16",  "4x20x20",  "4x8x52",  "12x12x12", "8x8x28",   "4x4x116", "8x12x20",  "4x4x124",  "8x16x16",
    "4x12x44",  "4x8x68",   "4x20x28", "12x12x16", "4x4x148",  "4x8x76",  "4x12x52",  "8x16x20",  "4x4x164",
    "8x12x28",  "4x4x172",  "8x8x44",  "12x12x20", "4x8x92",   "4x4x188", "12x16x16", "4x28x28",  "8x20x20",
    "4x12x68",  "8x8x52",   "4x4x212", "12x12x24", "4x20x44",  "8x16x28", "4x12x76",  "4x8x116",  "4x4x236",
    "12x16x20", "4x4x244",  "4x8x124", "12x12x28", "16x16x16", "4x20x52", "8x12x44",  "8x8x68",   "4x12x92",
    "8x20x28",  "12x16x24", "4x8x148", "12x20x20", "8x8x76",   "4x28x44", "8x12x52",  "16x16x20", "12x12x36",
    "4x8x164",  "12x16x28", "4x20x68", "4x8x172",  "4x12x116", "8x16x44", "12x20x24", "4x28x52",  "8x8x92",
    "4x12x124", "4x8x188",  "4x20x76", "16x16x24", "12x24x24", "16x20x28"};
constexpr Names kV7xSlices[] = {
    "1x1x1",    "2x2x1",    "2x2x2",    "2x2x4",    "2x4x4",    "4x4x4",   "4x4x8",    "4x4x12",
    "4x8x8",    "4x4x20",   "4x8x12",   "4x4x28",   "8x8x8",    "4x12x12", "4x8x20",   "4x4x44",
    "8x8x12",   "4x4x52",   "4x8x28",   "4x12x20",  "8x8x16",   "4x4x68",  "8x12x12",  "4x4x76",
    "8x8x20",   "4x12x28",  "4x8x44",   "4x4x92",   "8x12x16",  "4x20x20", "4x8x52",   "12x12x12",
    "8x8x28",   "4x4x116",  "8x12x20",  "4x4x124",  "8x16x16",  "4x12x44", "4x8x68",   "4x20x28",
    "12x12x16", "4x4x148",  "4x8x76",   "4x12x52",  "8x16x20",  "4x4x164", "8x12x28",  "4x4x172",
    "8x8x44",   "12x12x20", "4x8x92",   "4x4x188",  "12x16x16", "4x28x28", "8x20x20",  "4x12x68",
    "8x8x52",   "4x4x212",  "12x12x24", "4x20x44",  "8x16x28",  "4x12x76", "4x8x116",  "4x4x236",
    "12x16x20", "4x4x244",  "4x8x124",  "12x12x28", "16x16x16", "4x20x52", "8x12x44",  "8x8x68",
    "4x12x92",  "8x20x28",  "12x16x24", "4x8x148",  "12x20x20", "8x8x76",  "4x28x44",  "8x12x52",
    "16x16x20", "12x12x36", "4x8x164",  "12x16x28", "4x20x68",  "4x8x172", "4x12x116", "8x16x44",
    "12x20x24", "4x28x52",  "8x8x92",   "4x12x124", "4x8x188",  "4x20x76", "16x16x24", "12x24x24",
    "16x16x32", "16x20x28", "16x24x24"};

constexpr std::string_view kXpk = "AI-Hypercomputer/xpk system_characteristics.py";
constexpr std::string_view kDocs = "Cloud TPU docs, the page of that generation";

constexpr AcceleratorFamily kFamilies[] = {
    {"v2", kV2, kV2Kinds, 2, kV2Slices, kDocs},
    {"v3", kV3, kV3Kinds, 2, kV3Slices, kDocs},
    {"v4", kV4, kV4Kinds, 2, kV4Slices,
     "AI-Hypercomputer/xpk system_characteristics.py; v4-384 and v4-8192: Cloud TPU docs"},
    {"v5e", kV5e, kV5eKinds, 1, kLiteSlices, kDocs},
    {"v5p", kV5p, kV5pKinds, 2, kV5pSlices, kXpk},
    {"v6e", kV6e, kV6eKinds, 1, kLiteSlices, kDocs},
    {"v7x", kV7x, kV7xKinds, 2, kV7xSlices, kXpk},
};

/// Names of chips that there is no device file for.
constexpr Names kWithoutFile[] = {"tpu v4 lite", "v4i", "tpu v4i", "tpu8t", "tpu8i", "tpu 8t", "tpu 8i"};

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool is_among(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// "4x4x8": 128. Requires: sides of digits.
int64_t chips_of(std::string_view slice) {
  int64_t chips = 1;
  while (!slice.empty()) {
    const size_t end = std::min(slice.find('x'), slice.size());
    int64_t side = 0;
    std::from_chars(slice.data(), slice.data() + end, side);
    chips *= side;
    slice.remove_prefix(std::min(end + 1, slice.size()));
  }
  return chips;
}

std::string_view counted(const AcceleratorFamily& family) {
  return family.counted_per_chip > 1 ? "TensorCores" : "chips";
}

std::optional<int64_t> whole(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

/// "4x4x8", with or without "_twisted" and the like: digits with an x between them first.
bool is_shape(std::string_view text) {
  text = text.substr(0, text.find('_'));
  if (text.find('x') == std::string_view::npos || text.front() == 'x' || text.back() == 'x') return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c == 'x' || (c >= '0' && c <= '9'); });
}

Result<std::optional<Accelerator>> of_size(const AcceleratorFamily& family, std::string_view prefix,
                                           int64_t size) {
  std::string_view below, above;
  for (const std::string_view slice : family.slices) {
    const int64_t one = chips_of(slice) * family.counted_per_chip;
    if (one == size) return Accelerator{std::string(family.device), std::string(slice)};
    if (one < size) below = slice;
    if (one > size && above.empty()) above = slice;
  }
  const auto named = [&](std::string_view slice) {
    return fmt::format("{}-{} ({})", prefix, chips_of(slice) * family.counted_per_chip, slice);
  };
  std::string near;
  if (!below.empty()) near = named(below);
  if (!above.empty()) near += (near.empty() ? "" : " and ") + named(above);
  return failure(
      fmt::format("there is no slice {}-{}: {} has none of {} {}", prefix, size, family.device, size,
                  counted(family)),
      fmt::format("the nearest: {}; or give a shape, as in {}-{}", near, prefix, family.slices.back()));
}

/// What stands after "v5p-".
Result<std::optional<Accelerator>> with_suffix(const AcceleratorFamily& family, std::string_view prefix,
                                               std::string_view suffix) {
  if (const std::optional<int64_t> size = whole(suffix)) return of_size(family, prefix, *size);
  const std::string_view like = family.slices[std::min<size_t>(family.slices.size() - 1, 3)];
  if (suffix.empty() || !is_shape(suffix))
    return failure(
        fmt::format("\"{}-{}\": expected a number of {} or a shape after \"{}-\"", prefix, shown(suffix),
                    counted(family), prefix),
        fmt::format("as in {}-{} or {}-{}", prefix, chips_of(like) * family.counted_per_chip, prefix, like));
  const auto sides = [](std::string_view shape) {
    return std::count(shape.begin(),
                      shape.begin() + static_cast<long>(std::min(shape.find('_'), shape.size())), 'x') +
           1;
  };
  if (sides(suffix) != sides(like))
    return failure(fmt::format("\"{}-{}\" has {} sides, slices of {} have {}", prefix, shown(suffix),
                               sides(suffix), family.device, sides(like)),
                   fmt::format("write it as {}-{}", prefix, like));
  return Accelerator{std::string(family.device), std::string(suffix)};
}

}  // namespace

std::span<const AcceleratorFamily> accelerator_families() { return kFamilies; }

Result<std::optional<Accelerator>> find_accelerator(std::string_view name) {
  const std::string word = lower_case(name);
  for (const AcceleratorFamily& family : kFamilies) {
    if (is_among(word, family.names) || is_among(word, family.kinds))
      return Accelerator{std::string(family.device), ""};
    for (const std::string_view prefix : family.names)
      if (word.starts_with(prefix) && word.size() > prefix.size() && word[prefix.size()] == '-')
        return with_suffix(family, prefix, std::string_view(word).substr(prefix.size() + 1));
  }
  if (is_among(word, kWithoutFile))
    return failure(fmt::format("there is no device file for \"{}\"", shown(name)),
                   "write one that extends a near relative: docs/devices.md");
  return std::nullopt;
}

namespace {

/// "TPU v5-256": number 5, suffix "-256". Null where it isn't of that form.
struct GenerationWord {
  int64_t number = 0;
  std::string letters;  // "lite"
  std::string suffix;   // "-256"
};
std::optional<GenerationWord> generation_word(std::string_view name) {
  std::string word = lower_case(name);
  for (const std::string_view start : {"tpu", " ", "-", "_", "v"})
    if (word.starts_with(start)) word.erase(0, start.size());
  if (word.empty() || word[0] < '1' || word[0] > '9') return std::nullopt;
  GenerationWord out{word[0] - '0', "", ""};
  const size_t dash = std::min(word.find('-'), word.size());
  out.letters = word.substr(1, dash - 1);
  out.suffix = word.substr(dash);
  constexpr size_t kLongest = 8;  // "litepod" and a slip
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == ' '; };
  if (out.letters.size() > kLongest || !std::all_of(out.letters.begin(), out.letters.end(), is_letter))
    return std::nullopt;
  return out;
}

int64_t generation_of(const AcceleratorFamily& family) { return family.device[1] - '0'; }

}  // namespace

std::string nearest_generation(std::string_view name) {
  const std::optional<GenerationWord> word = generation_word(name);
  if (!word) return {};
  int64_t generation = generation_of(kFamilies[0]);
  for (const AcceleratorFamily& family : kFamilies)
    if (std::abs(generation_of(family) - word->number) < std::abs(generation - word->number))
      generation = generation_of(family);
  std::vector<std::string_view> devices;
  for (const AcceleratorFamily& family : kFamilies)
    if (generation_of(family) == generation) devices.push_back(family.device);
  const std::string_view best = nearest(fmt::format("v{}{}", word->number, word->letters), devices);
  if (!best.empty() && !word->letters.empty()) devices = {best};
  std::vector<std::string> wanted;
  for (const std::string_view device : devices) {
    const std::string sized = std::string(device) + word->suffix;
    const bool is_size = generation == word->number && find_accelerator(sized);
    wanted.push_back(fmt::format("\"{}\"", is_size ? sized : device));
  }
  return fmt::format("did you mean {}?", fmt::join(wanted, " or "));
}

std::string accelerators_markdown() {
  std::string out =
      "| device | with a slice after \"-\" | without | the number counts | sizes | shapes from |\n";
  out += "| --- | --- | --- | --- | --- | --- |\n";
  for (const AcceleratorFamily& family : kFamilies) {
    const auto size = [&](std::string_view slice) { return chips_of(slice) * family.counted_per_chip; };
    std::string sizes;
    constexpr size_t kShown = 8;
    for (size_t i = 0; i < family.slices.size() && i < kShown; ++i)
      sizes += fmt::format("{}{}: {}", i > 0 ? ", " : "", size(family.slices[i]), family.slices[i]);
    if (family.slices.size() > kShown)
      sizes += fmt::format(", … {}: {} ({} in all)", size(family.slices.back()), family.slices.back(),
                           family.slices.size());
    out +=
        fmt::format("| `{}` | `{}` | `{}` | {} | {} | {} |\n", family.device, fmt::join(family.names, "` `"),
                    fmt::join(family.kinds, "` `"), counted(family), sizes, family.source);
  }
  return out;
}

}  // namespace hlosim
