// Reads MLIR bytecode: the container of versions 0 to 6, the attributes and types of the builtin dialect, and
// VHLO of all versions, whose operations come out as StableHLO's of today. What other dialects encode as
// text is read as text; what they encode in ways of their own is kept without a look inside.
//
//   Result<mlir::File> file = mlir::read_bytecode(source);
//   file->top->name                                        // "builtin.module"
//   file->producer                                         // "StableHLO_v1.13.1"
//
// Whatever the bytes are, the answer is a file or an error with its place, in memory of no more than
// eight times the file (64 MiB for small ones). Newer containers, operations and attributes than are known
// are refused, naming them and the program that wrote them.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/source.h"
#include "mlir/ir.h"

namespace hlosim::mlir {

/// Does the content begin as bytecode does?
bool is_bytecode(std::string_view content);

/// Requires: is_bytecode(source->text()). Offsets count from the start of `source`.
Result<File> read_bytecode(const SourcePtr& source);

/// Bytecode of `size` bytes that begins at byte `begin` of `source`.
Result<File> read_bytecode(const SourcePtr& source, size_t begin, size_t size);

}  // namespace hlosim::mlir
