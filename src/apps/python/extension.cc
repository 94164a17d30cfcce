// hlosim._core, what the package `hlosim` of Python is made of: calls of commands, modules, layouts.
// Everything that people see - names, defaults, errors as exceptions, tables - is Python's (python/hlosim).
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <vector>

#include "embed/call.h"
#include "model/version.h"
#include "python/array_exchange.h"
#include "python/findings.h"
#include "python/interruptible.h"
#include "python/layout_object.h"
#include "python/module_object.h"
#include "study/sweep_run.h"

namespace py = pybind11;

namespace hlosim::python {
namespace {

/// [(name, text or bytes, modules)], as the line names them.
using Inputs = std::vector<std::tuple<std::string, py::object, std::vector<ModuleObject>>>;

Exchange exchange_of(const Inputs& inputs) {
  Exchange exchange;
  for (const auto& [name, text, modules] : inputs) {
    InputAtHand one{name, text.is_none() ? nullptr : source_of(name, text), {}};
    for (const ModuleObject& module : modules) one.modules.push_back(module.module);
    if (!one.source && modules.size() == 1) one.source = modules[0].module->source;
    exchange.inputs.push_back(std::move(one));
  }
  return exchange;
}

py::tuple tuple_of(CallResult result) {
  return py::make_tuple(result.code, py::bytes(result.out), result.err, list_of(result.findings));
}

/// Calls a command; looks at `progress` now and then, for which `on_progress(done, total)` is called.
py::tuple call_command(const std::vector<std::string>& line, const Inputs& inputs,
                       std::optional<double> max_seconds, const py::object& on_progress) {
  Exchange exchange = exchange_of(inputs);
  SweepProgress progress;
  exchange.sweep = &progress;
  Stop stop;
  const auto look = [&] {
    if (!on_progress.is_none()) on_progress(progress.done.load(), progress.total.load());
  };
  return tuple_of(
      interruptible(stop, max_seconds, look, [&] { return call(line, std::move(exchange), stop); }));
}

/// The call of `run`: arrays in, ((device, [leaf, …]), …) out.
py::tuple run_module(const std::vector<std::string>& line, const ModuleObject& module,
                     const std::vector<std::vector<GivenArray>>& arrays, std::optional<double> max_seconds) {
  Exchange exchange;
  exchange.inputs.push_back({line.at(1), module.module->source, {module.module}});
  exchange.arrays = numpy_arrays(arrays);
  std::vector<DeviceLeaves> outputs;
  exchange.outputs = [&](const std::string& device, std::span<const Array> leaves) {
    outputs.push_back({device, copies_of(leaves)});
  };
  Stop stop;
  CallResult result = interruptible(
      stop, max_seconds, [] {}, [&] { return call(line, std::move(exchange), stop); });
  return py::make_tuple(tuple_of(std::move(result)), list_of(std::move(outputs)));
}

py::tuple load(const std::string& path, const py::object& text, const std::vector<std::string>& options) {
  const SourcePtr source = text.is_none() ? nullptr : source_of(path, text);
  Stop stop;
  LoadResult loaded = interruptible(
      stop, std::nullopt, [] {}, [&] { return load_for_calls(path, source, options); });
  std::vector<ModuleObject> modules;
  for (const auto& module : loaded.modules) modules.push_back({module});
  return py::make_tuple(std::move(modules), list_of(loaded.findings));
}

}  // namespace
}  // namespace hlosim::python

PYBIND11_MODULE(_core, core) {
  using namespace hlosim::python;
  core.doc() = "What the package hlosim calls; see hlosim.";
  core.attr("version") = HLOSIM_VERSION;
  core.attr("model_version") = hlosim::kModelVersion;
  add_module_object(core);
  add_layout_object(core);
  add_leaf(core);
  core.def("load", &load, py::arg("path"), py::arg("text"), py::arg("options"));
  core.def("call", &call_command, py::arg("line"), py::arg("inputs"), py::arg("max_seconds") = py::none(),
           py::arg("on_progress") = py::none());
  core.def("run", &run_module, py::arg("line"), py::arg("module"), py::arg("arrays"),
           py::arg("max_seconds") = py::none());
}
