// The slice that a device's name says: "v5p-128" is a v5p of 4x4x4 chips.
//
//   const Result<SliceRequest> slice = on_named_slice({}, "v5p-128", device);
//   slice->topology->chips()                       // 64
#pragma once

#include <string>
#include <string_view>

#include "base/source.h"
#include "interconnect/slice.h"
#include "model/device.h"

namespace hlosim {

/// The request on `device`, which load_device() made of this name: where the name says a slice
/// (Device::topology), that one, or a requested one of as many chips.
/// Errors: a requested topology of another number of chips.
Result<SliceRequest> on_named_slice(SliceRequest request, std::string_view name, const Device& device);

}  // namespace hlosim
