// Changes that leave a module mostly right: shapes, attributes, operands, orders, and whole instructions of
// other modules with all that they call.
//
//   mutated_module(pool.seeds[7], pool, random)    // the same text for the same state of `random`
#pragma once

#include <string>

#include "pool.h"
#include "random.h"

namespace hlosim::fuzz {

/// One to a few changes. Of seeds that are no module as the printer writes it: changes of a text.
std::string mutated_module(const Seed& seed, const Pool& pool, Random& random);

/// One change, by its number; 0 … kModuleChanges - 1. False: there is nothing of what it changes.
inline constexpr size_t kModuleChanges = 20;
bool change_module(size_t change, ModuleText& module, const Pool& pool, Random& random);

}  // namespace hlosim::fuzz
