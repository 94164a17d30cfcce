// Device files, overrides and the checks around them, put together.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "model/builtin_configs.h"
#include "model/device_files.h"
#include "model/device_names.h"
#include "model/device_overrides.h"
#include "model/device_reader.h"
#include "model/device_text_form.h"

namespace hlosim {
namespace {

std::vector<std::string> leaf_paths(const DeviceConfig& config) {
  std::vector<std::string> paths;
  visit_leaves(config, "",
               [&](const std::string& path, const auto&, std::string_view) { paths.push_back(path); });
  return paths;
}

/// `--set path=value` as a text, so that errors can point into it.
SourcePtr override_source(const DeviceOverride& override) {
  return std::make_shared<const SourceFile>("--set", fmt::format("{}={}", override.path, override.value));
}

/// What to say of a path that isn't one: near ones, the keys of a section, a path that ends alike.
std::string path_hint(const std::string& path, const std::vector<std::string>& known) {
  std::vector<std::string_view> below;
  std::vector<std::string_view> alike;
  for (const std::string& candidate : known) {
    if (candidate.starts_with(path + ".")) below.push_back(std::string_view(candidate));
    if (candidate.ends_with("." + path)) alike.push_back(candidate);
  }
  if (!below.empty()) {
    constexpr size_t kShown = 4;
    const size_t shown_count = std::min(below.size(), kShown);
    return fmt::format("this is a section; set one of its keys: {}{}",
                       fmt::join(below.begin(), below.begin() + static_cast<long>(shown_count), ", "),
                       below.size() > kShown ? ", ..." : "");
  }
  if (!alike.empty()) return fmt::format("did you mean \"{}\"?", alike.front());
  // "hbm_bandwidth": memory.hbm.bandwidth.
  const auto with_dots = [](std::string text) {
    std::ranges::replace(text, '_', '.');
    return text;
  };
  const std::string dotted = with_dots(path);
  for (const std::string& candidate : known)
    if (with_dots(candidate).ends_with("." + dotted)) return fmt::format("did you mean \"{}\"?", candidate);
  const std::vector<std::string_view> views(known.begin(), known.end());
  return did_you_mean(path, views);
}

/// Puts a leaf at `path`. Requires: all sections on the way exist.
void put_leaf(Value& root, std::string_view path, Value leaf) {
  Value* node = &root;
  for (;;) {
    const size_t dot = path.find('.');
    const std::string key(path.substr(0, dot));
    Value* item = node->find(key);
    if (!item) {
      leaf.key = key;
      node->items.push_back(std::move(leaf));
      return;
    }
    if (dot == std::string_view::npos) {
      leaf.key = key;
      *item = std::move(leaf);
      return;
    }
    node = item;
    path.remove_prefix(dot + 1);
  }
}

/// Whether it sets this key.
bool names(const DeviceOverride& override, std::string_view key) {
  return override.path == key || fmt::format("memory.{}", override.path) == key;
}

/// The key that a path names: itself, or for short `hbm.bandwidth` of `memory.hbm.bandwidth`; empty: there is
/// none.
std::string key_of(const std::string& path, const std::vector<std::string>& known) {
  for (const std::string& key : {path, "memory." + path})
    if (std::find(known.begin(), known.end(), key) != known.end()) return key;
  return {};
}

// ── rates that keep their share of another ──────────────────────

struct RateShare {
  std::string rate, whole;
};

std::string share_text(std::string_view whole) { return fmt::format("; as much of {} as there", whole); }

/// One direction of a memory, the DMA engines in front of HBM, and links that TensorCores drive.
std::vector<RateShare> rate_shares(const DeviceConfig& config) {
  std::vector<RateShare> shares = {{"ici.core_bandwidth", "ici.bandwidth"}};
  if (const MemorySpace* hbm = config.memory_space(int64_t{0}))
    shares.push_back({"dma.bandwidth", fmt::format("memory.{}.bandwidth", hbm->name)});
  for (const std::string& path : leaf_paths(config))
    for (const std::string_view direction : {".read", ".write"})
      if (path.starts_with("memory.") && path.ends_with(direction))
        shares.push_back({path, path.substr(0, path.size() - direction.size()) + ".bandwidth"});
  return shares;
}

/// In bytes per second; nullopt: it isn't there.
std::optional<double> rate_at(const DeviceConfig& config, std::string_view wanted) {
  std::optional<double> rate;
  const auto take = [&]<class T>(const T& value) {
    if constexpr (std::is_same_v<T, BytesPerSecond>) rate = value.count();
    if constexpr (std::is_same_v<T, Bandwidth>) rate = value.at(config.clock).count();
  };
  visit_leaves(config, "", [&]<class T>(const std::string& path, const T& value, std::string_view) {
    if (path != wanted) return;
    if constexpr (OptionalField<T>) {
      if (value) take(*value);
    } else {
      take(value);
    }
  });
  return rate;
}

}  // namespace

/// All that a Device is made from; kept in it so that it can be made again with one value changed.
struct DeviceBuilder {
  std::shared_ptr<const DeviceTree> tree;
  std::vector<DeviceOverride> overrides;

  static const DeviceBuilder& of(const Device& device) { return *device.builder_; }

  std::optional<Device> build(DiagnosticList& problems) const {
    const std::optional<DeviceReading> plain = read_device(tree->root, problems);
    if (!plain) return std::nullopt;
    Value root = tree->root;
    if (!apply(plain->config, root, problems)) return std::nullopt;
    std::optional<DeviceReading> reading = read_device(root, problems);
    if (reading && keep_shares(*plain, *reading, root)) reading = read_device(root, problems);
    if (!reading) return std::nullopt;
    Device device;
    device.config = std::move(reading->config);
    device.file = tree->label;
    if (!tree->name.empty() && !add_topology(device, problems)) return std::nullopt;
    device.changes = changes(*plain, reading->values);
    device.values = std::move(reading->values);
    device.builder_ = std::make_shared<const DeviceBuilder>(*this);
    return device;
  }

 private:
  /// False: the name says a slice that there is none of.
  bool add_topology(Device& device, DiagnosticList& problems) const {
    Result<std::string> slice = slice_of_name(device.config, tree->name);
    if (slice)
      device.topology = std::move(*slice);
    else
      problems.add(slice.error());
    return slice.has_value();
  }

  bool apply(const DeviceConfig& plain, Value& root, DiagnosticList& problems) const {
    const std::vector<std::string> known = leaf_paths(plain);
    bool fine = true;
    for (const DeviceOverride& override : overrides) {
      const SourcePtr source = override_source(override);
      const std::string path = key_of(override.path, known);
      if (path.empty()) {
        problems.add(error_at(source, 0, fmt::format("the device has no value \"{}\"", shown(override.path)),
                              path_hint(override.path, known)));
        fine = false;
        continue;
      }
      Value leaf;
      leaf.kind = Value::Kind::kScalar;
      leaf.text = override.value;
      leaf.source = source;
      leaf.offset = static_cast<uint32_t>(override.path.size() + 1);
      leaf.annotation = "override: --set";
      put_leaf(root, path, std::move(leaf));
    }
    return fine;
  }

  /// How near to the user a value was written: in a built-in file, in one of theirs, by --set.
  int nearness(const DeviceValue& value) const {
    return is_set(value.path) ? 2 : value.file && is_builtin(*value.file) ? 0 : 1;
  }

  /// The device below the user's files; nullopt: there is none, or it is incomplete by itself.
  std::optional<DeviceReading> base() const {
    if (!tree->base || tree->builtin) return std::nullopt;
    DiagnosticList ignored;
    return read_device(*tree->base, ignored);
  }

  /// Who sets a bandwidth and not a rate known as a share of it means both. True: `root` has changed.
  bool keep_shares(const DeviceReading& plain, const DeviceReading& reading, Value& root) const {
    bool any = false;
    for (const RateShare& share : rate_shares(reading.config)) {
      const DeviceValue* rate = reading.value(share.rate);
      const DeviceValue* whole = reading.value(share.whole);
      if (!rate || !whole || nearness(*rate) >= nearness(*whole)) continue;
      const std::optional<DeviceReading> below = nearness(*rate) == 0 ? base() : std::nullopt;
      const std::optional<double> before = rate_at(below ? below->config : plain.config, share.whole);
      const std::optional<double> now = rate_at(reading.config, share.whole);
      const std::optional<double> given = rate_at(reading.config, share.rate);
      if (!before || !now || !given || *before == *now) continue;
      Value leaf;
      leaf.kind = Value::Kind::kScalar;
      leaf.text = TextForm<Bandwidth>::write({*given * *now / *before, false});
      leaf.source = rate->file;
      leaf.offset = rate->offset;
      leaf.annotation = rate->source + share_text(share.whole);
      put_leaf(root, share.rate, std::move(leaf));
      any = true;
    }
    return any;
  }

  bool is_set(std::string_view path) const {
    return std::any_of(overrides.begin(), overrides.end(),
                       [&](const DeviceOverride& override) { return names(override, path); });
  }

  /// Values that the user's files or --set state. `plain` is the device without --set.
  std::vector<DeviceChange> changes(const DeviceReading& plain,
                                    const std::vector<DeviceValue>& values) const {
    const std::optional<DeviceReading> base = this->base();
    std::vector<DeviceChange> out;
    for (const DeviceValue& value : values) {
      const bool from_set = is_set(value.path);
      if (!from_set && (!value.has_source || is_builtin(*value.file))) continue;
      const DeviceValue* previous = nullptr;
      if (from_set)
        previous = plain.value(value.path);
      else if (base)
        previous = base->value(value.path);
      DeviceChange change{value.path, value.text, std::nullopt, from_set, value.file, value.offset};
      if (previous) change.previous = previous->text;
      out.push_back(std::move(change));
    }
    return out;
  }
};

namespace {

/// Other values that the leaf at `path` could have: the double and the half of a number, the other
/// enumerators, `true` for `false`.
std::vector<std::string> alternatives(const DeviceConfig& config, std::string_view wanted) {
  std::vector<std::string> out;
  const auto add = [&]<class T>(const T& value) {
    if constexpr (NumberForm<T>) {
      out.push_back(TextForm<T>::write(TextForm<T>::scaled(value, 2)));
      out.push_back(TextForm<T>::write(TextForm<T>::scaled(value, 0.5)));
    } else if constexpr (NamedEnum<T>) {
      for (const auto& [other, name] : EnumNames<T>::rows)
        if (other != value) out.emplace_back(name);
    } else if constexpr (std::is_same_v<T, bool>) {
      out.push_back(TextForm<bool>::write(!value));
    } else if constexpr (std::is_same_v<T, Bandwidth>) {
      out.push_back(TextForm<T>::write({value.amount * 2, value.per_cycle}));
      out.push_back(TextForm<T>::write({value.amount / 2, value.per_cycle}));
    }
  };
  visit_leaves(config, "", [&]<class T>(const std::string& path, const T& value, std::string_view) {
    if (path != wanted) return;
    if constexpr (OptionalField<T>) {
      if (value) add(*value);
    } else {
      add(value);
    }
  });
  return out;
}

std::optional<Device> build_quietly(const DeviceBuilder& builder) {
  DiagnosticList ignored;
  return builder.build(ignored);
}

std::optional<Device> build(std::optional<DeviceTree> tree, std::span<const DeviceOverride> overrides,
                            DiagnosticList& problems) {
  if (!tree) return std::nullopt;
  if (tree->abstract) {
    problems.add({Severity::kError,
                  fmt::format("{} is not a device, only a base for device files", tree->label),
                  "name it in a file's extends:", nullptr, 0});
    return std::nullopt;
  }
  DeviceBuilder builder{std::make_shared<const DeviceTree>(std::move(*tree)),
                        {overrides.begin(), overrides.end()}};
  return builder.build(problems);
}

}  // namespace

std::optional<Device> Device::without_change(size_t index) const {
  HLOSIM_CHECK(index < changes.size(), "change {} of {}", index, changes.size());
  const DeviceChange& change = changes[index];
  DeviceBuilder builder = *builder_;
  if (change.from_set) {
    std::erase_if(builder.overrides, [&](const DeviceOverride& other) { return names(other, change.path); });
    return build_quietly(builder);
  }
  if (change.previous) {
    builder.overrides.push_back({change.path, *change.previous});
    return build_quietly(builder);
  }
  for (std::string& text : alternatives(config, change.path)) {
    if (text == change.text) continue;  // twice nothing
    builder.overrides.push_back({change.path, std::move(text)});
    if (std::optional<Device> device = build_quietly(builder)) return device;
    builder.overrides.pop_back();
  }
  return std::nullopt;
}

Result<DeviceOverride> parse_override(std::string_view text) {
  const size_t equals = text.find('=');
  const auto trimmed = [](std::string_view part) {
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    return std::string(part);
  };
  if (equals == std::string_view::npos || trimmed(text.substr(0, equals)).empty())
    return failure(fmt::format("--set: expected path=value, found \"{}\"", shown(text)),
                   "as in --set memory.hbm.bandwidth='1000 GB/s'");
  return DeviceOverride{trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1))};
}

std::optional<Device> load_device(const std::string& name, std::span<const DeviceOverride> overrides,
                                  const DeviceSearch& search, DiagnosticList& problems) {
  return build(read_device_tree(name, search, problems), overrides, problems);
}

std::optional<Device> load_device(const SourcePtr& source, std::span<const DeviceOverride> overrides,
                                  const DeviceSearch& search, DiagnosticList& problems) {
  return build(read_device_tree(source, search, problems), overrides, problems);
}

const std::vector<std::string>& files_of(const Device& device) {
  return DeviceBuilder::of(device).tree->files;
}

std::optional<Device> with_overrides(const Device& device, std::span<const DeviceOverride> overrides,
                                     DiagnosticList& problems) {
  DeviceBuilder builder = DeviceBuilder::of(device);
  builder.overrides.insert(builder.overrides.end(), overrides.begin(), overrides.end());
  return builder.build(problems);
}

bool keeps_share(const DeviceValue& value, std::string_view whole) {
  return value.source.ends_with(share_text(whole));
}

std::vector<std::string> builtin_devices() {
  std::vector<std::string> names;
  for (const BuiltinConfig& config : builtin_configs())
    if (!is_abstract(config)) names.emplace_back(config.name);
  return names;
}

}  // namespace hlosim
