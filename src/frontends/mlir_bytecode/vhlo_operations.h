// VHLO, the dialect of portable artifacts: the operations of each of its versions, and what they are in
// StableHLO today.
//
//   const VhloOperation dot = vhlo_operation("vhlo.dot_v1");
//   dot.name                                              // "dot": of StableHLO
//   upgraded(dot, attributes, table, in)                  // as the text of a stablehlo.dot has them
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mlir_bytecode/attribute_table.h"

namespace hlosim::mlir {

/// One version of an operation.
struct VhloOperation {
  /// Of today: StableHLO's, or with its dialect. What its region says goes for "return".
  std::string_view name;
  std::vector<std::string_view> attributes;  // in alphabetical order: in that their values are written
};

/// Of "vhlo.dot_v1"; without a name: it isn't known.
VhloOperation vhlo_operation(std::string_view name);

/// The operation's attributes as StableHLO has them: dimension numbers are one structure, lists are lists,
/// what says nothing (a default) is gone. What is no attribute of the operation stays as it is.
std::span<const NamedAttribute> upgraded(const VhloOperation& operation,
                                         std::span<const NamedAttribute> given, AttributeTable& table,
                                         ByteReader& in);

/// "written by StableHLO_v1.30.0; VHLO is known up to 1.20.0"
std::string newest_known(const Container& container);

}  // namespace hlosim::mlir
