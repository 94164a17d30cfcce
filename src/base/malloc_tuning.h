// Memory that one step gives back and the next one takes.
//
//   keep_freed_memory();       // first thing in main()
//   { Module before = …; }     // gone, but not given back to the system
//   Module after = …;          // stands where `before` did
#pragma once

#include <cstdlib>
#include <limits>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace hlosim {

/// From here on freed memory stays with the process, as a fresh page of 4 KiB costs a microsecond and more,
/// several times what filling it does. For programs of one task, not for libraries: what the process holds
/// never becomes less. Does nothing where the C library isn't glibc.
inline void keep_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_TOP_PAD, 1 << 24);
#endif
}

}  // namespace hlosim
