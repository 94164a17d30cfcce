#include "input/input_forms.h"

#include "input/packed.h"
#include "input/proto_text.h"

namespace hlosim {
namespace {

constexpr InputForm kForms[] = {
    {is_packed, [](std::string_view bytes, const std::string& name) { return unpacked(bytes, name); }, {}},
    {looks_like_proto, text_of_proto, {".hlo.pb"}},
    {nullptr, nullptr, {".hlo"}},
    {nullptr, nullptr, {".hlo.txt", ".txt"}},
};

}  // namespace

std::span<const InputForm> input_forms() { return kForms; }

int take_form_ending(std::string_view& file) {
  const std::string_view plain = without_packing(file);
  const bool is_plain = plain.size() == file.size();
  file = plain;
  for (size_t i = std::size(kForms); i-- > 0;)
    for (const std::string_view ending : kForms[i].endings) {
      if (ending.empty() || !file.ends_with(ending)) continue;
      file.remove_suffix(ending.size());
      return 2 * static_cast<int>(i) + is_plain;
    }
  return 0;
}

}  // namespace hlosim
