// An instruction of another module put into this one, with all the computations that it calls.
//
//   const size_t at = transplant(module, 0, 3, pool, place, random);  // at or behind instruction 3
//   module.computations[0].instructions[at].name                      // its new name
#pragma once

#include <cstddef>

#include "pool.h"
#include "random.h"

namespace hlosim::fuzz {

/// Operands are earlier values of the same shape, or new parameters and constants that stand before it.
/// The index of the instruction. Requires: `before` is at most the number of instructions there.
size_t transplant(ModuleText& module, size_t computation, size_t before, const Pool& pool, const Place& donor,
                  Random& random);

/// A name that nothing in the module has: "%x7".
std::string free_name(const ModuleText& module);

/// Other instructions of the computation take `value` for some earlier value of the same shape, or it becomes
/// the root.
void use(ModuleText& module, size_t computation, size_t value, Random& random);

}  // namespace hlosim::fuzz
