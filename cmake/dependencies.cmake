# Every package comes from Debian 12 (scripts/setup installs them); nothing is downloaded.

# What a program that links hlosim needs too: the exported package looks for the same list.
set(HLOSIM_DEPENDENCIES fmt tl-expected yaml-cpp TBB LibZip)
# Headers that our .cc files alone include.
set(HLOSIM_BUILD_DEPENDENCIES Boost Eigen3 nlohmann_json CLI11)

list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
foreach(package IN LISTS HLOSIM_DEPENDENCIES HLOSIM_BUILD_DEPENDENCIES)
  find_package(${package} REQUIRED)
endforeach()
