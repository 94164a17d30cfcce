// Which instructions may this process use?
//
// hlosim runs on any x86-64-v2 processor. Numeric kernels exist once per level (cmake/hlosim_kernels.cmake)
// and the caller picks a table of them when it starts. Other processors have v2 alone (base/intrinsics.h):
//
//   // add.h                                      // add.kernel.cc
//   struct AddKernels { void (*add)(…); };        namespace hlosim::HLOSIM_ISA {
//   HLOSIM_KERNEL_TABLE(AddKernels, kAdd);        const AddKernels kAdd = {.add = …};
//                                                 }
//   // caller.cc
//   const AddKernels& kernels = HLOSIM_PICK_KERNELS(level, kAdd);
//
// Elementwise kernels give the same bits on every level; matrix products and convolutions fuse multiply and
// add where the level can, so their last bits may differ.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/source.h"

namespace hlosim {

/// The x86-64 micro-architecture levels of the psABI: v2 is SSE4.2, v3 adds AVX2 and FMA, v4 AVX-512 (F, BW,
/// CD, DQ, VL).
enum class IsaLevel : uint8_t { kV2, kV3, kV4 };

/// `v2`, `v3` or `v4`.
std::string_view name(IsaLevel level);

/// The highest level of this machine, as CPUID and the operating system report it.
IsaLevel supported_isa_level();

/// The level to use on a machine that supports `supported`, when the user asks for `request` (the value of
/// the environment variable HLOSIM_ISA; empty: no wish). Errors: not a level; a level above `supported`.
Result<IsaLevel> choose_isa_level(std::string_view request, IsaLevel supported);

/// choose_isa_level() for this process's environment and machine.
Result<IsaLevel> isa_level();

}  // namespace hlosim

#if defined(__x86_64__)

/// Declares `name`, defined in kernel sources as a constant of type `type`, on every level. Stands in
/// namespace hlosim.
#define HLOSIM_KERNEL_TABLE(type, name) \
  namespace isa_v2 {                    \
  extern const type name;               \
  }                                     \
  namespace isa_v3 {                    \
  extern const type name;               \
  }                                     \
  namespace isa_v4 {                    \
  extern const type name;               \
  }

/// The table `name` of a level. Stands in namespace hlosim.
#define HLOSIM_PICK_KERNELS(level, name)               \
  ((level) == ::hlosim::IsaLevel::kV4   ? isa_v4::name \
   : (level) == ::hlosim::IsaLevel::kV3 ? isa_v3::name \
                                        : isa_v2::name)

#else

#define HLOSIM_KERNEL_TABLE(type, name) \
  namespace isa_v2 {                    \
  extern const type name;               \
  }

#define HLOSIM_PICK_KERNELS(level, name) (static_cast<void>(level), isa_v2::name)

#endif
