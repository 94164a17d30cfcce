# hlosim_library(<folder> <dependency>...): the static library hlosim_<folder> of src/<folder>.
function(hlosim_library folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cc)
  add_library(hlosim_${folder} STATIC ${sources})
  set_target_properties(hlosim_${folder} PROPERTIES EXPORT_NAME ${folder})
  target_include_directories(hlosim_${folder} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<INSTALL_INTERFACE:include/hlosim>)
  target_compile_features(hlosim_${folder} PUBLIC cxx_std_20)
  target_link_libraries(hlosim_${folder} PUBLIC ${ARGN})
  hlosim_warnings(hlosim_${folder})
endfunction()

function(hlosim_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wpedantic)
  # g++ 12 warns of impossible overlaps inside std::string (GCC bug 105651).
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  if(HLOSIM_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
