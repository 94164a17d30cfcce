# The man page and the completions, which the program writes itself, and `cpack`: Debian packages of the program
# (build/<preset>/hlosim_<version>_amd64.deb) and, where it was built, of the package for Python (python3-hlosim_…).
# Libraries and headers are `cmake --install`'s.
set(manual ${CMAKE_CURRENT_BINARY_DIR}/manual)
add_custom_command(
  OUTPUT ${manual}/hlosim.1 ${manual}/bash ${manual}/_hlosim ${manual}/hlosim.fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${manual}
  COMMAND hlosim man > ${manual}/hlosim.1
  COMMAND hlosim completion bash > ${manual}/bash
  COMMAND hlosim completion zsh > ${manual}/_hlosim
  COMMAND hlosim completion fish > ${manual}/hlosim.fish
  DEPENDS hlosim COMMENT "Writing the man page and the completions" VERBATIM)
add_custom_target(manual ALL DEPENDS ${manual}/hlosim.1)

install(FILES ${manual}/hlosim.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program OPTIONAL)
install(FILES ${manual}/bash RENAME hlosim DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  COMPONENT program OPTIONAL)
install(FILES ${manual}/_hlosim DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program OPTIONAL)
install(FILES ${manual}/hlosim.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program OPTIONAL)

# Neither `install` nor `cpack` builds first: the tests don't belong to either.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hlosim)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "What XLA HLO modules cost on a TPU")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program)
if(HLOSIM_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME hlosim)
set(CPACK_DEBIAN_PROGRAM_FILE_NAME DEB-DEFAULT)
if(HLOSIM_PYTHON)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-hlosim)
  set(CPACK_DEBIAN_PYTHON_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  math(EXPR next_python_minor "${Python_VERSION_MINOR} + 1" OUTPUT_FORMAT DECIMAL)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "python3 (>= ${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}~), python3 (<< ${Python_VERSION_MAJOR}.${next_python_minor})")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-numpy")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pandas, python3-matplotlib, python3-pytest")
endif()
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "hlosim maintainers <hlosim@localhost>")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
