# Every package comes from Debian 12 (scripts/setup installs them); nothing is downloaded.

if(HLOSIM_WASM)
  include(${CMAKE_CURRENT_LIST_DIR}/wasm_dependencies.cmake)
  return()
endif()

# What a program that links hlosim needs too: the exported package looks for the same list.
set(HLOSIM_TIMING_DEPENDENCIES fmt tl-expected yaml-cpp RE2)  # hlosim::sim
set(HLOSIM_DEPENDENCIES ${HLOSIM_TIMING_DEPENDENCIES} TBB LibZip ZLIB zstd Protobuf)
# Headers that our .cc files alone include.
set(HLOSIM_BUILD_DEPENDENCIES Boost Eigen3 nlohmann_json CLI11)

list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
foreach(package IN LISTS HLOSIM_DEPENDENCIES HLOSIM_BUILD_DEPENDENCIES)
  find_package(${package} REQUIRED)
endforeach()

# Optional. Its C interface is all we use.
set(HLOSIM_MPI_LIBRARY)
if(HLOSIM_MPI)
  enable_language(C)
  find_package(MPI COMPONENTS C QUIET)
  if(MPI_C_FOUND)
    # Programs that link the installed libraries take the library as it is: FindMPI would ask them for C.
    set(HLOSIM_MPI_LIBRARY $<BUILD_INTERFACE:MPI::MPI_C> $<INSTALL_INTERFACE:${MPI_C_LIBRARIES}>)
  else()
    message(STATUS "No MPI: hlosim runs in one process")
    set(HLOSIM_MPI OFF)
  endif()
endif()
