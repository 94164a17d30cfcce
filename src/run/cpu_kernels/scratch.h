// Memory that a kernel needs for the length of one call.
//
//   const Scratch room(1024 * sizeof(float));
//   float* sums = room.as<float>();                // until the end of the block
#pragma once

#include <cstddef>
#include <cstdint>

namespace hlosim {

/// Uninitialised bytes (null for 0), 64-byte aligned (2 MiB and huge pages where that large), given back at
/// the end of the scope. Each thread keeps the last few it gave back, so that asking again costs no page
/// faults. Safe in nested parallel_for(): memory that is in use is on no list.
class Scratch {
 public:
  explicit Scratch(int64_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  size_t capacity_ = 0;
};

}  // namespace hlosim
