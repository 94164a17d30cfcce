#include "array/copy_strided.h"

#include "array/array.h"
#include "cpu_kernels/strided_copy.h"

namespace hlosim {

void copy_strided(const StridedView& view, int64_t width, const std::byte* source, std::byte* destination) {
  StridedCopy(view.dimensions, view.strides, dense_strides(view.dimensions), width)
      .run(source + view.offset * width, destination);
}

}  // namespace hlosim
