// One HLO module in the making: its functions, the values that MLIR's values have become, what is known of
// them.
//
//   Lowering lowering(builder, symbols, options);
//   const ComputationId main = lowering.entry(*symbols.function("main"));
//
// What an operation becomes is said in the tables of rows_*.cc (operation.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hlo/module_builder.h"
#include "mlir/ir.h"
#include "stablehlo/entry_facts.h"
#include "stablehlo/options.h"

namespace hlosim::stablehlo {

/// A computation on its way: a function's body, or a region of an operation.
struct Scope {
  ModuleBuilder::Body body;
  std::unordered_map<const mlir::Value*, InstructionId> values;
  Scope* outer = nullptr;  // of a region: where the values that it captures are; null: a function
};

/// What the symbols of an MLIR module stand for.
struct Symbols {
  const mlir::Operation* module = nullptr;
  std::vector<const mlir::Operation*> functions;  // in the order of the text, declarations too
  std::unordered_map<std::string_view, const mlir::Operation*> by_name;

  /// Null: there is no such function.
  const mlir::Operation* function(std::string_view name) const {
    const auto found = by_name.find(name);
    return found != by_name.end() && found->second->name == "func.func" ? found->second : nullptr;
  }
  const mlir::Operation* mesh(std::string_view name) const {
    const auto found = by_name.find(name);
    return found != by_name.end() && found->second->name == "sdy.mesh" ? found->second : nullptr;
  }
};
Symbols symbols_of(const mlir::Operation& module);

/// The name of an operation that is a symbol; empty: it has none.
std::string_view symbol_name(const mlir::Operation& op);
/// The body of a function; null: it is only declared.
const mlir::Block* body_of(const mlir::Operation& function);
/// Of whatever dialect.
bool is_constant(const mlir::Operation& op);

class Lowering {
 public:
  Lowering(ModuleBuilder& builder, const Symbols& symbols, const ConvertOptions& options)
      : builder_(builder), symbols_(symbols), options_(options) {}

  /// Of a program that jax.export wrote: what its file says of the entry. It outlives the object.
  void set_exported(const mlir::Exported& exported) { exported_ = &exported; }

  ModuleBuilder& builder() { return builder_; }
  const Symbols& symbols() const { return symbols_; }
  ShapePool& shapes() { return builder_.module().shapes(); }
  bool failed() const { return builder_.failed(); }

  /// The function as the entry, with what its arguments' and results' attributes say.
  ComputationId entry(const mlir::Operation& function);
  /// The function called with `arguments` of `scope`, made once for arguments of the same shapes.
  ComputationId function(const mlir::Operation& function, std::span<const InstructionId> arguments,
                         uint32_t offset);
  /// The same with arguments of its own types.
  ComputationId function(const mlir::Operation& function, uint32_t offset);
  /// The operations of `block` but the last, whose operands are the result. Requires: its arguments have
  /// values.
  std::vector<InstructionId> block(Scope& scope, const mlir::Block& block);
  /// A region that uses the value from outside makes it anew, as HLO's computations see nothing outside: a
  /// constant, or what one operation makes of constants.
  static bool is_made_anew(const mlir::Value& value);
  /// What `value` is in `scope`: made there anew where it is a constant of an outer one.
  InstructionId value(Scope& scope, const mlir::Value& value, uint32_t offset);

  /// Metadata for what comes from `location`; empty: it says nothing.
  std::string_view metadata(const mlir::Location* location);

  /// The integers of a value that don't depend on arguments, row-major; nullopt: they do.
  std::optional<std::vector<int64_t>> known(InstructionId id);
  void set_known(InstructionId id, std::vector<int64_t> values) { known_.emplace(id, std::move(values)); }

  /// What the entry's results are called (`jax.result_info`), with commas between; empty: nothing is said.
  static std::string result_names(const mlir::Operation& function);
  /// Header attributes that the entry's arguments and results ask for.
  std::vector<Attr> header() const { return header_; }

 private:
  struct Argument {
    ShapeRef shape = nullptr;
    std::string name;
    std::vector<Attr> attrs;
  };

  struct Given {
    ShapeRef shape = nullptr;
    std::optional<std::vector<int64_t>> known;
  };

  ComputationId function(const mlir::Operation& function, std::span<const Given> arguments, uint32_t offset);
  bool may_call(const mlir::Operation& function, size_t arguments, uint32_t offset);
  ComputationId body_of_function(const mlir::Operation& function, std::span<const Given> arguments,
                                 uint32_t offset);
  /// False after a report: the function's type says something else.
  bool check_results(const mlir::Operation& function, std::span<const InstructionId> results);
  std::optional<std::vector<int64_t>> compute_known(InstructionId id);
  void operation(Scope& scope, const mlir::Operation& op);
  Argument entry_argument(const mlir::Operation& function, const mlir::Value& argument,
                          const mlir::Attribute* attrs);
  InstructionId entry_root(Scope& scope, const mlir::Operation& function,
                           std::span<const InstructionId> results);
  void entry_header(const mlir::Operation& function, std::span<const InstructionId> parameters,
                    InstructionId root);
  void aliases(const mlir::Operation& function);
  std::string_view argument_metadata(const mlir::Value& argument, const mlir::Attribute* attrs);
  /// Of an argument or a result; nullopt: neither the program nor the file around it says any, or a report.
  std::optional<std::string> entry_sharding(const mlir::Attribute* attrs,
                                            const mlir::ExportedSharding* exported, ShapeRef shape,
                                            uint32_t offset);
  /// Result `i`'s, also where a call to xla.sdy.FuncResultSharding states it.
  std::optional<std::string> result_sharding(const mlir::Operation& function, size_t i, ShapeRef shape);
  static size_t function_results(const mlir::Operation& function);
  /// With the sizes that options give to dynamic dimensions.
  ShapeRef entry_shape(const mlir::Value& argument, uint32_t offset);
  std::optional<int64_t> size_by_name(size_t argument, size_t dimension);
  /// False after a report: options size more dimensions than there are.
  bool check_dimensions(const mlir::Operation& function);
  ShapeRef with_attributes(ShapeRef shape, const mlir::Attribute* attrs, uint32_t offset);
  ShapeRef argument_shape(const mlir::Value& argument, uint32_t offset) {
    return argument_shape(argument, *argument.type, offset);
  }
  /// Of the argument if its type were `type`. A failure names the options that give a size to its dimensions.
  ShapeRef argument_shape(const mlir::Value& argument, const mlir::Type& type, uint32_t offset);

  ModuleBuilder& builder_;
  const Symbols& symbols_;
  const ConvertOptions& options_;
  /// By function, shapes of the arguments, and the integers known of them where the shapes of its values
  /// depend on these.
  using Key = std::pair<const mlir::Operation*, std::string>;
  std::map<Key, ComputationId> functions_;
  std::vector<const mlir::Operation*> open_;  // being made: a call of one of them is a recursion
  std::unordered_map<const mlir::Location*, std::string_view> metadata_;
  std::unordered_map<InstructionId, std::optional<std::vector<int64_t>>> known_;
  std::vector<Attr> header_;
  const mlir::Exported* exported_ = nullptr;
  EntryFacts facts_;
  bool has_entry_layout_ = false;
  size_t next_dimension_ = 0;              // of options_, that has no name
  std::set<std::string_view> used_names_;  // of options_, that name sizes in the file around the program
};

}  // namespace hlosim::stablehlo
