// Device files on disk and built in: where a name leads, and what its `extends:` chain adds up to.
//
//   const std::optional<DeviceTree> tree = read_device_tree("v5e", search, problems);
//   tree->root.find("clock")->text                 // "1.5 GHz", from whichever file has it
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/value.h"
#include "model/builtin_configs.h"
#include "model/device.h"

namespace hlosim {

/// What the files said, merged.
struct DeviceTree {
  Value root;                      // of all files
  std::optional<Value> base;       // of the built-in ones among them
  std::string label;               // "configs/my.yaml", "v4.yaml (built-in)"
  bool builtin = false;            // the first file is built in
  bool abstract = false;           // a base for others only
  std::string name;                // that led to it, one of those that it states; empty: a file's name
  std::vector<std::string> files;  // those that were read from disk, the extended ones first
};

/// Finds and reads `name` (see load_device) and all that it extends.
std::optional<DeviceTree> read_device_tree(const std::string& name, const DeviceSearch& search,
                                           DiagnosticList& problems);
std::optional<DeviceTree> read_device_tree(const SourcePtr& source, const DeviceSearch& search,
                                           DiagnosticList& problems);

/// The files on disk that `device` was read from, those that it extends included: also where none of their
/// values is left. Requires: load_device() made it.
const std::vector<std::string>& files_of(const Device& device);

SourcePtr builtin_source(const BuiltinConfig& config);
/// True for a built-in file that is only a base for others (`abstract: true`).
bool is_abstract(const BuiltinConfig& config);
/// True for the source of a built-in file.
bool is_builtin(const SourceFile& source);

/// Lays `over` on `base`: sections key by key, everything else replaces; an empty value takes its key away.
void merge(Value& base, const Value& over);

}  // namespace hlosim
