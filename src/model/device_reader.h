// From the merged tree of a device's files to DeviceConfig, by the structs' fields() lists.
//
//   const std::optional<DeviceReading> device = read_device(tree.root, problems);
//   device->config.clock                           // a frequency
//   device->value("clock")                         // where it stands, and its source
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"
#include "model/device.h"

namespace hlosim {

struct DeviceReading {
  struct Section {
    std::string path;
    SourcePtr file;
    uint32_t offset = 0;
  };

  DeviceConfig config;
  std::vector<DeviceValue> values;
  std::vector<Section> sections;  // where each stands in the last file that has it

  const DeviceValue* value(std::string_view path) const;
};

/// The class that a source text names before its colon, or null.
std::optional<SourceClass> parse_source_class(std::string_view source);

/// Takes `source:` keys and {value: ..., source: ...} apart: every leaf of the result carries its
/// source as annotation, its own or that of the nearest section around it.
void attach_sources(Value& root, DiagnosticList& problems);

/// Reads and checks one device. Null with errors in `problems` when anything is wrong.
/// Requires: attach_sources() was applied to what `root` was merged from.
std::optional<DeviceReading> read_device(const Value& root, DiagnosticList& problems);

/// What a file's own `names` section states; sources and errors in it are left to read_device().
NamesConfig read_names(Value root);

/// Rules between fields; errors stand at the values concerned.
void validate_device(const DeviceReading& reading, DiagnosticList& problems);

}  // namespace hlosim
