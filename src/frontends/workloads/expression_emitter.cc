#include "workloads/expression_emitter.h"

#include <fmt/format.h>

#include <algorithm>

#include "hlo/stored_values.h"

namespace hlosim {

// ── what computations share ──

ShapeRef ModelParts::shape(const ValueType& type) {
  ShapePool& pool = builder_.module().shapes();
  if (type.elements.empty()) return builder_.laid_out(pool.array(type.element, type.dims));
  std::vector<ShapeRef> elements;
  for (const ValueType& element : type.elements) elements.push_back(shape(element));
  return pool.tuple(elements);
}

ShapeRef ModelParts::shape(const ValueType& type, int64_t memory_space) {
  return builder_.module().shapes().with_memory_space(shape(type), memory_space);
}

ComputationId ModelParts::reducer(std::string_view name, ElementType type) {
  const std::string key = fmt::format("{}_{}", name, to_text(type));
  if (const auto known = reducers_.find(key); known != reducers_.end()) return known->second;
  ModuleBuilder::Body body;
  const ShapeRef scalar = builder_.module().shapes().scalar(type);
  const InstructionId a = builder_.parameter(body, scalar, "a", {}),
                      b = builder_.parameter(body, scalar, "b", {});
  const InstructionId operands[] = {a, b};
  InstructionId root;
  if (name == "less") {
    const ShapeRef position = builder_.module().shapes().scalar(ElementType::kS32);
    builder_.parameter(body, position, "i", {});
    builder_.parameter(body, position, "j", {});
    const Attr direction[] = {builder_.text(AttrKey::kDirection, "LT")};
    root = builder_.add(body, Opcode::kCompare, operands, direction, nullptr, {});
  } else if (name == "second") {
    root = b;
  } else {
    const Opcode opcode = name == "add"       ? Opcode::kAdd
                          : name == "maximum" ? Opcode::kMaximum
                                              : Opcode::kMinimum;
    root = builder_.add(body, opcode, operands, {}, nullptr, {});
  }
  return reducers_[key] = builder_.close(body, key, root, 0);
}

ModuleBuilder::Place ModelParts::place(std::string_view scope) {
  const std::string name = scope.empty() ? prefix_ : fmt::format("{}/{}", prefix_, scope);
  std::string_view& text = places_[name];
  if (text.empty())
    text = builder_.module().arena().copy(std::string_view(fmt::format("{{op_name=\"{}\"}}", name)));
  return {0, text};
}

Attr ModelParts::attr(const ExpressionAttr& attr, ElementType type) {
  using Kind = ExpressionAttr::Kind;
  switch (attr.kind) {
    case Kind::kInts:
      return builder_.ints(attr.key, attr.ints);
    case Kind::kInt:
      return Attr::make_int(attr.key, attr.ints[0]);
    case Kind::kFlag:
      return Attr::make_bool(attr.key, attr.ints[0] != 0);
    case Kind::kWord:
    case Kind::kBraces:
      return builder_.text(attr.key, attr.text);
    case Kind::kText:
      return builder_.quoted(attr.key, attr.text);
    case Kind::kReducer: {
      const ComputationId computation = reducer(attr.text, type);
      return builder_.computations(attr.key, {&computation, 1});
    }
    case Kind::kRanges:
      return builder_.lists(attr.key, attr.lists);
    case Kind::kChannel:
      return Attr::make_int(attr.key, ++channels_);
    case Kind::kGroupList: {
      ReplicaGroups groups;
      Arena& arena = builder_.module().arena();
      std::vector<std::span<const int64_t>> lists;
      for (const Dims& group : attr.lists) lists.push_back(arena.copy(group));
      groups.groups = arena.copy(lists);
      return Attr::make_struct<ReplicaGroups>(attr.key, AttrSyntax::kReplicaGroups,
                                              arena.make<ReplicaGroups>(groups));
    }
    case Kind::kGroups: {
      ReplicaGroups groups;
      groups.form = ReplicaGroups::Form::kIota;
      Arena& arena = builder_.module().arena();
      groups.iota_dimensions = arena.copy(attr.lists[0]);
      groups.iota_reshape = arena.copy(attr.lists[1]);
      groups.iota_transpose = arena.copy(attr.lists[2]);
      return Attr::make_struct<ReplicaGroups>(attr.key, AttrSyntax::kReplicaGroups,
                                              arena.make<ReplicaGroups>(groups));
    }
  }
  return {};
}

InstructionId ModelParts::constant(ModuleBuilder::Body& body, ElementType type, double value) {
  return builder_.constant(body, scalar_literal(builder_.module(), type, value), {});
}

// ── emitting ──

void ExpressionEmitter::bind(Expr value, InstructionId instruction) {
  if (made_.size() <= static_cast<size_t>(value.index)) made_.resize(static_cast<size_t>(graph_.size()));
  made_[static_cast<size_t>(value.index)] = instruction;
}

InstructionId ExpressionEmitter::emit(Expr value) {
  emit(std::vector<Expr>{value});
  return made_[static_cast<size_t>(value.index)];
}

void ExpressionEmitter::emit(const std::vector<Expr>& roots) {
  made_.resize(static_cast<size_t>(graph_.size()));
  is_wanted_.resize(made_.size());
  std::vector<int32_t> wanted;  // no more than what is emitted now: graphs that grow are emitted bit by bit
  const auto want = [&](Expr value) {
    const auto i = static_cast<size_t>(value.index);
    if (made_[i].valid() || is_wanted_[i]) return;
    is_wanted_[i] = true;
    wanted.push_back(value.index);
  };
  for (const Expr root : roots) want(root);
  for (size_t next = 0; next < wanted.size(); ++next)
    for (const Expr operand : graph_[Expr{wanted[next]}].operands) want(operand);
  std::sort(wanted.begin(), wanted.end());
  for (const int32_t i : wanted) made_[static_cast<size_t>(i)] = add(graph_[Expr{i}]);
}

InstructionId ExpressionEmitter::add(const Expression& expression) {
  HLOSIM_CHECK(!expression.is_leaf, "'{}' is not bound", expression.name);
  if (expression.is_alias) return made_[static_cast<size_t>(expression.operands[0].index)];
  ModuleBuilder& builder = parts_.builder();
  if (expression.opcode == Opcode::kConstant)
    return parts_.constant(body_, expression.type.element, expression.number);
  std::vector<InstructionId> operands;
  for (const Expr operand : expression.operands)
    operands.push_back(made_[static_cast<size_t>(operand.index)]);
  const ElementType reduced = expression.operands.empty() ? expression.type.element
                                                          : graph_[expression.operands.front()].type.element;
  std::vector<Attr> attrs;
  for (const ExpressionAttr& attr : expression.attrs) attrs.push_back(parts_.attr(attr, reduced));
  return builder.add(body_, expression.opcode, operands, attrs, parts_.shape(expression.type),
                     parts_.place(expression.scope));
}

std::vector<Expr> needed_of(const ExpressionGraph& graph, const std::vector<Expr>& roots,
                            const std::vector<Expr>& cuts) {
  std::vector<bool> wanted(static_cast<size_t>(graph.size())), cut(wanted.size());
  for (const Expr root : roots) wanted[static_cast<size_t>(root.index)] = true;
  for (const Expr one : cuts) cut[static_cast<size_t>(one.index)] = true;
  for (size_t i = wanted.size(); i-- > 0;)
    if (wanted[i] && !cut[i])
      for (const Expr operand : graph[Expr{static_cast<int32_t>(i)}].operands)
        wanted[static_cast<size_t>(operand.index)] = true;
  std::vector<Expr> needed;
  for (const Expr one : cuts)
    if (wanted[static_cast<size_t>(one.index)]) needed.push_back(one);
  return needed;
}

}  // namespace hlosim
