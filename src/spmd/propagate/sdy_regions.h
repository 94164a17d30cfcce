// Borders of manual regions as Shardy writes them: shardings of their own mesh among the frontend attributes,
// several arrays at once.
//
//   // (f32[4,8]) custom-call(p), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={
//   //   xla.sdy.in_shardings="#sdy.sharding_per_value<[<mesh<["a"=2]>, [{"a"}, {}]>]>",
//   //   xla.sdy.manual_axes="#sdy<manual_axes{"a"}>"}
//   open_sdy_borders(module);              // Sharding and SPMDFullToShardShape for each array
#pragma once

#include "hlo/module.h"

namespace hlosim {

/// Those that state no `sharding` and say of their mesh what its axes are. True: some did.
bool open_sdy_borders(Module& module);

}  // namespace hlosim
