# LibZip::LibZip, from Debian's libzip-dev. Its own CMake package asks for programs of three other packages.
include(${CMAKE_CURRENT_LIST_DIR}/find_without_package.cmake)
find_without_package(LibZip zip zip.h)
