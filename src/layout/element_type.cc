#include "layout/element_type.h"

namespace hlosim {

ElementType parse_element_type(std::string_view text) {
  for (int i = 1; i < kElementTypeCount; ++i)
    if (internal::kElementTypes[i].text == text) return static_cast<ElementType>(i);
  return ElementType::kInvalid;
}

}  // namespace hlosim
