// <sys/mman.h> for anonymous memory, which WASI takes from the heap: at most 64 MiB at once, as all of it is real.
#pragma once

#include <stddef.h>
#include <stdlib.h>

#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 0x20
#define MAP_NORESERVE 0x4000
#define MAP_FAILED (reinterpret_cast<void*>(-1))
#define MADV_HUGEPAGE 14

inline void* mmap(void*, size_t size, int, int, int, long long) {
  void* const memory = size <= (size_t{64} << 20) ? aligned_alloc(4096, (size + 4095) / 4096 * 4096) : nullptr;
  return memory ? memory : MAP_FAILED;
}
inline int munmap(void* memory, size_t) {
  free(memory);
  return 0;
}
inline int madvise(void*, size_t, int) { return 0; }
