// Loops, branches and calls of functions.
#include <algorithm>
#include <unordered_set>

#include "hlo/cursor.h"
#include "stablehlo/shardings.h"
#include "stablehlo/types.h"

namespace hlosim::stablehlo {
namespace {

/// A region whose values come in one parameter: itself where there is one, else a tuple.
class TupledRegion {
 public:
  TupledRegion(OpLowering& op, std::span<const ShapeRef> shapes, std::string_view name,
               const std::optional<Attr>& sharding)
      : op_(op) {
    scope.outer = &op.scope();
    ModuleBuilder& builder = op.builder();
    const std::span<const Attr> attrs = sharding ? std::span(&*sharding, 1) : std::span<const Attr>();
    if (shapes.size() == 1) {
      elements.push_back(builder.parameter(scope.body, shapes[0], name, op.place(), attrs));
      return;
    }
    const InstructionId tuple =
        builder.parameter(scope.body, op.shapes().tuple(shapes), "arg_tuple", op.place(), attrs);
    for (size_t i = 0; i < shapes.size(); ++i) {
      const InstructionId operands[] = {tuple};
      const Attr index[] = {Attr::make_int(AttrKey::kIndex, static_cast<int64_t>(i))};
      elements.push_back(
          builder.add(scope.body, Opcode::kGetTupleElement, operands, index, nullptr, op.place()));
    }
  }

  /// `results` as one value.
  ComputationId close(std::string_view name, std::span<const InstructionId> results,
                      const std::optional<Attr>& sharding = {}) {
    ModuleBuilder& builder = op_.builder();
    if (builder.failed()) return {};
    InstructionId root = results.size() == 1 ? results[0] : InstructionId();
    if (!root.valid()) {
      root = builder.add(scope.body, Opcode::kTuple, results, {}, nullptr, op_.place());
      if (sharding) builder.set_attr(root, *sharding);
    }
    return builder.close(scope.body, name, root, op_.mlir().offset);
  }

  Scope scope;
  Values elements;  // the parameter's parts

 private:
  OpLowering& op_;
};

std::vector<const mlir::Value*> union_of(std::vector<const mlir::Value*> a,
                                         const std::vector<const mlir::Value*>& b) {
  for (const mlir::Value* value : b)
    if (std::find(a.begin(), a.end(), value) == a.end()) a.push_back(value);
  return a;
}

/// The sharding of a loop's state: that of the loop, and of what it captures.
std::optional<Attr> state_sharding(OpLowering& op, std::span<const InstructionId> captured) {
  const mlir::Attribute* given = op.find("mhlo.sharding");
  std::optional<std::string> text;
  if (given)
    text = sharding_text(op.lowering(), given->text, op.mlir().offset);
  else if (const mlir::Attribute* sdy = op.find("sdy.sharding"))
    text = sharding_text(op.lowering(), *sdy, op.mlir().offset);
  if (!text || op.failed()) return std::nullopt;
  const bool is_list = text->starts_with("{{");
  if (captured.empty()) return op.word(AttrKey::kSharding, *text);
  std::string all = is_list ? text->substr(1, text->size() - 2) : *text;
  for (const InstructionId value : captured) {
    const Attr* own = op.builder().module()[value].find(AttrKey::kSharding);
    all += fmt::format(",{}", own ? own->text() : std::string_view("{replicated}"));
  }
  return op.word(AttrKey::kSharding, fmt::format("{{{}}}", all));
}

void lower_while(OpLowering& op, Opcode) {
  if (!op.has_region(0) || !op.has_region(1)) return;
  const mlir::Block *condition = op.mlir().regions[0].blocks[0], *body = op.mlir().regions[1].blocks[0];
  const Values initial = op.operands();
  if (condition->arguments.size() != initial.size() || body->arguments.size() != initial.size()) {
    op.fail("has {} operands, but its regions take {} and {}", initial.size(), condition->arguments.size(),
            body->arguments.size());
    return;
  }
  const auto captured = union_of(op.captured(0), op.captured(1));
  Values state = initial, outside;
  for (const mlir::Value* value : captured) {
    outside.push_back(op.lowering().value(op.scope(), *value, op.mlir().offset));
    state.push_back(outside.back());
  }
  if (op.failed()) return;
  std::vector<ShapeRef> shapes;
  for (const InstructionId value : state) shapes.push_back(op.shape(value));
  const std::optional<Attr> sharding = state_sharding(op, outside);
  const auto lower_region = [&](const mlir::Block& block, std::string_view name, bool is_body) {
    TupledRegion region(op, shapes, "Arg_", sharding);
    for (size_t i = 0; i < initial.size(); ++i) region.scope.values[block.arguments[i]] = region.elements[i];
    for (size_t i = 0; i < captured.size(); ++i)
      region.scope.values[captured[i]] = region.elements[initial.size() + i];
    Values results = op.lowering().block(region.scope, block);
    if (!op.failed() && results.size() != (is_body ? initial.size() : 1))
      op.fail("a region returns {} values, expected {}", results.size(), is_body ? initial.size() : 1);
    if (is_body)
      results.insert(results.end(), region.elements.begin() + static_cast<std::ptrdiff_t>(initial.size()),
                     region.elements.end());
    return region.close(name, results, is_body ? sharding : std::nullopt);
  };
  const ComputationId body_id[] = {lower_region(*body, "region_body", true)};
  const ComputationId condition_id[] = {lower_region(*condition, "region_condition", false)};
  const InstructionId init = state.size() == 1 ? state[0] : op.tuple(state);
  if (sharding && state.size() > 1) op.builder().set_attr(init, *sharding);
  const Attr attrs[] = {op.builder().computations(AttrKey::kCondition, condition_id),
                        op.builder().computations(AttrKey::kBody, body_id)};
  const InstructionId operands[] = {init};
  const InstructionId loop = op.make(Opcode::kWhile, operands, attrs, op.shape(init));
  if (op.failed()) return;
  if (sharding) op.builder().set_attr(loop, *sharding);
  if (const mlir::Attribute* frontend = op.find("mhlo.frontend_attributes"))
    op.builder().set_attr(loop, op.word(AttrKey::kFrontendAttributes, frontend_text(*frontend)));
  if (state.size() == 1 && initial.size() == 1) return op.give_all(std::span(&loop, 1));
  Values results;
  for (size_t i = 0; i < initial.size(); ++i) results.push_back(op.element(loop, static_cast<int64_t>(i)));
  op.give_all(results);
}

/// `if` and `case`: each branch takes what it captures.
void lower_branches(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const size_t count = op.mlir().regions.size();
  if (count == 0) {
    op.fail("has no branch");
    return;
  }
  const InstructionId choice = op.operand(0);
  Values operands = {choice};
  std::vector<ComputationId> branches;
  for (size_t i = 0; i < count; ++i) {
    if (!op.has_region(i)) return;
    const auto captured = op.captured(i);
    Values arguments;
    std::vector<ShapeRef> shapes;
    for (const mlir::Value* value : captured) {
      arguments.push_back(op.lowering().value(op.scope(), *value, op.mlir().offset));
      shapes.push_back(op.shape(arguments.back()));
    }
    if (op.failed()) return;
    TupledRegion region(op, shapes, "Arg_", std::nullopt);
    for (size_t k = 0; k < captured.size(); ++k) region.scope.values[captured[k]] = region.elements[k];
    const Values results = op.lowering().block(region.scope, *op.mlir().regions[i].blocks[0]);
    if (!op.failed() && results.size() != op.result_count())
      op.fail("a branch returns {} values, expected {}", results.size(), op.result_count());
    branches.push_back(region.close(fmt::format("region_branch_{}", i), results));
    operands.push_back(arguments.size() == 1 ? arguments[0] : op.tuple(arguments));
  }
  if (op.failed()) return;
  std::vector<Attr> attrs;
  const bool is_if = op.name() == "if";
  if (is_if) {
    if (count != 2) {
      op.fail("has {} branches, expected 2", count);
      return;
    }
    attrs.push_back(op.builder().computations(AttrKey::kTrueComputation, std::span(branches).first(1)));
    attrs.push_back(op.builder().computations(AttrKey::kFalseComputation, std::span(branches).last(1)));
  } else {
    attrs.push_back(op.builder().computations(AttrKey::kBranchComputations, branches));
  }
  const ShapeRef result = op.builder().module().root(branches[0]).shape;
  const InstructionId conditional = op.make(Opcode::kConditional, operands, attrs, result);
  if (op.failed()) return;
  if (op.result_count() == 0) return;
  op.give_elements(conditional);
}

const mlir::Operation* called_function(OpLowering& op, std::string_view attribute) {
  const mlir::Attribute* callee = op.need(attribute);
  if (!callee) return nullptr;
  const mlir::Operation* function = op.lowering().symbols().function(callee->text);
  if (!function) op.fail("there is no function @{}", callee->text);
  return function;
}

/// False after a report: what is called gives something else than the call says.
bool gives_results(OpLowering& op, const mlir::Operation& function, InstructionId call) {
  const ShapeRef made = op.shape(call);
  const size_t results = op.result_count();
  const size_t count = made->is_tuple() && results != 1 ? made->elements.size() : 1;
  if (count != results) {
    op.fail("@{} returns {} values, expected {}", symbol_name(function), count, results);
    return false;
  }
  for (size_t i = 0; i < results; ++i) {
    const ShapeRef said = op.result(i);
    const ShapeRef one = results == 1 ? made : made->elements[i];
    if (op.failed()) return false;
    if (!said || !said->is_static() || !one->is_static() || compatible(said, one)) continue;
    op.fail("@{} returns {} as value {}, expected {}", symbol_name(function), to_text_without_layout(one), i,
            to_text_without_layout(said));
    return false;
  }
  return true;
}

void give_call(OpLowering& op, const mlir::Operation& function, std::vector<Attr> attrs) {
  const Values operands = op.operands();
  const ComputationId called[] = {op.lowering().function(function, operands, op.mlir().offset)};
  if (op.failed()) return;
  attrs.insert(attrs.begin(), op.builder().computations(AttrKey::kToApply, called));
  const InstructionId call = op.make(Opcode::kCall, operands, attrs);
  if (op.failed() || !gives_results(op, function, call)) return;
  if (op.result_count() == 0) return op.decorate(call);
  op.give_elements(call);
}

void lower_call(OpLowering& op, Opcode) {
  if (const mlir::Operation* function = called_function(op, "callee")) give_call(op, *function, {});
}

/// `namespace.operation`, each part of it a word.
bool is_namespaced(std::string_view name) {
  size_t parts = 0;
  for (size_t begin = 0; begin <= name.size(); ++parts) {
    const size_t end = std::min(name.find('.', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    const bool is_word = !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
      return Cursor::continues_word(c) || c == '$';
    });
    if (!is_word || (begin == 0 && !Cursor::starts_word(part[0]))) return false;
    begin = end + 1;
  }
  return parts > 1;
}

void lower_composite(OpLowering& op, Opcode) {
  const mlir::Attribute* name = op.need("name");
  if (name && !is_namespaced(name->text)) {
    op.fail("the name \"{}\" is none of an operation in a namespace, as in my.operation", name->text);
    return;
  }
  const mlir::Operation* function = called_function(op, "decomposition");
  if (!name || !function) return;
  const mlir::Attribute* attributes = op.find("composite_attributes");
  std::string frontend;
  if (const mlir::Attribute* given = op.find("mhlo.frontend_attributes"); given && !given->entries.empty()) {
    frontend = frontend_text(*given);
    frontend = frontend.substr(1, frontend.size() - 2) + ",";
  }
  const std::string text = fmt::format(
      "{{{}composite.attributes={},composite.name=\"{}\",composite.version=\"{}\"}}", frontend,
      fmt::format("\"{}\"", escaped(attributes ? attribute_text(*attributes) : std::string("{}"))),
      escaped(name->text), op.integer("version", 0));
  give_call(op, *function,
            {Attr::make_bool(AttrKey::kIsComposite, true), op.word(AttrKey::kFrontendAttributes, text)});
}

/// HLO's asynchronous computations are one instruction: a call, where there is more to do.
ComputationId as_one_instruction(OpLowering& op, ComputationId made, const Values& operands) {
  ModuleBuilder& builder = op.builder();
  if (builder.module()[made].instructions.size() == operands.size() + 1) return made;
  ModuleBuilder::Body body;
  Values parameters;
  for (const InstructionId operand : operands)
    parameters.push_back(builder.parameter(body, op.shape(operand), fmt::format("Arg_{}", parameters.size()),
                                           {op.mlir().offset, {}}));
  const Attr attrs[] = {builder.computations(AttrKey::kToApply, std::span(&made, 1))};
  const InstructionId call = builder.add(body, Opcode::kCall, parameters, attrs, nullptr, op.place());
  return builder.close(body, "async_call", call, op.mlir().offset);
}

/// The region runs beside what follows, up to the async_done that takes the future.
void lower_async_start(OpLowering& op, Opcode) {
  Values operands = op.operands();
  const ComputationId region = op.closed_region(0, "async_computation", operands);
  if (op.failed()) return;
  const ComputationId called[] = {as_one_instruction(op, region, operands)};
  if (op.failed()) return;
  std::vector<ShapeRef> shapes;
  for (const InstructionId operand : operands) shapes.push_back(op.shape(operand));
  const ShapeRef parts[] = {op.shapes().tuple(shapes), op.builder().module().root(called[0]).shape};
  const Attr attrs[] = {op.builder().computations(AttrKey::kCalls, called)};
  op.give(op.make(Opcode::kAsyncStart, operands, attrs, op.shapes().tuple(parts)));
}

void lower_async_done(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const InstructionId start = op.operand(0);
  if (op.failed()) return;
  const mlir::Operation* owner = op.mlir().operands[0]->owner;
  if (!owner || owner->name != "stablehlo.async_start") {
    op.fail("takes no future of an async_start in the same region");
    return;
  }
  op.give_elements(op.make(Opcode::kAsyncDone, {start}, {}, op.shape(start)->elements[1]));
}

constexpr Row kControlRows[] = {
    {"func.call", lower_call},
    {"stablehlo.async_done", lower_async_done},
    {"stablehlo.async_start", lower_async_start},
    {"stablehlo.case", lower_branches},
    {"stablehlo.composite", lower_composite},
    {"stablehlo.if", lower_branches},
    {"stablehlo.while", lower_while},
};

}  // namespace

std::span<const Row> control_rows() { return kControlRows; }

}  // namespace hlosim::stablehlo
