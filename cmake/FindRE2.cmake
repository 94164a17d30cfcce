# RE2::RE2, from Debian's libre2-dev, which has no CMake package.
include(${CMAKE_CURRENT_LIST_DIR}/find_without_package.cmake)
find_without_package(RE2 re2 re2/re2.h)
