#include "mlir/pretty_forms.h"

#include <fmt/format.h>

#include "mlir/text_map.h"

namespace hlosim::mlir {
namespace {

bool read_kept_plain(OperationReader& reader, Draft& draft) { return read_plain(reader, draft); }

constexpr PrettyForm kPlain = {"", read_kept_plain};

TextMap<const PrettyForm*> make_table() {
  TextMap<const PrettyForm*> table;
  for (const auto forms :
       {structure_forms(), plain_forms(), region_forms(), product_forms(), sharding_forms()})
    for (const PrettyForm& form : forms) table.at(form.name) = &form;
  return table;
}

}  // namespace

const PrettyForm* find_pretty_form(std::string_view name) {
  static const TextMap<const PrettyForm*> table = make_table();
  if (const PrettyForm* const* form = table.find(name)) return *form;
  // MHLO, StableHLO's elder, has the same forms.
  if (constexpr std::string_view kOld = "mhlo."; name.starts_with(kOld))
    if (const PrettyForm* const* form = table.find(fmt::format("stablehlo.{}", name.substr(kOld.size()))))
      return *form;
  for (const std::string_view dialect : {"stablehlo.", "chlo.", "check.", "mhlo."})
    if (name.starts_with(dialect)) return &kPlain;
  return nullptr;
}

bool read_end(OperationReader& reader, Draft& draft, TypeRule rule) {
  return reader.optional_attributes(draft) && reader.signature(draft, rule);
}

bool read_plain(OperationReader& reader, Draft& draft) {
  return reader.optional_attributes(draft) && reader.operands(draft) &&
         read_end(reader, draft, TypeRule::kSame);
}

}  // namespace hlosim::mlir
