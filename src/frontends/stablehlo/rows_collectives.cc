// Operations of several devices together.
#include <algorithm>

#include "hlo/stored_values.h"
#include "stablehlo/shardings.h"

namespace hlosim::stablehlo {
namespace {

/// `#stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>, …], device_ids = dense<…>>`, which
/// stands where a mesh may be named.
std::optional<Mesh> inline_mesh(const mlir::Attribute& given) {
  Mesh mesh;
  const mlir::Attribute* axes = given.find("axes");
  for (size_t i = 0; axes && i < axes->items.size(); ++i) {
    const mlir::Attribute *name = axes->items[i]->find("name"), *size = axes->items[i]->find("size");
    if (!name || !size) return std::nullopt;
    mesh.axes.emplace_back(name->text, size->integer);
  }
  if (const mlir::Attribute* ids = given.find("device_ids")) {
    const auto listed = integers_of(*ids);
    if (!listed) return std::nullopt;
    mesh.device_ids = *listed;
  }
  return axes ? std::optional(std::move(mesh)) : std::nullopt;
}

/// The mesh of `replica_groups`; nullopt after a report.
std::optional<Mesh> mesh_of_groups(OpLowering& op, const mlir::Attribute& groups) {
  const mlir::Attribute* given = groups.find("mesh");
  if (!given) given = groups.find("mesh_name");
  const bool is_inline = given && given->kind == mlir::AttributeKind::kStruct;
  std::optional<Mesh> mesh;
  if (is_inline)
    mesh = inline_mesh(*given);
  else if (given && given->kind == mlir::AttributeKind::kSymbol)
    mesh = mesh_finder(op.lowering())(given->text);
  if (!mesh) {
    if (is_inline || !given)
      op.fail("replica_groups need a mesh, as in mesh = @mesh");
    else
      op.fail("replica_groups name the mesh @{}, which this module doesn't have", given->text);
    return std::nullopt;
  }
  if (const std::string problem = mesh_problem(*mesh); !problem.empty()) {
    op.fail("replica_groups: {}", problem);
    return std::nullopt;
  }
  return mesh;
}

std::optional<ReplicaGroups> mesh_groups(OpLowering& op, const mlir::Attribute& given) {
  const std::optional<Mesh> mesh = mesh_of_groups(op, given);
  if (!mesh) return std::nullopt;
  const mlir::Attribute* list = given.find("axes");
  std::string text = "mesh[";
  for (size_t i = 0; i < mesh->axes.size(); ++i)
    text += fmt::format("{}'{}'={}", i ? "," : "", mesh->axes[i].first, mesh->axes[i].second);
  text += "]";
  if (!mesh->device_ids.empty()) text += fmt::format(", device_ids=({})", fmt::join(mesh->device_ids, ","));
  text += " {";
  for (size_t i = 0; list && i < list->items.size(); ++i) {
    const mlir::Attribute* name = list->items[i]->find("name");
    const mlir::Attribute* part = list->items[i]->find("sub_axis_info");
    if (!name) {
      op.fail("axis {} of replica_groups has no name", i);
      return std::nullopt;
    }
    text += fmt::format("{}'{}'", i ? "," : "", name->text);
    if (part && part->find("pre_size") && part->find("size"))
      text += fmt::format(":({}){}", part->find("pre_size")->integer, part->find("size")->integer);
  }
  ReplicaGroups groups;
  groups.form = ReplicaGroups::Form::kMesh;
  groups.text = op.arena().copy(std::string_view(text + "}"));
  return groups;
}

std::optional<Attr> replica_groups(OpLowering& op) {
  const mlir::Attribute* given = op.need("replica_groups");
  if (!given) return std::nullopt;
  std::optional<ReplicaGroups> groups(std::in_place);
  if (given->kind == mlir::AttributeKind::kStruct) {
    groups = mesh_groups(op, *given);
    if (!groups) return std::nullopt;
  } else {
    std::vector<std::vector<int64_t>> lists = op.table("replica_groups", 1);
    for (std::vector<int64_t>& list : lists) std::erase(list, -1);
    groups->groups = stored_lists(op.builder().module(), lists);
  }
  return Attr::make_struct(AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups,
                           static_cast<const ReplicaGroups*>(op.arena().make<ReplicaGroups>(*groups)));
}

void add_channel(OpLowering& op, std::vector<Attr>& attrs) {
  const mlir::Attribute* channel = op.find("channel_handle");
  const int64_t handle = channel ? op.integer_in(*channel, "handle", 0) : op.integer("channel_id", 0);
  if (handle > 0) attrs.push_back(Attr::make_int(AttrKey::kChannelId, handle));
}

/// Channel, groups and what else collectives share.
std::vector<Attr> group_attrs(OpLowering& op) {
  std::vector<Attr> attrs;
  add_channel(op, attrs);
  if (const auto groups = replica_groups(op)) attrs.push_back(*groups);
  return attrs;
}

void add_global_ids(OpLowering& op, std::vector<Attr>& attrs) {
  if (op.flag("use_global_device_ids")) attrs.push_back(Attr::make_bool(AttrKey::kUseGlobalDeviceIds, true));
}

/// By how much each result is larger than its operand is the same of all.
bool grows_evenly(OpLowering& op, const Values& operands, int64_t dimension) {
  std::optional<int64_t> factor;
  for (size_t i = 0; i < operands.size(); ++i) {
    const ShapeRef from = op.shape(operands[i]), to = op.static_result(i);
    if (op.failed() || dimension < 0 || dimension >= from->rank() || to->rank() != from->rank()) return true;
    if (from->dim(dimension) < 1) return true;
    const int64_t own = to->dim(dimension) / from->dim(dimension);
    if (factor.value_or(own) != own) return false;
    factor = own;
  }
  return true;
}

/// HLO's all-gather of several operands has one number of shards: where they differ there is one for each.
void lower_all_gather(OpLowering& op, Opcode) {
  std::vector<Attr> attrs = group_attrs(op);
  const int64_t dimension = op.integer("all_gather_dim");
  attrs.push_back(op.ints(AttrKey::kDimensions, {dimension}));
  add_global_ids(op, attrs);
  const Values operands = op.operands();
  if (op.failed()) return;
  if (operands.size() == op.result_count() && !grows_evenly(op, operands, dimension)) {
    Values gathered;
    for (size_t i = 0; i < operands.size(); ++i)
      gathered.push_back(op.make(Opcode::kAllGather, std::span(&operands[i], 1), attrs, op.static_result(i)));
    return op.give_all(gathered);
  }
  op.give_elements(op.make(Opcode::kAllGather, operands, attrs, op.whole_result()));
}

void lower_all_reduce(OpLowering& op, Opcode) {
  std::vector<Attr> attrs = group_attrs(op);
  add_global_ids(op, attrs);
  const ComputationId reducer[] = {op.region(0, "region")};
  attrs.push_back(op.builder().computations(AttrKey::kToApply, reducer));
  const Values operands = op.operands();
  op.give_elements(op.make(Opcode::kAllReduce, operands, attrs, op.whole_result()));
}

/// An all-reduce that adds.
void lower_cross_replica_sum(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  std::vector<Attr> attrs = group_attrs(op);
  const InstructionId operand = op.operand(0);
  if (op.failed()) return;
  ModuleBuilder::Body body;
  const ShapeRef scalar = op.shapes().scalar(op.type(operand));
  const InstructionId parts[] = {op.builder().parameter(body, scalar, "x", op.place()),
                                 op.builder().parameter(body, scalar, "y", op.place())};
  const InstructionId sum = op.builder().add(body, Opcode::kAdd, parts, {}, nullptr, op.place());
  const ComputationId reducer[] = {op.builder().close(body, "sum", sum, op.mlir().offset)};
  attrs.push_back(op.builder().computations(AttrKey::kToApply, reducer));
  op.give(op.make(Opcode::kAllReduce, {&operand, 1}, attrs, op.static_result()));
}

void lower_reduce_scatter(OpLowering& op, Opcode) {
  std::vector<Attr> attrs = group_attrs(op);
  add_global_ids(op, attrs);
  attrs.push_back(op.ints(AttrKey::kDimensions, {op.integer("scatter_dimension")}));
  const ComputationId reducer[] = {op.region(0, "region")};
  attrs.push_back(op.builder().computations(AttrKey::kToApply, reducer));
  const Values operands = op.operands();
  op.give_elements(op.make(Opcode::kReduceScatter, operands, attrs, op.whole_result()));
}

/// The array form exchanges along one dimension; what comes back is put together along another.
InstructionId exchanged_along(OpLowering& op, InstructionId operand, std::span<const Attr> attrs,
                              int64_t split, int64_t concat, int64_t count) {
  const InstructionId operands[] = {operand};
  const InstructionId exchanged = op.make(Opcode::kAllToAll, operands, attrs, op.shape(operand));
  if (op.failed() || split == concat) return exchanged;
  const ShapeRef shape = op.shape(operand);
  std::vector<int64_t> sizes, order, result;
  for (int64_t i = 0; i < shape->rank(); ++i) {
    if (i == split) sizes.push_back(count);
    sizes.push_back(i == split ? shape->dim(i) / count : shape->dim(i));
    if (i == concat) order.push_back(split);
    order.push_back(i >= split ? i + 1 : i);
    result.push_back(i == split    ? shape->dim(i) / count
                     : i == concat ? shape->dim(i) * count
                                   : shape->dim(i));
  }
  const InstructionId cut = op.reshape(exchanged, sizes);
  const InstructionId moved = op.make(Opcode::kTranspose, {cut}, {op.ints(AttrKey::kDimensions, order)});
  return op.reshape(moved, result);
}

void lower_all_to_all(OpLowering& op, Opcode) {
  std::vector<Attr> attrs = group_attrs(op);
  const Values operands = op.operands();
  if (op.failed()) return;
  const int64_t split = op.integer("split_dimension"), concat = op.integer("concat_dimension"),
                count = op.integer("split_count");
  if (op.failed()) return;
  attrs.push_back(op.ints(AttrKey::kDimensions, {split}));
  Values results;
  for (const InstructionId operand : operands) {
    const int64_t rank = op.rank(operand);
    if (split < 0 || concat < 0 || split >= rank || concat >= rank || count < 1 ||
        op.shape(operand)->dim(split) % count != 0) {
      op.fail("split_dimension = {}, concat_dimension = {}, split_count = {} don't fit {}", split, concat,
              count, to_text_without_layout(op.shape(operand)));
      return;
    }
    results.push_back(exchanged_along(op, operand, attrs, split, concat, count));
  }
  if (results.size() == 1) return op.give(results[0]);
  op.give_all(results);
}

void lower_collective_broadcast(OpLowering& op, Opcode) {
  std::vector<Attr> attrs = group_attrs(op);
  attrs.push_back(Attr::make_bool(AttrKey::kHasDynamicRoot, op.flag("has_dynamic_root")));
  const Values operands = op.operands();
  op.give_elements(op.make(Opcode::kCollectiveBroadcast, operands, attrs, op.whole_result()));
}

void lower_collective_permute(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  std::vector<Attr> attrs;
  add_channel(op, attrs);
  attrs.push_back(op.builder().lists(AttrKey::kSourceTargetPairs, op.table("source_target_pairs")));
  const InstructionId operands[] = {op.operand(0)};
  op.give(op.make(Opcode::kCollectivePermute, operands, attrs, op.static_result()));
}

void lower_device_number(OpLowering& op, Opcode opcode) { op.give(op.make(opcode, {}, {}, op.result())); }

// ── tokens and the host ─────────────────────────────────────────

void lower_after_all(OpLowering& op, Opcode) {
  const Values operands = op.operands();
  op.give(op.make(Opcode::kAfterAll, operands, {}, op.shapes().token()));
}

/// Of send and recv: the two instructions of each share all of it.
std::vector<Attr> transfer_attrs(OpLowering& op) {
  std::vector<Attr> attrs;
  add_channel(op, attrs);
  if (op.flag("is_host_transfer")) attrs.push_back(Attr::make_bool(AttrKey::kIsHostTransfer, true));
  std::string frontend;
  if (const mlir::Attribute* given = op.find("mhlo.frontend_attributes"); given && !given->entries.empty())
    frontend = frontend_text(*given);
  if (op.has("source_target_pairs")) {
    std::string pairs;
    for (const auto& row : op.table("source_target_pairs"))
      pairs += fmt::format("{}{{{}}}", pairs.empty() ? "" : ",", fmt::join(row, ","));
    if (!pairs.empty())
      frontend = fmt::format("{}{}_xla_send_recv_source_target_pairs=\"{{{}}}\"}}",
                             frontend.empty() ? "{" : frontend.substr(0, frontend.size() - 1),
                             frontend.size() > 2 ? "," : "", pairs);
  }
  if (!frontend.empty()) attrs.push_back(op.word(AttrKey::kFrontendAttributes, frontend));
  return attrs;
}

void lower_send(OpLowering& op, Opcode) {
  if (!op.takes_at_least(1)) return;
  const std::vector<Attr> attrs = transfer_attrs(op);
  const Values operands = op.operands();
  const Values data(operands.begin(), operands.end() - 1);
  const InstructionId sent = data.size() == 1 ? data[0] : op.tuple(data);
  const ShapeRef parts[] = {op.shape(sent), op.shapes().scalar(ElementType::kU32), op.shapes().token()};
  if (op.failed()) return;
  const InstructionId send_operands[] = {sent, operands.back()};
  const InstructionId send[] = {op.make(Opcode::kSend, send_operands, attrs, op.shapes().tuple(parts))};
  op.give(op.make(Opcode::kSendDone, send, attrs, op.shapes().token()));
}

/// Shapes of all results but the last, which is the token.
std::optional<std::vector<ShapeRef>> data_shapes(OpLowering& op) {
  std::vector<ShapeRef> shapes;
  for (size_t i = 0; i < op.result_count(); ++i) shapes.push_back(op.static_result(i));
  if (op.failed()) return std::nullopt;
  if (shapes.empty() || !shapes.back()->is_token()) {
    op.fail("the last result is not a token");
    return std::nullopt;
  }
  shapes.pop_back();
  return shapes;
}

/// Results: the elements of `received`'s data, then its token.
void give_received(OpLowering& op, InstructionId received, size_t count, bool is_tuple) {
  if (op.failed()) return;
  Values results;
  if (count > 0) {
    const InstructionId data = op.element(received, 0);
    if (!is_tuple) results.push_back(data);
    for (size_t i = 0; is_tuple && i < count; ++i)
      results.push_back(op.element(data, static_cast<int64_t>(i)));
  }
  results.push_back(op.element(received, 1));
  op.give_all(results);
}

void lower_recv(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const std::vector<Attr> attrs = transfer_attrs(op);
  const auto shapes = data_shapes(op);
  const InstructionId operands[] = {op.operand(0)};
  if (!shapes || op.failed()) return;
  const ShapeRef data = shapes->size() == 1 ? (*shapes)[0] : op.shapes().tuple(*shapes);
  const ShapeRef parts[] = {data, op.shapes().scalar(ElementType::kU32), op.shapes().token()};
  const InstructionId recv[] = {op.make(Opcode::kRecv, operands, attrs, op.shapes().tuple(parts))};
  const ShapeRef done[] = {data, op.shapes().token()};
  give_received(op, op.make(Opcode::kRecvDone, recv, attrs, op.shapes().tuple(done)), shapes->size(),
                shapes->size() != 1);
}

void lower_infeed(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  auto shapes = data_shapes(op);
  const InstructionId operands[] = {op.operand(0)};
  if (!shapes || op.failed()) return;
  if (const mlir::Attribute* layouts = op.find("layout"))
    for (size_t i = 0; i < std::min(shapes->size(), layouts->items.size()); ++i) {
      const auto order = integers_of(*layouts->items[i]);
      if (!order || !(*shapes)[i]->is_array() || static_cast<int64_t>(order->size()) != (*shapes)[i]->rank())
        continue;
      Layout layout;
      layout.minor_to_major = *order;
      (*shapes)[i] = op.shapes().with_layout((*shapes)[i], op.shapes().layout(layout));
    }
  const ShapeRef parts[] = {op.shapes().tuple(*shapes), op.shapes().token()};
  std::vector<Attr> attrs;
  if (const std::string_view config = op.text("infeed_config"); !config.empty())
    attrs.push_back(op.builder().quoted(AttrKey::kInfeedConfig, config));
  for (const Attr& attr : discardable_attrs(op)) attrs.push_back(attr);
  give_received(op, op.make(Opcode::kInfeed, operands, attrs, op.shapes().tuple(parts)), shapes->size(),
                true);
}

void lower_outfeed(OpLowering& op, Opcode) {
  if (!op.takes_at_least(1)) return;
  const Values operands = op.operands();
  const InstructionId data = op.tuple(Values(operands.begin(), operands.end() - 1));
  if (op.failed()) return;
  const std::vector<ShapeRef> kept = {op.shape(data)};
  std::vector<Attr> attrs = {
      Attr::make_list<ShapeRef>(AttrKey::kOutfeedShape, AttrSyntax::kShape, op.arena().copy(kept))};
  if (const std::string_view config = op.text("outfeed_config"); !config.empty())
    attrs.push_back(op.builder().quoted(AttrKey::kOutfeedConfig, config));
  const InstructionId both[] = {data, operands.back()};
  op.give(op.make(Opcode::kOutfeed, both, attrs, op.shapes().token()));
}

constexpr Row kCollectives[] = {
    {"stablehlo.all_gather", lower_all_gather},
    {"stablehlo.all_reduce", lower_all_reduce},
    {"stablehlo.all_to_all", lower_all_to_all},
    {"stablehlo.collective_broadcast", lower_collective_broadcast},
    {"stablehlo.collective_permute", lower_collective_permute},
    {"stablehlo.cross-replica-sum", lower_cross_replica_sum},
    {"stablehlo.partition_id", lower_device_number},
    {"stablehlo.reduce_scatter", lower_reduce_scatter},
    {"stablehlo.replica_id", lower_device_number},
};
constexpr Row kTransfers[] = {
    {"stablehlo.after_all", lower_after_all}, {"stablehlo.create_token", lower_after_all},
    {"stablehlo.infeed", lower_infeed},       {"stablehlo.outfeed", lower_outfeed},
    {"stablehlo.recv", lower_recv},           {"stablehlo.send", lower_send},
};

}  // namespace

std::span<const Row> collective_rows() { return kCollectives; }
std::span<const Row> transfer_rows() { return kTransfers; }

}  // namespace hlosim::stablehlo
