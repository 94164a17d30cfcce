// Sums to elements of the result.
#include "cpu_kernels/float_bits.h"
#include "cpu_kernels/matmul_kernels.h"

namespace hlosim::HLOSIM_ISA {
namespace {

template <class Sum, class Element, class Convert>
void store_block(const MatmulBlock& block, Convert convert) {
  const auto* sums = static_cast<const Sum*>(block.sums);
  auto* result = static_cast<Element*>(block.result);
  for (int64_t row = 0; row < block.rows; ++row) {
    const Sum* from = sums + row * block.sums_stride;
    Element* to = result + row * block.row_stride;
    if (block.column_stride == 1) {
      for (int64_t column = 0; column < block.columns; ++column) to[column] = convert(from[column]);
    } else {
      for (int64_t column = 0; column < block.columns; ++column)
        to[column * block.column_stride] = convert(from[column]);
    }
  }
}

template <class Sum, class Element>
void cut(const MatmulBlock& block) {
  store_block<Sum, Element>(block, [](Sum sum) { return static_cast<Element>(sum); });
}

template <int kBits>
void cut_signed(const MatmulBlock& block) {
  store_block<uint32_t, int8_t>(block, [](uint32_t sum) {
    return static_cast<int8_t>(static_cast<int32_t>(sum << (32 - kBits)) >> (32 - kBits));
  });
}

template <int kBits>
void cut_unsigned(const MatmulBlock& block) {
  store_block<uint32_t, uint8_t>(
      block, [](uint32_t sum) { return static_cast<uint8_t>(sum & ((1u << kBits) - 1)); });
}

void to_bf16(const MatmulBlock& block) { store_block<float, uint16_t>(block, bf16_of_f32); }
void to_f16(const MatmulBlock& block) { store_block<float, uint16_t>(block, f16_of_f32); }
void to_pred(const MatmulBlock& block) {
  store_block<uint32_t, uint8_t>(block, [](uint32_t sum) { return static_cast<uint8_t>(sum != 0); });
}

}  // namespace

const MatmulStoreKernels kMatmulStore = {.f32_to_f32 = cut<float, float>,
                                         .f32_to_bf16 = to_bf16,
                                         .f32_to_f16 = to_f16,
                                         .bits32 = cut<uint32_t, uint32_t>,
                                         .bits64 = cut<uint64_t, uint64_t>,
                                         .bits16 = cut<uint32_t, uint16_t>,
                                         .bits8 = cut<uint32_t, uint8_t>,
                                         .pred = to_pred,
                                         .s1 = cut_signed<1>,
                                         .s2 = cut_signed<2>,
                                         .s4 = cut_signed<4>,
                                         .u1 = cut_unsigned<1>,
                                         .u2 = cut_unsigned<2>,
                                         .u4 = cut_unsigned<4>};

}  // namespace hlosim::HLOSIM_ISA
