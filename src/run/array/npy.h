// Arrays in NumPy's files: .npy, and .npz (a zip of them).
//
// What NumPy has a type for must come as that type, in either byte order, C or Fortran order. What it lacks
// (bf16, f8*, s4, …) comes as void ('V2'), as unsigned integers or under the name that ml_dtypes gives it,
// one element per byte_width() bytes; sub-byte signed integers as int8 too. It is written as void.
//
//   Result<Array> weights = read_npy("weights.npy", shape, pool);
//   if (!weights) return tl::unexpected(weights.error());                  // names the file and what came
//   write_npy("copy.npy", *weights)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "array/array.h"
#include "base/source.h"
#include "base/staged_files.h"

namespace hlosim {

/// The array in `path`, which must have the type and dimensions of `expected` (an array shape; where that is
/// dynamic, at most its bounds; one of shape (1,) may stand for a scalar). Nothing is allocated before the
/// header agrees. Errors name the file, what was expected and what came; or what in the file isn't
/// understood.
Result<Array> read_npy(const std::string& path, ShapeRef expected, MemoryPool& pool);

/// An opened .npz file.
class NpzFile {
 public:
  static Result<NpzFile> open(const std::string& path);
  NpzFile(NpzFile&&) noexcept;
  NpzFile& operator=(NpzFile&&) noexcept;
  ~NpzFile();

  const std::string& path() const;
  /// Names of the members, with their `.npy`, in the order of the archive.
  const std::vector<std::string>& members() const;
  /// As read_npy(). Requires: member < members().size().
  Result<Array> read(size_t member, ShapeRef expected, MemoryPool& pool) const;

 private:
  struct State;
  explicit NpzFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// An array as NumPy holds it in memory, row-major.
struct NumpyArray {
  std::string type;  // the `descr` of a .npy file: "<f4", "|V2", "bfloat16"
  std::vector<int64_t> shape;
  const std::byte* data = nullptr;
  int64_t bytes = 0;
};
/// A copy of it, by the rules of read_npy().
Result<Array> from_numpy(const NumpyArray& given, ShapeRef expected, MemoryPool& pool);

/// Writes `array` as .npy: to a temporary, then renamed. Of an array with runtime sizes, the part within
/// them.
Result<void> write_npy(const std::string& path, const Array& array);

/// The same, as one of several files that appear together.
Result<void> stage_npy(StagedFiles& files, const std::string& path, const Array& array);

}  // namespace hlosim
