#include "modules/buffers_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hlo/finding.h"
#include "hlo/frontend.h"
#include "layout/shape.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

using Index = std::vector<int64_t>;

/// Calls f(index) for every buffer in a shape.
template <class F>
void for_each_buffer(ShapeRef shape, Index& index, F&& f) {
  if (shape->is_buffer()) f(index);
  if (!shape->is_tuple()) return;
  for (size_t i = 0; i < shape->elements.size(); ++i) {
    index.push_back(static_cast<int64_t>(i));
    for_each_buffer(shape->elements[i], index, f);
    index.pop_back();
  }
}
template <class F>
void for_each_buffer(ShapeRef shape, F&& f) {
  Index index;
  for_each_buffer(shape, index, f);
}

bool has_buffer(ShapeRef shape) {
  bool found = false;
  for_each_leaf(shape, [&](ShapeRef leaf) { found |= leaf->is_buffer(); });
  return found;
}

std::string index_text(std::span<const int64_t> index) {
  return fmt::format("{{{}}}", fmt::join(index, ","));
}

/// Parts of a result and of an operand that are the same memory.
struct Pair {
  Index result_index;
  int64_t operand;
  Index operand_index;
};

class BufferChecker {
 public:
  BufferChecker(const Module& module, const UserIndex& users, DiagnosticList& diagnostics)
      : module_(module), users_(users), diagnostics_(diagnostics) {}

  void run() {
    for (size_t c = 0; c < module_.computations.size(); ++c) {
      const ComputationId id{static_cast<int32_t>(c)};
      if (is_async(id)) {
        // Shapes of the async parts follow those of the wrapped instruction, the only one to look at.
        const InstructionId root = module_[id].root;
        if (op_rules(module_[root]).buffers == BufferRule::kCustomCall) custom_call(root);
        continue;
      }
      for (const InstructionId i : module_[id].instructions) instruction(id, i);
    }
  }

 private:
  template <class... Args>
  void error(const Instruction& at, fmt::format_string<Args...> format, Args&&... args) {
    diagnostics_.add(error_at(module_, at, fmt::format(format, std::forward<Args>(args)...)));
  }

  bool is_async(ComputationId id) const {
    for (const InstructionId caller : users_.callers(id)) {
      if (op_rules(module_[caller]).async_part == AsyncPart::kChain) return true;
    }
    return false;
  }

  void instruction(ComputationId computation, InstructionId id) {
    const Instruction& instruction = module_[id];
    switch (op_rules(instruction).buffers) {
      case BufferRule::kHandsOn:
        return;
      case BufferRule::kCall:
        if (!frontend_attribute(instruction, "_xla_stream_annotation")) no_buffers(instruction);
        return;
      case BufferRule::kCustomCall:
        return custom_call(id);
      case BufferRule::kLoop:
        return unique_writers(id);
      case BufferRule::kParameter:
        if (computation == module_.entry) no_buffers(instruction);
        return unique_writers(id);
      case BufferRule::kUpdate:
        return dynamic_update_slice(id);
      case BufferRule::kForbidden:
      case BufferRule::kForbiddenWrites:
        return no_buffers(instruction);
    }
  }

  void no_buffers(const Instruction& instruction) {
    bool found = has_buffer(instruction.shape);
    for (const InstructionId operand : instruction.operands) found |= has_buffer(module_[operand].shape);
    if (found) error(instruction, "{} handles a buffer, which is not allowed here", instruction.name);
  }

  void dynamic_update_slice(InstructionId id) {
    const Instruction& update = module_[id];
    if (!module_[update.operands[0]].shape->is_buffer()) return no_buffers(update);
    unique_writers(id);
    for (size_t i = 1; i < update.operands.size(); ++i)
      if (has_buffer(module_[update.operands[i]].shape))
        error(update, "operand {} is a buffer, expected an array", i);
    if (!update.shape->is_buffer()) error(update, "the result must be a buffer as operand 0 is one");
  }

  void custom_call(InstructionId id) {
    const Instruction& call = module_[id];
    const std::string_view target = call.find(AttrKey::kCustomCallTarget)->text();
    if (target == "\"Pin\"") return pin(id);
    if (target == "\"Unpin\"") return unpin(id);
    if (target == "\"CreateBuffer\"") return create(id);
    if (target == "\"AllocateBuffer\"" && call.shape->is_buffer()) return create(id);
    if (operands_and_results(call)) unique_writers(id);
  }

  size_t alias_count(const Instruction& call) const {
    const Attr* attr = call.find(AttrKey::kOutputToOperandAliasing);
    return attr ? attr->aliases().size() : 0;
  }

  /// The same but for layouts: unlike elsewhere a dynamic dimension is not the same as one of its bound.
  static bool same_array(ShapeRef a, ShapeRef b) {
    if (!compatible(a, b)) return false;
    for (int64_t i = 0; i < a->rank(); ++i)
      if (a->is_dynamic(i) != b->is_dynamic(i)) return false;
    return true;
  }

  void pin(InstructionId id) {
    const Instruction& call = module_[id];
    const ShapeRef operand = call.operands.size() == 1 ? module_[call.operands[0]].shape : nullptr;
    if (!operand || !operand->is_array()) return error(call, "Pin takes one array that is not a buffer");
    if (!call.shape->is_buffer())
      return error(call, "the result of Pin is {}, expected a buffer", to_text_without_layout(call.shape));
    if (!same_array(operand, call.shape->elements[0]))
      return error(call, "the result of Pin is {}, expected a buffer of {}",
                   to_text_without_layout(call.shape), to_text_without_layout(operand));
    if (alias_count(call) != 1)
      return error(call, "Pin must have one entry of output_to_operand_aliasing, but has {}",
                   alias_count(call));
    unique_writer(id, {});
  }

  void create(InstructionId id) {
    const Instruction& call = module_[id];
    if (!call.operands.empty())
      return error(call, "a buffer is created without operands, but there are {}", call.operands.size());
    if (!call.shape->is_buffer())
      return error(call, "the result is {}, expected a buffer", to_text_without_layout(call.shape));
    unique_writer(id, {});
  }

  void unpin(InstructionId id) {
    const Instruction& call = module_[id];
    const ShapeRef operand = call.operands.size() == 1 ? module_[call.operands[0]].shape : nullptr;
    if (!operand || !operand->is_buffer()) return error(call, "Unpin takes one buffer");
    if (!call.shape->is_array())
      return error(call, "the result of Unpin is {}, expected an array that is not a buffer",
                   to_text_without_layout(call.shape));
    if (!same_array(operand->elements[0], call.shape))
      return error(call, "the result of Unpin is {}, expected the array of {}",
                   to_text_without_layout(call.shape), to_text_without_layout(operand));
    if (alias_count(call) != 1)
      error(call, "Unpin must have one entry of output_to_operand_aliasing, but has {}", alias_count(call));
  }

  /// Pairs of a part of the call's result and a part of an operand.
  std::vector<Pair> alias_pairs(const Instruction& call) const {
    const auto pair_of = [](const Alias& alias, std::span<const int64_t> result) {
      return Pair{Index(result.begin(), result.end()), alias.parameter,
                  Index(alias.parameter_index.begin(), alias.parameter_index.end())};
    };
    std::vector<Pair> pairs;
    if (const Attr* attr = call.find(AttrKey::kOutputToOperandAliasing)) {
      for (const Alias& alias : attr->aliases()) pairs.push_back(pair_of(alias, alias.output_index));
      return pairs;
    }
    // `custom-call-start` has the aliases of the call that it wraps, whose result is part {1} of its own.
    for (const InstructionId start : users_.callers(call.parent)) {
      const Attr* attr = module_[start].find(AttrKey::kOutputToOperandAliasing);
      if (!attr || op_rules(module_[start]).value != ValueRule::kAsyncStart) continue;
      for (const Alias& alias : attr->aliases())
        if (!alias.output_index.empty() && alias.output_index[0] == 1)
          pairs.push_back(pair_of(alias, alias.output_index.subspan(1)));
      break;
    }
    return pairs;
  }

  /// Every buffer among operands and results stands in one alias pair.
  bool operands_and_results(const Instruction& call) {
    std::map<std::pair<int64_t, Index>, int> operand_uses;
    std::map<Index, int> result_uses;
    for (const Pair& pair : alias_pairs(call)) {
      ++operand_uses[{pair.operand, pair.operand_index}];
      ++result_uses[pair.result_index];
    }
    bool right = true;
    for (size_t i = 0; i < call.operands.size(); ++i)
      for_each_buffer(module_[call.operands[i]].shape, [&](const Index& index) {
        const int count = operand_uses[{static_cast<int64_t>(i), index}];
        if (count == 1 || !right) return;
        right = false;
        if (count == 0)
          error(call, "the buffer at {} of operand {} is not used in the results", index_text(index), i);
        else
          error(call, "the buffer at {} of operand {} is used in the results {} times", index_text(index), i,
                count);
      });
    for_each_buffer(call.shape, [&](const Index& index) {
      const int count = result_uses[index];
      if (count == 1 || !right) return;
      right = false;
      if (count == 0)
        error(call, "the buffer at {} of the result is none of the operands", index_text(index));
      else
        error(call, "the buffer at {} of the result is {} operands at once", index_text(index), count);
    });
    return right;
  }

  void unique_writers(InstructionId id) {
    for_each_buffer(module_[id].shape, [&](const Index& index) { unique_writer(id, index); });
  }

  void unique_writer(InstructionId id, const Index& index) {
    const size_t writers = count_writers(id, index);
    if (writers > 1)
      error(module_[id], "the buffer at {} of {} has {} writers (or unpins), expected at most one",
            index_text(index), module_[id].name, writers);
  }

  /// Users that may write part `index` of `from`, seen through tuples. What takes a whole loop's state, an
  /// update in place and every call count as writers.
  size_t count_writers(InstructionId from, const Index& index) const {
    constexpr size_t kEnough = 1000;
    size_t writers = 0, steps = 0;
    std::vector<std::pair<InstructionId, Index>> pending = {{from, index}};
    while (!pending.empty() && writers < kEnough && steps++ < 1'000'000) {
      const auto [value, part] = std::move(pending.back());
      pending.pop_back();
      for (const InstructionId id : users_.users(value)) {
        const Instruction& user = module_[id];
        if (writes(user)) {
          ++writers;
        } else if (is_tuple_element(user)) {
          if (!part.empty() && user.find(AttrKey::kIndex)->integer() == part[0])
            pending.emplace_back(id, Index(part.begin() + 1, part.end()));
        } else if (is_tuple(user)) {
          if (id == module_[user.parent].root) {
            writers += called_by_loop(user.parent);
            continue;
          }
          Index nested = {std::find(user.operands.begin(), user.operands.end(), value) -
                          user.operands.begin()};
          nested.insert(nested.end(), part.begin(), part.end());
          pending.emplace_back(id, std::move(nested));
        }
      }
    }
    return writers;
  }

  static bool writes(const Instruction& instruction) {
    switch (op_rules(instruction).buffers) {
      case BufferRule::kForbiddenWrites:
      case BufferRule::kLoop:
      case BufferRule::kCall:
      case BufferRule::kCustomCall:
      case BufferRule::kUpdate:
        return true;
      case BufferRule::kForbidden:
      case BufferRule::kHandsOn:
      case BufferRule::kParameter:
        break;
    }
    return false;
  }

  bool called_by_loop(ComputationId id) const {
    for (const InstructionId caller : users_.callers(id))
      if (op_rules(module_[caller]).value == ValueRule::kLoop) return true;
    return false;
  }

  const Module& module_;
  const UserIndex& users_;
  DiagnosticList& diagnostics_;
};

}  // namespace

void check_buffers(const Module& module, const UserIndex& users, DiagnosticList& diagnostics) {
  BufferChecker(module, users, diagnostics).run();
}

}  // namespace hlosim
