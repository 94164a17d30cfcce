// What the file of `jax.export` says of an entry beside its artifact: sizes by name, shardings.
//
//   const EntryFacts facts(*exported, body.arguments.size(), results);
//   facts.size_text(0, 1)                          // "batch": --dim batch=8 is meant for it
//   facts.argument_sharding(0)->mesh               // {{"data", 4}}; null: the file says nothing
#pragma once

#include <string_view>

#include "mlir_bytecode/exported.h"

namespace hlosim::stablehlo {

class EntryFacts {
 public:
  /// Nothing is known.
  EntryFacts() = default;
  /// Of an entry with `arguments` arguments and `results` results. What stands before those that the file
  /// names (tokens, the number of the platform) has no facts. `exported` outlives the object.
  EntryFacts(const mlir::Exported& exported, size_t arguments, size_t results);

  /// Null: the file says none.
  const mlir::ExportedSharding* argument_sharding(size_t argument) const;
  const mlir::ExportedSharding* result_sharding(size_t result) const;

  /// How the file writes the size of a dimension of an argument; empty: it doesn't.
  std::string_view size_text(size_t argument, size_t dimension) const;

 private:
  const mlir::ExportedValue* input(size_t argument) const;

  const mlir::Exported* exported_ = nullptr;
  size_t arguments_before_ = 0, results_before_ = 0;
};

}  // namespace hlosim::stablehlo
