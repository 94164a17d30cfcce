// A device: the numbers of one TPU generation that timing rests on, and where each comes from.
//
// "Device" is what XLA numbers as one: the two-core chip on v4 and v5p (megacore), one TensorCore on v2, v3
// and v7x, the single-core chip on v5e and v6e. Its numbers are in model/device_config.h.
//
//   DiagnosticList problems;
//   std::optional<Device> device = load_device("v4", {{"mxu.count", "8"}}, search, problems);
//   device->weakest_source({"clock", "mxu"});  // kPublished
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/source.h"
#include "model/device_config.h"

namespace hlosim {

// ── where numbers come from ──

/// From the most to the least trustworthy. kDefault: of a time that nothing modelled; no value has it.
enum class SourceClass : uint8_t { kPublished, kInferred, kCalibrated, kGuess, kOverride, kDefault };
inline constexpr int kSourceClassCount = 5;  // of values
/// "published", "inferred", "calibrated", "guess", "override", "default"
std::string_view to_text(SourceClass source_class);

/// One value of a device: the leaf of a path such as "memory.hbm.bandwidth".
struct DeviceValue {
  std::string path;
  std::string text;  // as the file format writes it: "1228 GB/s"
  std::string_view doc;
  bool has_source = true;  // false for names and descriptions
  SourceClass source_class = SourceClass::kGuess;
  std::string source;  // whole text: "published: Cloud TPU docs, v4"
  SourcePtr file;      // where the value is written
  uint32_t offset = 0;
};

/// Shared by all copies of a device, of which lowering makes one for each size of memory.
class DeviceValues {
 public:
  DeviceValues() = default;
  DeviceValues(std::vector<DeviceValue> values)
      : values_(std::make_shared<const std::vector<DeviceValue>>(std::move(values))) {}
  std::span<const DeviceValue> all() const {
    return values_ ? std::span<const DeviceValue>(*values_) : std::span<const DeviceValue>();
  }
  auto begin() const { return all().begin(); }
  auto end() const { return all().end(); }
  size_t size() const { return all().size(); }
  const DeviceValue& operator[](size_t index) const { return all()[index]; }

 private:
  std::shared_ptr<const std::vector<DeviceValue>> values_;
};

/// A path of a value that names things and decides no result: `names`, and the slices on offer.
bool is_name(std::string_view path);

/// --set path=value
struct DeviceOverride {
  std::string path;
  std::string value;
};
/// Splits "path=value"; errors: no '=', empty path.
Result<DeviceOverride> parse_override(std::string_view text);

/// A value that the user gave: by --set, or in a device file that is not built in.
struct DeviceChange {
  std::string path;
  std::string text;                     // the value now
  std::optional<std::string> previous;  // what the base file, or the file before --set, says
  bool from_set = false;
  SourcePtr file;
  uint32_t offset = 0;
};

struct DeviceBuilder;  // what a device was made from; private to the loader

class Device {
 public:
  DeviceConfig config;
  DeviceValues values;                // every leaf, in the order of fields()
  std::vector<DeviceChange> changes;  // what --set and the user's own files state
  std::string file;                   // "configs/my.yaml", or "v4.yaml (built-in)"
  std::string topology;               // as --topology takes it: "4x4x4" where it was loaded as "v5p-128"

  /// The value at `path`, or null.
  const DeviceValue* value(std::string_view path) const;
  /// The least trustworthy source among the values whose path is one of `paths` or below one; energies and
  /// what only some of a section's work meets count where `paths` names them. kPublished when none matches.
  SourceClass weakest_source(std::span<const std::string_view> paths) const;
  SourceClass weakest_source(std::initializer_list<std::string_view> paths) const {
    return weakest_source(std::span(paths.begin(), paths.size()));
  }
  /// 16 hex digits over every path and value that decides a time (sources, names, slices on offer and
  /// ranges of errors left out); equal devices have equal ones, on every machine.
  std::string fingerprint() const;

  /// This device without changes[index]: the previous value, or where there is none another one (a number
  /// doubled, or halved where doubling isn't allowed). Null when there is no other to try.
  std::optional<Device> without_change(size_t index) const;

 private:
  friend struct DeviceBuilder;
  std::shared_ptr<const DeviceBuilder> builder_;
};

// ── loading ──

/// Where device files are looked for after the path itself and before the built-in ones.
struct DeviceSearch {
  std::vector<std::string> directories;
  /// $HLOSIM_CONFIG_PATH, split at ':'.
  static DeviceSearch from_environment();
};

/// Loads `name`: a path; else a file `name` or `name`.yaml in the search directories; else a built-in
/// one ("v4" and "v4.yaml" alike); else the file that states this name (model/device_names.h). Then applies
/// the overrides in order. Null with errors in `problems` when anything is wrong: also where the name says a
/// slice of a size that the generation has none of.
std::optional<Device> load_device(const std::string& name, std::span<const DeviceOverride> overrides,
                                  const DeviceSearch& search, DiagnosticList& problems);
/// The same for a text at hand; `extends:` is relative to the directory of source->name().
std::optional<Device> load_device(const SourcePtr& source, std::span<const DeviceOverride> overrides,
                                  const DeviceSearch& search, DiagnosticList& problems);

/// Names of the built-in devices, "v2", "v3", ... "unit".
std::vector<std::string> builtin_devices();

// ── text ──

/// The effective configuration as a device file that loads to the same device.
std::string to_yaml(const Device& device);
/// Table for `hlosim devices NAME`: key, value, source, what it means; derived peaks first.
std::string to_text(const Device& device);
/// One line per built-in device for `hlosim devices`.
std::string builtin_devices_text();
/// The schema as a Markdown table, part of docs/devices.md.
std::string schema_markdown();

}  // namespace hlosim
