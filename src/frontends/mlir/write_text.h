// Writes MLIR text in generic form: what read_text() reads back as the same values.
//
//   mlir::write_text(*file.top)                    // "\"builtin.module\"() ({\n  \"func.func\"() <{…"
//   mlir::to_text(*value.type)                     // "tensor<2x3xf32>"
//
// Values are numbered anew: %arg0, … and %0, … in each function. Attributes stand in one dictionary;
// locations are left out unless asked for.
#pragma once

#include <string>

#include "mlir/ir.h"

namespace hlosim::mlir {

struct WriteOptions {
  bool locations = false;
  int64_t longest_list = 64;  // dense elements beyond it are written in hexadecimal
};

/// An operation with all in it, ends in a line's end.
std::string write_text(const Operation& operation, const WriteOptions& options = {});
std::string write_text(const File& file, const WriteOptions& options = {});

std::string to_text(const Type& type);
std::string to_text(const Attribute& attribute, const WriteOptions& options = {});

}  // namespace hlosim::mlir
