# `cmake --install`: the program, the libraries as the CMake package hlosim::hlosim, the headers under
# include/hlosim, the device files and the documentation.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hlosim)
get_property(libraries GLOBAL PROPERTY HLOSIM_LIBRARIES)

install(TARGETS hlosim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(TARGETS ${libraries} hlosim_all EXPORT hlosim-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT hlosim-targets NAMESPACE hlosim:: DESTINATION ${package_dir})

configure_package_config_file(cmake/hlosim-config.cmake.in hlosim-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(hlosim-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hlosim-config.cmake cmake/FindLibZip.cmake cmake/FindRE2.cmake
  cmake/find_without_package.cmake ${CMAKE_CURRENT_BINARY_DIR}/hlosim-config-version.cmake DESTINATION ${package_dir})

install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/hlosim COMPONENT program OPTIONAL)
