#include "workloads/hf_config.h"

#include <fmt/format.h>

#include "base/text.h"
#include "text/read_json.h"
#include "workloads/hf_families.h"

namespace hlosim {
namespace {

/// A family: what it adds to the sizes that all have.
struct Family {
  std::string_view type;          // model_type
  std::string_view architecture;  // architectures[0] begins with it
  void (*fill)(HfReader& reader);
  HfSizes usual{};
};

constexpr Family kFamilies[] = {
    {"llama", "LlamaFor", read_llama},
    {"llama4", "Llama4ForConditionalGeneration", read_llama4, {202048, 128}},
    {"llama4_text", "Llama4For", read_llama4, {202048, 128}},
    {"mistral", "MistralFor", read_mistral},
    {"mixtral", "MixtralFor", read_mixtral},
    {"qwen2", "Qwen2For", read_qwen2},
    {"qwen2_moe", "Qwen2MoeFor", read_qwen2_moe},
    {"qwen3", "Qwen3For", read_qwen3},
    {"qwen3_moe", "Qwen3MoeFor", read_qwen3_moe},
    {"gemma", "GemmaFor", read_gemma, {256000, 256}},
    {"gemma2", "Gemma2For", read_gemma2, {256000, 256}},
    {"gemma3", "Gemma3ForConditionalGeneration", read_gemma3, {262208, 256}},
    {"gemma3_text", "Gemma3For", read_gemma3, {262208, 256}},
    {"gemma4", "Gemma4ForConditionalGeneration", read_gemma4, {262144, 256}},
    {"gemma4_text", "Gemma4For", read_gemma4, {262144, 256}},
    {"deepseek_v2", "DeepseekV2For", read_deepseek_v2},
    {"deepseek_v3", "DeepseekV3For", read_deepseek_v3},
    {"gpt_oss", "GptOssFor", read_gpt_oss},
};

/// By model_type, else by the architecture; the error is in `problems`.
const Family* family_of(const Value& root, DiagnosticList& problems) {
  const Value* type = root.find("model_type");
  const Value* architectures = root.find("architectures");
  const Value* named = type                                             ? type
                       : architectures && !architectures->items.empty() ? &architectures->items[0]
                                                                        : nullptr;
  if (named)
    for (const Family& family : kFamilies)
      if (type ? family.type == named->text : named->text.starts_with(family.architecture)) return &family;
  const std::string hint = fmt::format("one of {}", fmt::join(hf_families(), ", "));
  problems.add(named ? error_at(*named,
                                fmt::format("no model of the family \"{}\" is supported", shown(named->text)),
                                hint)
                     : error_at(root, "config.json has neither model_type nor architectures", hint));
  return nullptr;
}

}  // namespace

std::vector<std::string_view> hf_families() {
  std::vector<std::string_view> names;
  for (const Family& family : kFamilies) names.push_back(family.type);
  return names;
}

Result<ImportedModel> read_hf_config(const SourcePtr& source) {
  DiagnosticList problems;
  const std::optional<Value> root = parse_json(source, problems);
  if (!root) return tl::unexpected(problems.items().front());
  if (!root->is_map()) return tl::unexpected(error_at(*root, "config.json is an object"));
  const Family* family = family_of(*root, problems);
  if (!family) return tl::unexpected(problems.items().front());
  const Value* text = root->find("text_config");
  HfReader reader(*root, text && text->is_map() ? *text : *root, family->type, problems);
  reader.sizes(family->usual);
  family->fill(reader);
  ImportedModel imported = reader.finish();
  if (problems.has_errors()) return tl::unexpected(problems.items().front());
  if (const std::optional<ModelFault> fault = model_fault(imported.model))
    return tl::unexpected(error_at(*root, fault->message));
  return imported;
}

}  // namespace hlosim
