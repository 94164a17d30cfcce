#include "modules/async_forms.h"

#include <vector>

#include "base/check.h"
#include "ops/op_table.h"

namespace hlosim {

namespace {

/// The only opcode of a kind that is this part. Requires: there is one.
Opcode opcode_of(AsyncKind kind, AsyncPart part) {
  for (size_t i = 0; i < kOpcodeCount; ++i) {
    const OpRules& rules = op_rules(static_cast<Opcode>(i));
    if (rules.async_kind == kind && rules.async_part == part) return static_cast<Opcode>(i);
  }
  HLOSIM_CHECK(false, "no opcode for {}", to_text(kind));
}

/// The only one that makes or ends the values of a chain by this rule.
Opcode opcode_of(ValueRule rule) {
  for (size_t i = 0; i < kOpcodeCount; ++i)
    if (op_rules(static_cast<Opcode>(i)).value == rule) return static_cast<Opcode>(i);
  HLOSIM_CHECK(false, "no opcode for rule {}", static_cast<int>(rule));
}

}  // namespace

std::optional<Opcode> async_partner(Opcode opcode) {
  const OpRules& rules = op_rules(opcode);
  switch (rules.async_part) {
    case AsyncPart::kStart:
      return opcode_of(rules.async_kind, AsyncPart::kDone);
    case AsyncPart::kDone:
      return opcode_of(rules.async_kind, AsyncPart::kStart);
    default:
      return std::nullopt;
  }
}

std::optional<Opcode> synchronous_form(Opcode start) {
  const OpRules& rules = op_rules(start);
  if (rules.value == ValueRule::kAsyncStart) return Opcode::kCall;
  if (rules.async_part != AsyncPart::kStart) return std::nullopt;
  if (rules.async_kind == AsyncKind::kCopy) return Opcode::kCopy;
  for (size_t i = 0; i < kOpcodeCount; ++i) {
    const OpRules& other = op_rules(static_cast<Opcode>(i));
    if (other.async_kind == rules.async_kind && other.async_part == AsyncPart::kSplits)
      return static_cast<Opcode>(i);
  }
  return std::nullopt;
}

bool is_in_flight(Opcode opcode) {
  const OpRules& rules = op_rules(opcode);
  return rules.async_part == AsyncPart::kStart || rules.value == ValueRule::kAsyncStart ||
         rules.value == ValueRule::kAsyncUpdate;
}

std::optional<AsyncForm> async_form(Opcode opcode) {
  const OpRules& rules = op_rules(opcode);
  switch (rules.async_part) {
    case AsyncPart::kSplits:
      return AsyncForm{opcode_of(rules.async_kind, AsyncPart::kStart),
                       opcode_of(rules.async_kind, AsyncPart::kDone)};
    case AsyncPart::kWrapped:
      return AsyncForm{opcode_of(ValueRule::kAsyncStart), opcode_of(ValueRule::kAsyncDone), true};
    default:
      return std::nullopt;
  }
}

ShapeRef async_start_shape(Module& module, const Instruction& collective) {
  ShapePool& shapes = module.shapes();
  const AsyncKind kind = op_rules(collective.opcode).async_kind;
  if (kind == AsyncKind::kAllReduce) return collective.shape;
  std::vector<ShapeRef> operands;
  for (const InstructionId operand : collective.operands) operands.push_back(module[operand].shape);
  // In place, only the first of a permute's operands travels.
  if (kind == AsyncKind::kPermute && collective.find(AttrKey::kSliceSizes)) operands.resize(1);
  const bool bare = operands.size() == 1 && !async_form(collective.opcode)->wraps;
  const ShapeRef parts[] = {bare ? operands[0] : shapes.tuple(operands), collective.shape};
  return shapes.tuple(parts);
}

std::string_view to_text(AsyncKind kind) {
  constexpr std::string_view kNames[] = {
      "all-gather",        "all-reduce",     "all-to-all", "collective-broadcast", "collective-permute",
      "ragged-all-to-all", "reduce-scatter", "copy",       "computation",          "send/recv",
      "send to host",      "recv from host", "none"};
  return kNames[static_cast<size_t>(kind)];
}

AsyncKind async_kind(const Module& module, const OpTable& table, const Instruction& start) {
  if (!table[start.opcode].has(kAsyncStart)) return AsyncKind::kNone;
  const bool wraps = table[start.opcode].rules.value == ValueRule::kAsyncStart;
  const Opcode opcode =
      wraps ? module.root(start.find(AttrKey::kCalls)->computations()[0]).opcode : start.opcode;
  const OpRules& rules = table[opcode].rules;
  if (rules.async_part == AsyncPart::kDone) return AsyncKind::kCompute;
  const bool transfers = rules.async_kind == AsyncKind::kSendHost || rules.async_kind == AsyncKind::kRecvHost;
  const Attr* to_host = start.find(AttrKey::kIsHostTransfer);
  return transfers && !(to_host && to_host->flag()) ? AsyncKind::kSendRecv : AsyncKind{rules.async_kind};
}

}  // namespace hlosim
