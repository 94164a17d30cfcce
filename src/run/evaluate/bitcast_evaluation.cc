// Running bitcasts that read other bytes than the element's own, and bitcast-convert.
#include <algorithm>
#include <cstring>

#include "array/copy_strided.h"
#include "evaluate/data_movement_evaluation.h"
#include "layout/bitcast.h"
#include "layout/sizes.h"

namespace hlosim {

namespace {

// Elements as a string of bits, the first one lowest.
class BitString {
 public:
  BitString(std::byte* bytes, int bits) : bytes_(bytes), bits_(bits) {}

  void write(int64_t element, const std::byte* from) const {
    if (bits_ % 8 == 0) {
      std::memcpy(bytes_ + element * (bits_ / 8), from, static_cast<size_t>(bits_ / 8));
      return;
    }
    const auto value = static_cast<unsigned>(*from);
    for (int b = 0; b < bits_; ++b) {
      const int64_t at = element * bits_ + b;
      const auto mask = static_cast<std::byte>(1u << at % 8);
      bytes_[at / 8] = (value >> b & 1) != 0 ? bytes_[at / 8] | mask : bytes_[at / 8] & ~mask;
    }
  }
  // `type` says how what does not fill its byte is extended.
  void read(int64_t element, ElementType type, std::byte* to) const {
    if (bits_ % 8 == 0) {
      std::memcpy(to, bytes_ + element * (bits_ / 8), static_cast<size_t>(bits_ / 8));
    } else {
      unsigned value = 0;
      for (int b = 0; b < bits_; ++b) {
        const int64_t at = element * bits_ + b;
        value |= (static_cast<unsigned>(bytes_[at / 8]) >> at % 8 & 1) << b;
      }
      *to = static_cast<std::byte>(value);
    }
    extend(type, to);
  }

 private:
  // The byte of a sub-byte type as its low bits say.
  static void extend(ElementType type, std::byte* byte) {
    const int bits = bit_width(type);
    if (bits >= 8) return;
    const auto value = static_cast<unsigned>(*byte) & ((1u << bits) - 1);
    const bool negative = is_signed_integer(type) && (value >> (bits - 1) & 1) != 0;
    *byte = static_cast<std::byte>(negative ? value | ~0u << bits : value);
  }
  std::byte* bytes_;
  int bits_;
};

int64_t bytes_of_bits(int64_t count, int64_t bits) { return (count * bits + 7) / 8; }

// Steps to the next index in row-major order.
void advance(std::vector<int64_t>& index, std::span<const int64_t> dimensions) {
  for (size_t i = index.size(); i-- > 0;) {
    if (++index[i] < dimensions[i]) return;
    index[i] = 0;
  }
}

// Does some place of the result hold no element of the operand?
bool reads_padding(const LayoutMap& places_from, ShapeRef from, const LayoutMap& places_to, ShapeRef to) {
  std::vector<int64_t> index(to->dimensions.size(), 0), source(from->dimensions.size(), 0);
  for (int64_t k = 0; k < to->element_count(); ++k, advance(index, to->dimensions))
    if (!bitcast_source(places_from, places_to, index, source)) return true;
  return false;
}

// An array's dimensions from major to minor as its layout orders them, with the strides of dense logical
// order.
StridedView in_layout_order(ShapeRef shape) {
  const StridedView logical = dense_view(shape->dimensions);
  StridedView view;
  for (int64_t i = shape->rank(); i-- > 0;) {
    const auto dimension = shape->layout
                               ? static_cast<size_t>(shape->layout->minor_to_major[static_cast<size_t>(i)])
                               : static_cast<size_t>(shape->rank() - 1 - i);
    view.dimensions.push_back(logical.dimensions[dimension]);
    view.strides.push_back(logical.strides[dimension]);
  }
  return view;
}

// The logical order of an array whose elements lie densely in the order of its layout.
StridedView from_layout_order(ShapeRef shape) {
  StridedView view = dense_view(shape->dimensions);
  int64_t stride = 1;
  for (int64_t i = 0; i < shape->rank(); ++i) {
    const auto dimension = shape->layout
                               ? static_cast<size_t>(shape->layout->minor_to_major[static_cast<size_t>(i)])
                               : static_cast<size_t>(shape->rank() - 1 - i);
    view.strides[dimension] = stride;
    stride *= view.dimensions[dimension];
  }
  return view;
}

Evaluation evaluate_untiled_bitcast(EvaluateContext& op) {
  const int64_t width = byte_width(op.shape()->element_type);
  const int64_t bytes = data_bytes(op.shape());
  return
      [=, from = in_layout_order(op.operand_shape(0)), to = from_layout_order(op.shape())](Invocation& call) {
        const Buffer memory = call.device().pool().allocate(bytes);
        copy_strided(from, width, call.operand(0).bytes(), memory.data());
        copy_strided(to, width, memory.data(), call.make_result().bytes());
      };
}

// An array as it lies in memory, padding zero, read as another lies.
struct Reread {
  ShapeRef from, to;
  LayoutMap places_from, places_to;
  int64_t bits_from, bits_to;  // of an element in memory

  void run(Invocation& call) const {
    const int64_t bytes =
        std::max(bytes_of_bits(places_from.extent(), bits_from), bytes_of_bits(places_to.extent(), bits_to));
    const Buffer memory = call.device().pool().allocate(bytes);
    std::memset(memory.data(), 0, static_cast<size_t>(bytes));
    const BitString written(memory.data(), static_cast<int>(bits_from));
    const std::byte* source = call.operand(0).bytes();
    std::vector<int64_t> index(from->dimensions.size(), 0);
    const int64_t width_from = byte_width(from->element_type), width_to = byte_width(to->element_type);
    for (int64_t k = 0; k < from->element_count(); ++k, advance(index, from->dimensions))
      written.write(places_from.offset(index), source + k * width_from);
    const BitString read(memory.data(), static_cast<int>(bits_to));
    std::byte* result = call.make_result().bytes();
    index.assign(to->dimensions.size(), 0);
    for (int64_t k = 0; k < to->element_count(); ++k, advance(index, to->dimensions))
      read.read(places_to.offset(index), to->element_type, result + k * width_to);
  }
};

}  // namespace

Evaluation evaluate_bitcast(EvaluateContext& op) {
  const ShapeRef from = op.operand_shape(0), to = op.shape();
  if (!from->is_array() || !to->is_array()) {
    if (from != to) return op.unsupported();
    return [](Invocation& call) {
      for (size_t i = 0; i < call.result_count(); ++i) call.set_result(call.take(i), i);
    };
  }
  const Result<LayoutMap> places_from = LayoutMap::make(from), places_to = LayoutMap::make(to);
  if (!places_from) return op.unsupported(places_from.error().message);
  if (!places_to) return op.unsupported(places_to.error().message);
  const int64_t bits_from = element_storage_bits(from), bits_to = element_storage_bits(to);
  if (bits_from < bit_width(from->element_type) || bits_to < bit_width(to->element_type))
    return op.unsupported("elements are stored in fewer bits than they have");
  Reread reread{from, to, *places_from, *places_to, bits_from, bits_to};
  if (bits_from != bits_to || from->element_count() != to->element_count())
    return [reread](Invocation& call) { reread.run(call); };
  // Where the result's places reach into padding, whose value is unknown, elements are taken in the order
  // in which they lie, as if there were no tiles: what XLA's evaluator always does. To know takes a walk
  // over all elements, as the re-reading does.
  return [reread, untiled = evaluate_untiled_bitcast(op)](Invocation& call) {
    if (reads_padding(reread.places_from, reread.from, reread.places_to, reread.to))
      untiled(call);
    else
      reread.run(call);
  };
}

Evaluation evaluate_bitcast_convert(EvaluateContext& op) {
  const ElementType from = op.operand_shape(0)->element_type, to = op.shape()->element_type;
  const int bits_from = bit_width(from), bits_to = bit_width(to);
  if (bits_from >= 8 && bits_to >= 8 && !(is_pred(to) && !is_pred(from))) {
    // Little-endian memory in row-major order: the same bytes.
    return [](Invocation& call) {
      Array array = call.take(0);
      array.sizes = nullptr;
      call.set_result(std::move(array));
    };
  }
  const int64_t count_from = op.operand_shape(0)->element_count(), count_to = op.shape()->element_count();
  return [=](Invocation& call) {
    const int64_t width_from = byte_width(from), width_to = byte_width(to);
    const Buffer packed = call.device().pool().allocate(bytes_of_bits(count_from, bits_from));
    const BitString written(packed.data(), bits_from), read(packed.data(), bits_to);
    const std::byte* source = call.operand(0).bytes();
    for (int64_t k = 0; k < count_from; ++k) written.write(k, source + k * width_from);
    std::byte* result = call.make_result().bytes();
    for (int64_t k = 0; k < count_to; ++k) {
      read.read(k, to, result + k * width_to);
      if (is_pred(to)) result[k] = result[k] != std::byte{0} ? std::byte{1} : std::byte{0};
    }
  };
}

}  // namespace hlosim
