# The package hlosim of Python (docs/python.md): src/apps/python, the extension, beside what is written in Python in
# python/hlosim. In the build's folder python/ it can be used as it is: PYTHONPATH=build/release/python.
#
# It is built for Debian's Python unless Python_EXECUTABLE names another one, and left out where pybind11 or Python's headers
# are missing, and under sanitizers, which would have to be in the interpreter.
set(HLOSIM_PYTHON_DIR lib/python3/dist-packages CACHE STRING "Where the package is installed, below the prefix")
if(HLOSIM_PYTHON AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  if(NOT Python_EXECUTABLE AND EXISTS /usr/bin/python3)
    set(Python_EXECUTABLE /usr/bin/python3)
  endif()
  find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
  find_package(pybind11 QUIET CONFIG)
endif()
if(NOT Python_Development.Module_FOUND OR NOT pybind11_FOUND)
  message(STATUS "No package for Python (scripts/setup python installs what it needs)")
  set(HLOSIM_PYTHON OFF)
  return()
endif()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/apps/python/*.cc)
pybind11_add_module(hlosim_python MODULE NO_EXTRAS ${sources})
set(python_package ${PROJECT_BINARY_DIR}/python/hlosim)
set_target_properties(hlosim_python PROPERTIES OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY ${python_package})
target_link_libraries(hlosim_python PRIVATE hlosim_embed)
target_compile_definitions(hlosim_python PRIVATE HLOSIM_VERSION="${PROJECT_VERSION}")
hlosim_compile_options(hlosim_python)
# Of what it is linked from nobody else in the process sees a symbol.
target_link_options(hlosim_python PRIVATE LINKER:--exclude-libs,ALL)

# What is written in Python lies beside it by links, so that changes hold at once.
file(GLOB files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/hlosim ${PROJECT_SOURCE_DIR}/python/hlosim/*.py
  ${PROJECT_SOURCE_DIR}/python/hlosim/*.pyi ${PROJECT_SOURCE_DIR}/python/hlosim/py.typed)
file(MAKE_DIRECTORY ${python_package})
foreach(file IN LISTS files)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/hlosim/${file} ${python_package}/${file} SYMBOLIC)
endforeach()

# As Python's tools find it: its name and version, and the plugin of pytest.
set(dist_info ${PROJECT_BINARY_DIR}/python/hlosim-${PROJECT_VERSION}.dist-info)
configure_file(python/METADATA.in ${dist_info}/METADATA @ONLY)
configure_file(python/entry_points.txt ${dist_info}/entry_points.txt COPYONLY)
install(TARGETS hlosim_python LIBRARY DESTINATION ${HLOSIM_PYTHON_DIR}/hlosim COMPONENT python OPTIONAL)
list(TRANSFORM files PREPEND python/hlosim/)
install(FILES ${files} DESTINATION ${HLOSIM_PYTHON_DIR}/hlosim COMPONENT python)
install(DIRECTORY ${dist_info} DESTINATION ${HLOSIM_PYTHON_DIR} COMPONENT python)
