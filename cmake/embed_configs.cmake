# The device files of configs/ as a C++ source: one raw string per file. CMake runs this file as a script
# (-DOUTPUT=... -DDIRECTORY=...) when one of them changed.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB files ${DIRECTORY}/*.yaml)
  set(code "// Generated from configs/*.yaml by cmake/embed_configs.cmake.\n#include \"model/builtin_configs.h\"\n\n")
  string(APPEND code "namespace hlosim {\nnamespace {\n\nconstexpr BuiltinConfig kConfigs[] = {\n")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM name)
    file(READ "${file}" text)
    string(APPEND code "    {\"${name}\", R\"hlosim(${text})hlosim\"},\n")
  endforeach()
  string(APPEND code "};\n\n}  // namespace\n\n")
  string(APPEND code "std::span<const BuiltinConfig> builtin_configs() { return kConfigs; }\n\n}  // namespace hlosim\n")
  file(WRITE "${OUTPUT}" "${code}")
  return()
endif()

# hlosim_embed_configs(<target>): adds builtin_configs() to the target.
function(hlosim_embed_configs target)
  file(GLOB configs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/configs/*.yaml)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/builtin_configs.cc)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DDIRECTORY=${PROJECT_SOURCE_DIR}/configs
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_configs.cmake
    DEPENDS ${configs} ${PROJECT_SOURCE_DIR}/cmake/embed_configs.cmake
    COMMENT "Embedding configs/*.yaml" VERBATIM)
  target_sources(${target} PRIVATE ${output})
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
