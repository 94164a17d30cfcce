// Arrays between NumPy and the arrays of modules: descriptions and bytes, so that nothing here depends on
// NumPy.
//
//   exchange.arrays = numpy_arrays({{{"<f4", {2, 3}, buffer}}});
//   exchange.outputs = [&](auto& device, auto leaves) { outputs.push_back({device, copies_of(leaves)}); };
#pragma once

#include <pybind11/pybind11.h>

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "array/array.h"
#include "array/npy.h"

namespace hlosim::python {

/// (descr, shape, row-major bytes as anything with the buffer protocol).
using GivenArray = std::tuple<std::string, std::vector<int64_t>, pybind11::buffer>;

/// Lists of the devices. The bytes stay where they are: `given` has to outlive the result.
std::vector<std::vector<NumpyArray>> numpy_arrays(const std::vector<std::vector<GivenArray>>& given);

/// One result, on its own. Python sees its bytes by the buffer protocol, and may write to them.
struct Leaf {
  std::string type;  // "f32"; empty: a token
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
};
std::vector<Leaf> copies_of(std::span<const Array> leaves);

struct DeviceLeaves {
  std::string device;  // "device-3"; empty where there is one
  std::vector<Leaf> leaves;
};
/// [(device, [Leaf, …]), …]
pybind11::list list_of(std::vector<DeviceLeaves> outputs);

/// The class _core.Leaf.
void add_leaf(pybind11::module_& core);

}  // namespace hlosim::python
