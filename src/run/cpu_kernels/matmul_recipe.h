// How a product of given types is computed on a given machine.
//
//   const MatmulLevel level = matmul_level(IsaLevel::kV3, false);
//   const auto recipe = matmul_recipe(ElementType::kBF16, ElementType::kBF16, ElementType::kF32, level);
//   blocked_matmul(product, *recipe, level);
#pragma once

#include <optional>

#include "cpu_kernels/matmul.h"
#include "cpu_kernels/matmul_kernels.h"

namespace hlosim {

/// The kernels of one instruction set level.
struct MatmulLevel {
  const MatmulTileKernels* tiles = nullptr;
  const MatmulPackKernels* pack = nullptr;
  const MatmulStoreKernels* store = nullptr;
  const MatmulSmallKernels* small = nullptr;
  const MatmulSkinnyKernels* skinny = nullptr;
  bool vnni = false;
};

/// `vnni`: the processor has AVX512_VNNI; without effect below v4.
MatmulLevel matmul_level(IsaLevel level, bool vnni);
/// This process's (isa_level(), whose errors are reported when the program starts).
const MatmulLevel& matmul_level();
bool supports_vnni();

/// matmul() with the kernels of `level`.
void matmul(const Matmul& product, const MatmulLevel& level);

struct PackRecipe {
  MatmulPack pack = nullptr;
  const float* values = nullptr;  // MatmulPanel
  bool flip = false;
  bool copies = false;  // elements are what is computed with
};

struct MatmulRecipe {
  MatmulKind kind = MatmulKind::kF32;
  PackRecipe lhs, rhs;
  MatmulStore store = nullptr;
  bool sums_are_result = false;  // store() copies bits: tiles may write the result
  bool compensate = false;       // kU8S8: 128 was added to lhs
  /// Of operands where they lie, null where there is none: small ones, few rows of lhs with neighbouring
  /// columns of rhs, and with neighbouring rows of rhs.
  MatmulDirectFn small = nullptr, stream = nullptr, dots = nullptr;
};

/// Nothing if there is no such product (matmul_supports()). c64 and c128 have none: they are cut into real
/// products first.
std::optional<MatmulRecipe> matmul_recipe(ElementType lhs, ElementType rhs, ElementType result,
                                          const MatmulLevel& level);

/// Products without batch, any sizes above 0: with a recipe by the best of these two, in blocks of packed
/// panels, and of complex numbers.
void real_matmul(const Matmul& product, const MatmulLevel& level);
/// False, and nothing is done, if packing is better.
bool direct_matmul(const Matmul& product, const MatmulRecipe& recipe, const MatmulLevel& level);
void blocked_matmul(const Matmul& product, const MatmulRecipe& recipe, const MatmulLevel& level);
void complex_matmul(const Matmul& product, const MatmulLevel& level);

/// Steps of k that a blocked product of `steps` sums front to back; sums of blocks are added.
int64_t matmul_block_steps(int64_t steps);

/// By threads and by strips of columns whose results stay in cache: kernel() of a skinny product, and of
/// every `block` steps of k by itself, whose sums are added. `rhs_bytes` and `bytes` are those of an element,
/// or of a part of a complex number, of rhs and of the sums.
void stream_columns(const MatmulDirect& product, MatmulDirectFn kernel, int64_t block, int64_t rhs_bytes,
                    int64_t bytes);

}  // namespace hlosim
