// The file that `jax.export` writes around an artifact (`Exported.serialize()`): a flatbuffer that says what
// the function takes and gives, how that is sharded, and for how many devices it is.
//
//   if (mlir::is_exported(source->text())) {
//     const Result<mlir::Exported> exported = mlir::read_exported(source);
//     exported->devices, exported->inputs[0].type          // 8, "f32[128,b]"
//     mlir::read_bytecode(source, exported->begin, exported->size)
//
// The schema is the one of jax_export.serialization up to version 11; fields that are newer are skipped.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/source.h"

namespace hlosim::mlir {

/// How a value lies on the devices: by axes of a mesh, or, in files from before 2026, as a protocol buffer.
struct ExportedSharding {
  std::vector<std::pair<std::string, int64_t>> mesh;  // axes and their sizes
  std::vector<std::vector<std::string>> dimensions;   // the axes that cut each; those left out are whole
  std::string proto;                                  // an OpSharding
  bool is_given() const { return !mesh.empty() || !proto.empty(); }
};

/// An input or an output.
struct ExportedValue {
  std::string type;                // "f32[128,b]": symbolic sizes as they are written
  std::vector<std::string> sizes;  // {"128", "b"}
  ExportedSharding sharding;
};

struct Exported {
  std::string function;
  std::vector<ExportedValue> inputs, outputs;
  std::vector<std::string> platforms;
  int64_t devices = 1;
  /// Those of the inputs that are the last arguments of the module; before them stand the number of the
  /// platform, where there are several, and tokens.
  std::vector<int64_t> kept_inputs;
  size_t begin = 0, size = 0;  // of the module within the file
};

/// Does the content look like such a file? Told by its tables and the bytecode in them.
bool is_exported(std::string_view content);

/// Requires: is_exported(source->text()). Errors: a part that lies outside the file, with its place.
Result<Exported> read_exported(const SourcePtr& source);

}  // namespace hlosim::mlir
