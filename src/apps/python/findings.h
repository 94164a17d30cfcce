// Findings as Python takes them, and texts that come from there.
//
//   list_of(result.findings)  // [(severity, message, hint, file, line, column, text), …]
//   SourcePtr source = source_of("<text>", py::str("HloModule m…"));
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "base/source.h"

namespace hlosim::python {

/// The place is (None, None, None) where there is none; `text` is the whole finding as the program prints it.
pybind11::list list_of(const std::vector<Diagnostic>& findings);

/// Throws py::type_error where it is neither str nor bytes.
SourcePtr source_of(const std::string& name, const pybind11::object& text);

}  // namespace hlosim::python
