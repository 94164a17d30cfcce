#include "model/device_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <span>

#include "base/config_files.h"
#include "base/text.h"
#include "model/builtin_configs.h"
#include "model/device_files.h"
#include "model/device_reader.h"
#include "model/device_text_form.h"

namespace hlosim {

namespace {

bool is_among(std::string_view name, std::span<const std::string> names) {
  const std::string word = lower_case(name);
  return std::ranges::any_of(names, [&](const std::string& other) { return lower_case(other) == word; });
}

bool is_plain_name(const NamesConfig& names, std::string_view name) {
  return is_among(name, names.accelerators) || is_among(name, names.kinds) || is_among(name, names.profiler);
}

/// An accelerator type that "-" and a slice follow in `name`, as it is written there; empty: none.
std::string_view prefix_of(const NamesConfig& names, std::string_view name) {
  const std::string word = lower_case(name);
  for (const std::string& type : names.accelerators)
    if (word.starts_with(lower_case(type) + "-")) return name.substr(0, type.size());
  return {};
}

// ── files ──

std::optional<NamedFile> named_file(SourcePtr source, std::string device) {
  DiagnosticList ignored;
  std::optional<Value> root = parse_yaml(source, ignored);
  if (!root || !root->is_map() || !root->find("names")) return std::nullopt;
  return NamedFile{std::move(source), std::move(device), read_names(std::move(*root))};
}

/// Calls visit(file) for one file after the other until it returns true.
template <class Visit>
void visit_named_files(const DeviceSearch& search, const Visit& visit) {
  for (const std::string& directory : search.directories) {
    for (const std::string& path : config_files_in(directory)) {
      const Result<SourcePtr> source = read_config_file(path);
      if (!source) continue;
      if (const auto file = named_file(*source, config_name_of(path)); file && visit(*file)) return;
    }
  }
  for (const BuiltinConfig& config : builtin_configs())
    if (const auto file = named_file(builtin_source(config), std::string(config.name)); file && visit(*file))
      return;
}

std::optional<Device> device_in(const NamedFile& file, const DeviceSearch& search) {
  DiagnosticList ignored;
  return load_device(file.source, {}, search, ignored);
}

// ── slices ──

/// What the numbers in names of slices count.
std::string_view counted(const DeviceConfig& device) {
  return device.cores_per_chip > 1 ? "TensorCores" : "chips";
}

int64_t size_of(const DeviceConfig& device, const Topology& slice) {
  return slice.chips() * device.cores_per_chip;
}

std::string sides_text(const Topology& slice) { return TextForm<Topology>::write(slice); }

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

Result<std::string> slice_of_size(const DeviceConfig& device, std::string_view prefix, int64_t size) {
  const Topology *below = nullptr, *above = nullptr;
  for (const Topology& slice : device.ici.slices) {
    const int64_t one = size_of(device, slice);
    if (one == size) return sides_text(slice);
    if (one < size) below = &slice;
    if (one > size && !above) above = &slice;
  }
  const auto named = [&](const Topology& slice) {
    return fmt::format("{}-{} ({})", prefix, size_of(device, slice), sides_text(slice));
  };
  std::string near = below ? named(*below) : "";
  if (above) near += (near.empty() ? "" : " and ") + named(*above);
  const Topology& like = device.ici.slices.empty() ? device.ici.default_slice : device.ici.slices.back();
  return failure(fmt::format("there is no slice {}-{}: {} has none of {} {}", prefix, size, device.generation,
                             size, counted(device)),
                 fmt::format("{}give a shape, as in {}-{}",
                             near.empty() ? "ici.slices of the device lists none; "
                                          : fmt::format("the nearest: {}; or ", near),
                             prefix, sides_text(like)));
}

/// What stands after "v5p-".
Result<std::string> slice_of_suffix(const DeviceConfig& device, std::string_view prefix,
                                    std::string_view suffix) {
  if (const std::optional<int64_t> size = whole(suffix)) return slice_of_size(device, prefix, *size);
  constexpr size_t kExample = 3;
  const std::vector<Topology>& slices = device.ici.slices;
  const Topology& like =
      slices.empty() ? device.ici.default_slice : slices[std::min(slices.size() - 1, kExample)];
  if (suffix.empty() || !is_shape(suffix))
    return failure(
        fmt::format("\"{}-{}\": expected a number of {} or a shape after \"{}-\"", prefix, shown(suffix),
                    counted(device), prefix),
        fmt::format("as in {}-{} or {}-{}", prefix, size_of(device, like), prefix, sides_text(like)));
  const std::string_view shape = suffix.substr(0, suffix.find('_'));
  const auto sides = static_cast<size_t>(std::count(shape.begin(), shape.end(), 'x') + 1);
  if (sides != like.sides.size())
    return failure(fmt::format("\"{}-{}\" has {} sides, slices of {} have {}", prefix, shown(suffix), sides,
                               device.generation, like.sides.size()),
                   fmt::format("write it as {}-{}", prefix, sides_text(like)));
  return std::string(suffix);
}

}  // namespace

std::optional<NamedFile> find_named_file(std::string_view name, const DeviceSearch& search) {
  std::optional<NamedFile> found;
  visit_named_files(search, [&](const NamedFile& file) {
    if (is_plain_name(file.names, name) || !prefix_of(file.names, name).empty()) found = file;
    return found.has_value();
  });
  return found;
}

std::string device_of_name(std::string_view name, const DeviceSearch& search) {
  const std::optional<NamedFile> file = find_named_file(name, search);
  return file && is_plain_name(file->names, name) ? file->device : "";
}

Result<std::string> slice_of_name(const DeviceConfig& device, std::string_view name) {
  if (!device.names || is_plain_name(*device.names, name)) return std::string();
  const std::string_view prefix = prefix_of(*device.names, name);
  if (prefix.empty()) return std::string();
  return slice_of_suffix(device, lower_case(prefix), lower_case(name.substr(prefix.size() + 1)));
}

std::string profiler_name(const DeviceConfig& device) {
  return device.names && !device.names->profiler.empty() ? device.names->profiler.front() : device.name;
}

// ── slips ──

namespace {

/// "TPU v5-256": number 5, suffix "-256".
struct GenerationWord {
  int64_t number = 0;
  std::string letters;  // "lite"
  std::string suffix;   // "-256"
};

/// Null where `name` isn't of that form.
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

struct Numbered {
  NamedFile file;
  int64_t generation = 0;
};

std::vector<Numbered> numbered_files(const DeviceSearch& search) {
  std::vector<Numbered> out;
  visit_named_files(search, [&](const NamedFile& file) {
    if (const auto word = generation_word(file.device)) out.push_back({file, word->number});
    return false;
  });
  return out;
}

bool has_slice(const NamedFile& file, std::string_view name, const DeviceSearch& search) {
  const std::optional<Device> device = device_in(file, search);
  return device && slice_of_name(device->config, name);
}

}  // namespace

std::string nearest_generation(std::string_view name, const DeviceSearch& search) {
  const std::optional<GenerationWord> word = generation_word(name);
  std::vector<Numbered> files = word ? numbered_files(search) : std::vector<Numbered>();
  if (files.empty()) return {};
  const auto distance = [&](const Numbered& one) { return std::abs(one.generation - word->number); };
  const int64_t generation = std::ranges::min_element(files, {}, distance)->generation;
  std::erase_if(files, [&](const Numbered& one) { return one.generation != generation; });
  std::vector<std::string_view> devices;
  for (const Numbered& one : files) devices.push_back(one.file.device);
  const std::string_view best = nearest(fmt::format("v{}{}", word->number, word->letters), devices);
  std::vector<std::string> wanted;
  for (const Numbered& one : files) {
    if (!best.empty() && !word->letters.empty() && one.file.device != best) continue;
    const std::string sized = one.file.device + word->suffix;
    const bool is_size = generation == word->number && has_slice(one.file, sized, search);
    wanted.push_back(fmt::format("\"{}\"", is_size ? sized : one.file.device));
  }
  return fmt::format("did you mean {}? A file of your own may extend one: docs/devices.md",
                     fmt::join(wanted, " or "));
}

// ── text ──

namespace {

std::string sizes_text(const DeviceConfig& device) {
  constexpr size_t kShown = 8;
  const std::vector<Topology>& slices = device.ici.slices;
  const auto one = [&](const Topology& slice) {
    return fmt::format("{}: {}", size_of(device, slice), sides_text(slice));
  };
  std::string text;
  for (size_t i = 0; i < slices.size() && i < kShown; ++i) text += (i > 0 ? ", " : "") + one(slices[i]);
  if (slices.size() > kShown) text += fmt::format(", … {} ({} in all)", one(slices.back()), slices.size());
  return text;
}

/// Without its class: "Cloud TPU docs" of "published: Cloud TPU docs".
std::string_view source_of(const Device& device, std::string_view path) {
  const DeviceValue* value = device.value(path);
  if (!value) return {};
  const std::string_view source = value->source;
  return trimmed(source.substr(std::min(source.find(':') + 1, source.size())));
}

}  // namespace

std::string names_markdown() {
  std::string out =
      "| device | with a slice after \"-\" | without | in profiles | the number counts | sizes | shapes from "
      "|\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  visit_named_files({}, [&](const NamedFile& file) {
    const std::optional<Device> device = device_in(file, {});
    if (!device) return false;
    const NamesConfig& names = *device->config.names;
    out += fmt::format("| `{}` | `{}` | `{}` | `{}` | {} | {} | {} |\n", file.device,
                       fmt::join(names.accelerators, "` `"), fmt::join(names.kinds, "` `"),
                       fmt::join(names.profiler, "` `"), counted(device->config), sizes_text(device->config),
                       source_of(*device, "ici.slices"));
    return false;
  });
  return out;
}

}  // namespace hlosim
