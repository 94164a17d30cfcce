// Module → HLO text. Reading the result gives the same module; printing that gives the same text.
//
//   std::cout << to_text(module, op_table());
//   PrintOptions options;
//   options.metadata = false;
//   to_text(module, module[id], op_table(), options)       // "%sum = f32[8]{0} add(%x, %y)"
#pragma once

#include <string>

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

struct PrintOptions {
  bool percent = true;          // `%` before names
  bool operand_shapes = false;  // shapes before operand names
  bool signature = true;        // (parameters) -> result after computation names
  bool metadata = true;
};

std::string to_text(const Module& module, const OpTable& table, const PrintOptions& options = {});
/// One instruction without `ROOT` and indentation.
std::string to_text(const Module& module, const Instruction& instruction, const OpTable& table,
                    const PrintOptions& options = {});

}  // namespace hlosim
