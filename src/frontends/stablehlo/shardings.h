// Shardings, frontend attributes and the like, which any operation, argument or result may carry.
//
//   for (const Attr& attr : discardable_attrs(op)) builder.set_attr(value, attr);
//   if (auto text = sharding_of(lowering, argument_attrs, offset)) …   // "{devices=[2]<=[2]}"
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mlir_bytecode/exported.h"
#include "stablehlo/mesh_sharding.h"
#include "stablehlo/op_lowering.h"

namespace hlosim::stablehlo {

/// sharding= and frontend_attributes= that the operation's attributes ask for.
std::vector<Attr> discardable_attrs(OpLowering& op);

/// Of an argument or a result with the dictionary `attrs` (null: none): `mhlo.sharding` or `sdy.sharding`.
/// Nullopt: neither, or a report.
std::optional<std::string> sharding_of(Lowering& lowering, const mlir::Attribute* attrs, uint32_t offset);

/// Of an argument or a result of `rank` dimensions whose frontend attributes hold Shardy's own text, as XLA
/// writes it on its way between the two: `xla.sdy.sharding`. Nullopt: it doesn't, or not in a form that can
/// be read (frontend attributes are anybody's).
std::optional<std::string> sharding_of_frontend(Lowering& lowering, const mlir::Attribute* attrs,
                                                int64_t rank);

/// HLO's text of an `mhlo.sharding` string; a report and nullopt where it is none.
std::optional<std::string> sharding_text(Lowering& lowering, std::string_view given, uint32_t offset);
/// The same of an sdy.sharding attribute.
std::optional<std::string> sharding_text(Lowering& lowering, const mlir::Attribute& sdy, uint32_t offset,
                                         const std::vector<AxisPart>& manual = {});

/// The same of what the file around an artifact says of an array of `rank` dimensions.
std::optional<std::string> sharding_text(Lowering& lowering, const mlir::ExportedSharding& given,
                                         int64_t rank, uint32_t offset);

/// The frontend attributes that `given` (null: none) asks for, and Shardy's text of the sharding where that
/// says more than HLO's: dimensions left open, priorities. Nullopt: neither.
std::optional<std::string> frontend_attributes(const mlir::Attribute* given, const mlir::Attribute* sdy);

/// `{k="v"}` of a dictionary of strings.
std::string frontend_text(const mlir::Attribute& dictionary);

/// Meshes of the module by name: its `sdy.mesh` operations, and those of its frontend attribute
/// `xla.sdy.meshes`.
FindMesh mesh_finder(Lowering& lowering);

/// An attribute as MLIR writes it.
std::string attribute_text(const mlir::Attribute& attribute);

}  // namespace hlosim::stablehlo
