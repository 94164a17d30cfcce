#include "lower/common_subexpressions.h"

#include <bit>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "hlo/printer.h"
#include "modules/list_rewriter.h"
#include "ops/fusion_role.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

constexpr size_t kMostLiteralBytes = 4096;  // larger constants are not compared

bool may_join(const OpTable& table, const Instruction& instruction) {
  if (instruction.literal)
    return !instruction.literal->elided && instruction.literal->data.size() <= kMostLiteralBytes;
  return is_tuple_element(instruction) || instruction.opcode == Opcode::kPartitionId ||
         instruction.opcode == Opcode::kReplicaId ||
         (fusion_role(table, instruction) != FusionRole::kNone &&
          fusion_role(table, instruction) != FusionRole::kCopy);
}

/// The instruction's text without its name.
std::string key_of(const Module& module, const Instruction& instruction, const OpTable& table) {
  PrintOptions options;
  options.metadata = false;
  const std::string text = to_text(module, instruction, table, options);
  return text.substr(text.find(" = "));
}

/// What instructions of the same text have in common, in one word: of most it says that there is no other.
uint64_t word_of(const Instruction& instruction) {
  Fnv1a hash;
  hash.add_word(static_cast<uint64_t>(instruction.opcode));
  for (const InstructionId operand : instruction.operands)
    hash.add_word(static_cast<uint64_t>(operand.index));
  return hash.value();
}

/// The instructions of a list by what they compute.
class Computed {
 public:
  /// Requires: at most `instructions` are asked for.
  Computed(const Module& module, const OpTable& table, size_t instructions)
      : module_(module), table_(table), by_word_(std::bit_ceil(2 * instructions + 1)) {}

  /// The first one that computes the same; itself where there is none before it.
  InstructionId first_like(InstructionId id) {
    Entry& entry = entry_of(word_of(module_[id]));
    if (!entry.is_taken) {
      entry = {entry.word, id, true};
      return id;
    }
    if (const InstructionId before = std::exchange(entry.alone, {}); before.valid()) by_text(before);
    return by_text(id);
  }

 private:
  struct Entry {
    uint64_t word = 0;
    InstructionId alone;  // none where there are several
    bool is_taken = false;
  };

  /// The one of `word`, or the free one that is to be its.
  Entry& entry_of(uint64_t word) {
    size_t at = word & (by_word_.size() - 1);
    while (by_word_[at].is_taken && by_word_[at].word != word) at = (at + 1) & (by_word_.size() - 1);
    by_word_[at].word = word;
    return by_word_[at];
  }

  InstructionId by_text(InstructionId id) {
    return by_text_.try_emplace(key_of(module_, module_[id], table_), id).first->second;
  }

  const Module& module_;
  const OpTable& table_;
  std::vector<Entry> by_word_;
  std::unordered_map<std::string, InstructionId> by_text_;
};

}  // namespace

void join_common_subexpressions(ModuleEditor& editor, const OpTable& table) {
  Module& module = editor.module();
  ListRewriter rewriter(editor, table);
  for (const FlowComputation& flow : flow_computations(module, table)) {
    if (flow.is_condition) continue;
    Computed computed(module, table, module[flow.id].instructions.size());
    rewriter.run(flow.id, [&](InstructionId id) {
      return may_join(table, module[id]) ? computed.first_like(id) : id;
    });
  }
}

}  // namespace hlosim
