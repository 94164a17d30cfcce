#include "ops/data_movement_evaluation.h"

#include <algorithm>
#include <cstring>

#include "kernels/element.h"
#include "kernels/parallel.h"
#include "kernels/strided_copy.h"
#include "layout/bitcast.h"
#include "layout/sizes.h"

namespace hlosim {
namespace {

__extension__ typedef __int128 Int128;  // sums of products of arbitrary 64-bit attributes

// A view of the operand in the element type that it has; evaluate_converted() asks for it with another one.
bool keeps_type(const OpContext& op) {
  return op.operand_shape(0)->is_array() && op.operand_shape(0)->element_type == op.shape()->element_type;
}

}  // namespace

// ── views ───────────────────────────────────────────────────────

bool view_copy(const OpContext& op, const StridedView& operand, StridedView& result) {
  if (!keeps_type(op)) return false;
  result = operand;
  return true;
}

bool view_bitcast(const OpContext& op, const StridedView& operand, StridedView& result) {
  const ShapeRef from = op.operand_shape(0), to = op.shape();
  if (!keeps_type(op) || element_storage_bits(from) != element_storage_bits(to)) return false;
  const BitcastClass bitcast = classify_bitcast(from, to);
  if (!bitcast.is_no_op()) return false;
  if (bitcast.kind != BitcastKind::kTranspose && bitcast.kind != BitcastKind::kTiledTranspose) {
    std::optional<StridedView> view = reshaped(operand, to->dimensions);
    if (view) result = std::move(*view);
    return view.has_value();
  }
  result = {operand.offset, {}, {}};
  for (const int64_t i : bitcast.permutation) {
    result.dimensions.push_back(operand.dimensions[static_cast<size_t>(i)]);
    result.strides.push_back(operand.strides[static_cast<size_t>(i)]);
  }
  return true;
}

bool view_broadcast(const OpContext& op, const StridedView& operand, StridedView& result) {
  if (!keeps_type(op)) return false;
  const ShapeRef shape = op.shape();
  result = {operand.offset, {shape->dimensions.begin(), shape->dimensions.end()}, {}};
  result.strides.assign(shape->dimensions.size(), 0);
  const std::span<const int64_t> dimensions = op.ints(AttrKey::kDimensions);
  // Two operand dimensions at one result dimension walk its diagonal.
  for (size_t i = 0; i < dimensions.size(); ++i)
    result.strides[static_cast<size_t>(dimensions[i])] += operand.strides[i];
  return true;
}

bool view_reshape(const OpContext& op, const StridedView& operand, StridedView& result) {
  if (!keeps_type(op)) return false;
  std::optional<StridedView> view = reshaped(operand, op.shape()->dimensions);
  if (view) result = std::move(*view);
  return view.has_value();
}

bool view_reverse(const OpContext& op, const StridedView& operand, StridedView& result) {
  if (!keeps_type(op)) return false;
  result = operand;
  for (const int64_t dimension : op.ints(AttrKey::kDimensions)) {
    const auto i = static_cast<size_t>(dimension);
    if (result.dimensions[i] == 0) continue;
    result.offset += (result.dimensions[i] - 1) * result.strides[i];
    result.strides[i] = -result.strides[i];
  }
  return true;
}

bool view_slice(const OpContext& op, const StridedView& operand, StridedView& result) {
  if (!keeps_type(op)) return false;
  const ShapeRef shape = op.shape();
  result = {operand.offset, {shape->dimensions.begin(), shape->dimensions.end()}, operand.strides};
  if (shape->element_count() == 0) return true;
  const auto slices = op.int_lists(AttrKey::kSlice);
  for (size_t i = 0; i < slices.size(); ++i) {
    result.offset += slices[i][0] * operand.strides[i];
    // A stride of the text may be huge where only one element is taken.
    result.strides[i] = result.dimensions[i] > 1 ? operand.strides[i] * slices[i][2] : 0;
  }
  return true;
}

bool view_transpose(const OpContext& op, const StridedView& operand, StridedView& result) {
  if (!keeps_type(op)) return false;
  result = {operand.offset, {}, {}};
  for (const int64_t i : op.ints(AttrKey::kDimensions)) {
    result.dimensions.push_back(operand.dimensions[static_cast<size_t>(i)]);
    result.strides.push_back(operand.strides[static_cast<size_t>(i)]);
  }
  return true;
}

Evaluation evaluate_copy(EvaluateContext& op) {
  if (op.operand_shape(0)->is_array()) return evaluate_converted(op);
  return [](Invocation& call) {
    for (size_t i = 0; i < call.result_count(); ++i) call.set_result(call.take(i), i);
  };
}

Evaluation evaluate_converted(EvaluateContext& op) {
  // The instruction as if its result had the operand's type.
  const ShapeRef operand = op.operand_shape(0), result = op.shape();
  const ElementKernel convert =
      element_kernel(ElementOp::kConvert, operand->element_type, result->element_type);
  Instruction moved = op.instruction();
  moved.shape = op.shapes().with_element_type(result, operand->element_type);
  StridedView view;
  if (!convert || !op.def().view(OpContext(op.module(), moved, op.table(), nullptr),
                                 dense_view(operand->dimensions), view))
    return op.unsupported();
  const StridedCopy copy(view.dimensions, view.strides, dense_strides(view.dimensions),
                         byte_width(operand->element_type));
  return [convert, copy, operand, result,
          offset = view.offset * byte_width(operand->element_type)](Invocation& call) {
    const Buffer elements =
        call.device().pool().allocate(result->element_count() * byte_width(operand->element_type));
    copy.run(call.operand(0).bytes() + offset, elements.data());
    std::byte* out = call.make_result().bytes();
    parallel_for(result->element_count(), 16 << 10, [&](int64_t begin, int64_t end) {
      const void* in[] = {elements.data() + begin * byte_width(operand->element_type)};
      convert.fn(out + begin * byte_width(result->element_type), in, convert.immediate, end - begin);
    });
  };
}

// ── bits ────────────────────────────────────────────────────────

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

// An array's dimensions from major to minor as its layout orders them, with the strides of dense logical order.
StridedView in_layout_order(ShapeRef shape) {
  const StridedView logical = dense_view(shape->dimensions);
  StridedView view;
  for (int64_t i = shape->rank(); i-- > 0;) {
    const auto dimension = shape->layout ? static_cast<size_t>(shape->layout->minor_to_major[static_cast<size_t>(i)])
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
    const auto dimension = shape->layout ? static_cast<size_t>(shape->layout->minor_to_major[static_cast<size_t>(i)])
                                         : static_cast<size_t>(shape->rank() - 1 - i);
    view.strides[dimension] = stride;
    stride *= view.dimensions[dimension];
  }
  return view;
}

Evaluation evaluate_untiled_bitcast(EvaluateContext& op) {
  const int64_t width = byte_width(op.shape()->element_type);
  const int64_t bytes = data_bytes(op.shape());
  return [=, from = in_layout_order(op.operand_shape(0)), to = from_layout_order(op.shape())](Invocation& call) {
    const Buffer memory = call.device().pool().allocate(bytes);
    copy_strided(from, width, call.operand(0).bytes(), memory.data());
    copy_strided(to, width, memory.data(), call.make_result().bytes());
  };
}

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
  // Where the result's places reach into padding, whose value nobody knows, elements are taken in the order in
  // which they lie, as if there were no tiles: what XLA's evaluator always does.
  if (bits_from == bits_to && from->element_count() == to->element_count() &&
      reads_padding(*places_from, from, *places_to, to))
    return evaluate_untiled_bitcast(op);
  const int64_t memory_bytes =
      std::max(bytes_of_bits(places_from->extent(), bits_from), bytes_of_bits(places_to->extent(), bits_to));
  return [from, to, bits_from, bits_to, memory_bytes, in = *places_from, out = *places_to](Invocation& call) {
    // The operand as it lies in memory, padding zero, read as the result lies.
    const Buffer memory = call.device().pool().allocate(memory_bytes);
    std::memset(memory.data(), 0, static_cast<size_t>(memory_bytes));
    const BitString written(memory.data(), static_cast<int>(bits_from));
    const std::byte* source = call.operand(0).bytes();
    std::vector<int64_t> index(from->dimensions.size(), 0);
    const int64_t width_from = byte_width(from->element_type), width_to = byte_width(to->element_type);
    for (int64_t k = 0; k < from->element_count(); ++k, advance(index, from->dimensions))
      written.write(in.offset(index), source + k * width_from);
    const BitString read(memory.data(), static_cast<int>(bits_to));
    std::byte* result = call.make_result().bytes();
    index.assign(to->dimensions.size(), 0);
    for (int64_t k = 0; k < to->element_count(); ++k, advance(index, to->dimensions))
      read.read(out.offset(index), to->element_type, result + k * width_to);
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

// ── iota ────────────────────────────────────────────────────────

namespace {

void count_up(const ElementKernel& convert, int64_t width, int64_t length, std::byte* out) {
  parallel_for(length, 64 << 10, [&](int64_t begin, int64_t end) {
    constexpr int64_t kBlock = 512;
    int64_t numbers[kBlock];
    const void* in[] = {numbers};
    for (int64_t at = begin; at < end; at += kBlock) {
      const int64_t n = std::min(kBlock, end - at);
      for (int64_t i = 0; i < n; ++i) numbers[i] = at + i;
      convert.fn(out + at * width, in, convert.immediate, n);
    }
  });
}

}  // namespace

int64_t counted_dimension(const OpContext& op) {
  return op.def().evaluate == evaluate_iota ? op.integer(AttrKey::kIotaDimension) : -1;
}

Evaluation count_evaluation(ElementType type, int64_t length) {
  const ElementKernel convert = element_kernel(ElementOp::kConvert, ElementType::kS64, type);
  if (!convert) return nullptr;
  return [convert, width = byte_width(type), length](Invocation& call) {
    count_up(convert, width, length, call.make_result().bytes());
  };
}

Evaluation evaluate_iota(EvaluateContext& op) {
  const ShapeRef shape = op.shape();
  const ElementKernel convert = element_kernel(ElementOp::kConvert, ElementType::kS64, shape->element_type);
  if (!convert) return op.unsupported();
  const auto along = static_cast<size_t>(op.integer(AttrKey::kIotaDimension));
  const int64_t width = byte_width(shape->element_type);
  std::vector<int64_t> from(shape->dimensions.size(), 0);
  from[along] = 1;
  const StridedCopy copy(shape->dimensions, from, dense_strides(shape->dimensions), width);
  return [convert, copy, width, length = shape->dimensions[along]](Invocation& call) {
    const Buffer row = call.device().pool().allocate(length * width);
    count_up(convert, width, length, row.data());
    copy.run(row.data(), call.make_result().bytes());
  };
}

// ── several sources ─────────────────────────────────────────────

Evaluation evaluate_concatenate(EvaluateContext& op) {
  const ShapeRef result = op.shape();
  const auto along = static_cast<size_t>(op.ints(AttrKey::kDimensions)[0]);
  const int64_t width = byte_width(result->element_type);
  const std::vector<int64_t> strides = dense_strides(result->dimensions);
  struct Part {
    StridedCopy copy;
    int64_t offset;  // bytes
  };
  std::vector<Part> parts;
  int64_t position = 0;
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    const ShapeRef operand = op.operand_shape(i);
    if (operand->element_type != result->element_type) return op.unsupported();
    parts.push_back({StridedCopy(operand->dimensions, dense_strides(operand->dimensions), strides, width),
                     position * strides[along] * width});
    position += operand->dimensions[along];
  }
  return [parts](Invocation& call) {
    if (parts.size() == 1) return call.set_result(call.take(0));
    std::byte* out = call.make_result().bytes();
    for (size_t i = 0; i < parts.size(); ++i)
      parts[i].copy.run(call.operand(i).bytes(), out + parts[i].offset);
  };
}

namespace {

// Where the elements of one dimension go that padding leaves in the result.
struct PaddedDimension {
  int64_t first = 0, count = 0;  // elements of the operand
  int64_t position = 0;          // of the first, in the result
  int64_t step = 1;
};

PaddedDimension padded(int64_t size, int64_t result_size, std::span<const int64_t> padding) {
  const Int128 low = padding[0], step = Int128{padding[2]} + 1;
  const Int128 first = low < 0 ? (-low + step - 1) / step : 0;
  // The last one at a position below result_size.
  const Int128 last = result_size > low ? std::min<Int128>(size - 1, (result_size - 1 - low) / step) : -1;
  if (last < first) return {};
  return {static_cast<int64_t>(first), static_cast<int64_t>(last - first + 1),
          static_cast<int64_t>(low + first * step), last > first ? static_cast<int64_t>(step) : 1};
}

}  // namespace

Evaluation evaluate_pad(EvaluateContext& op) {
  const ShapeRef operand = op.operand_shape(0), result = op.shape();
  const ElementType type = result->element_type;
  if (operand->element_type != type || op.operand_shape(1)->element_type != type) return op.unsupported();
  const int64_t width = byte_width(type);
  const std::vector<int64_t> from = dense_strides(operand->dimensions),
                             to = dense_strides(result->dimensions);
  std::vector<int64_t> sizes, strides;
  int64_t source = 0, destination = 0, kept = 1;
  const auto padding = op.int_lists(AttrKey::kPadding);
  for (size_t i = 0; i < padding.size(); ++i) {
    const PaddedDimension dimension = padded(operand->dimensions[i], result->dimensions[i], padding[i]);
    sizes.push_back(dimension.count);
    strides.push_back(dimension.step * to[i]);
    source += dimension.first * from[i] * width;
    destination += dimension.position * to[i] * width;
    kept *= dimension.count;
  }
  const int64_t count = result->element_count();
  return [copy = StridedCopy(sizes, from, strides, width), source, destination, width, count,
          kept](Invocation& call) {
    std::byte* out = call.make_result().bytes();
    if (kept < count) fill_elements(out, call.operand(1).bytes(), width, count);
    if (kept > 0) copy.run(call.operand(0).bytes() + source, out + destination);
  };
}

}  // namespace hlosim
