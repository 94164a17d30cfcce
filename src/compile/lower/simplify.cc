#include "lower/simplify.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "base/contains.h"
#include "layout/sizes.h"
#include "lower/read_once.h"
#include "lower/roundings.h"
#include "modules/async_forms.h"
#include "modules/list_rewriter.h"
#include "ops/fusion_role.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

using Ints = std::vector<int64_t>;

Ints ints_of(const Instruction& instruction, AttrKey key) {
  const Attr* attr = instruction.find(key);
  return attr ? Ints(attr->ints().begin(), attr->ints().end()) : Ints();
}

/// One side of a dot.
struct Side {
  AttrKey batch, contracting;
};
constexpr Side kSides[] = {{AttrKey::kLhsBatchDims, AttrKey::kLhsContractingDims},
                           {AttrKey::kRhsBatchDims, AttrKey::kRhsContractingDims}};

class Simplifier {
 public:
  Simplifier(ModuleEditor& editor, const OpTable& table, const Room& room)
      : rewriter_(editor, table, ListRewriter::WaitedFor::kMayGo),
        editor_(editor),
        module_(editor.module()),
        table_(table),
        room_(room) {}

  void run(ComputationId id) {
    for (const InstructionId at : module_[id].instructions)
      if (op_rules(module_[at].opcode).async_part == AsyncPart::kDone) ended_.insert(module_[at].operands[0]);
    rewriter_.run(id, [&](InstructionId at) { return visit(at); });
  }

 private:
  InstructionId visit(InstructionId id) {
    const Instruction& instruction = module_[id];
    if (is_tuple_element(instruction) && is_tuple(module_[instruction.operands[0]])) {
      const auto index = static_cast<size_t>(instruction.find(AttrKey::kIndex)->integer());
      const InstructionId element = module_[instruction.operands[0]].operands[index];
      // Elements may be taken several times, a start only once.
      return is_in_flight(module_[element].opcode) || ended_.contains(id) ? id : element;
    }
    if (instruction.opcode == Opcode::kReshape) return visit_reshape(id);
    if (instruction.opcode == Opcode::kDot && instruction.shape->is_static()) return visit_dot(id);
    if (const InstructionId same = unchanged(id); same.valid()) return same;
    if (instruction.opcode == Opcode::kConvert) {
      if (const InstructionId source = widened(id); source.valid()) return source;
      if (round_behind_reshape(id)) return id;
    }
    if (fusion_role(table_, instruction) == FusionRole::kElement && instruction.operands.size() == 1 &&
        is_reshape(instruction.operands[0]))
      return visit_unary(id);
    return id;
  }

  bool is_reshape(InstructionId id) const {
    return module_[id].opcode == Opcode::kReshape && !module_[id].find(AttrKey::kControlPredecessors);
  }

  /// `source` under the dimensions of `shape`.
  InstructionId reshaped(InstructionId source, ShapeRef shape) {
    while (is_reshape(source)) source = module_[source].operands[0];
    if (module_[source].shape->logical == shape->logical) return source;
    return rewriter_.add(Opcode::kReshape, shape, {source});
  }

  InstructionId visit_reshape(InstructionId id) {
    InstructionId source = module_[id].operands[0];
    while (is_reshape(source)) source = module_[source].operands[0];
    if (module_[source].shape->logical == module_[id].shape->logical) return source;
    const InstructionId operands[] = {source};
    editor_.set_operands(id, operands);
    return id;
  }

  Identity identity(InstructionId id) const { return table_[module_[id].opcode].rules.identity; }

  enum class Everywhere : uint8_t { kSomething, kZero, kOne };

  /// What all elements of a value are, seen through what keeps 0 and 1.
  Everywhere everywhere(InstructionId id) const {
    while (!module_[id].literal) {
      const FusionRole role = fusion_role(table_, module_[id]);
      const bool keeps = identity(id) == Identity::kKeepsUnits || role == FusionRole::kReindex;
      if (!keeps || module_[id].operands.size() != 1) return Everywhere::kSomething;
      id = module_[id].operands[0];
    }
    const Literal& literal = *module_[id].literal;
    if (!literal.shape->is_scalar() || literal.elided) return Everywhere::kSomething;
    uint64_t bits = 0;
    std::memcpy(&bits, literal.data.data(), std::min(literal.data.size(), sizeof bits));
    if (literal.data.size() <= sizeof bits && bits == 0) return Everywhere::kZero;
    return bits == one_of(literal.shape->element_type) ? Everywhere::kOne : Everywhere::kSomething;
  }

  /// Bits of 1; of no value where that isn't needed.
  static uint64_t one_of(ElementType type) {
    if (type == ElementType::kF32) return 0x3f80'0000;
    if (type == ElementType::kBF16) return 0x3f80;
    if (type == ElementType::kF16) return 0x3c00;
    return is_integer(type) ? 1 : ~uint64_t{0};
  }

  /// The operand that `id` is anyway: x + 0, 0 + x, x - 0, x * 1, 1 * x, x / 1.
  InstructionId unchanged(InstructionId id) const {
    const Instruction& instruction = module_[id];
    if (instruction.operands.size() != 2 || !instruction.shape->is_array()) return {};
    const Identity known = table_[instruction.opcode].rules.identity;
    const bool sum = known == Identity::kSum, product = known == Identity::kProduct;
    const bool difference = known == Identity::kDifference;
    if (!sum && !product && !difference && known != Identity::kQuotient) return {};
    const Everywhere neutral = sum || difference ? Everywhere::kZero : Everywhere::kOne;
    const auto stays = [&](size_t other, size_t operand) {
      return everywhere(instruction.operands[other]) == neutral &&
             module_[instruction.operands[operand]].shape->logical == instruction.shape->logical;
    };
    if (stays(1, 0)) return instruction.operands[0];
    return (sum || product) && stays(0, 1) ? instruction.operands[1] : InstructionId{};
  }

  /// x, if `id` brings x back to its floating-point type after it was rounded to a narrower one. XLA leaves
  /// such roundings out (xla_allow_excess_precision, its default). Not where x is a reshape: what moves its
  /// elements may round them (drop_roundings).
  InstructionId widened(InstructionId id) const {
    const InstructionId rounded = module_[id].operands[0];
    if (!is_rounding(module_, rounded, module_[id].shape->element_type)) return {};
    const InstructionId source = module_[rounded].operands[0];
    return is_reshape(source) ? InstructionId{} : source;
  }

  /// `id` widens a reshape of a value that was rounded: rounded behind the reshape instead. Whether it is
  /// rounded there at all depends on layouts.
  bool round_behind_reshape(InstructionId id) {
    const InstructionId reshape = module_[id].operands[0];
    InstructionId inner = reshape;
    while (is_reshape(inner)) inner = module_[inner].operands[0];
    if (inner == reshape || !is_rounding(module_, inner, module_[id].shape->element_type)) return false;
    const InstructionId wide = reshaped(module_[inner].operands[0], module_[id].shape);
    const InstructionId operands[] = {rewriter_.add(Opcode::kConvert, module_[reshape].shape, {wide})};
    editor_.set_operands(id, operands);
    return true;
  }

  /// f(reshape(x)) is reshape(f(x)): what reshapes there are meet and join.
  InstructionId visit_unary(InstructionId id) {
    const Instruction instruction = module_[id];
    const InstructionId source = module_[instruction.operands[0]].operands[0];
    const InstructionId operands[] = {source};
    const ShapeRef shape =
        module_.shapes().array(instruction.shape->element_type, module_[source].shape->dimensions);
    return reshaped(rewriter_.add_like(instruction, "moved", shape, operands), instruction.shape);
  }

  // ── products ──

  /// What transposes `id`, looking through one elementwise instruction: x for transpose(x) and
  /// f(transpose(x)).
  struct Transposed {
    InstructionId source;
    InstructionId through;  // f, or invalid
    std::span<const int64_t> permutation;
  };
  std::optional<Transposed> transposed(InstructionId id) const {
    InstructionId through;
    if (fusion_role(table_, module_[id]) == FusionRole::kElement && module_[id].operands.size() == 1) {
      through = id;
      id = module_[id].operands[0];
    }
    const Instruction& instruction = module_[id];
    if (instruction.opcode != Opcode::kTranspose || fusion_role(table_, instruction) != FusionRole::kPart)
      return std::nullopt;
    return Transposed{instruction.operands[0], through, instruction.find(AttrKey::kDimensions)->ints()};
  }

  void fold_transpose(InstructionId dot, size_t side) {
    const std::optional<Transposed> found = transposed(module_[dot].operands[side]);
    if (!found) return;
    InstructionId source = found->source;
    if (found->through.valid()) {
      const Instruction f = module_[found->through];
      const ShapeRef shape = module_.shapes().array(f.shape->element_type, module_[source].shape->dimensions);
      const InstructionId operands[] = {source};
      source = rewriter_.add_like(f, "moved", shape, operands);
    }
    for (const AttrKey key : {kSides[side].batch, kSides[side].contracting}) {
      Ints dimensions = ints_of(module_[dot], key);
      if (dimensions.empty()) continue;
      for (int64_t& dimension : dimensions) dimension = found->permutation[static_cast<size_t>(dimension)];
      set_ints(dot, key, dimensions);
    }
    // Free dimensions keep their order only if the transpose keeps it.
    std::vector<InstructionId> operands(module_[dot].operands.begin(), module_[dot].operands.end());
    operands[side] = source;
    editor_.set_operands(dot, operands);
  }

  void set_ints(InstructionId id, AttrKey key, const Ints& values) {
    editor_.set_attr(id, Attr::make_list(key, module_[id].find(key)->syntax, editor_.keep(values)));
  }

  Ints free_dimensions(InstructionId dot, size_t side) const {
    const Instruction& instruction = module_[dot];
    const Ints batch = ints_of(instruction, kSides[side].batch);
    const Ints contracting = ints_of(instruction, kSides[side].contracting);
    Ints free;
    for (int64_t i = 0; i < module_[instruction.operands[side]].shape->rank(); ++i)
      if (!contains(batch, i) && !contains(contracting, i)) free.push_back(i);
    return free;
  }

  bool transpose_keeps_free_order(InstructionId dot, size_t side) const {
    const std::optional<Transposed> found = transposed(module_[dot].operands[side]);
    if (!found) return false;
    int64_t last = -1;
    for (const int64_t free : free_dimensions(dot, side)) {
      const int64_t from = found->permutation[static_cast<size_t>(free)];
      if (from < last) return false;
      last = from;
    }
    return true;
  }

  int64_t bytes(InstructionId id) const { return total_array_size(module_[id].shape).count(); }

  /// Weights: in tiles, their elements move when other dimensions join the fastest one. That takes longer
  /// than a product that reads what lies apart, if it does so once.
  bool is_read_as_it_lies(InstructionId dot, size_t side, const Ints& free) const {
    InstructionId id = module_[dot].operands[side];
    const ShapeRef shape = module_[id].shape;
    if (!ints_of(module_[dot], kSides[side].batch).empty() || free.back() != shape->rank() - 1 ||
        std::ranges::any_of(free, [&](int64_t i) { return shape->dim(i) == 1; }))
      return false;
    while (is_reshape(id) || module_[id].opcode == Opcode::kDynamicSlice) id = module_[id].operands[0];
    if (is_tuple_element(module_[id])) id = module_[id].operands[0];
    // Room is asked for last, where the answer decides: it is noted.
    return module_[id].parameter_number >= 0 &&
           is_read_once(bytes(module_[dot].operands[1 - side]), bytes(dot), room_);
  }

  /// Several neighbouring free dimensions of one operand become one.
  void join_free(InstructionId dot, size_t side) {
    const Ints free = free_dimensions(dot, side);
    const bool neighbours =
        free.size() > 1 && free.back() - free.front() + 1 == static_cast<int64_t>(free.size());
    if (!neighbours || is_read_as_it_lies(dot, side, free)) return;
    const ShapeRef shape = module_[module_[dot].operands[side]].shape;
    const auto removed = static_cast<int64_t>(free.size()) - 1;
    Ints sizes(shape->dimensions.begin(), shape->dimensions.begin() + free.front());
    int64_t product = 1;
    for (const int64_t i : free) product *= shape->dim(i);
    sizes.push_back(product);
    sizes.insert(sizes.end(), shape->dimensions.begin() + free.back() + 1, shape->dimensions.end());
    for (const AttrKey key : {kSides[side].batch, kSides[side].contracting}) {
      Ints dimensions = ints_of(module_[dot], key);
      if (dimensions.empty()) continue;
      for (int64_t& dimension : dimensions)
        if (dimension > free.back()) dimension -= removed;
      set_ints(dot, key, dimensions);
    }
    std::vector<InstructionId> operands(module_[dot].operands.begin(), module_[dot].operands.end());
    operands[side] = reshaped(operands[side], module_.shapes().array(shape->element_type, sizes));
    editor_.set_operands(dot, operands);
  }

  /// Some free dimension has size 1.
  bool has_degenerate(InstructionId dot) const {
    for (size_t side = 0; side < 2; ++side)
      for (const int64_t i : free_dimensions(dot, side))
        if (module_[module_[dot].operands[side]].shape->dim(i) == 1) return true;
    return false;
  }

  InstructionId visit_dot(InstructionId id) {
    for (size_t side = 0; side < 2; ++side)
      if (transpose_keeps_free_order(id, side)) fold_transpose(id, side);
    const bool is_sparse = module_[id].operands.size() != 2;  // sparsity has operands of its own
    if (!has_degenerate(id) || is_sparse) return id;
    const ShapeRef whole = module_[id].shape;
    Ints sizes;
    const Ints batch = ints_of(module_[id], kSides[0].batch);
    for (const int64_t i : batch) sizes.push_back(module_[module_[id].operands[0]].shape->dim(i));
    for (size_t side = 0; side < 2; ++side) join_free(id, side);
    for (size_t side = 0; side < 2; ++side)
      for (const int64_t i : free_dimensions(id, side))
        sizes.push_back(module_[module_[id].operands[side]].shape->dim(i));
    if (static_cast<int64_t>(sizes.size()) == whole->rank()) return id;
    const Instruction old = module_[id];
    const ShapeRef joined = module_.shapes().array(whole->element_type, sizes);
    const InstructionId product = rewriter_.add_like(old, "dot", joined, old.operands);
    return rewriter_.add(Opcode::kReshape, whole, {product});
  }

  std::unordered_set<InstructionId> ended_;  // what dones end, however it came to them
  ListRewriter rewriter_;
  ModuleEditor& editor_;
  Module& module_;
  const OpTable& table_;
  Room room_;
};

}  // namespace

void simplify(ModuleEditor& editor, const OpTable& table, const Room& room) {
  Simplifier simplifier(editor, table, room);
  for (const FlowComputation& flow : flow_computations(editor.module(), table))
    if (!flow.is_condition) simplifier.run(flow.id);
}

}  // namespace hlosim
