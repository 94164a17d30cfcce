// A whole program held against its measured time per category.
//
//   const Result<MeasuredProgram> program = measure_program("llama8b_v6e.json", search, limits);
//   program->rows[0].name, program->rows[0].measured_ms, program->rows[0].simulated_ms
//
// The file is a JSON object: "module" (a file beside it), "device", "topology", "flags" of the compiler,
// "step_ms": {"profiled": …}, "categories_ms", and "compare_with": which of them, joined by " + ", are which
// category here. docs/accuracy.md has an example.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/resource_limits.h"
#include "base/source.h"
#include "model/device.h"

namespace hlosim {

struct MeasuredProgram {
  struct Row {
    std::string name;  // a category; "step": all of it
    double measured_ms = 0, simulated_ms = 0;
  };
  std::string name, device;
  std::vector<std::string> files;  // that were read for it
  std::vector<Row> rows;
};

/// Errors, with their place: what the file lacks, a module or a device that can't be read or simulated.
Result<MeasuredProgram> measure_program(const std::string& path, const DeviceSearch& search,
                                        const Limits& limits);

std::string programs_text(std::span<const MeasuredProgram> programs);
std::string programs_markdown(std::span<const MeasuredProgram> programs);

}  // namespace hlosim
