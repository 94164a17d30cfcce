// Random fusions, calls, loops, branches, asynchronous wrappers and tuples.
#include <fmt/format.h>

#include <algorithm>

#include "oracle/module_writer.h"

namespace hlosim::test {
namespace {

/// A body under construction that some instruction of `outer` will call.
struct Called {
  std::string name;
  std::vector<Ref> operands;       // of outer
  std::vector<ArrayType> results;  // one, or those of a tuple
  bool is_tuple = false;
};

/// Operands of outer for the parameters that are left.
std::vector<Ref> operands_for(ModuleWriter& w, Body& outer, const Body& inner,
                              const std::vector<size_t>& kept) {
  std::vector<Ref> operands;
  for (const size_t parameter : kept) operands.push_back(w.obtain(outer, inner.parameters[parameter]));
  return operands;
}

/// Ends a body: its root is one of its unused values, or a tuple of several.
Called finish(ModuleWriter& w, Body& outer, Body& inner, bool all_parameters) {
  std::vector<Ref> roots = inner.unused();
  std::erase_if(roots, [&](const Ref& ref) { return inner.lines[ref.line].is_parameter; });
  if (roots.empty()) roots.push_back(w.any(inner));
  while (roots.size() > 4) roots.erase(roots.begin());
  Called called;
  called.is_tuple = roots.size() > 1 && w.random.chance(0.6);
  if (!called.is_tuple) roots = {roots.back()};
  size_t root = roots[0].line;
  for (const Ref& ref : roots) called.results.push_back(ref.array);
  if (called.is_tuple) {
    std::vector<size_t> lines;
    for (const Ref& ref : roots) lines.push_back(ref.line);
    root = inner.add(w.name("t"), w.tuple_shape(called.results), "tuple", lines);
  }
  std::vector<size_t> kept;
  called.name = w.write(inner, root, all_parameters, kept);
  called.operands = operands_for(w, outer, inner, kept);
  return called;
}

/// Bodies rarely call others in turn.
int nested_depth(ModuleWriter& w) { return w.random.chance(0.12) ? 1 : 0; }

void emit_call(ModuleWriter& w, Body& body, const Called& called, std::string_view opcode,
               const std::string& attributes) {
  if (called.is_tuple)
    w.emit_tuple(body, called.results, opcode, called.operands, attributes);
  else
    w.emit(body, called.results[0], opcode, called.operands, attributes);
}

/// Some values of outer's types as the first parameters.
Body inner_body(ModuleWriter& w, Body& outer) {
  Body inner;
  for (int64_t i = w.random.between(1, 3); i > 0; --i) w.parameter(inner, w.any(outer).array);
  return inner;
}

void emit_async(ModuleWriter& w, Body& body, const Called& called, std::string_view opcode,
                const std::string& attributes) {
  std::vector<ArrayType> operand_types;
  std::vector<size_t> lines;
  for (const Ref& operand : called.operands) {
    operand_types.push_back(operand.array);
    lines.push_back(operand.line);
  }
  std::string result = called.is_tuple ? w.tuple_shape(called.results) : w.plain_shape(called.results[0]);
  const std::string shape = fmt::format("({}, {}, u32[])", w.tuple_shape(operand_types), result);
  const size_t start = body.add(w.name("s"), shape, fmt::format("{}-start", opcode), lines, attributes);
  const size_t done = body.add(w.name("d"), result, fmt::format("{}-done", opcode), {start});
  if (called.is_tuple)
    w.take_apart(body, done, called.results);
  else
    body.values.push_back({done, called.results[0]});
}

}  // namespace

void generate_fusion(ModuleWriter& w, Body& body) {
  Body inner = inner_body(w, body);
  for (int64_t i = w.random.between(2, 9); i > 0; --i) {
    switch (w.random.weighted({16, 2, 1, 1, 1})) {
      case 0:
        generate_cheap(w, inner);
        break;
      case 1:
        generate_reduce(w, inner);
        break;
      case 2:
        generate_dynamic(w, inner);
        break;
      case 3:
        generate_dot(w, inner);
        break;
      default:
        generate_gather(w, inner);
        break;
    }
  }
  const Called called = finish(w, body, inner, false);
  const std::string_view kind =
      w.random.one_of<std::string_view>({"kLoop", "kLoop", "kInput", "kOutput", "kCustom"});
  const std::string attributes = fmt::format("kind={}, calls={}", kind, called.name);
  if (w.random.chance(0.08) && !called.operands.empty())
    return emit_async(w, body, called, "fusion", attributes);
  emit_call(w, body, called, "fusion", attributes);
}

void generate_call(ModuleWriter& w, Body& body) {
  Body inner = inner_body(w, body);
  for (int64_t i = w.random.between(1, 5); i > 0; --i) generate_any(w, inner, nested_depth(w));
  const Called called = finish(w, body, inner, true);
  if (w.random.chance(0.2) && !called.operands.empty())
    return emit_async(w, body, called, "call", "to_apply=" + called.name);
  emit_call(w, body, called, "call", "to_apply=" + called.name);
}

// ── while ───────────────────────────────────────────────────────

namespace {

/// A body whose one parameter is a tuple of `state`, taken apart into values.
Body tuple_body(ModuleWriter& w, const std::vector<ArrayType>& state) {
  Body body;
  body.open = false;
  const size_t parameter = body.add(w.name("p"), w.tuple_shape(state), "parameter", {});
  body.lines[parameter].is_parameter = true;
  w.take_apart(body, parameter, state);
  return body;
}

size_t tuple_of(ModuleWriter& w, Body& body, const std::vector<Ref>& parts) {
  std::vector<size_t> lines;
  std::vector<ArrayType> types;
  for (const Ref& part : parts) {
    lines.push_back(part.line);
    types.push_back(part.array);
  }
  return body.add(w.name("t"), w.tuple_shape(types), "tuple", lines);
}

}  // namespace

void generate_while(ModuleWriter& w, Body& body) {
  const ArrayType counter{ElementType::kS32, {}};
  std::vector<ArrayType> state = {counter};
  std::vector<Ref> inits = {w.constant(body, ElementType::kS32, "0")};
  for (int64_t i = w.random.between(1, 3); i > 0; --i) {
    inits.push_back(w.any(body));
    state.push_back(inits.back().array);
  }
  const int64_t trips = w.random.between(0, 5), step = w.random.between(1, 2);

  Body condition = tuple_body(w, state);
  const Ref limit = w.constant(condition, ElementType::kS32, fmt::format("{}", trips * step));
  const Ref again =
      w.emit(condition, {ElementType::kPred, {}}, "compare", {condition.values[0], limit}, "direction=LT");
  const std::string condition_name = w.write(condition, again.line, true);

  Body loop = tuple_body(w, state);
  const std::vector<Ref> parts = loop.values;
  const Ref one = w.constant(loop, ElementType::kS32, fmt::format("{}", step));
  std::vector<Ref> next = {w.emit(loop, counter, "add", {parts[0], one})};
  for (int64_t i = w.random.between(1, 5); i > 0; --i) generate_any(w, loop, nested_depth(w));
  for (size_t i = 1; i < state.size(); ++i) {
    // The latest value of the type, else one made for it.
    Ref chosen = parts[i];
    for (const Ref& value : loop.values)
      if (value.array == state[i] && (w.random.chance(0.6) || value.line > chosen.line)) chosen = value;
    next.push_back(w.random.chance(0.85) ? chosen : w.obtain(loop, state[i]));
  }
  const std::string loop_name = w.write(loop, tuple_of(w, loop, next), true);

  const size_t start = tuple_of(w, body, inits);
  const size_t result = body.add(w.name("t"), w.tuple_shape(state), "while", {start},
                                 fmt::format("condition={}, body={}", condition_name, loop_name));
  w.take_apart(body, result, state);
}

void generate_conditional(ModuleWriter& w, Body& body) {
  const bool is_pred = w.random.chance(0.5);
  const Ref selector = w.obtain(body, {is_pred ? ElementType::kPred : ElementType::kS32, {}});
  const int64_t branches = is_pred ? 2 : w.random.between(1, 4);
  std::vector<ArrayType> results;
  for (int64_t i = w.random.between(1, 2); i > 0; --i) results.push_back(w.any(body).array);
  std::vector<std::string> names;
  std::vector<size_t> operands = {selector.line};
  for (int64_t b = 0; b < branches; ++b) {
    std::vector<Ref> inputs;
    std::vector<ArrayType> types;
    for (int64_t i = w.random.between(1, 2); i > 0; --i) {
      inputs.push_back(w.random.chance(0.6) ? w.obtain(body, results[0]) : w.any(body));
      types.push_back(inputs.back().array);
    }
    Body branch = tuple_body(w, types);
    for (int64_t i = w.random.between(0, 4); i > 0; --i) generate_any(w, branch, nested_depth(w));
    std::vector<Ref> roots;
    for (const ArrayType& result : results) roots.push_back(w.obtain(branch, result));
    names.push_back(w.write(branch, results.size() > 1 ? tuple_of(w, branch, roots) : roots[0].line, true));
    operands.push_back(tuple_of(w, body, inputs));
  }
  const std::string attributes =
      is_pred ? fmt::format("true_computation={}, false_computation={}", names[0], names[1])
              : fmt::format("branch_computations={{{}}}", fmt::join(names, ", "));
  if (results.size() > 1) {
    const size_t tuple = body.add(w.name("t"), w.tuple_shape(results), "conditional", operands, attributes);
    w.take_apart(body, tuple, results);
  } else {
    const size_t line = body.add(w.name("v"), w.shape(results[0]), "conditional", operands, attributes);
    body.values.push_back({line, results[0]});
  }
}

// ── what only hands values on ───────────────────────────────────

namespace {

void generate_nested_tuple(ModuleWriter& w, Body& body) {
  const Ref a = w.any(body), b = w.any(body), c = w.any(body);
  const size_t inner = tuple_of(w, body, {a, b});
  const std::string inner_shape = w.tuple_shape({a.array, b.array});
  const size_t outer =
      body.add(w.name("t"), fmt::format("({}, {})", inner_shape, w.shape(c.array)), "tuple", {inner, c.line});
  const size_t barrier =
      w.random.chance(0.5) ? outer : body.add(w.name("t"), body.lines[outer].shape, "opt-barrier", {outer});
  const size_t taken = body.add(w.name("t"), inner_shape, "get-tuple-element", {barrier}, "index=0");
  w.take_apart(body, taken, {a.array, b.array});
}

void generate_copy_pair(ModuleWriter& w, Body& body) {
  const Ref x = w.any(body);
  const std::string shape = w.plain_shape(x.array);
  const size_t start =
      body.add(w.name("s"), fmt::format("({}, {}, u32[])", shape, shape), "copy-start", {x.line});
  const size_t done = body.add(w.name("v"), shape, "copy-done", {start});
  body.values.push_back({done, x.array});
}

void generate_ordered(ModuleWriter& w, Body& body) {
  const Ref x = w.any(body);
  const size_t token = body.add(w.name("k"), "token[]", "after-all", {});
  const size_t line = body.add(w.name("v"), w.plain_shape(x.array), "add-dependency", {x.line, token});
  body.values.push_back({line, x.array});
}

}  // namespace

void generate_plumbing(ModuleWriter& w, Body& body) {
  switch (w.random.weighted({3, 2, 2, 2, 2, 1})) {
    case 0:
      return generate_nested_tuple(w, body);
    case 1:
      return generate_copy_pair(w, body);
    case 2:
      return generate_ordered(w, body);
    case 3: {
      const Ref x = w.any(body);
      w.emit(body, x.array, "opt-barrier", {x});
      return;
    }
    case 4: {
      const Ref x = w.any(body);
      w.emit(body, x.array, "custom-call", {x}, "custom_call_target=\"Sharding\"");
      return;
    }
    default: {
      const auto x = w.some(body, [](const ArrayType& a) { return a.rank() > 0; });
      if (x)
        w.emit(body, {ElementType::kS32, {}}, "get-dimension-size", {*x},
               fmt::format("dimensions={{{}}}", w.random.between(0, x->array.rank() - 1)));
    }
  }
}

}  // namespace hlosim::test
