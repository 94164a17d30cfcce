// Blocks of Pallas kernels that state them in their name or notes, as kernels of servers and of experts do.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <vector>

#include "advise/kinds/kinds.h"
#include "advise/module_edits.h"
#include "model/custom_call_costs.h"
#include "model/pallas/kernel_call.h"
#include "ops/custom_calls/custom_call_targets.h"

namespace hlosim {
namespace {

/// Numbers behind `key` that are changed together: "bkv_2048_512" has two, fetched and computed.
struct BlockKnob {
  std::string_view kernel;  // in the kernel's name
  std::string_view key;
  size_t first = 0, count = 1;  // of the numbers behind it
  bool in_notes = false;        // kernel_metadata, else the name
  std::string_view words;       // the parameter that users set
};
constexpr BlockKnob kBlockKnobs[] = {
    {"RPAd-", "bkv", 0, 2, false, "decode_bkv_sz (v2: num_kv_pages_per_block)"},
    {"RPAm-", "bkv", 0, 2, false, "bkv_sz (v2: num_kv_pages_per_block)"},
    {"RPAm-", "bq", 0, 2, false, "bq_sz (v2: num_queries_per_block)"},
    {"RPAp-", "bkv", 0, 2, false, "bkv_sz"},
    {"RPAp-", "bq", 0, 2, false, "bq_sz"},
    {"MLA-", "bkvp", 0, 1, false, "num_kv_pages_per_block"},
    {"MLA-", "bsz", 0, 1, false, "decode_batch_size"},
    {"quantized_matmul", "kernel", 0, 1, false, "batch_block_size"},
    {"quantized_matmul", "kernel", 1, 1, false, "out_block_size"},
    {"quantized_matmul", "kernel", 2, 1, false, "in_block_size"},
    {"gmm", "tile_m", 0, 1, true, "tile_m"},
    {"gmm", "tile_k", 0, 1, true, "tile_k"},
    {"gmm", "tile_n", 0, 1, true, "tile_n"},
};
constexpr size_t kMostBlockKernels = 4;
// What a size is multiplied and divided by.
constexpr int64_t kBlockFactors[] = {2, 4, 16};

struct NumberPlace {
  size_t begin = 0, end = 0;
  int64_t value = 0;
};

/// The numbers behind `key`, as many as there are: "bkv_2048_512", "\"tile_m\": 128".
std::vector<NumberPlace> numbers_behind(std::string_view text, std::string_view key) {
  std::vector<NumberPlace> found;
  size_t at = text.find(key);
  if (at == std::string_view::npos) return found;
  for (at += key.size(); at < text.size();) {
    const size_t begin = found.empty() ? text.find_first_not_of("\\\": _", at) : at + (text[at] == '_');
    if (begin >= text.size() || (!found.empty() && begin == at)) break;
    NumberPlace one{begin, begin, 0};
    const auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), one.value);
    if (error != std::errc() || one.value < 1) break;
    one.end = at = static_cast<size_t>(end - text.data());
    found.push_back(one);
  }
  return found;
}

/// The text with the knob's numbers times `up` and divided by `down`. Empty: they are not there or not whole.
std::string with_sizes(std::string_view text, const BlockKnob& knob, int64_t up, int64_t down) {
  const std::vector<NumberPlace> numbers = numbers_behind(text, knob.key);
  if (numbers.size() <= knob.first) return {};
  std::string changed(text);
  for (size_t i = std::min(numbers.size(), knob.first + knob.count); i-- > knob.first;) {
    if (numbers[i].value % down != 0) return {};
    changed.replace(numbers[i].begin, numbers[i].end - numbers[i].begin,
                    std::to_string(numbers[i].value / down * up));
  }
  return changed;
}

std::string_view notes_of(const Instruction& call) {
  const Attr* notes = call.find(AttrKey::kFrontendAttributes);
  return notes ? notes->text() : std::string_view();
}

std::string_view text_of(const Instruction& call, const BlockKnob& knob) {
  return knob.in_notes ? notes_of(call) : kernel_name(call);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// Replaces `from` by `to` in the call's name and attributes.
void rewrite(ModuleEditor& editor, InstructionId id, std::string_view from, std::string_view to) {
  Module& module = editor.module();
  for (const AttrKey key : {AttrKey::kFrontendAttributes, AttrKey::kBackendConfig})
    if (const Attr* attr = module[id].find(key)) {
      const std::string text = replaced(std::string(attr->text()), from, to);
      editor.set_attr(id, Attr::make_text(key, attr->syntax, module.arena().copy(std::string_view(text))));
    }
  const std::string name = replaced(std::string(module[id].name), from, to);
  module.instructions[id].name = module.arena().copy(std::string_view(name));
}

/// Calls of one kernel: the same name and notes.
struct BlockKernel {
  std::vector<InstructionId> calls;
  double time = 0;
};

/// The change on all calls of the kernel. Errors: sizes that the kernel does not take, or that don't fit.
Edit block_edit(const OpTable& table, const std::string& kernel, const std::string& notes, BlockKnob knob,
                int64_t up, int64_t down) {
  return edit_of_module(table, [=](ModuleEditor& editor, TrialSetup& setup) -> Result<void> {
    Module& module = editor.module();
    const CustomCallCosts* const given = setup.options.simulate.custom_calls;
    bool is_changed = false;
    for (const Computation& computation : module.computations)
      for (const InstructionId id : computation.instructions) {
        if (kernel_name(module[id]) != kernel || notes_of(module[id]) != notes) continue;
        const std::optional<KernelCall> before =
            find_kernel_call(module, module[id], setup.device.config, given);
        if (!before) continue;
        const std::string from(text_of(module[id], knob)), to = with_sizes(from, knob, up, down);
        rewrite(editor, id, from, to);
        const std::optional<KernelCall> after =
            find_kernel_call(module, module[id], setup.device.config, given);
        if (!after || !after->blocks_given || after->what != before->what)
          return failure("the kernel does not take such sizes");
        if (!after->cost.fits()) return failure("the blocks do not fit into VMEM");
        is_changed = true;
      }
    if (!is_changed) return failure("the module has no such kernel any more");
    return {};
  });
}

}  // namespace

std::vector<Proposal> find_kernel_blocks(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  if (subject.setup.model) return found;
  const Module& module = *subject.setup.module;
  const AdvicePlaces places(module);
  const auto& given = subject.setup.options.simulate.custom_calls;
  std::map<std::pair<std::string, std::string>, BlockKernel> kernels;
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions) {
      const Instruction& call = module[id];
      if (custom_call_target(call) != "tpu_custom_call") continue;
      const auto known = find_kernel_call(module, call, subject.setup.device.config, given);
      if (!known || !known->blocks_given) continue;
      BlockKernel& kernel = kernels[{std::string(kernel_name(call)), std::string(notes_of(call))}];
      kernel.calls.push_back(id);
      kernel.time += static_cast<double>(known->cost.kernel.count());
    }
  std::vector<std::pair<std::pair<std::string, std::string>, BlockKernel>> ranked(kernels.begin(),
                                                                                  kernels.end());
  std::ranges::stable_sort(ranked, std::ranges::greater(), [](const auto& one) { return one.second.time; });
  ranked.resize(std::min(ranked.size(), kMostBlockKernels));
  for (const auto& [key, kernel] : ranked) {
    const Instruction& first = module[kernel.calls[0]];
    for (const BlockKnob& knob : kBlockKnobs) {
      if (key.first.find(knob.kernel) == std::string::npos) continue;
      const std::vector<NumberPlace> numbers = numbers_behind(text_of(first, knob), knob.key);
      if (numbers.size() <= knob.first) continue;
      for (const int64_t factor : kBlockFactors)
        for (const bool is_larger : {true, false}) {
          const int64_t up = is_larger ? factor : 1, down = is_larger ? 1 : factor;
          if (with_sizes(text_of(first, knob), knob, up, down).empty()) continue;
          const int64_t now = numbers[knob.first].value, size = now / down * up;
          Proposal& one = found.emplace_back();
          one.edit = block_edit(subject.table, key.first, key.second, knob, up, down);
          one.name = fmt::format("{} {}={}", first.name, knob.words.substr(0, knob.words.find(' ')), size);
          one.problem = fmt::format("{} has blocks of {}", first.name, now);
          one.change = fmt::format("{} = {} instead of {}", knob.words, size, now);
          one.reason =
              "larger blocks take fewer steps and read less again; smaller ones compute less beyond the ends";
          one.place = places.of(first);
          one.proof = ProofKind::kNone;
          one.no_proof = "the same kernel with other blocks: its body isn't executed block by block here";
        }
    }
  }
  return found;
}

}  // namespace hlosim
