// What most tests include, compiled once (cmake/hlosim_library.cmake, hlosim_common_headers).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../cmake/hlosim_common.h"
