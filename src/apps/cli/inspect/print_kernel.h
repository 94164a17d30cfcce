// The bodies of TPU kernels as text.
//
//   const Result<std::string> text = kernel_text(modules, "splash_mha.*");
#pragma once

#include <span>
#include <string>

#include "base/source.h"
#include "hlo/module.h"

namespace hlosim {

/// Of the first call of a kernel of that name, or whose instruction is called so, in MLIR's generic form.
/// Errors: no call is called so, or it has no body that reads.
Result<std::string> kernel_text(std::span<const Module> modules, std::string_view name);

}  // namespace hlosim
