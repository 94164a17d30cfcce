// Results of a module have memory of their own.
//
//   ENTRY e { ROOT p = f32[8] parameter(0) }
//   → ENTRY e { p = f32[8] parameter(0)  ROOT c = f32[8] copy(p) }
#pragma once

#include "hlo/module_editor.h"

namespace hlosim {

/// Arguments in HBM that leave the program as they came are copied, each time that they do: the root itself,
/// or elements of the tuple that it makes. Where the header says that argument and result share memory there
/// is nothing to do. Whole tuples among the results stay as they are.
void give_results_own_memory(ModuleEditor& editor);

}  // namespace hlosim
