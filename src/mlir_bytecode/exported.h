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
#include <vector>

#include "base/source.h"

namespace hlosim::mlir {

/// An input or an output.
struct ExportedValue {
  std::string type;      // "f32[128,b]": symbolic sizes as they are written
  std::string sharding;  // "@(data=4,model=2) [data, (), model+data]"; empty: none is said
};

struct Exported {
  std::string function;
  std::vector<ExportedValue> inputs, outputs;
  std::vector<std::string> platforms;
  int64_t devices = 1;
  std::vector<int64_t> kept_inputs;  // those of the inputs that are arguments of the module
  size_t begin = 0, size = 0;        // of the module within the file
};

/// Does the content look like such a file? Told by its tables and the bytecode in them.
bool is_exported(std::string_view content);

/// Requires: is_exported(source->text()). Errors: a part that lies outside the file, with its place.
Result<Exported> read_exported(const SourcePtr& source);

}  // namespace hlosim::mlir
