// A module's runs on all its devices.
//
//   DevicesRun run(module, op_table(), 8, pool);
//   run.prepare(most_bytes), run.peak_bytes()
//   run.run(inputs)                                // of each device; what each leaves
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "array/array.h"
#include "array/compare.h"
#include "array/memory_pool.h"
#include "exec/program.h"
#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

class Stop;

/// It does without other devices, and without knowing which one it runs on.
bool runs_alone(const Module& module, const OpTable& table);

/// Of sums of many numbers: elements may be off by as much as the array's largest ones let them.
Tolerance tolerance_of_sums(const Array& expected, MemoryPool& pool);

class DevicesRun {
 public:
  DevicesRun(Module& module, const OpTable& table, int64_t devices, MemoryPool& pool)
      : module_(module), table_(table), devices_(devices), pool_(pool) {}

  /// Errors: it is wrong, or can't be run.
  Result<void> prepare(int64_t max_constant_bytes);
  /// Of arrays that are alive at once on all devices, at most, if no two share any.
  int64_t peak_bytes() const;
  /// Multiplications of products and convolutions on all devices, and what takes about as long: comparisons
  /// of sorts, convolutions in groups. Loops count once.
  double products() const;
  /// `stop` asked: an error. May be null.
  Result<std::vector<std::vector<Array>>> run(std::vector<std::vector<Array>> inputs,
                                              const Stop* stop = nullptr);

  std::span<const ShapeRef> parameters() const { return program_->parameters(); }
  std::span<const ShapeRef> results() const { return program_->results(); }

 private:
  Module& module_;
  const OpTable& table_;
  int64_t devices_;
  MemoryPool& pool_;
  std::unique_ptr<const Program> program_;
};

}  // namespace hlosim
