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
#include "array/memory_pool.h"
#include "exec/program.h"
#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

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
  Result<std::vector<std::vector<Array>>> run(std::vector<std::vector<Array>> inputs);

  std::span<const ShapeRef> parameters() const { return program_->parameters(); }

 private:
  Module& module_;
  const OpTable& table_;
  int64_t devices_;
  MemoryPool& pool_;
  std::unique_ptr<const Program> program_;
};

}  // namespace hlosim
