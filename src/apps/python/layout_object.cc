#include "python/layout_object.h"

#include <pybind11/stl.h>

#include <optional>
#include <vector>

#include "layout/describe.h"
#include "layout/shape_text.h"
#include "layout/sizes.h"
#include "python/findings.h"

namespace py = pybind11;

namespace hlosim::python {
namespace {

struct LayoutObject {
  std::shared_ptr<ShapePool> pool;
  ShapeRef shape = nullptr;
  std::shared_ptr<const LayoutMap> map;
};

/// (layout or None, findings)
py::tuple make(const std::string& text) {
  LayoutObject layout{std::make_shared<ShapePool>(), nullptr, nullptr};
  const Result<ShapeRef> shape = parse_shape(*layout.pool, text);
  if (!shape) return py::make_tuple(py::none(), list_of({shape.error()}));
  layout.shape = *shape;
  if (!layout.shape->is_array())
    return py::make_tuple(py::none(), list_of({failure("'" + text + "' is not an array").value()}));
  if (const auto described = describe_layout(*layout.pool, layout.shape); !described)
    return py::make_tuple(py::none(), list_of({described.error()}));
  Result<LayoutMap> map = LayoutMap::make(layout.shape);
  if (!map) return py::make_tuple(py::none(), list_of({map.error()}));
  layout.map = std::make_shared<const LayoutMap>(std::move(*map));
  return py::make_tuple(std::move(layout), py::list());
}

/// Requires: an index in bounds, which Python checks.
int64_t offset_of(const LayoutObject& layout, const std::vector<int64_t>& index) {
  return layout.map->offset(index);
}

/// None: padding.
std::optional<std::vector<int64_t>> index_of(const LayoutObject& layout, int64_t offset) {
  std::vector<int64_t> index(static_cast<size_t>(layout.map->rank()));
  if (!layout.map->index(offset, index)) return std::nullopt;
  return index;
}

}  // namespace

void add_layout_object(py::module_& core) {
  core.def("layout", &make, py::arg("text"));
  py::class_<LayoutObject>(core, "Layout")
      .def_property_readonly("text", [](const LayoutObject& l) { return to_text(l.shape); })
      .def_property_readonly(
          "type", [](const LayoutObject& l) { return std::string(to_text(l.shape->element_type)); })
      .def_property_readonly("shape",
                             [](const LayoutObject& l) {
                               std::vector<int64_t> sizes;
                               for (int64_t i = 0; i < l.shape->rank(); ++i) sizes.push_back(l.shape->dim(i));
                               return py::tuple(py::cast(sizes));
                             })
      .def_property_readonly("extent", [](const LayoutObject& l) { return l.map->extent(); })
      .def_property_readonly("element_bits",
                             [](const LayoutObject& l) { return element_storage_bits(l.shape); })
      .def_property_readonly("unpadded_bytes",
                             [](const LayoutObject& l) { return padding_of(l.shape).unpadded.count(); })
      .def_property_readonly("padded_bytes",
                             [](const LayoutObject& l) { return padding_of(l.shape).padded.count(); })
      .def_property_readonly("expansion", [](const LayoutObject& l) { return padding_of(l.shape).expansion; })
      .def_property_readonly("tiled_dimensions",
                             [](const LayoutObject& l) {
                               const auto sizes = l.map->physical_dimensions();
                               return py::tuple(py::cast(std::vector<int64_t>(sizes.begin(), sizes.end())));
                             })
      .def("offset", &offset_of)
      .def("index", &index_of);
}

}  // namespace hlosim::python
