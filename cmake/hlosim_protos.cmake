# hlosim_protos(<target> <file.proto>...): the code that protoc writes for <folder>/<file>.proto of the current district,
# seen by the target's .cc files alone as "<folder>/<file>.pb.h". Builds for WebAssembly have none.
function(hlosim_protos target)
  if(HLOSIM_WASM)
    return()  # no protobuf
  endif()
  set(root ${CMAKE_CURRENT_BINARY_DIR}/protos)
  file(MAKE_DIRECTORY ${root})
  foreach(proto IN LISTS ARGN)
    string(REGEX REPLACE "/.*" "" folder ${proto})
    hlosim_folder(${folder} sources excluded)
    string(REGEX REPLACE "\\.proto$" ".pb" stem ${root}/${proto})
    add_custom_command(OUTPUT ${stem}.cc ${stem}.h
      COMMAND protobuf::protoc --proto_path=${sources} --cpp_out=${root} ${sources}/${proto}
      DEPENDS ${sources}/${proto}
      COMMENT "Generating ${proto}" VERBATIM)
    target_sources(${target} PRIVATE ${stem}.cc ${stem}.h)
    set_source_files_properties(${stem}.cc PROPERTIES COMPILE_OPTIONS -w SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
  target_include_directories(${target} SYSTEM PRIVATE ${root})
endfunction()
