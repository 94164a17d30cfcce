// Reads MLIR text: builtin, func, stablehlo, chlo, check and sdy in pretty and generic form, everything else
// in generic form.
//
//   DiagnosticList findings;
//   const std::vector<mlir::File> files = mlir::read_text(source, findings);   // one per piece
//   files[0].top->name                                                         // "builtin.module"
//   files[0].top->regions[0].blocks[0]->operations[0]->find("sym_name")->text  // "main"
//
// What a pretty form yields is said in docs/mlir.md, operation by operation: names and kinds of attributes,
// operands, regions and the order of their arguments are those of the generic form. The reader vouches for
// the grammar and for values: every operand is defined once, before it is used, in a region that is seen
// from there, and has the type that its definition has. What an operation demands is for others to say.
#pragma once

#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/source.h"
#include "mlir/ir.h"

namespace hlosim::mlir {

/// True: the content is MLIR text (it may still be wrong). Looks at the first words only.
bool is_mlir_text(std::string_view content);

/// The pieces of `source`, in order; those with errors are left out. All errors are added to `findings`, one
/// per piece: after the first the rest of the piece is left unread. Offsets count from the start of `source`.
std::vector<File> read_text(const SourcePtr& source, DiagnosticList& findings);

/// An attribute or a type that stands alone, as bytecode holds those of dialects that it doesn't encode:
/// `#tpu.memory_space<vmem>`, `!tpu.semaphore`. What comes back points into `text` and `arena`; the failure
/// has no place.
Result<const Attribute*> read_attribute(std::string_view text, Arena& arena);
Result<const Type*> read_type(std::string_view text, Arena& arena);

}  // namespace hlosim::mlir
