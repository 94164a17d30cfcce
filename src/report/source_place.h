// Where in a program an instruction comes from, as its metadata says: source_file and source_line, or a
// frame of the module's tables FileNames, FileLocations and StackFrames.
//
//   const SourcePlaces places(module);
//   const SourcePlace place = places.of(module[id]);                       // {"model.py", 12}
//   places.stack_of(module[id])                                            // "main.py:3:1\nmodel.py:12:9\n"
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/source.h"
#include "hlo/module.h"

namespace hlosim {

struct SourcePlace {
  std::string_view file;  // as written between the quotes; empty: unknown
  int64_t line = 0;       // 0: unknown
};

/// Whether places in it are lines: not of MLIR's bytecode and the artifacts that hold it.
bool has_lines(const SourceFile& source);

/// The value of `key` in the metadata, as written without quotes; empty: it has none.
std::string_view metadata_value(const Instruction& instruction, std::string_view key);
/// What a text that was written between quotes means.
std::string without_escapes(std::string_view text);

class SourcePlaces {
 public:
  /// The module outlives it; places are views into its text.
  explicit SourcePlaces(const Module& module);

  SourcePlace of(const Instruction& instruction) const;
  /// The calls that led there as profilers write them, `file:line:column` each on a line, the outermost
  /// first; empty where the module has no tables of them.
  std::string stack_of(const Instruction& instruction) const;

 private:
  struct Frame {
    SourcePlace place;
    int64_t column = 0;
    int64_t parent = 0;  // 0: none
  };

  std::map<int64_t, Frame> frames_;
};

}  // namespace hlosim
