// Constraints of operations of several devices, and of transfers from and to the host.
#include <algorithm>
#include <set>

#include "stablehlo/constraint_regions.h"
#include "stablehlo/types.h"

namespace hlosim::stablehlo {
namespace {

using mlir::Type;

constexpr int64_t kNobody = -1;  // pads groups that are shorter than others

int64_t channel_of(const Constrained& op) {
  const mlir::Attribute* channel = op.op().find("channel_handle");
  const mlir::Attribute* handle = channel ? channel->find("handle") : op.op().find("channel_id");
  return handle ? handle->integer : 0;
}

/// Operands and results in pairs of one element type.
bool pairs(const Constrained& op) {
  if (op.operands() == 0) {
    op.op().fail("expects at least 1 operand, but has 0");
    return false;
  }
  if (!op.has(op.operands(), op.operands())) return false;
  for (size_t i = 0; i < op.operands(); ++i)
    if (!op.operand_is("I1", i, kAnyClass) || !op.same_elements("C1", op.in(i), op.out(i))) return false;
  return true;
}

/// The constraints of one operation on replica_groups.
struct GroupRule {
  bool may_differ = false;  // groups may have different sizes: shorter ones are padded with kNobody
  bool all_ids = true;      // every id from 0 to the largest is in a group
  int64_t size = 0;         // the size of each group; 0: any
};

/// replica_groups is a table with one row per group, no id occurs twice, and `rule` holds.
bool groups_hold(const Constrained& op, const GroupRule& rule) {
  const mlir::Attribute* given = op.op().find("replica_groups");
  if (!given || given->kind != mlir::AttributeKind::kDense || !given->type || !given->type->element)
    return true;
  const auto dims = given->type->dims;
  if (dims.size() != 2)
    return op.fail("replica_groups", "is {}, expected a table of rank 2", type_text(*given->type));
  if (given->type->element->word != "i64")
    return op.fail("replica_groups", "is {}, expected elements of i64", type_text(*given->type));
  const auto ids = integers_of(*given);
  if (!ids) return true;
  const mlir::Attribute* global = op.op().find("use_global_device_ids");
  if (global && (global->kind == mlir::AttributeKind::kUnit || global->integer != 0) && ids->empty())
    return op.fail("replica_groups", "is empty, expected the devices for use_global_device_ids");
  std::set<int64_t> seen;
  for (const int64_t id : *ids) {
    if (id == kNobody && rule.may_differ) continue;
    if (id < 0) return op.fail("replica_groups", "names id {}, expected ids of at least 0", id);
    if (!seen.insert(id).second) return op.fail("replica_groups", "names id {} more than once", id);
  }
  if (rule.all_ids && !seen.empty() && *seen.rbegin() != static_cast<int64_t>(seen.size()) - 1)
    return op.fail("replica_groups", "names {} ids up to {}, expected all from 0 on", seen.size(),
                   *seen.rbegin());
  if (rule.size == 0 || (dims[0] > 0 && dims[1] == rule.size)) return true;
  return op.fail("replica_groups", "has {} groups of {}, expected groups of {}", dims[0], dims[1], rule.size);
}

bool global_ids_hold(const Constrained& op, std::string_view constraint) {
  if (!op.op().flag("use_global_device_ids") || channel_of(op) > 0) return true;
  return op.fail(constraint, "use_global_device_ids needs a channel with a handle above 0, but has {}",
                 channel_of(op));
}

/// Each result has its operand's sizes, except along the dimension that attribute `name` gives: there
/// fits(operand size, result size) holds.
template <class Fits>
bool resized(const Constrained& op, std::string_view name, Fits fits) {
  const auto given = op.list(name);
  if (!given || given->size() != 1) return true;
  for (size_t i = 0; i < op.operands(); ++i) {
    const auto from = op.in(i).dims, to = op.out(i).dims;
    const int64_t dimension = (*given)[0];
    if (dimension < 0 || dimension >= static_cast<int64_t>(from.size()))
      return op.fail("C1", "{} is {}, expected a dimension of {}", name, dimension, type_text(op.in(i)));
    if (from.size() != to.size())
      return op.fail("C6", "{} becomes {}, expected the same rank", type_text(op.in(i)),
                     type_text(op.out(i)));
    for (size_t d = 0; d < from.size(); ++d)
      if (static_cast<int64_t>(d) == dimension
              ? from[d] != mlir::kDynamic && to[d] != mlir::kDynamic && !fits(from[d], to[d])
              : !fit(from[d], to[d]))
        return op.fail("C6", "{} becomes {} along dimension {}", type_text(op.in(i)), type_text(op.out(i)),
                       dimension);
  }
  return true;
}

bool all_gather(const Constrained& op) {
  return pairs(op) && groups_hold(op, {}) &&
         resized(op, "all_gather_dim", [](int64_t from, int64_t to) { return from > 0 && to % from == 0; });
}

bool reduces(const Constrained& op, std::string_view constraint) {
  for (size_t i = 0; i < op.operands(); ++i) {
    const Type* const element[] = {&op.in(i)};
    if (!reducer_holds(op, constraint, 0, 1, element, {})) return false;
    const mlir::Type& made = *returned(*op.mlir().regions[0].blocks[0])[0]->type;
    if (!made.dims.empty())
      return op.fail(constraint, "the reducer makes {}, expected a scalar", type_text(made));
  }
  return true;
}

bool all_reduce(const Constrained& op) {
  if (!pairs(op) || !groups_hold(op, {.may_differ = true}) || !global_ids_hold(op, "C4") ||
      !reduces(op, "C5"))
    return false;
  for (size_t i = 0; i < op.operands(); ++i)
    if (!op.result_is("C6", i, op.in(i))) return false;
  return true;
}

bool reduce_scatter(const Constrained& op) {
  return pairs(op) && groups_hold(op, {}) && global_ids_hold(op, "C6") && reduces(op, "C7") &&
         resized(op, "scatter_dimension",
                 [](int64_t from, int64_t to) { return from > 0 && to > 0 && from % to == 0; });
}

bool all_to_all(const Constrained& op) {
  if (!pairs(op)) return false;
  const auto split = op.list("split_dimension"), concat = op.list("concat_dimension"),
             count = op.list("split_count");
  if (!split || !concat || !count || split->size() != 1 || concat->size() != 1 || count->size() != 1)
    return true;
  const int64_t parts = (*count)[0];
  if (parts < 1) return op.fail("C4", "split_count is {}, expected at least 1", parts);
  if (!groups_hold(op, {.size = parts})) return false;
  for (size_t i = 0; i < op.operands(); ++i) {
    std::vector<int64_t> sizes(op.in(i).dims.begin(), op.in(i).dims.end());
    for (const int64_t dimension : {(*split)[0], (*concat)[0]})
      if (dimension < 0 || dimension >= static_cast<int64_t>(sizes.size()))
        return op.fail("C1", "dimension {} isn't one of {}", dimension, type_text(op.in(i)));
    int64_t& cut = sizes[static_cast<size_t>((*split)[0])];
    if (cut != mlir::kDynamic && cut % parts != 0)
      return op.fail("C2", "{} can't be split into {} along dimension {}", type_text(op.in(i)), parts,
                     (*split)[0]);
    if (cut != mlir::kDynamic) cut /= parts;
    int64_t& grown = sizes[static_cast<size_t>((*concat)[0])];
    if (grown != mlir::kDynamic && __builtin_mul_overflow(grown, parts, &grown)) grown = mlir::kDynamic;
    Type type = op.in(i);
    type.dims = sizes;
    if (!op.result_is("C9", i, type)) return false;
  }
  return true;
}

bool collective_broadcast(const Constrained& op) {
  const bool dynamic = op.op().flag("has_dynamic_root");
  if (op.operands() < (dynamic ? 2u : 1u))
    return op.fail("C4", "has {} operands, expected data{}", op.operands(), dynamic ? " and a root" : "");
  const size_t data = op.operands() - (dynamic ? 1 : 0);
  if (!op.has(op.operands(), data) || !groups_hold(op, {.all_ids = false})) return false;
  for (size_t i = 0; i < data; ++i)
    if (!op.result_is("C3", i, op.in(i))) return false;
  if (!dynamic) return true;
  const Type& root = op.in(data);
  if (!is_tensor(root) || root.element->word != "i32" || root.dims.size() != 1)
    return op.fail("C4", "the root is {}, expected a list of i32", type_text(root));
  const mlir::Attribute* groups = op.op().find("replica_groups");
  const bool listed =
      groups && groups->kind == mlir::AttributeKind::kDense && groups->type && groups->type->dims.size() == 2;
  if (!listed || root.dims[0] == 1 || fit(root.dims[0], groups->type->dims[0])) return true;
  return op.fail("C4", "the root is {}, expected an element for each of the {} groups", type_text(root),
                 groups->type->dims[0]);
}

bool collective_permute(const Constrained& op) {
  const mlir::Attribute* given = op.op().find("source_target_pairs");
  if (!pairs(op)) return false;
  for (size_t i = 0; i < op.operands(); ++i)
    if (!op.result_is("C5", i, op.in(i))) return false;
  if (!given || !given->type || given->type->kind != mlir::TypeKind::kTensor) return true;
  const auto dims = given->type->dims;
  if (dims.size() == 2 && (dims[1] == 2 || dims[0] == 0)) return true;
  return op.fail("C1", "source_target_pairs is {}, expected rows of 2", type_text(*given->type));
}

// ── the host ──────────────────────────────────────────────────────────────────────────────────

constexpr int64_t kDeviceToDevice = 1, kDeviceToHost = 2, kHostToDevice = 3;

bool channel_type(const Constrained& op, std::string_view constraint, int64_t of_host) {
  const mlir::Attribute* channel = op.op().find("channel_handle");
  const mlir::Attribute* type = channel ? channel->find("type") : nullptr;
  if (!type) return true;
  const int64_t expected = op.op().flag("is_host_transfer") ? of_host : kDeviceToDevice;
  if (type->integer == expected) return true;
  return op.fail(constraint, "the channel's type is {}, expected {}: {}", type->integer, expected,
                 expected == kDeviceToDevice ? "device to device"
                 : expected == kDeviceToHost ? "device to host"
                                             : "host to device");
}

/// The last operand is a token; no other operand is.
bool ends_by_token(const Constrained& op) {
  if (op.operands() == 0) {
    op.op().fail("expects at least 1 operand, but has 0");
    return false;
  }
  for (size_t i = 0; i + 1 < op.operands(); ++i)
    if (!op.operand_is("I1", i, kAnyClass)) return false;
  return op.operand_is_token("I2", op.operands() - 1);
}

bool send(const Constrained& op) {
  return ends_by_token(op) && op.has(op.operands(), 1) && channel_type(op, "C1", kDeviceToHost) &&
         op.result_is_token("O1", 0);
}
bool outfeed(const Constrained& op) {
  return ends_by_token(op) && op.has(op.operands(), 1) && op.result_is_token("O1", 0);
}

/// The only operand is a token, and so is the last result.
bool receives(const Constrained& op) {
  if (!op.op().takes(1) || !op.operand_is_token("I1", 0)) return false;
  if (op.results() == 0) return op.fail("C1", "has no result, expected a token at least");
  for (size_t i = 0; i + 1 < op.results(); ++i)
    if (!is_tensor(op.out(i)))
      return op.fail("C2", "result {} is {}, expected a tensor", i, type_text(op.out(i)));
  return op.result_is_token("C3", op.results() - 1);
}
bool recv(const Constrained& op) { return channel_type(op, "C1", kHostToDevice) && receives(op); }

/// One layout for each received array: the list of its dimensions.
bool infeed(const Constrained& op) {
  const mlir::Attribute* layout = op.op().find("layout");
  if (!receives(op) || !layout) return op.op().failed() ? false : true;
  if (layout->kind != mlir::AttributeKind::kArray || layout->items.size() != op.results() - 1)
    return op.fail("layout", "has {} entries, expected one for each of {} arrays", layout->items.size(),
                   op.results() - 1);
  for (const mlir::Attribute* entry : layout->items) {
    const bool integers =
        entry->kind == mlir::AttributeKind::kArray &&
        std::all_of(entry->items.begin(), entry->items.end(),
                    [](const mlir::Attribute* one) { return one->kind == mlir::AttributeKind::kInteger; });
    if (!integers) return op.fail("layout", "an entry is not a list of integers, as in [[0, 1]]");
  }
  return true;
}

constexpr ConstraintRow kCollectivesConstraints[] = {
    {"all_gather", all_gather},
    {"all_reduce", all_reduce},
    {"all_to_all", all_to_all},
    {"collective_broadcast", collective_broadcast},
    {"collective_permute", collective_permute},
    {"infeed", infeed},
    {"outfeed", outfeed},
    {"recv", recv},
    {"reduce_scatter", reduce_scatter},
    {"send", send},
};

}  // namespace

std::span<const ConstraintRow> collective_constraints() { return kCollectivesConstraints; }

}  // namespace hlosim::stablehlo
