// HLO modules as protos: HloModuleProto, HloProto, HloSnapshot and HloUnoptimizedSnapshot to text, modules to
// HloProto.
//
// A proto becomes the text that XLA would print of it, so that everything else is the same for both. What
// would change the module and isn't understood (unknown fields, fields that an opcode doesn't have, words
// outside the enumeration) is an error that names it; what has no place in the text either (ids, profiles,
// the assignment of buffers) is read over.
#pragma once

#include <string>
#include <string_view>

#include "base/source.h"
#include "hlo/module.h"

namespace hlosim {

/// Do the bytes begin as a binary proto does, and as no text does?
bool looks_like_proto(std::string_view bytes);

/// HLO text of the module. Errors name `name` and the field.
Result<std::string> text_of_proto(std::string_view bytes, const std::string& name);

/// The bytes of an HloProto; the same module gives the same bytes. Errors: attributes that have no field.
Result<std::string> proto_of(const Module& module);

}  // namespace hlosim
