# hlosim_protos(<target> <file.proto>...): the code that protoc writes for src/<folder>/<file>.proto, seen by the target's
# .cc files alone as "<folder>/<file>.pb.h".
function(hlosim_protos target)
  set(root ${CMAKE_CURRENT_BINARY_DIR}/protos)
  file(MAKE_DIRECTORY ${root})
  foreach(proto IN LISTS ARGN)
    string(REGEX REPLACE "\\.proto$" ".pb" stem ${root}/${proto})
    add_custom_command(OUTPUT ${stem}.cc ${stem}.h
      COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR}/src --cpp_out=${root} ${PROJECT_SOURCE_DIR}/src/${proto}
      DEPENDS ${PROJECT_SOURCE_DIR}/src/${proto}
      COMMENT "Generating ${proto}" VERBATIM)
    target_sources(${target} PRIVATE ${stem}.cc ${stem}.h)
    set_source_files_properties(${stem}.cc PROPERTIES COMPILE_OPTIONS -w SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
  target_include_directories(${target} SYSTEM PRIVATE ${root})
endfunction()
