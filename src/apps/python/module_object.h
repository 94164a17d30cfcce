// A module as Python holds it.
//
//   ModuleObject object{module};
//   object.text()                                  // as `hlosim print` prints it
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "hlo/module.h"

namespace hlosim::python {

struct ModuleObject {
  std::shared_ptr<const Module> module;
  std::string text() const;
};

/// The class _core.Module.
void add_module_object(pybind11::module_& core);

}  // namespace hlosim::python
