#include "lower/library_calls.h"

#include <algorithm>
#include <array>

#include "lower/library_calls/custom_call_spellings.h"
#include "ops/custom_calls/custom_call_targets.h"

namespace hlosim {
namespace {

struct Row {
  LibraryCall call;
  InstructionId (*spell_out)(Spelling&);
};
constexpr std::array kRows = {
    Row{LibraryCall::kNone, nullptr},
    Row{LibraryCall::kGemm, spell_out_gemm},
    Row{LibraryCall::kConvolutionForward, spell_out_convolution_forward},
    Row{LibraryCall::kConvolutionFused, spell_out_convolution_fused},
    Row{LibraryCall::kConvolutionGraph, spell_out_convolution_graph},
    Row{LibraryCall::kConvolutionBackwardInput, spell_out_convolution_backward_input},
    Row{LibraryCall::kConvolutionBackwardFilter, spell_out_convolution_backward_filter},
};
constexpr bool is_complete() {
  for (size_t i = 0; i < kRows.size(); ++i)
    if (static_cast<size_t>(kRows[i].call) != i) return false;
  return kRows.size() == kLibraryCallCount;
}
static_assert(is_complete(), "a row for each LibraryCall, in its order");

/// An array, or a tuple of one and of workspaces, which become zeros: arrays of real numbers.
bool has_known_result(ShapeRef shape) {
  if (!shape->is_tuple()) return shape->is_array();
  return !shape->elements.empty() && shape->elements[0]->is_array() &&
         std::ranges::all_of(shape->elements.subspan(1), [](ShapeRef workspace) {
           return workspace->is_array() && workspace->is_static() && !is_complex(workspace->element_type);
         });
}

/// What stands for a call of a library; invalid: it stays a call.
InstructionId spelled_out(Spelling& spelling) {
  const Row& row = kRows[static_cast<size_t>(library_call(spelling.call()))];
  return row.spell_out && has_known_result(spelling.call().shape) ? row.spell_out(spelling) : InstructionId{};
}

}  // namespace

void spell_out_library_calls(ModuleEditor& editor, const OpTable& table) {
  Module& module = editor.module();
  for (const FlowComputation& flow : flow_computations(module, table)) {
    const std::vector<InstructionId> before = module[flow.id].instructions;
    if (std::ranges::all_of(before,
                            [&](InstructionId id) { return library_call(module[id]) == LibraryCall::kNone; }))
      continue;
    std::vector<InstructionId> list;
    for (const InstructionId id : before) {
      Spelling spelling(editor, id);
      const bool waits = module[id].find(AttrKey::kControlPredecessors) != nullptr;
      const InstructionId now = waits ? InstructionId{} : spelled_out(spelling);
      if (!now.valid()) {
        list.push_back(id);
        continue;
      }
      list.insert(list.end(), spelling.list().begin(), spelling.list().end());
      editor.replace_everywhere(flow.id, id, now);
    }
    module.computations[flow.id].instructions = std::move(list);
  }
}

}  // namespace hlosim
