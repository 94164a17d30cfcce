#include "array/convert_array.h"

#include <cstring>

#include "base/check.h"
#include "cpu_kernels/element.h"
#include "threads/parallel.h"

namespace hlosim {

bool can_convert(ElementType from, ElementType to) {
  return from == to || element_kernel(ElementOp::kConvert, from, to);
}

Buffer converted(MemoryPool& pool, Buffer data, ElementType from, ElementType to, int64_t count) {
  if (from == to) return data;
  const ElementKernel kernel = element_kernel(ElementOp::kConvert, from, to);
  HLOSIM_CHECK(kernel, "{} to {}", to_text(from), to_text(to));
  Buffer result = pool.allocate(count * byte_width(to));
  parallel_for(count, 16 << 10, [&](int64_t begin, int64_t end) {
    const void* in[] = {data.data() + begin * byte_width(from)};
    kernel.fn(result.data() + begin * byte_width(to), in, kernel.immediate, end - begin);
  });
  return result;
}

Buffer writable(MemoryPool& pool, Buffer data, int64_t bytes) {
  if (data.unique() || bytes == 0) return data;
  Buffer copy = pool.allocate(bytes);
  parallel_for(bytes, 256 << 10, [&](int64_t begin, int64_t end) {
    std::memcpy(copy.data() + begin, data.data() + begin, static_cast<size_t>(end - begin));
  });
  return copy;
}

}  // namespace hlosim
