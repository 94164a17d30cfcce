# Dependencies of builds for WebAssembly: those that are headers alone, in a folder of their own, as /usr/include also has
# the headers of this machine's C library. What needs another library has a <name>.wasm.cc or is left out (hlosim_library).
set(include ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${include})
foreach(folder fmt nlohmann boost simde)
  file(CREATE_LINK /usr/include/${folder} ${include}/${folder} SYMBOLIC)
endforeach()
file(CREATE_LINK /usr/include/eigen3/Eigen ${include}/Eigen SYMBOLIC)
# Without exceptions, tl::expected copies a value that it was given to move.
file(READ /usr/include/tl/expected.hpp text)
set(moved "construct(std::move(rhs).get());\n    } else {\n      assign_common(")
string(REPLACE "${moved}rhs)" "${moved}std::move(rhs))" text "${text}")
file(CONFIGURE OUTPUT ${include}/tl/expected.hpp CONTENT "${text}" @ONLY)

foreach(target fmt::fmt tl::expected nlohmann_json::nlohmann_json Boost::headers Eigen3::Eigen CLI11::CLI11)
  add_library(${target} INTERFACE IMPORTED)
  target_include_directories(${target} INTERFACE ${include})
endforeach()
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
target_compile_definitions(Boost::headers INTERFACE BOOST_NO_CXX98_FUNCTION_BASE)
target_compile_definitions(nlohmann_json::nlohmann_json INTERFACE
  JSON_NOEXCEPTION JSON_HAS_FILESYSTEM=0 JSON_HAS_EXPERIMENTAL_FILESYSTEM=0)
set(HLOSIM_MPI_LIBRARY)
set(HLOSIM_MPI OFF)
