#include "modules/header_note.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "modules/edit.h"

namespace hlosim {

void add_header_note(Module& module, std::string_view key, std::string_view value) {
  const Attr* given = module.find(AttrKey::kFrontendAttributes);
  const std::string_view before = given ? given->text() : std::string_view("{}");
  const std::string text = fmt::format("{}{}{}=\"{}\"}}", before.substr(0, before.size() - 1),
                                       before.size() > 2 ? "," : "", key, value);
  drop_header(module, AttrKey::kFrontendAttributes);
  std::vector<Attr> attrs(module.attrs.begin(), module.attrs.end());
  attrs.push_back(Attr::make_text(AttrKey::kFrontendAttributes, AttrSyntax::kFrontend,
                                  module.arena().copy(std::string_view(text))));
  module.attrs = module.arena().copy(attrs);
}

}  // namespace hlosim
