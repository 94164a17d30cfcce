#include "python/module_object.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <vector>

#include "cli/execute/run_inputs.h"
#include "hlo/printer.h"
#include "layout/shape_text.h"
#include "ops/op_table.h"
#include "report/report.h"

namespace py = pybind11;

namespace hlosim::python {
namespace {

/// [(name, "f32[2,3]{1,0}", "f32", (2, 3))], a row per array; tokens have no type.
py::list arrays_of(const std::vector<ParameterLeaf>& leaves) {
  py::list rows;
  for (const ParameterLeaf& leaf : leaves) {
    const bool is_array = leaf.shape->is_array();
    py::list sizes;
    for (int64_t i = 0; is_array && i < leaf.shape->rank(); ++i) sizes.append(leaf.shape->dim(i));
    rows.append(py::make_tuple(leaf.name, to_text(leaf.shape),
                               is_array ? py::object(py::str(std::string(to_text(leaf.shape->element_type))))
                                        : py::object(py::none()),
                               py::tuple(sizes)));
  }
  return rows;
}

void add_result_leaves(ShapeRef shape, std::vector<ParameterLeaf>& leaves) {
  if (!shape->is_tuple()) {
    leaves.push_back({shape, fmt::format("output {}", leaves.size())});
    return;
  }
  for (const ShapeRef element : shape->elements) add_result_leaves(element, leaves);
}

py::list results_of(const ModuleObject& object) {
  const Module& module = *object.module;
  std::vector<ParameterLeaf> leaves;
  add_result_leaves(module.root(module.entry).shape, leaves);
  return arrays_of(leaves);
}

}  // namespace

std::string ModuleObject::text() const { return to_text(*module, op_table()); }

void add_module_object(py::module_& core) {
  py::class_<ModuleObject>(core, "Module")
      .def_property_readonly("name", [](const ModuleObject& m) { return std::string(m.module->name); })
      .def_property_readonly(
          "file", [](const ModuleObject& m) { return m.module->source ? m.module->source->name() : ""; })
      .def_property_readonly("fingerprint",
                             [](const ModuleObject& m) { return module_fingerprint(*m.module, op_table()); })
      .def_property_readonly("is_scheduled", [](const ModuleObject& m) { return m.module->is_scheduled(); })
      .def_property_readonly("replicas", [](const ModuleObject& m) { return m.module->replica_count(); })
      .def_property_readonly("partitions", [](const ModuleObject& m) { return m.module->num_partitions(); })
      .def_property_readonly("instructions",
                             [](const ModuleObject& m) { return m.module->instructions.size(); })
      .def_property_readonly(
          "gives_tuple",
          [](const ModuleObject& m) { return m.module->root(m.module->entry).shape->is_tuple(); })
      .def("parameters", [](const ModuleObject& m) { return arrays_of(parameter_leaves(*m.module)); })
      .def("results", &results_of)
      .def("text", &ModuleObject::text);
}

}  // namespace hlosim::python
