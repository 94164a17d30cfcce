#include "python/array_exchange.h"

#include <pybind11/stl.h>

#include <cstring>

#include "array/byte_packing.h"

namespace py = pybind11;

namespace hlosim::python {

std::vector<std::vector<NumpyArray>> numpy_arrays(const std::vector<std::vector<GivenArray>>& given) {
  std::vector<std::vector<NumpyArray>> lists;
  for (const auto& one : given) {
    std::vector<NumpyArray>& list = lists.emplace_back();
    for (const auto& [type, shape, buffer] : one) {
      const py::buffer_info bytes = buffer.request();
      list.push_back({type, shape, static_cast<const std::byte*>(bytes.ptr), bytes.size * bytes.itemsize});
    }
  }
  return lists;
}

std::vector<Leaf> copies_of(std::span<const Array> leaves) {
  std::vector<Leaf> copies;
  for (const Array& leaf : leaves) {
    Leaf& copy = copies.emplace_back();
    if (!leaf.shape->is_array()) continue;
    copy.type = to_text(leaf.type());
    copy.shape = runtime_sizes(leaf);
    copy.bytes =
        leaf.sizes ? pack(leaf) : std::vector<std::byte>(leaf.bytes(), leaf.bytes() + data_bytes(leaf.shape));
  }
  return copies;
}

py::list list_of(std::vector<DeviceLeaves> outputs) {
  py::list all;
  for (DeviceLeaves& one : outputs) {
    py::list leaves;
    for (Leaf& leaf : one.leaves) leaves.append(py::cast(std::move(leaf)));
    all.append(py::make_tuple(one.device, leaves));
  }
  return all;
}

void add_leaf(py::module_& core) {
  py::class_<Leaf>(core, "Leaf", py::buffer_protocol())
      .def_property_readonly("type", [](const Leaf& leaf) { return leaf.type; })
      .def_property_readonly("shape", [](const Leaf& leaf) { return py::tuple(py::cast(leaf.shape)); })
      .def_buffer([](Leaf& leaf) {
        return py::buffer_info(reinterpret_cast<uint8_t*>(leaf.bytes.data()),
                               static_cast<py::ssize_t>(leaf.bytes.size()));
      });
}

}  // namespace hlosim::python
