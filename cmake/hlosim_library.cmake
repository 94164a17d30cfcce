include(${CMAKE_CURRENT_LIST_DIR}/hlosim_kernels.cmake)

# hlosim_library(<folder> <dependency>... [PRIVATE <library>...] [INTERNAL <headers>...] [NATIVE <source>...])
#
# The static library hlosim_<folder> of a district, which is a folder of src/ with a CMakeLists.txt. Its sources are in
# <district>/<folder>; the library that has the district's name has the district's other files. Either way its headers are
# included as "<folder>/<file>.h". Dependencies that stand first are other folders or libraries, seen by users of the
# library. PRIVATE: libraries to link that no header of hlosim includes. INTERNAL: header-only libraries that no header of
# hlosim includes; users of hlosim don't need them.
# Files named *.kernel.cc are compiled once per instruction set level (cmake/hlosim_kernels.cmake).
#
# Builds for WebAssembly have no PRIVATE libraries. There <name>.wasm.cc, which no other build compiles, replaces
# <name>.cc, and NATIVE sources of the folder are left out: what they define is never called.
function(hlosim_library folder)
  cmake_parse_arguments(arg "" "" "PRIVATE;INTERNAL;NATIVE" ${ARGN})
  hlosim_folder(${folder} root excluded)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${root}/${folder}/*.cc)
  file(GLOB_RECURSE kernels CONFIGURE_DEPENDS ${root}/${folder}/*.kernel.cc)
  set(not_installed)
  foreach(other IN LISTS excluded)
    file(GLOB_RECURSE others ${root}/${folder}/${other}/*.cc)
    list(REMOVE_ITEM sources ${others} "")
    list(REMOVE_ITEM kernels ${others} "")
    list(APPEND not_installed PATTERN ${other} EXCLUDE)
  endforeach()
  if(kernels)
    list(REMOVE_ITEM sources ${kernels})
  endif()
  hlosim_choose_sources(sources ${root}/${folder} "${arg_NATIVE}")
  if(HLOSIM_WASM)
    set(arg_PRIVATE)
  endif()
  set(library hlosim_${folder})
  add_library(${library} STATIC ${sources})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${folder})
  target_include_directories(${library} PUBLIC
    $<BUILD_INTERFACE:${root}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/hlosim>)
  target_compile_features(${library} PUBLIC cxx_std_20)
  foreach(used IN LISTS arg_UNPARSED_ARGUMENTS)
    if(NOT used MATCHES "::|\\$")
      set(used hlosim_${used})
    endif()
    target_link_libraries(${library} PUBLIC ${used})
  endforeach()
  target_link_libraries(${library} PRIVATE ${arg_PRIVATE})
  foreach(headers IN LISTS arg_INTERNAL)
    target_link_libraries(${library} PRIVATE $<BUILD_INTERFACE:${headers}>)
  endforeach()
  hlosim_compile_options(${library})
  hlosim_precompile(${library})
  hlosim_unity(${library})
  if(kernels)
    hlosim_kernels(${library} ${kernels})
  endif()
  install(DIRECTORY ${root}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hlosim
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def" ${not_installed})
  set_property(GLOBAL APPEND PROPERTY HLOSIM_LIBRARIES ${library})
endfunction()

# hlosim_choose_sources(<list> <folder> <native>): the list's sources that this build compiles, as hlosim_library() says.
function(hlosim_choose_sources list folder native)
  set(chosen ${${list}})
  set(replacing ${chosen})
  list(FILTER replacing INCLUDE REGEX "\\.wasm\\.cc$")
  if(HLOSIM_WASM)
    list(TRANSFORM replacing REPLACE "\\.wasm\\.cc$" ".cc")
    list(TRANSFORM native PREPEND ${folder}/)
    list(APPEND replacing ${native})
  endif()
  if(replacing)
    list(REMOVE_ITEM chosen ${replacing})
  endif()
  set(${list} ${chosen} PARENT_SCOPE)
endfunction()

# hlosim_folder(<folder> <root> <excluded>): where the current district has the folder's files, <root>/<folder>, and the
# folders in it that are libraries of their own.
function(hlosim_folder folder root excluded)
  set(others)
  if(IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
    set(${root} ${CMAKE_CURRENT_SOURCE_DIR} PARENT_SCOPE)
  else()
    set(${root} ${PROJECT_SOURCE_DIR}/src PARENT_SCOPE)
    file(GLOB entries RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/*)
    file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt lines REGEX "^hlosim_library")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^hlosim_library\\(([a-z_]+).*" "\\1" other "${line}")
      if(other IN_LIST entries)
        list(APPEND others ${other})
      endif()
    endforeach()
  endif()
  set(${excluded} ${others} PARENT_SCOPE)
endfunction()

# Warnings, and the instruction set that every machine we support has. Elsewhere `char` is signed and products are rounded before
# they are added, as on x86-64: all give the same results.
set(HLOSIM_MACHINE_OPTIONS -march=x86-64-v2)
if(NOT HLOSIM_X86)
  set(HLOSIM_MACHINE_OPTIONS -fsigned-char -ffp-contract=off)
endif()
function(hlosim_compile_options target)
  target_compile_options(${target} PRIVATE ${HLOSIM_MACHINE_OPTIONS}
    -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wpedantic)
  # g++ 12 warns of impossible overlaps and sizes inside std::string (GCC bug 105651), by three names.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-stringop-overflow -Wno-array-bounds>)
  # Lets ccache see through precompiled headers.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
    $<$<CXX_COMPILER_ID:Clang>:-fpch-instantiate-templates>)
  if(HLOSIM_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# Headers that most files include, compiled once (HLOSIM_PCH): the standard library's, fmt's, and ours that rarely change.
# Every header of ours still compiles without them (tools/check_headers, which knows the names in them).
option(HLOSIM_PCH "Compile the commonest headers once" ON)

# hlosim_unity(<target>): with HLOSIM_UNITY, compiles the target's sources in batches. Each source opens its own anonymous
# namespace, so two sources of one folder that both define a name there do not compile: the name is too general then.
function(hlosim_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${HLOSIM_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  # In a batch, g++ warns of sources as if they were headers, and of names that a source elsewhere in the batch declares. The
  # presets that compile file by file keep -Wshadow.
  if(HLOSIM_UNITY)
    target_compile_options(${target} PRIVATE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# hlosim_common_headers(<name> <folder> <library>...): what <folder>/<name>.h includes, for hlosim_precompile(). The
# header goes by its name, without a path: what comes out is the same in every clone, so that they share objects.
function(hlosim_common_headers name folder)
  if(NOT HLOSIM_PCH)
    return()
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.cc CONTENT "")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE fmt::fmt tl::expected ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${folder})
  target_compile_features(${name} PRIVATE cxx_std_20)
  hlosim_compile_options(${name})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  target_precompile_headers(${name} PRIVATE <${name}.h>)
endfunction()

# hlosim_precompile(<target> [<name>]): the target takes the headers of hlosim_common, or of <name>.
function(hlosim_precompile target)
  if(NOT HLOSIM_PCH)
    return()
  endif()
  if(NOT TARGET hlosim_common)
    hlosim_common_headers(hlosim_common ${PROJECT_SOURCE_DIR}/cmake)
  endif()
  set(headers hlosim_common)
  if(ARGC GREATER 1)
    set(headers ${ARGV1})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
  # Programs too take the headers as they were compiled for libraries.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
endfunction()
