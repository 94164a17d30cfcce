#include "python/findings.h"

namespace py = pybind11;

namespace hlosim::python {
namespace {

/// As text, whatever bytes a module holds.
py::object text_of(const std::string& text) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

std::string_view word_of(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "";
}

}  // namespace

py::list list_of(const std::vector<Diagnostic>& findings) {
  py::list all;
  for (const Diagnostic& one : findings) {
    py::object file = py::none(), line = py::none(), column = py::none();
    if (one.source) {
      const LineColumn place = one.source->locate(one.offset);
      file = text_of(one.source->name());
      line = py::int_(place.line);
      column = py::int_(place.column);
    }
    all.append(py::make_tuple(word_of(one.severity), text_of(one.message), text_of(one.hint), file, line,
                              column, text_of(render(one))));
  }
  return all;
}

SourcePtr source_of(const std::string& name, const py::object& text) {
  if (!py::isinstance<py::str>(text) && !py::isinstance<py::bytes>(text))
    throw py::type_error("expects str or bytes");
  return std::make_shared<const SourceFile>(name, text.cast<std::string>());
}

}  // namespace hlosim::python
