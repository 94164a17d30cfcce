// The operations of an artifact: the section that the container calls IR.
//
//   const Operation* top = read_operations(file, container, table, fault);   // null after a fault
#pragma once

#include "mlir/ir.h"
#include "mlir_bytecode/attribute_table.h"

namespace hlosim::mlir {

/// The one operation of the outermost block; builtin.module around them where there are several.
const Operation* read_operations(std::string_view file, const Container& container, AttributeTable& table,
                                 Fault& fault);

}  // namespace hlosim::mlir
