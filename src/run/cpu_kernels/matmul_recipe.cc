#include "cpu_kernels/matmul_recipe.h"

#include "base/check.h"
#include "cpu_kernels/float_codes.h"

namespace hlosim {
namespace {

bool is_narrow_float(ElementType type) { return is_float(type) && type != ElementType::kF64; }

bool is_byte(ElementType type) { return (is_integer(type) || is_pred(type)) && byte_width(type) == 1; }

/// As a signed byte it has the same value.
bool fits_s8(ElementType type) { return is_byte(type) && type != ElementType::kU8; }

/// Stored in at most two bytes; u16 only where the sum is cut to 16 bits, so that its sign doesn't matter.
bool fits_s16(ElementType type, ElementType result) {
  if (is_byte(type)) return true;
  return is_integer(type) && byte_width(type) == 2 && (is_signed_integer(type) || byte_width(result) <= 2);
}

PackRecipe f32_pack(ElementType type, const MatmulPackKernels& kernels) {
  switch (type) {
    case ElementType::kF32:
      return {.pack = kernels.f32_from_f32, .copies = true};
    case ElementType::kBF16:
      return {kernels.f32_from_bf16};
    case ElementType::kF16:
      return {kernels.f32_from_f16};
    default:
      return {kernels.f32_from_codes, float_codes(type)};
  }
}

MatmulPack s16_pack(ElementType type, const MatmulPackKernels& kernels) {
  if (byte_width(type) == 2) return kernels.s16_from_s16;
  return is_signed_integer(type) ? kernels.s16_from_s8 : kernels.s16_from_u8;
}

MatmulStore f32_store(ElementType type, const MatmulStoreKernels& kernels) {
  switch (type) {
    case ElementType::kF32:
      return kernels.f32_to_f32;
    case ElementType::kBF16:
      return kernels.f32_to_bf16;
    case ElementType::kF16:
      return kernels.f32_to_f16;
    default:
      return nullptr;
  }
}

void set_skinny(ElementType rhs, const MatmulSkinnyKernels& kernels, MatmulRecipe& recipe) {
  switch (rhs) {
    case ElementType::kF32:
      recipe.stream = kernels.stream_f32, recipe.dots = kernels.dots_f32;
      break;
    case ElementType::kBF16:
      recipe.stream = kernels.stream_bf16, recipe.dots = kernels.dots_bf16;
      break;
    case ElementType::kF16:
      recipe.stream = kernels.stream_f16, recipe.dots = kernels.dots_f16;
      break;
    default:
      break;
  }
}

/// From sums of 32 bits.
MatmulStore integer_store(ElementType type, const MatmulStoreKernels& kernels) {
  switch (type) {
    case ElementType::kPred:
      return kernels.pred;
    case ElementType::kS1:
      return kernels.s1;
    case ElementType::kS2:
      return kernels.s2;
    case ElementType::kS4:
      return kernels.s4;
    case ElementType::kU1:
      return kernels.u1;
    case ElementType::kU2:
      return kernels.u2;
    case ElementType::kU4:
      return kernels.u4;
    default:
      break;
  }
  if (!is_integer(type)) return nullptr;
  switch (byte_width(type)) {
    case 1:
      return kernels.bits8;
    case 2:
      return kernels.bits16;
    case 4:
      return kernels.bits32;
    default:
      return nullptr;
  }
}

std::optional<MatmulRecipe> integer_recipe(ElementType lhs, ElementType rhs, ElementType result,
                                           const MatmulLevel& level) {
  MatmulRecipe recipe;
  recipe.store = integer_store(result, *level.store);
  recipe.sums_are_result = byte_width(result) == 4;
  const MatmulPackKernels& pack = *level.pack;
  if (recipe.store == nullptr) return std::nullopt;
  if (level.vnni && is_byte(lhs) && fits_s8(rhs)) {
    recipe.kind = MatmulKind::kU8S8;
    recipe.compensate = is_signed_integer(lhs);
    recipe.lhs = {pack.bytes4, nullptr, recipe.compensate};
    recipe.rhs = {pack.bytes4};
    return recipe;
  }
  if (fits_s16(lhs, result) && fits_s16(rhs, result)) {
    recipe.kind = MatmulKind::kS16;
    recipe.lhs = {s16_pack(lhs, pack)};
    recipe.rhs = {s16_pack(rhs, pack)};
    return recipe;
  }
  if (byte_width(lhs) != 4 || byte_width(rhs) != 4) return std::nullopt;
  recipe.kind = MatmulKind::kU32;
  recipe.lhs = recipe.rhs = {.pack = pack.bits32, .copies = true};
  recipe.small = level.small->bits32;
  recipe.stream = level.skinny->stream_bits32;
  return recipe;
}

/// The same type of 64 bits all over.
MatmulRecipe wide_recipe(ElementType type, const MatmulLevel& level) {
  MatmulRecipe recipe;
  const bool is_float = type == ElementType::kF64;
  recipe.kind = is_float ? MatmulKind::kF64 : MatmulKind::kU64;
  recipe.lhs = recipe.rhs = {.pack = level.pack->bits64, .copies = true};
  recipe.small = is_float ? level.small->f64 : level.small->bits64;
  recipe.stream = is_float ? level.skinny->stream_f64 : level.skinny->stream_bits64;
  recipe.store = level.store->bits64;
  recipe.sums_are_result = true;
  return recipe;
}

}  // namespace

std::optional<MatmulRecipe> matmul_recipe(ElementType lhs, ElementType rhs, ElementType result,
                                          const MatmulLevel& level) {
  if (is_narrow_float(lhs) && is_narrow_float(rhs) && is_narrow_float(result)) {
    MatmulRecipe recipe;
    recipe.store = f32_store(result, *level.store);
    if (recipe.store == nullptr) return std::nullopt;
    recipe.lhs = f32_pack(lhs, *level.pack);
    recipe.rhs = f32_pack(rhs, *level.pack);
    recipe.sums_are_result = result == ElementType::kF32;
    recipe.small = level.small->f32;
    set_skinny(rhs, *level.skinny, recipe);
    return recipe;
  }
  if (is_complex(lhs) || is_complex(rhs)) return std::nullopt;
  if (bit_width(result) == 64 && lhs == result && rhs == result) return wide_recipe(result, level);
  const auto is_whole = [](ElementType type) { return is_integer(type) || is_pred(type); };
  if (!is_whole(lhs) || !is_whole(rhs)) return std::nullopt;
  if (is_pred(result) && !(is_pred(lhs) && is_pred(rhs))) return std::nullopt;
  return integer_recipe(lhs, rhs, result, level);
}

bool matmul_supports(ElementType lhs, ElementType rhs, ElementType result) {
  if (is_complex(result)) return lhs == result && rhs == result;
  return matmul_recipe(lhs, rhs, result, matmul_level(IsaLevel::kV2, false)).has_value();
}

MatmulLevel matmul_level(IsaLevel level, bool vnni) {
  return {&HLOSIM_PICK_KERNELS(level, kMatmulTiles),  &HLOSIM_PICK_KERNELS(level, kMatmulPack),
          &HLOSIM_PICK_KERNELS(level, kMatmulStore),  &HLOSIM_PICK_KERNELS(level, kMatmulSmall),
          &HLOSIM_PICK_KERNELS(level, kMatmulSkinny), vnni && level == IsaLevel::kV4};
}

bool supports_vnni() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512vnni") != 0;
#else
  return false;
#endif
}

const MatmulLevel& matmul_level() {
  static const MatmulLevel level = [] {
    const Result<IsaLevel> chosen = isa_level();
    HLOSIM_CHECK(chosen.has_value(), "{}", chosen.error().message);
    return matmul_level(*chosen, supports_vnni());
  }();
  return level;
}

}  // namespace hlosim
