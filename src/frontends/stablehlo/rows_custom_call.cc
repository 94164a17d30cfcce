// Calls of named targets.
#include <algorithm>

#include "layout/shape_text.h"
#include "stablehlo/approx_top_k.h"
#include "stablehlo/checks.h"
#include "stablehlo/output_aliases.h"
#include "stablehlo/shardings.h"

namespace hlosim::stablehlo {
namespace {

void add_api_version(OpLowering& op, std::vector<Attr>& attrs) {
  static constexpr std::string_view kVersions[] = {"", "", "API_VERSION_STATUS_RETURNING",
                                                   "API_VERSION_STATUS_RETURNING_UNIFIED",
                                                   "API_VERSION_TYPED_FFI"};
  const int64_t version = op.integer("api_version", 1);
  if (version < 0 || version >= static_cast<int64_t>(std::size(kVersions))) {
    op.fail("api_version {} is none of 0 to 4", version);
    return;
  }
  const std::string_view word = kVersions[static_cast<size_t>(version)];
  if (!word.empty()) attrs.push_back(op.word(AttrKey::kApiVersion, word));
}

void add_config(OpLowering& op, std::vector<Attr>& attrs) {
  const mlir::Attribute* config = op.find("mhlo.backend_config");
  if (!config) config = op.find("backend_config");
  if (!config) return;
  if (config->kind == mlir::AttributeKind::kDictionary)
    attrs.push_back(op.word(AttrKey::kBackendConfig, attribute_text(*config)));
  else if (config->kind != mlir::AttributeKind::kString)
    op.fail("{} is neither a string nor a dictionary",
            op.has("mhlo.backend_config") ? "mhlo.backend_config" : "backend_config");
  else if (!config->text.empty())
    attrs.push_back(op.builder().quoted(AttrKey::kBackendConfig, config->text));
}

/// `shape` in the layout that is item `i` of the list `name`.
ShapeRef with_listed_layout(OpLowering& op, ShapeRef shape, const mlir::Attribute* layouts, size_t i) {
  if (!layouts || i >= layouts->items.size() || !shape->is_array()) return shape;
  const auto order = integers_of(*layouts->items[i]);
  if (!order || static_cast<int64_t>(order->size()) != shape->rank()) {
    op.fail("layout {} isn't one of {}", i, to_text_without_layout(shape));
    return shape;
  }
  Layout layout;
  layout.minor_to_major = *order;
  return op.shapes().with_layout(shape, op.shapes().layout(layout));
}

/// `#mhlo<custom_call_schedule LATEST>`
void add_schedule(OpLowering& op, std::vector<Attr>& attrs) {
  const mlir::Attribute* when = op.find("custom_call_schedule");
  if (when && when->text != "NONE")
    attrs.push_back(op.word(AttrKey::kSchedule, fmt::format("SCHEDULE_{}", when->text)));
}

void add_operand_layouts(OpLowering& op, const Values& operands, std::vector<Attr>& attrs) {
  const mlir::Attribute* layouts = op.find("operand_layouts");
  if (!layouts || op.failed()) return;
  std::vector<ShapeRef> shapes;
  for (size_t i = 0; i < operands.size(); ++i)
    shapes.push_back(op.builder().laid_out(with_listed_layout(op, op.shape(operands[i]), layouts, i)));
  attrs.push_back(Attr::make_list<ShapeRef>(AttrKey::kOperandLayoutConstraints, AttrSyntax::kShapes,
                                            op.arena().copy(shapes)));
}

void add_called(OpLowering& op, std::vector<Attr>& attrs) {
  const mlir::Attribute* called = op.find("called_computations");
  if (!called || called->items.empty()) return;
  std::vector<ComputationId> computations;
  for (const mlir::Attribute* item : called->items) {
    const mlir::Operation* function = op.lowering().symbols().function(item->text);
    if (!function) return;  // another module's: add_missing() says so
    computations.push_back(op.lowering().function(*function, op.mlir().offset));
  }
  if (!op.failed()) attrs.push_back(op.builder().computations(AttrKey::kCalledComputations, computations));
}

/// Who is called but isn't in this module: the call is one by its name alone, and its frontend attributes say
/// of what.
void add_missing(OpLowering& op, InstructionId call) {
  const mlir::Attribute* called = op.find("called_computations");
  if (!called || op.failed()) return;
  const bool all = std::all_of(called->items.begin(), called->items.end(), [&](const mlir::Attribute* item) {
    return op.lowering().symbols().function(item->text) != nullptr;
  });
  if (all) return;
  const std::string note = fmt::format("called_computations=\"{}\"", escaped(attribute_text(*called)));
  const Attr* given = op.builder().module()[call].find(AttrKey::kFrontendAttributes);
  const std::string_view before = given ? given->text() : std::string_view("{}");
  const std::string text =
      fmt::format("{}{}{}}}", before.substr(0, before.size() - 1), before.size() > 2 ? "," : "", note);
  op.builder().set_attr(call, op.word(AttrKey::kFrontendAttributes, text));
}

/// `shape` with the layouts of the list: one for each result, or for each member of a single tuple.
ShapeRef with_listed_layouts(OpLowering& op, ShapeRef shape, const mlir::Attribute* layouts) {
  if (!layouts || !shape->is_tuple()) return with_listed_layout(op, shape, layouts, 0);
  std::vector<ShapeRef> elements;
  for (size_t i = 0; i < shape->elements.size() && !op.failed(); ++i)
    elements.push_back(with_listed_layout(op, shape->elements[i], layouts, i));
  return op.failed() ? shape : op.shapes().tuple(elements);
}

/// The same arrays in the layouts of `xla_shape`, if there is one.
ShapeRef with_xla_shape(OpLowering& op, ShapeRef shape) {
  const mlir::Attribute* given = op.find("xla_shape");
  if (!given || op.failed()) return shape;
  const Result<ShapeRef> written = parse_shape(op.shapes(), given->text);
  if (written && to_text_without_layout(*written) == to_text_without_layout(shape))
    return op.shapes().with_default_layouts(*written);
  op.fail("xla_shape \"{}\" is not a shape of a result {}", given->text, to_text_without_layout(shape));
  return shape;
}

ShapeRef result_shape(OpLowering& op) {
  const mlir::Attribute* layouts = op.find("result_layouts");
  if (op.result_count() == 1) {
    const ShapeRef shape = op.static_result();
    return shape ? with_xla_shape(op, with_listed_layouts(op, shape, layouts)) : nullptr;
  }
  std::vector<ShapeRef> elements;
  for (size_t i = 0; i < op.result_count() && !op.failed(); ++i) {
    const ShapeRef shape = op.static_result(i);
    if (shape) elements.push_back(with_listed_layout(op, shape, layouts, i));
  }
  return op.failed() ? nullptr : with_xla_shape(op, op.shapes().tuple(elements));
}

/// An operation that HLO has and StableHLO hasn't: `@mhlo.topk` with its attributes in a dictionary.
bool lower_foreign(OpLowering& op, std::string_view target) {
  constexpr std::string_view kPrefix = "mhlo.";
  if (!target.starts_with(kPrefix)) return false;
  const std::string_view name = target.substr(kPrefix.size());
  const RowOfOperation* row = find_row(fmt::format("chlo.{}", name == "topk" ? "top_k" : name));
  if (!row) row = find_row(fmt::format("stablehlo.{}", name));
  if (!row) return false;
  mlir::Operation plain = op.mlir();
  std::vector<mlir::NamedAttribute> attributes;
  for (const mlir::NamedAttribute& entry : op.mlir().attributes)
    if (entry.name == "mhlo.sharding" || entry.name == "sdy.sharding" ||
        entry.name == "mhlo.frontend_attributes")
      attributes.push_back(entry);
  if (const mlir::Attribute* inner = op.find("mhlo.attributes"))
    attributes.insert(attributes.end(), inner->entries.begin(), inner->entries.end());
  plain.name = op.arena().copy(row->name);
  plain.attributes = attributes;
  OpLowering lowering(op.lowering(), op.scope(), plain);
  row->lower(lowering, row->opcode);
  return true;
}

void lower_custom_call(OpLowering& op, Opcode) {
  const mlir::Attribute* name = op.need("call_target_name");
  if (name && name->text == "ApproxTopK" && lower_approx_top_k(op)) return;
  if (!name || lower_foreign(op, name->text) || lower_called_check(op, name->text)) return;
  const Values operands = op.operands();
  std::vector<Attr> attrs = {op.builder().quoted(AttrKey::kCustomCallTarget, name->text)};
  add_operand_layouts(op, operands, attrs);
  if (op.flag("has_side_effect")) attrs.push_back(Attr::make_bool(AttrKey::kCustomCallHasSideEffect, true));
  add_schedule(op, attrs);
  add_called(op, attrs);
  if (const auto aliases = output_aliases(op, "output_operand_aliases")) attrs.push_back(*aliases);
  add_api_version(op, attrs);
  add_config(op, attrs);
  const ShapeRef shape = result_shape(op);
  if (op.failed()) return;
  const InstructionId call = op.make(Opcode::kCustomCall, operands, attrs, shape);
  if (op.result_count() > 0)
    op.give_elements(call);
  else
    op.decorate(call);
  add_missing(op, call);
}

constexpr Row kCustomCallRows[] = {
    {"stablehlo.custom_call", lower_custom_call},
};

}  // namespace

std::span<const Row> call_rows() { return kCustomCallRows; }

}  // namespace hlosim::stablehlo
