# hlosim_kernels(<target> <source>...): compiles each source once per x86-64 level and adds the
# objects to the target. The program picks a level when it starts (src/base/cpu.h).
#
# A kernel source puts all it defines into `namespace hlosim::HLOSIM_ISA`, which is isa_v2, isa_v3 or
# isa_v4, and uses plain loops, intrinsics and anonymous namespaces only. No standard containers or
# other templates: each level would bring its own copy of the same weak symbol, the linker would keep
# any one of them, and AVX-512 code would end up where an older processor runs it
# (docs/decisions/0001-instruction-set-levels.md). tools/check_isa looks for that.
#
# Products and sums round separately on every level (no contraction). A kernel that wants a fused
# multiply-add, as those of matrix products do, says so; its last bits then depend on the level.
#
# Other processors than x86-64 have v2 alone, whose intrinsics SIMDe provides (src/base/intrinsics.h).
function(hlosim_kernels target)
  set(levels v2)
  if(HLOSIM_X86)
    set(levels v2 v3 v4)
  endif()
  foreach(level IN LISTS levels)
    set(objects ${target}_${level})
    add_library(${objects} OBJECT ${ARGN})
    hlosim_compile_options(${objects})
    target_compile_options(${objects} PRIVATE $<$<BOOL:${HLOSIM_X86}>:-march=x86-64-${level}> $<IF:$<CONFIG:Debug>,-O1,-O3> -ffp-contract=off
      -fno-math-errno -fno-trapping-math)
    # Loops that only g++ can vectorize are right all the same.
    target_compile_options(${objects} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>)
    if(level STREQUAL v4)
      target_compile_options(${objects} PRIVATE -mprefer-vector-width=512)
    endif()
    target_compile_definitions(${objects} PRIVATE HLOSIM_ISA=isa_${level})
    target_include_directories(${objects} PRIVATE
      $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    set_property(GLOBAL APPEND PROPERTY HLOSIM_KERNEL_OBJECTS $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()
