// Pretty forms: a function per form, found by the operation's name.
//
//   const PrettyForm* form = find_pretty_form("stablehlo.transpose");
//   form->read(reader, draft)                      // `%0, dims = [1, 0] : (T) -> U`
//
// A form reads from behind the name to the end of the types; results and operands are checked by who called
// it. What each form yields is said in docs/mlir.md.
#pragma once

#include <span>
#include <string_view>

#include "mlir/operation_reader.h"

namespace hlosim::mlir {

struct PrettyForm {
  std::string_view name;
  bool (*read)(OperationReader& reader, Draft& draft);
};

/// Null: operations of this dialect are read in generic form only.
const PrettyForm* find_pretty_form(std::string_view name);

/// Operands, attributes and types, in this order: what most operations are.
bool read_plain(OperationReader& reader, Draft& draft);
/// As read_plain() from behind the operands on.
bool read_end(OperationReader& reader, Draft& draft, TypeRule rule);

std::span<const PrettyForm> structure_forms();  // pretty_structure.cc: builtin and func
std::span<const PrettyForm> plain_forms();      // pretty_plain.cc: operands and a few attributes
std::span<const PrettyForm> region_forms();     // pretty_regions.cc: what has regions
std::span<const PrettyForm> product_forms();    // pretty_products.cc: dot_general, convolution
std::span<const PrettyForm> sharding_forms();   // pretty_shardings.cc: sdy

}  // namespace hlosim::mlir
