// Lowering: a function as the entry of its module, with what its arguments and results say of layouts,
// memory, aliases and shardings.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "stablehlo/locations.h"
#include "stablehlo/lowering.h"
#include "stablehlo/shardings.h"
#include "stablehlo/types.h"

namespace hlosim::stablehlo {
namespace {

const mlir::Attribute* dictionary(const mlir::Operation& function, std::string_view list, size_t i) {
  const mlir::Attribute* all = function.find(list);
  return all && i < all->items.size() ? all->items[i] : nullptr;
}

/// The order of `{1,0}`; nullopt: it is none.
std::optional<std::vector<int64_t>> order_of(std::string_view text) {
  std::vector<int64_t> order;
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc()) return order.empty() ? std::nullopt : std::optional(order);
    order.push_back(value);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    while (text.starts_with(',') || text.starts_with(' ')) text.remove_prefix(1);
    if (text.starts_with(':')) break;
  }
  return order;
}

std::optional<int64_t> memory_space_of(std::string_view kind) {
  if (kind == "device") return kDefaultMemorySpace;
  if (kind == "pinned_host" || kind == "unpinned_host") return kHostSpace;
  return std::nullopt;
}

}  // namespace

/// What `mhlo.layout_mode` and `mhlo.memory_kind` make of a shape.
ShapeRef Lowering::with_attributes(ShapeRef shape, const mlir::Attribute* attrs, uint32_t offset) {
  if (!attrs || !shape->is_array()) return shape;
  const mlir::Attribute* mode = attrs->find("mhlo.layout_mode");
  if (mode && mode->text != "default" && mode->text != "auto") {
    const auto order = order_of(mode->text);
    Layout layout;
    if (order) layout.minor_to_major = *order;
    if (!order || static_cast<int64_t>(order->size()) != shape->rank()) {
      builder_.fail(offset, fmt::format("mhlo.layout_mode \"{}\" is not a layout of {}", mode->text,
                                        to_text_without_layout(shape)));
      return shape;
    }
    shape = shapes().with_layout(shape, shapes().layout(layout));
    has_entry_layout_ = true;
  }
  const mlir::Attribute* kind = attrs->find("mhlo.memory_kind");
  const auto space = kind ? memory_space_of(kind->text) : std::optional<int64_t>();
  if (kind && !space)
    builder_.fail(offset, fmt::format("mhlo.memory_kind \"{}\" is none of device, pinned_host, unpinned_host",
                                      kind->text));
  if (!space || *space == kDefaultMemorySpace) return shape;
  has_entry_layout_ = true;
  return shapes().with_memory_space(shapes().with_default_layouts(shape), *space);
}

Lowering::Argument Lowering::entry_argument(const mlir::Operation& function, const mlir::Value& argument,
                                            const mlir::Attribute* attrs) {
  Argument made;
  made.shape = entry_shape(argument, function.offset);
  if (failed()) return made;
  made.shape = with_attributes(made.shape, attrs, function.offset);
  const std::string_view name = location_name(argument.location);
  made.name = name.empty() ? fmt::format("Arg_{}", argument.number) : std::string(name);
  const auto sharding =
      entry_sharding(attrs, facts_.argument_sharding(argument.number), made.shape, function.offset);
  if (sharding) made.attrs.push_back(builder_.text(AttrKey::kSharding, *sharding));
  if (!attrs) return made;
  if (const auto frontend =
          frontend_attributes(attrs->find("mhlo.frontend_attributes"), attrs->find("sdy.sharding")))
    made.attrs.push_back(builder_.text(AttrKey::kFrontendAttributes, *frontend));
  const mlir::Attribute* replicated = attrs->find("mhlo.is_same_data_across_replicas");
  const mlir::Attribute* listed = attrs->find("mhlo.parameter_replication");
  std::vector<int64_t> flags;
  if (listed)
    flags = integers_of(*listed).value_or(std::vector<int64_t>());
  else if (replicated && (replicated->kind == mlir::AttributeKind::kUnit || replicated->integer != 0))
    flags.assign(static_cast<size_t>(leaf_count(made.shape)), 1);
  if (flags.empty()) return made;
  if (static_cast<int64_t>(flags.size()) == leaf_count(made.shape))
    made.attrs.push_back(builder_.ints(AttrKey::kParameterReplication, flags));
  else
    builder_.fail(function.offset, fmt::format("mhlo.parameter_replication has {} values for {} arrays",
                                               flags.size(), leaf_count(made.shape)));
  return made;
}

std::optional<std::string> Lowering::entry_sharding(const mlir::Attribute* attrs,
                                                    const mlir::ExportedSharding* exported, ShapeRef shape,
                                                    uint32_t offset) {
  if (auto own = sharding_of(*this, attrs, offset); own || failed()) return own;
  if (auto noted = sharding_of_frontend(*this, attrs, shape->rank())) return noted;
  if (!exported) return std::nullopt;
  return sharding_text(*this, *exported, shape->rank(), offset);
}

std::optional<std::string> Lowering::result_sharding(const mlir::Operation& function, size_t i,
                                                     ShapeRef shape) {
  auto own =
      entry_sharding(dictionary(function, "res_attrs", i), facts_.result_sharding(i), shape, function.offset);
  const mlir::Block* body = body_of(function);
  if (own || failed() || body->operations.empty()) return own;
  const mlir::Operation& end = *body->operations.back();
  const mlir::Operation* maker = i < end.operands.size() ? end.operands[i]->owner : nullptr;
  const mlir::Attribute* target = maker ? maker->find("call_target_name") : nullptr;
  if (!target || target->text != "xla.sdy.FuncResultSharding") return own;
  mlir::Attribute attrs;
  attrs.kind = mlir::AttributeKind::kDictionary;
  attrs.entries = maker->attributes;
  return sharding_of_frontend(*this, &attrs, shape->rank());
}

/// Its location, else what JAX called it: `jax.arg_info = "params['w']"`.
std::string_view Lowering::argument_metadata(const mlir::Value& argument, const mlir::Attribute* attrs) {
  const std::string_view located = metadata(argument.location);
  const mlir::Attribute* info = attrs ? attrs->find("jax.arg_info") : nullptr;
  if (!located.empty() || !info || info->text.empty()) return located;
  return builder_.module().arena().copy(
      std::string_view(fmt::format("{{op_name=\"{}\"}}", escaped(info->text))));
}

ComputationId Lowering::entry(const mlir::Operation& function) {
  const mlir::Block* body = body_of(function);
  if (exported_) facts_ = EntryFacts(*exported_, body->arguments.size(), function_results(function));
  Scope scope;
  open_.push_back(&function);
  std::vector<InstructionId> parameters;
  for (const mlir::Value* argument : body->arguments) {
    const mlir::Attribute* attrs = dictionary(function, "arg_attrs", argument->number);
    const Argument made = entry_argument(function, *argument, attrs);
    if (failed()) return {};
    parameters.push_back(builder_.parameter(scope.body, made.shape, made.name,
                                            {function.offset, argument_metadata(*argument, attrs)},
                                            made.attrs));
    scope.values[argument] = parameters.back();
  }
  if (!check_dimensions(function)) return {};
  const std::vector<InstructionId> results = block(scope, *body);
  if (!check_results(function, results)) return {};
  const InstructionId root = entry_root(scope, function, results);
  if (failed()) return {};
  aliases(function);
  entry_header(function, parameters, root);
  open_.pop_back();
  return builder_.close(scope.body, symbol_name(function), root, function.offset);
}

/// One value, or a tuple; its sharding is that of the results.
InstructionId Lowering::entry_root(Scope& scope, const mlir::Operation& function,
                                   std::span<const InstructionId> results) {
  const ModuleBuilder::Place place{function.offset, {}};
  std::string shardings;
  bool any = false;
  for (size_t i = 0; i < results.size(); ++i) {
    const auto sharding = result_sharding(function, i, builder_.shape(results[i]));
    any |= sharding.has_value();
    std::string part = sharding.value_or("{replicated}");
    if (part.starts_with("{{")) part = part.substr(1, part.size() - 2);  // of the parts of a tuple
    shardings += (i ? "," : "") + part;
  }
  if (results.size() == 1 && !any) return results[0];
  const InstructionId root = builder_.add(scope.body, Opcode::kTuple, results, {}, nullptr, place);
  if (any) builder_.set_attr(root, builder_.text(AttrKey::kSharding, fmt::format("{{{}}}", shardings)));
  if (results.size() != 1) return root;
  const InstructionId operands[] = {root};
  const bool is_list = builder_.shape(results[0])->is_tuple() && shardings.find("},") != std::string::npos;
  const std::string shell = is_list ? fmt::format("{{{}}}", shardings) : shardings;
  const Attr attrs[] = {Attr::make_int(AttrKey::kIndex, 0), builder_.text(AttrKey::kSharding, shell)};
  return builder_.add(scope.body, Opcode::kGetTupleElement, operands, attrs, nullptr, place);
}

void Lowering::aliases(const mlir::Operation& function) {
  std::vector<Alias> aliases, donors;
  const size_t results = function_results(function);
  Arena& arena = builder_.module().arena();
  const mlir::Block& body = *body_of(function);
  for (const mlir::Value* argument : body.arguments) {
    const mlir::Attribute* attrs = dictionary(function, "arg_attrs", argument->number);
    if (!attrs) continue;
    Alias alias;
    alias.parameter = argument->number;
    if (const mlir::Attribute* output = attrs->find("tf.aliasing_output")) {
      if (output->integer < 0 || static_cast<size_t>(output->integer) >= results)
        return builder_.fail(function.offset,
                             fmt::format("tf.aliasing_output of argument {} names result {}, "
                                         "but @{} has {}",
                                         argument->number, output->integer, symbol_name(function), results));
      if (results != 1) alias.output_index = arena.copy(std::vector<int64_t>{output->integer});
      aliases.push_back(alias);
    } else if (const mlir::Attribute* donor = attrs->find("jax.buffer_donor"); donor && donor->integer) {
      donors.push_back(alias);
    }
  }
  if (!aliases.empty())
    header_.push_back(
        Attr::make_list<Alias>(AttrKey::kInputOutputAlias, AttrSyntax::kAliases, arena.copy(aliases)));
  if (!donors.empty())
    header_.push_back(Attr::make_list<Alias>(AttrKey::kBufferDonor, AttrSyntax::kDonors, arena.copy(donors)));
}

std::string Lowering::result_names(const mlir::Operation& function) {
  std::string names;
  bool says_more = false;
  const size_t results = function_results(function);
  for (size_t i = 0; i < results; ++i) {
    const mlir::Attribute* attrs = dictionary(function, "res_attrs", i);
    const mlir::Attribute* info = attrs ? attrs->find("jax.result_info") : nullptr;
    const std::string_view name = info ? info->text : std::string_view();
    // What JAX calls a result that has no name: the word alone, or its place in a tuple.
    says_more |= !name.empty() && name != "result" && name != fmt::format("result[{}]", i) &&
                 name != fmt::format("[{}]", i);
    names += fmt::format("{}{}", i ? ", " : "", name.empty() ? std::string_view("-") : name);
  }
  return says_more ? names : std::string();
}

size_t Lowering::function_results(const mlir::Operation& function) {
  const mlir::Attribute* type = function.find("function_type");
  return type && type->type ? type->type->results.size() : 0;
}

/// entry_computation_layout, where any layout isn't the default one.
void Lowering::entry_header(const mlir::Operation& function, std::span<const InstructionId> parameters,
                            InstructionId root) {
  const ShapeRef result = builder_.shape(root);
  const size_t results = function_results(function);
  std::vector<ShapeRef> elements;
  for (size_t i = 0; i < results; ++i) {
    ShapeRef one = results == 1 ? result : result->elements[i];
    elements.push_back(with_attributes(one, dictionary(function, "res_attrs", i), function.offset));
  }
  if (!has_entry_layout_ || failed()) return;
  std::vector<ShapeRef> layout;
  for (const InstructionId parameter : parameters) layout.push_back(builder_.shape(parameter));
  layout.push_back(builder_.laid_out(results == 1 ? elements[0] : shapes().tuple(elements)));
  header_.push_back(Attr::make_list<ShapeRef>(AttrKey::kEntryComputationLayout, AttrSyntax::kEntryLayout,
                                              builder_.module().arena().copy(layout)));
}

}  // namespace hlosim::stablehlo
