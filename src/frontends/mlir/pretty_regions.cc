// Pretty forms of operations with regions: reduce, while, scan.
#include <algorithm>

#include <fmt/format.h>

#include "mlir/pretty_forms.h"

namespace hlosim::mlir {
namespace {

// ── reduce ──

/// `(%0 init: %c), (%1 init: %d)`: inputs first, then initial values.
bool read_reduced(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  std::vector<Operand> inputs, initial;
  do {
    if (!in.need('(', "before what is reduced") || !reader.operand(draft)) return false;
    inputs.push_back(draft.operands.back());
    if (!in.eat_word("init") || !in.need(':', "behind 'init'"))
      return in.expects("'init:' and the initial value");
    if (!reader.operand(draft) || !in.need(')', "behind the initial value")) return false;
    initial.push_back(draft.operands.back());
  } while (in.eat(','));
  draft.operands = std::move(inputs);
  draft.operands.insert(draft.operands.end(), initial.begin(), initial.end());
  return true;
}

/// The region that `applies OP` stands for.
bool make_reducer(OperationReader& reader, Draft& draft, std::string_view name, uint32_t offset) {
  if (draft.operands.size() != 2)
    return reader.in().fail_at(offset, "'applies' is for the reduction of one input");
  const Type* type = draft.types[1];
  Arena& arena = reader.arena();
  const Value* arguments[] = {reader.make_argument({"lhs", type, offset, nullptr}, 0),
                              reader.make_argument({"rhs", type, offset, nullptr}, 1)};
  const Type* results[] = {type};
  const Operation* body = reader.make_operation(name, offset, arguments, results);
  const Operation* end = reader.make_operation("stablehlo.return", offset, body->results, {});
  const Operation* operations[] = {body, end};
  Block* block = arena.make<Block>();
  block->arguments = arena.copy(std::span<const Value* const>(arguments));
  block->operations = arena.copy(std::span<const Operation* const>(operations));
  const Block* blocks[] = {block};
  draft.regions.push_back({arena.copy(std::span<const Block* const>(blocks))});
  return true;
}

/// `reducer(%a: t, %b: t) (%c: u, %d: u) {…}`: pairs (current, new) become all current, all new.
bool read_reducer(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  if (!in.eat_word("reducer")) return in.expects("'reducer' and its arguments");
  std::vector<Argument> current, added;
  while (in.peek() == '(') {
    std::vector<Argument> pair;
    const uint32_t offset = in.offset();
    if (!reader.arguments(pair)) return false;
    if (pair.size() != 2)
      return in.fail_at(offset, "expects a pair of arguments: the value so far and the new one");
    current.push_back(pair[0]);
    added.push_back(pair[1]);
  }
  current.insert(current.end(), added.begin(), added.end());
  return reader.region(draft, current, {});
}

bool read_reduce(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  if (!read_reduced(reader, draft)) return false;
  std::string_view applied;
  const uint32_t offset = in.offset();
  if (in.eat_word("applies")) {
    applied = in.word();
    if (applied.empty()) return in.expects("the name of an operation");
  }
  if (!in.eat_word("across") || !in.eat_word("dimensions")) return in.expects("'across dimensions ='");
  if (!in.need('=', "behind 'dimensions'")) return false;
  const uint32_t list_offset = in.offset();
  std::vector<int64_t> dimensions;
  if (!reader.attributes().integer_list(dimensions)) return false;
  draft.add("dimensions", reader.attributes().make_integers(dimensions, "i64", list_offset));
  if (!read_end(reader, draft, TypeRule::kFunctionType)) return false;
  return applied.empty() ? read_reducer(reader, draft) : make_reducer(reader, draft, applied, offset);
}

// ── while ──

/// `(%a = %x, %b = %y) : T, U [attributes {…}] cond {…} do {…}`
bool read_while(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  std::vector<Argument> arguments;
  if (!in.need('(', "before the values of a loop")) return false;
  while (in.peek() != ')') {
    Argument& argument = arguments.emplace_back();
    argument.offset = in.offset();
    if (!in.eat('%')) return in.expects("an argument, as in %arg = %0");
    argument.name = in.suffix();
    if (!in.need('=', "behind an argument of a loop") || !reader.operand(draft)) return false;
    if (!in.eat(',')) break;
  }
  if (!in.need(')', "behind the values of a loop")) return false;
  if (in.peek() == ':' && !reader.signature(draft, TypeRule::kList)) return false;
  if (draft.types.size() != arguments.size()) return in.expects("':' and the types of the loop's values");
  for (size_t i = 0; i < arguments.size(); ++i) arguments[i].type = draft.types[i];
  if (in.eat_word("attributes") && !reader.optional_attributes(draft)) return false;
  if (!in.eat_word("cond")) return in.expects("'cond' and the condition");
  if (!reader.region(draft, arguments, {})) return false;
  if (!in.eat_word("do")) return in.expects("'do' and the body");
  return reader.region(draft, arguments, {});
}

// ── scan ──

/// `(%x) inits(%c) dimension = 0 [attributes {…}] { ^bb0(…): … } : F`
bool read_scan(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  AttributeReader& attributes = reader.attributes();
  if (!reader.operands_in_parentheses(draft)) return false;
  const int64_t inputs = static_cast<int64_t>(draft.operands.size());
  if (!in.eat_word("inits")) return in.expects("'inits' and the initial values");
  if (!reader.operands_in_parentheses(draft)) return false;
  const int64_t initial = static_cast<int64_t>(draft.operands.size()) - inputs;
  if (!in.eat_word("dimension")) return in.expects("'dimension ='");
  if (!in.need('=', "behind 'dimension'")) return false;
  const uint32_t offset = in.offset();
  int64_t dimension = 0;
  if (!in.integer(dimension)) return false;
  draft.add("dimension", attributes.make_integer(dimension, "i64", offset));
  if (in.eat_word("attributes") && !reader.optional_attributes(draft)) return false;
  if (!reader.region(draft, {}, {})) return false;
  if (!reader.signature(draft, TypeRule::kFunctionType)) return false;
  const int64_t outputs = static_cast<int64_t>(draft.results.size()) - initial;
  const int64_t operand_segments[] = {inputs, initial},
                result_segments[] = {std::max<int64_t>(outputs, 0), initial};
  draft.add("operandSegmentSizes", attributes.make_integers(operand_segments, "i32", offset));
  draft.add("resultSegmentSizes", attributes.make_integers(result_segments, "i32", offset));
  return true;
}

constexpr PrettyForm kRegionsForms[] = {
    {"stablehlo.reduce", read_reduce},
    {"stablehlo.while", read_while},
    {"chlo.scan", read_scan},
};

}  // namespace

std::span<const PrettyForm> region_forms() { return kRegionsForms; }

}  // namespace hlosim::mlir
