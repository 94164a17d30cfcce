// Parts of arrays that are taken out, changed and put back are changed where they are.
//
//   part = dynamic-slice(stack, i, 0)                stack' = dynamic-update-slice(stack, new, i, j)
//   changed = dynamic-update-slice(part, new, 0, j)  →  changed = dynamic-slice(stack', i, 0)
//   stack' = dynamic-update-slice(stack, changed, i, 0)
//
// A loop over layers does so with a cache of keys and values: the part is the layer's whole cache, and `new`
// one token. As written each iteration copies the part out and back again.
#pragma once

#include "modules/edit.h"

namespace hlosim {

/// The same bits. Reshapes between that leave out dimensions of size 1, or add some, are followed. What takes
/// the part in another form than changed keeps it as it is.
void update_parts_in_place(ModuleEditor& editor, const OpTable& table);

}  // namespace hlosim
