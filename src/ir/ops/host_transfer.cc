// Traffic with the host and with other programs. The shapes follow from the operands (from the first
// element of the declared tuple for what is received): XLA's reader builds them so whatever the text says.
#include "hlo/op_def.h"
#include "ops/infer.h"
#include "ops/leaf_forwarding.h"
#include "ops/op_table.h"
#include "ops/work.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {
namespace {

bool expect_token(OpContext& op, int constraint, int64_t operand) {
  if (op.operand_shape(operand)->is_token()) return true;
  op.error(constraint, "operand {} is {}, expected a token", operand, text_of(op.operand_shape(operand)));
  return false;
}

/// First element of the declared tuple: the data of infeed and recv. Null: reported.
ShapeRef declared_data(OpContext& op, int constraint) {
  const ShapeRef shape = op.shape();
  if (shape && shape->is_tuple() && !shape->elements.empty()) return shape->elements[0];
  op.error(constraint, "the result must have a non-empty tuple shape, but is {}",
           shape ? text_of(shape) : "unspecified");
  return nullptr;
}

ShapeRef tuple_of(OpContext& op, std::initializer_list<ShapeRef> elements) {
  return op.shapes().tuple({elements.begin(), elements.size()});
}

/// First element of a tuple operand. Null: reported.
ShapeRef operand_data(OpContext& op, int constraint) {
  const ShapeRef operand = op.operand_shape(0);
  if (operand->is_tuple() && !operand->elements.empty()) return operand->elements[0];
  op.error(constraint, "operand 0 is {}, expected the tuple of a started transfer", text_of(operand));
  return nullptr;
}

/// The done's channel is its start's, as far as the start is the operand itself.
void check_done_syntax(OpContext& op) {
  const Instruction& start = op.operand(0);
  if (start.opcode != Opcode::kSend && start.opcode != Opcode::kRecv) return;
  const Attr* own = op.find(AttrKey::kChannelId);
  const Attr* other = start.find(AttrKey::kChannelId);
  if (own && other && own->integer() != other->integer())
    op.error(0, "expects the channel_id of its operand, {}, but has {}", other->integer(), own->integer());
}

// ── infeed ──────────────────────────────────────────────────────
// C1: the result is a tuple (data, token[]).
// C2: the operand is a token.
ShapeRef infer_infeed(OpContext& op) {
  const ShapeRef data = declared_data(op, 1);
  return data ? tuple_of(op, {data, op.shapes().token()}) : nullptr;
}
void check_infeed(OpContext& op) { expect_token(op, 2, 0); }

// ── outfeed ─────────────────────────────────────────────────────
// C1: operand 1 is a token.
// C2: outfeed_shape, where given, agrees with operand 0.
ShapeRef infer_outfeed(OpContext& op) { return op.shapes().token(); }
void check_outfeed(OpContext& op) {
  expect_token(op, 1, 1);
  const Attr* shape = op.find(AttrKey::kOutfeedShape);
  if (shape && !compatible(shape->shapes()[0], op.operand_shape(0)))
    op.error(2, "outfeed_shape is {}, expected that of operand 0, {}", text_of(shape->shapes()[0]),
             text_of(op.operand_shape(0)));
}

// ── send, recv ──────────────────────────────────────────────────
// C1: recv: the declared result is a non-empty tuple; recv-done: so is the operand.
ShapeRef infer_send(OpContext& op) {
  return tuple_of(op, {op.operand_shape(0), op.shapes().scalar(ElementType::kU32), op.shapes().token()});
}
ShapeRef infer_send_done(OpContext& op) { return op.shapes().token(); }
ShapeRef infer_recv(OpContext& op) {
  const ShapeRef data = declared_data(op, 1);
  return data ? tuple_of(op, {data, op.shapes().scalar(ElementType::kU32), op.shapes().token()}) : nullptr;
}
ShapeRef infer_recv_done(OpContext& op) {
  const ShapeRef data = operand_data(op, 1);
  return data ? tuple_of(op, {data, op.shapes().token()}) : nullptr;
}

// The data cross the link between host and device; on the device's side they are read or written once.
void infeed_work(const OpContext& op, Work& work) {
  work.operand_read.assign(work.operand_read.size(), nullptr);
  work.result_written = op.shape()->elements[0];
}
void recv_work(const OpContext& op, Work& work) { infeed_work(op, work); }
void outfeed_work(const OpContext&, Work& work) {
  work.operand_read.resize(1);
  work.operand_read.push_back(nullptr);
  work.result_written = nullptr;
}
void send_work(const OpContext& op, Work& work) { outfeed_work(op, work); }

constexpr AttrSpec kInfeedAttrs[] = {
    {AttrKey::kInfeedConfig, AttrSyntax::kString},
};
constexpr AttrSpec kOutfeedAttrs[] = {
    {AttrKey::kOutfeedConfig, AttrSyntax::kString},
    {AttrKey::kOutfeedShape, AttrSyntax::kShape},
};
constexpr AttrSpec kChannelAttrs[] = {
    {AttrKey::kChannelId, AttrSyntax::kInt},
    {AttrKey::kIsHostTransfer, AttrSyntax::kBool},
};
constexpr uint32_t kTransfer = kSideEffect | kNeedsShape | kHostTransfer | kExactTypes | kDerivedShape;

}  // namespace

const OpDef kInfeedOp = {
    .name = "infeed",
    .arity = exactly(1),
    .traits = kTransfer,
    .attrs = kInfeedAttrs,
    .infer_shape = infer_infeed,
    .check = check_infeed,
    .xla_cost = xla_cost_infeed,
    .work = infeed_work,
    .evaluation = EvaluationKind::kInfeed,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kFree}};
const OpDef kOutfeedOp = {
    .name = "outfeed",
    .arity = exactly(2),
    .traits = kTransfer,
    .attrs = kOutfeedAttrs,
    .infer_shape = infer_outfeed,
    .check = check_outfeed,
    .xla_cost = xla_cost_outfeed,
    .work = outfeed_work,
    .evaluation = EvaluationKind::kOutfeed,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kFree}};
const OpDef kRecvOp = {
    .name = "recv",
    .arity = exactly(1),
    .traits = kTransfer | kAsyncStart | kNoAsyncSugar,
    .attrs = kChannelAttrs,
    .infer_shape = infer_recv,
    .work = recv_work,
    .evaluation = EvaluationKind::kRecv,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kRecvHost, AsyncPart::kStart,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kFixed}};
const OpDef kRecvDoneOp = {
    .name = "recv-done",
    .arity = exactly(1),
    .traits = kTransfer | kAsyncDone | kFree,
    .attrs = kChannelAttrs,
    .check_syntax = check_done_syntax,
    .infer_shape = infer_recv_done,
    .evaluation = EvaluationKind::kRecvDone,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kRecvDone, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kRecvHost, AsyncPart::kDone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kFixed}};
const OpDef kSendOp = {
    .name = "send",
    .arity = exactly(2),
    .traits = kTransfer | kAsyncStart | kNoAsyncSugar,
    .attrs = kChannelAttrs,
    .infer_shape = infer_send,
    .work = send_work,
    .evaluation = EvaluationKind::kSend,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kSend, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kSendHost, AsyncPart::kStart,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kFixed}};
const OpDef kSendDoneOp = {
    .name = "send-done",
    .arity = exactly(1),
    .traits = kTransfer | kAsyncDone | kFree,
    .attrs = kChannelAttrs,
    .check_syntax = check_done_syntax,
    .infer_shape = infer_send_done,
    .forward = forward_nothing,
    .evaluation = EvaluationKind::kNone,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kSendHost, AsyncPart::kDone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kFixed}};

}  // namespace hlosim
