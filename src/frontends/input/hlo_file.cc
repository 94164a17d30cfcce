#include "input/hlo_file.h"

#include <fmt/format.h>

#include "input/input_forms.h"
#include "input/other_kinds.h"
#include "input/packed.h"

namespace hlosim {
Result<SourcePtr> as_text(SourcePtr source, bool* was_printed) {
  if (was_printed) *was_printed = false;
  const std::string_view name = source->name();
  if (without_packing(name).size() != name.size() && !is_packed(source->text()))
    return failure(fmt::format("cannot unpack '{}': it is no {} data", name,
                               name.ends_with(".gz") ? "gzip" : "Zstandard"));
  for (const InputForm& form : input_forms()) {
    if (looks_like_xplane(source->text())) return tl::unexpected(xplane_as_module(source->name()));
    if (!form.holds || !form.holds(source->text())) continue;
    Result<std::string> inside = form.unfold(source->text(), std::string(source->name()));
    if (!inside) return tl::unexpected(inside.error());
    if (was_printed) *was_printed = form.holds != is_packed;
    source = std::make_shared<const SourceFile>(std::string(source->name()), std::move(*inside));
  }
  return source;
}

Result<SourcePtr> read_text_source(const std::string& path) {
  Result<SourcePtr> source = read_source(path);
  return source ? as_text(std::move(*source)) : source;
}

}  // namespace hlosim
