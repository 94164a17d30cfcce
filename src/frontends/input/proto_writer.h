// The text of one proto of a module.
#pragma once

#include <string>

namespace hlosim {

namespace pb {
class Module;
}

/// HLO text of a proto, before it is read again. `problem` names what HLO text can't say; empty: nothing.
std::string hlo_text(const pb::Module& module, std::string& problem);

}  // namespace hlosim
