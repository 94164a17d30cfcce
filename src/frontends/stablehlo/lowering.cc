#include "stablehlo/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "stablehlo/constraints.h"
#include "stablehlo/locations.h"
#include "stablehlo/op_lowering.h"
#include "stablehlo/shardings.h"
#include "stablehlo/types.h"

namespace hlosim::stablehlo {
namespace {

constexpr size_t kDeepestCalls = 500;  // functions that are open at once

}  // namespace

std::string_view symbol_name(const mlir::Operation& op) {
  const mlir::Attribute* name = op.find("sym_name");
  return name ? name->text : std::string_view();
}

const mlir::Block* body_of(const mlir::Operation& function) {
  if (function.regions.empty() || function.regions[0].blocks.empty()) return nullptr;
  return function.regions[0].blocks[0];
}

Symbols symbols_of(const mlir::Operation& module) {
  Symbols symbols;
  symbols.module = &module;
  if (module.regions.empty() || module.regions[0].blocks.empty()) return symbols;
  for (const mlir::Operation* op : module.regions[0].blocks[0]->operations) {
    if (op->name == "func.func") symbols.functions.push_back(op);
    if (const std::string_view name = symbol_name(*op); !name.empty()) symbols.by_name.try_emplace(name, op);
  }
  return symbols;
}

bool is_constant(const mlir::Operation& op) {
  return op.name == "stablehlo.constant" || op.name == "mhlo.constant" || op.name == "arith.constant";
}

// ── Values ────────────────────────────────────────────────────────────────────────────────────

bool Lowering::is_made_anew(const mlir::Value& value) {
  const mlir::Operation* owner = value.owner;
  return owner && owner->regions.empty() && owner->operands.size() <= 2 && owner->results.size() == 1 &&
         owner->name != "func.call" &&
         std::all_of(owner->operands.begin(), owner->operands.end(), [](const mlir::Value* operand) {
           return operand->owner && is_constant(*operand->owner);
         });
}

InstructionId Lowering::value(Scope& scope, const mlir::Value& value, uint32_t offset) {
  if (failed()) return {};
  if (const auto found = scope.values.find(&value); found != scope.values.end()) return found->second;
  if (scope.outer && is_made_anew(value)) {
    operation(scope, *value.owner);
    if (const auto made = scope.values.find(&value); made != scope.values.end()) return made->second;
  }
  builder_.fail(offset,
                fmt::format("%{} is defined outside of the region that uses it; here a region may use "
                            "its arguments and constants only",
                            value.name.empty() ? std::string_view("?") : value.name));
  return {};
}

std::vector<InstructionId> Lowering::block(Scope& scope, const mlir::Block& block) {
  for (size_t i = 0; i < block.operations.size() && !failed(); ++i) {
    const mlir::Operation& op = *block.operations[i];
    const bool is_return = op.name == "func.return" || op.name == "stablehlo.return" ||
                           op.name == "sdy.return" || op.name == "mhlo.return";
    if (!is_return) {
      operation(scope, op);
      continue;
    }
    std::vector<InstructionId> results;
    for (const mlir::Value* operand : op.operands) results.push_back(value(scope, *operand, op.offset));
    return results;
  }
  return {};
}

void Lowering::operation(Scope& scope, const mlir::Operation& op) {
  if (const RowOfOperation* row = find_row(op.name)) {
    OpLowering lowering(*this, scope, op);
    if (constraints_hold(lowering)) row->lower(lowering, row->opcode);
    return;
  }
  const std::string_view dialect = op.name.substr(0, op.name.find('.'));
  const bool known = dialect == "stablehlo" || dialect == "mhlo" || dialect == "chlo" || dialect == "check" ||
                     dialect == "sdy" || dialect == "func" || dialect == "builtin";
  builder_.fail(
      op.offset,
      known ? fmt::format("'{}' is not an operation of the dialect {} that is known here", op.name, dialect)
            : fmt::format("'{}' is of the dialect {}, expected stablehlo, mhlo, chlo, check, sdy or func",
                          op.name, dialect));
}

std::string_view Lowering::metadata(const mlir::Location* location) {
  if (!location) return {};
  const auto [at, is_new] = metadata_.try_emplace(location);
  if (is_new) at->second = builder_.module().arena().copy(std::string_view(metadata_text(*location)));
  return at->second;
}

// ── Functions ─────────────────────────────────────────────────────────────────────────────────

ShapeRef Lowering::argument_shape(const mlir::Value& argument, const mlir::Type& type, uint32_t offset) {
  Result<ShapeRef> shape = shape_of(type, shapes());
  if (shape) return *shape;
  std::string sizes;
  for (const size_t i : dynamic_dimensions(type))
    sizes += fmt::format("{}arg{}.{}=SIZE", sizes.empty() ? "--dim=" : ",", argument.number, i);
  builder_.fail(offset, fmt::format("argument {}: {}", argument.number, shape.error().message),
                sizes.empty() ? shape.error().hint : sizes);
  return nullptr;
}

ComputationId Lowering::function(const mlir::Operation& function, std::span<const InstructionId> arguments,
                                 uint32_t offset) {
  if (failed()) return {};
  std::vector<Given> given;
  for (const InstructionId argument : arguments) given.push_back({builder_.shape(argument), known(argument)});
  return this->function(function, given, offset);
}

ComputationId Lowering::function(const mlir::Operation& function, uint32_t offset) {
  if (failed()) return {};
  std::vector<Given> given;
  if (const mlir::Block* body = body_of(function))
    for (const mlir::Value* argument : body->arguments) {
      given.push_back({argument_shape(*argument, function.offset), std::nullopt});
      if (failed()) return {};
    }
  return this->function(function, given, offset);
}

bool Lowering::may_call(const mlir::Operation& function, size_t arguments, uint32_t offset) {
  const mlir::Block* body = body_of(function);
  const std::string_view name = symbol_name(function);
  std::string problem;
  if (!body)
    problem = fmt::format("@{} is declared, but has no body", name);
  else if (function.regions[0].blocks.size() != 1)
    problem = fmt::format("@{} has {} blocks, expected one", name, function.regions[0].blocks.size());
  else if (std::find(open_.begin(), open_.end(), &function) != open_.end())
    problem = fmt::format("@{} calls itself: recursion is not supported", name);
  else if (open_.size() >= kDeepestCalls)
    problem = fmt::format("calls are nested more than {} deep", kDeepestCalls);
  else if (body->arguments.size() != arguments)
    problem = fmt::format("@{} takes {} arguments, {} given", name, body->arguments.size(), arguments);
  if (!problem.empty()) builder_.fail(offset, std::move(problem));
  return !failed();
}

ComputationId Lowering::function(const mlir::Operation& function, std::span<const Given> arguments,
                                 uint32_t offset) {
  if (!may_call(function, arguments.size(), offset)) return {};
  const mlir::Block& body = *body_of(function);
  const bool depends = std::any_of(body.arguments.begin(), body.arguments.end(),
                                   [](const mlir::Value* value) { return is_dynamic(*value->type); });
  std::string key;
  std::vector<Given> given;
  for (const Given& argument : arguments) {
    given.push_back({argument.shape, depends ? argument.known : std::nullopt});
    key += to_text_without_layout(argument.shape) + ";";
    if (given.back().known) key += fmt::format("{}", fmt::join(*given.back().known, ","));
  }
  const Key id(&function, key);
  if (const auto made = functions_.find(id); made != functions_.end()) return made->second;
  open_.push_back(&function);
  const ComputationId made = body_of_function(function, given, offset);
  open_.pop_back();
  functions_.emplace(id, made);
  return made;
}

bool Lowering::check_results(const mlir::Operation& function, std::span<const InstructionId> results) {
  if (failed()) return false;
  const mlir::Attribute* given = function.find("function_type");
  if (!given || !given->type) return true;
  const auto types = given->type->results;
  const mlir::Block& body = *body_of(function);
  const uint32_t offset = body.operations.empty() ? function.offset : body.operations.back()->offset;
  if (types.size() != results.size()) {
    builder_.fail(offset, fmt::format("@{} returns {} values, its type has {}", symbol_name(function),
                                      results.size(), types.size()));
    return false;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const Result<ShapeRef> declared = is_dynamic(*types[i]) ? nullptr : shape_of(*types[i], shapes());
    const ShapeRef made = builder_.shape(results[i]);
    if (!declared || !*declared || !(*declared)->is_static() || !made->is_static()) continue;
    if (compatible(*declared, made)) continue;
    builder_.fail(offset,
                  fmt::format("@{} returns {} as value {}, but its type has {}", symbol_name(function),
                              to_text_without_layout(made), i, to_text_without_layout(*declared)));
    return false;
  }
  return true;
}

ComputationId Lowering::body_of_function(const mlir::Operation& function, std::span<const Given> arguments,
                                         uint32_t offset) {
  const mlir::Block& body = *body_of(function);
  Scope scope;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const mlir::Value& argument = *body.arguments[i];
    const Given& given = arguments[i];
    const ShapeRef shape =
        is_dynamic(*argument.type) ? given.shape : argument_shape(argument, function.offset);
    if (failed()) return {};
    if (!compatible(shape, given.shape)) {
      builder_.fail(offset, fmt::format("argument {} of @{} is {}, but {} is given", i, symbol_name(function),
                                        to_text_without_layout(shape), to_text_without_layout(given.shape)));
      return {};
    }
    const mlir::Attribute* all = function.find("arg_attrs");
    const auto sharding =
        all && i < all->items.size() ? sharding_of(*this, all->items[i], function.offset) : std::nullopt;
    std::vector<Attr> attrs;
    if (sharding) attrs.push_back(builder_.text(AttrKey::kSharding, *sharding));
    const InstructionId parameter = builder_.parameter(scope.body, given.shape, fmt::format("Arg_{}", i),
                                                       {function.offset, metadata(argument.location)}, attrs);
    scope.values[&argument] = parameter;
    if (given.known) set_known(parameter, *given.known);
  }
  const std::vector<InstructionId> results = block(scope, body);
  if (!check_results(function, results)) return {};
  const InstructionId root = results.size() == 1 ? results[0]
                                                 : builder_.add(scope.body, Opcode::kTuple, results, {},
                                                                nullptr, {function.offset, {}});
  return builder_.close(scope.body, symbol_name(function), root, function.offset);
}

}  // namespace hlosim::stablehlo
