// What `hlosim run` says of values.
//
//   std::cout << literal_text(output, shapes);       // f32[2] {1, 2}
//   std::cout << statistics_text(output);
#pragma once

#include <span>
#include <string>
#include <vector>

#include "array/array.h"
#include "array/compare.h"
#include "hlo/module.h"

namespace hlosim {

/// HLO text of the value after its shape: `f32[2] {1, 2}`; of the runtime sizes where there are some.
std::string literal_text(const Array& array, ShapePool& shapes);

/// Type, sizes and statistics: `f32[2,3]  min -1  max 2  mean 0.5  NaN 0  inf 0  crc32c 1a2b3c4d`.
std::string statistics_text(const Array& array);

/// A table of the outputs with their statistics.
std::string outputs_text(std::span<const Array> outputs);

/// One output beside what was expected of it.
struct ComparedOutput {
  const Array* actual = nullptr;
  const Array* expected = nullptr;  // null: a token
  Comparison comparison;
};

/// A table of differences, and how many outputs are outside of the tolerance.
std::string comparison_text(std::span<const ComparedOutput> outputs);

}  // namespace hlosim
