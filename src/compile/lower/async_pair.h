// An instruction as work in the background: a computation of its own, the start that calls it, and its done.
//
//   const AsyncPair pair = async_pair(editor, computation, {slice, "slice", "slice-start", "slice-done"});
//   // … pair.start and pair.done go into the computation's list
#pragma once

#include <string_view>
#include <vector>

#include "hlo/module_editor.h"

namespace hlosim {

struct AsyncPairSpec {
  InstructionId what;  // of any computation; its attributes stay
  std::string_view name, start, done;
  std::vector<InstructionId> operands{};  // empty: those of `what`
  ShapeRef shape = nullptr;               // of the result; null: that of `what`
  std::string_view thread = "main";       // that it runs on
};

struct AsyncPair {
  InstructionId start, done;
};

/// Both stand in no list yet.
AsyncPair async_pair(ModuleEditor& editor, ComputationId in, const AsyncPairSpec& spec);

}  // namespace hlosim
