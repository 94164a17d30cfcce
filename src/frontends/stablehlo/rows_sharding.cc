// The dialect sdy: shardings by axes of a mesh.
#include <algorithm>

#include "stablehlo/shardings.h"
#include "stablehlo/types.h"

namespace hlosim::stablehlo {
namespace {

std::optional<Attr> sharding_attr(OpLowering& op, std::string_view name) {
  const mlir::Attribute* sharding = op.need(name);
  if (!sharding) return std::nullopt;
  const auto text = sharding_text(op.lowering(), *sharding, op.mlir().offset);
  return text ? std::optional(op.word(AttrKey::kSharding, *text)) : std::nullopt;
}

void lower_constraint(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const auto sharding = sharding_attr(op, "sharding");
  const InstructionId operand = op.operand(0);
  if (!sharding || op.failed()) return;
  const InstructionId call =
      op.make(Opcode::kCustomCall, {operand},
              {op.builder().quoted(AttrKey::kCustomCallTarget, "Sharding"), *sharding}, op.shape(operand));
  if (const auto frontend = frontend_attributes(op.find("mhlo.frontend_attributes"), op.find("sharding")))
    op.builder().set_attr(call, op.word(AttrKey::kFrontendAttributes, *frontend));
  op.give(call);
}

/// Whatever moves data between devices to another sharding.
void lower_resharding(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const auto sharding = sharding_attr(op, op.has("out_sharding") ? "out_sharding" : "sharding");
  const InstructionId operand = op.operand(0);
  if (sharding) op.give(op.make(Opcode::kCopy, {operand}, {*sharding}, op.shape(operand)));
}

/// A call that only says something of its operand, as one frontend attribute.
InstructionId say(OpLowering& op, std::string_view target, std::string_view key, std::string_view value,
                  ShapeRef shape) {
  return op.make(Opcode::kCustomCall, {op.operand(0)},
                 {op.builder().quoted(AttrKey::kCustomCallTarget, target),
                  Attr::make_bool(AttrKey::kCustomCallHasSideEffect, true),
                  op.word(AttrKey::kFrontendAttributes, fmt::format("{{{}=\"{}\"}}", key, value))},
                 shape);
}

void lower_group(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const int64_t group = op.integer("group_id");
  say(op, "xla.sdy.ShardingGroup", "xla.sdy.sharding_group_id", fmt::format("{} : i64", group),
      op.shapes().tuple(std::span<const ShapeRef>()));
}

void lower_barrier(OpLowering& op, Opcode) {
  static constexpr std::string_view kDirections[] = {"NONE", "FORWARD", "BACKWARD", "BOTH"};
  const mlir::Attribute* given = op.need("allowed_direction");
  if (!given || !op.takes(1)) return;
  int64_t direction = given->integer;
  if (given->kind != mlir::AttributeKind::kInteger) {
    direction = std::find(std::begin(kDirections), std::end(kDirections), given->text) - kDirections;
    if (direction == static_cast<int64_t>(std::size(kDirections))) {
      op.fail("allowed_direction {} is none of NONE, FORWARD, BACKWARD, BOTH", given->text);
      return;
    }
  }
  const InstructionId operand = op.operand(0);
  if (op.failed()) return;
  op.give(say(op, "xla.sdy.PropagationBarrier", "xla.sdy.allowed_direction",
              fmt::format("{} : i32", direction), op.shape(operand)));
}

/// A region that is written for one device: its arguments are the parts that a device holds.
class ManualComputation {
 public:
  explicit ManualComputation(OpLowering& op) : op_(op) {}

  void lower() {
    if (!op_.has_region(0) || !read("in_shardings", in_) || !read("out_shardings", out_)) return;
    if (const mlir::Attribute* axes = op_.find("manual_axes")) {
      Result<std::vector<AxisPart>> read = read_axes(axes->text);
      if (!read) return complain(read.error());
      axes_ = std::move(*read);
    }
    const mlir::Block& block = *op_.mlir().regions[0].blocks[0];
    if (in_.size() != op_.operand_count() || block.arguments.size() != in_.size() ||
        out_.size() != op_.result_count()) {
      op_.fail("the numbers of shardings, arguments and results differ");
      return;
    }
    Values arguments = this->arguments(block);
    const auto outside = op_.captured(0);
    for (const mlir::Value* value : outside)
      arguments.push_back(op_.lowering().value(op_.scope(), *value, op_.mlir().offset));
    const ComputationId called[] = {body(block, outside, arguments)};
    if (op_.failed()) return;
    const Attr attrs[] = {op_.builder().computations(AttrKey::kToApply, called)};
    const InstructionId call = op_.make(Opcode::kCall, arguments, attrs);
    if (op_.failed()) return;
    give(call);
  }

 private:
  void complain(const Diagnostic& problem) { op_.fail("{}", problem.message); }

  bool read(std::string_view name, std::vector<MeshSharding>& shardings) {
    const mlir::Attribute* given = op_.need(name);
    if (!given) return false;
    Result<std::vector<MeshSharding>> read = read_mesh_shardings(given->text, mesh_finder(op_.lowering()));
    if (read)
      shardings = std::move(*read);
    else
      complain(read.error());
    return read.has_value();
  }

  /// The sharding of a value outside, or of a device's part of it inside.
  Attr attr(const MeshSharding& sharding, bool is_inside) {
    MeshSharding shown = sharding;
    if (is_inside)
      for (auto& dimension : shown.dimensions)
        std::erase_if(dimension, [&](const AxisPart& part) {
          return std::ranges::any_of(axes_, [&](const AxisPart& axis) { return axis.axis == part.axis; });
        });
    const Result<std::string> text = hlo_sharding(shown, is_inside ? axes_ : std::vector<AxisPart>());
    if (!text) complain(text.error());
    return op_.word(AttrKey::kSharding, text ? *text : std::string("{replicated}"));
  }

  Attr target(std::string_view name) { return op_.builder().quoted(AttrKey::kCustomCallTarget, name); }

  Values arguments(const mlir::Block& block) {
    Values values;
    for (size_t i = 0; i < in_.size(); ++i) {
      const InstructionId operand = op_.operand(i);
      const Result<ShapeRef> local = shape_of(*block.arguments[i]->type, op_.shapes());
      if (!local) complain(local.error());
      if (op_.failed()) return values;
      const InstructionId placed =
          op_.make(Opcode::kCopy, {operand}, {attr(in_[i], false)}, op_.shape(operand));
      values.push_back(op_.make(Opcode::kCustomCall, {placed},
                                {target("SPMDFullToShardShape"), attr(in_[i], true)}, *local));
    }
    return values;
  }

  ComputationId body(const mlir::Block& block, const std::vector<const mlir::Value*>& outside,
                     const Values& arguments) {
    Scope inner;
    inner.outer = &op_.scope();
    for (size_t i = 0; i < arguments.size(); ++i) {
      const InstructionId parameter =
          op_.builder().parameter(inner.body, op_.shape(arguments[i]), fmt::format("Arg_{}", i), op_.place());
      inner.values[i < in_.size() ? block.arguments[i] : outside[i - in_.size()]] = parameter;
    }
    const Values results = op_.lowering().block(inner, block);
    if (op_.failed()) return {};
    if (results.size() != out_.size()) {
      op_.fail("the body returns {} values, expected {}", results.size(), out_.size());
      return {};
    }
    const InstructionId root = results.size() == 1 ? results[0]
                                                   : op_.builder().add(inner.body, Opcode::kTuple, results,
                                                                       {}, nullptr, op_.place());
    return op_.builder().close(inner.body, "xla.sdy.manual_computation_body", root, op_.mlir().offset);
  }

  void give(InstructionId call) {
    Values results;
    for (size_t i = 0; i < out_.size(); ++i) {
      const InstructionId local = out_.size() == 1 ? call : op_.element(call, static_cast<int64_t>(i));
      const InstructionId placed = op_.make(Opcode::kCopy, {local}, {attr(out_[i], true)}, op_.shape(local));
      const ShapeRef global = op_.static_result(i);
      if (op_.failed()) return;
      results.push_back(op_.make(Opcode::kCustomCall, {placed},
                                 {target("SPMDShardToFullShape"), attr(out_[i], false)}, global));
    }
    op_.give_all(results);
  }

  OpLowering& op_;
  std::vector<MeshSharding> in_, out_;
  std::vector<AxisPart> axes_;
};

void lower_manual_computation(OpLowering& op, Opcode) { ManualComputation(op).lower(); }

/// A part of the program that has a name: a call.
void lower_named_computation(OpLowering& op, Opcode) {
  const std::string_view name = op.text("name");
  Values operands = op.operands();
  const ComputationId called[] = {op.closed_region(0, name.empty() ? "named_computation" : name, operands)};
  if (op.failed()) return;
  const Attr attrs[] = {op.builder().computations(AttrKey::kToApply, called)};
  const InstructionId call = op.make(Opcode::kCall, operands, attrs);
  if (op.result_count() > 0) op.give_elements(call);
}

void lower_edge(OpLowering& op, Opcode) {
  if (op.takes(1)) op.give(op.operand(0));
}

constexpr Row kShardingRows[] = {
    {"sdy.all_gather", lower_resharding},
    {"sdy.all_reduce", lower_resharding},
    {"sdy.all_slice", lower_resharding},
    {"sdy.all_to_all", lower_resharding},
    {"sdy.collective_permute", lower_resharding},
    {"sdy.data_flow_edge", lower_edge},
    {"sdy.manual_computation", lower_manual_computation},
    {"sdy.named_computation", lower_named_computation},
    {"sdy.propagation_barrier", lower_barrier},
    {"sdy.reduce_scatter", lower_resharding},
    {"sdy.replicated_to_unreduced", lower_resharding},
    {"sdy.reshard", lower_resharding},
    {"sdy.sharded_to_unreduced", lower_resharding},
    {"sdy.sharding_constraint", lower_constraint},
    {"sdy.sharding_group", lower_group},
};

}  // namespace

std::span<const Row> sharding_rows() { return kShardingRows; }

}  // namespace hlosim::stablehlo
