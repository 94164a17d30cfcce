# The page of src/report/html/ as a C++ source: one raw string per file, and the SHA-256 of the style and of the script
# as they stand in the page, which its Content-Security-Policy allows and nothing else. CMake runs this file as a script
# (-DOUTPUT=... -DDIRECTORY=...) when one of them changed.
if(CMAKE_SCRIPT_MODE_FILE)
  set(code "// Generated from src/report/html/ by cmake/embed_page.cmake.\n#include \"report/html/html_assets.h\"\n\n")
  string(APPEND code "namespace hlosim {\n\nHtmlAssets html_assets() {\n  HtmlAssets assets;\n")
  file(READ "${DIRECTORY}/page.html" text)
  string(APPEND code "  assets.frame = R\"hlosim(${text})hlosim\";\n")
  file(READ "${DIRECTORY}/style.css" text)
  string(SHA256 hash "${text}")
  string(APPEND code "  assets.style = R\"hlosim(${text})hlosim\";\n  assets.style_sha256 = \"${hash}\";\n")
  set(begin "(() => {\n")
  set(end "})();\n")
  set(whole "${begin}")
  string(APPEND code "  assets.script = R\"hlosim(${begin})hlosim\";\n")
  file(GLOB scripts ${DIRECTORY}/*.js)
  foreach(script IN LISTS scripts)
    file(READ "${script}" text)
    string(APPEND whole "${text}")
    string(APPEND code "  assets.script += R\"hlosim(${text})hlosim\";\n")
  endforeach()
  string(APPEND whole "${end}")
  string(SHA256 hash "${whole}")
  string(APPEND code "  assets.script += R\"hlosim(${end})hlosim\";\n  assets.script_sha256 = \"${hash}\";\n")
  string(APPEND code "  return assets;\n}\n\n}  // namespace hlosim\n")
  file(WRITE "${OUTPUT}" "${code}")
  return()
endif()

# hlosim_embed_page(<target>): adds html_assets() to the target.
function(hlosim_embed_page target)
  set(directory ${PROJECT_SOURCE_DIR}/src/report/html)
  file(GLOB parts CONFIGURE_DEPENDS ${directory}/*.html ${directory}/*.css ${directory}/*.js)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/html_assets.cc)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DDIRECTORY=${directory}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
    DEPENDS ${parts} ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
    COMMENT "Embedding src/report/html" VERBATIM)
  target_sources(${target} PRIVATE ${output})
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
