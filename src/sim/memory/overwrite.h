// Whether an instruction's output may be written where one of its operands lies, when that operand isn't
// needed elsewhere any more.
//
//   const Overwrites overwrites(module, table, users, SharingRules::kDefault);
//   overwrites.allowed(x, {}, add, {})             // add(x, y) may be written where x lies
#pragma once

#include <cstdint>
#include <span>

#include "hlo/module.h"
#include "hlo/op_def.h"
#include "hlo/user_index.h"

namespace hlosim {

/// Backends add rules of their own.
enum class SharingRules : uint8_t {
  kDefault,
  kGpu2022,  // the bias of a library gemm, all-reduce, fusions of slices
};

class Overwrites {
 public:
  /// Requires: all of them outlive the object.
  Overwrites(const Module& module, const OpTable& table, const UserIndex& users, SharingRules rules)
      : module_(module), table_(table), users_(users), rules_(rules) {}

  /// May part `user_index` of what `user` makes lie where `index` of `operand`, an operand of it, lies?
  bool allowed(InstructionId operand, std::span<const int64_t> index, InstructionId user,
               std::span<const int64_t> user_index) const;

 private:
  enum class Answer : uint8_t { kNo, kYes, kUnknown };
  Answer backend_rule(InstructionId operand, std::span<const int64_t> index, InstructionId user,
                      std::span<const int64_t> user_index) const;
  bool into_fusion(InstructionId parameter, const Instruction& fusion) const;
  bool only_elementwise_users(InstructionId from) const;
  bool reaches_elementwise(InstructionId parameter, InstructionId output) const;
  bool is_elementwise(const Instruction& instruction, int64_t operand) const;
  bool is_elementwise(const Instruction& instruction) const;
  bool fusion_is_elementwise(const Instruction& fusion, int64_t operand) const;
  int64_t count_uses(const Instruction& user, InstructionId operand) const;
  int64_t first_use(const Instruction& user, InstructionId operand) const;

  const Module& module_;
  const OpTable& table_;
  const UserIndex& users_;
  SharingRules rules_;
};

}  // namespace hlosim
