# The YAML files of a folder as a C++ source: one raw string per file. CMake runs this file as a script
# (-DOUTPUT=... -DFOLDER=... and the others below) when one of them changed. For WebAssembly they become the JSON that
# src/base/yaml.wasm.cc reads.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB files ${ROOT}/${FOLDER}/*.yaml)
  set(code "// Generated from ${FOLDER}/*.yaml by cmake/embed_files.cmake.\n#include \"${HEADER}\"\n\n")
  string(APPEND code "namespace hlosim {\nnamespace {\n\nconstexpr ${STRUCT} kFiles[] = {\n")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM LAST_ONLY name)
    if(AS_JSON)
      execute_process(COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/yaml_to_json.py ${file}
        OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    else()
      file(READ "${file}" text)
    endif()
    string(APPEND code "    {\"${name}\", R\"hlosim(${text})hlosim\"},\n")
  endforeach()
  string(APPEND code "};\n\n}  // namespace\n\n")
  string(APPEND code "std::span<const ${STRUCT}> ${FUNCTION}() { return kFiles; }\n\n}  // namespace hlosim\n")
  file(WRITE "${OUTPUT}" "${code}")
  return()
endif()

# hlosim_embed_files(<target> <folder> <function> <header> <struct>): adds function() to the target, which the
# header declares; its struct has a name and a text.
function(hlosim_embed_files target folder function header struct)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.yaml)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${function}.cc)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DROOT=${PROJECT_SOURCE_DIR} -DFOLDER=${folder}
            -DFUNCTION=${function} -DHEADER=${header} -DSTRUCT=${struct} -DAS_JSON=${HLOSIM_WASM}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake ${PROJECT_SOURCE_DIR}/cmake/yaml_to_json.py
    COMMENT "Embedding ${folder}/*.yaml" VERBATIM)
  target_sources(${target} PRIVATE ${output})
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
