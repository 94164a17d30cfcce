// What the compiler of another kind of device has put together, taken apart.
#pragma once

#include "modules/edit.h"

namespace hlosim {

/// Every bitcast of the module means the same whatever the layouts are: spell_out_layouts() leaves none.
bool bitcasts_can_be_spelled_out(const Module& module);

/// Bitcasts become the reshapes and transposes that they are, and copies that only change the order of
/// dimensions go. The module is no longer scheduled: the order was another device's.
void spell_out_layouts(ModuleEditor& editor, const OpTable& table);

/// Fusions and calls become what they compute. What has control dependencies or says something about itself
/// (backend_config of a call, frontend attributes) stays.
void inline_calls(ModuleEditor& editor, const OpTable& table);

}  // namespace hlosim
