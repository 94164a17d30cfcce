// How an entry's step is computed, as StepOptions: precision, optimizer, rematerialization, kernels.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "published/published_run.h"
#include "text/entry_fields.h"
#include "workloads/maxtext_settings.h"

namespace hlosim {
namespace {

class OptionsReader {
 public:
  OptionsReader(const Value& entry, DiagnosticList& problems, std::vector<std::string>& assumptions)
      : fields_(entry, "an entry", problems), problems_(problems), assumptions_(assumptions) {}

  StepOptions read() {
    step();
    types();
    if (const Value* part = fields_.object("optimizer")) optimizer(*part);
    if (const Value* part = fields_.object("remat_policy")) remat(*part);
    attention();
    embedding();
    fields_.flag("scan_layers", options_.scan_layers);
    // param_scan_axis of MaxText is 1, but flax's scan moves that axis to the front before the loop.
    options_.stack_axis = 0;
    if (const Value* part = fields_.object("other_flags")) settings(*part);
    return std::move(options_);
  }

 private:
  void step() {
    std::string kind;
    if (!fields_.text("step", kind)) return;
    if (kind == "train")
      options_.kind = StepKind::kTrain;
    else if (kind == "prefill")
      options_.kind = StepKind::kPrefill;
    else if (kind == "decode")
      options_.kind = StepKind::kDecode;
    else
      fields_.wrong("step", fmt::format("\"step\" is not \"{}\"", shown(kind)),
                    "it is train, prefill or decode");
  }

  void types() {
    std::string compute;
    read_maxtext_quantization(fields_, options_);
    if (fields_.text("dtype", compute)) {
      if (const std::optional<ElementType> type = maxtext_type(compute))
        options_.compute_type = *type;
      else if (compute != "int8" && compute != "fp8")
        fields_.wrong("dtype", fmt::format("\"dtype\" is not \"{}\"", shown(compute)),
                      "it is bf16, f32, int8 or fp8");
      else if (options_.quantization == Quantization::kNone)
        options_.quantization = compute == "int8" ? Quantization::kInt8 : Quantization::kFp8;
    }
    read_maxtext_type(fields_, "param_dtype", options_.param_type);
    options_.grad_type = options_.param_type;  // as JAX and PyTorch have it
  }

  void optimizer(const Value& object) {
    EntryFields fields(object, "\"optimizer\"", problems_);
    OptimizerOptions& optimizer = options_.optimizer;
    std::string name, state;
    if (fields.text("name", name)) {
      if (const auto kind = maxtext_optimizer(name))
        optimizer.kind = *kind;
      else
        assumptions_.push_back(fmt::format("optimizer \"{}\" is treated as adamw", shown(name)));
    }
    if (fields.text("state", state)) {
      const auto moment = [&](std::string_view which, ElementType& into) {
        const size_t at = state.find(which);
        if (at == std::string::npos) return;
        const std::string rest = state.substr(at + which.size());
        if (const auto type = maxtext_type(rest.substr(0, rest.find_first_of(", ")))) into = *type;
      };
      moment("mu ", optimizer.mu_type);
      moment("nu ", optimizer.nu_type);
    }
    read_maxtext_type(fields, "grad_dtype", options_.grad_type);
    double clip = optimizer.clip_norm;
    if (fields.not_negative("gradient_clipping_norm", clip)) optimizer.clip_norm = clip;
    for (const Value* left : fields.rest())
      assumptions_.push_back(fmt::format("optimizer.{} is not modelled", shown(left->key)));
  }

  void remat(const Value& object) {
    EntryFields fields(object, "\"remat_policy\"", problems_);
    std::string name = "full";
    fields.text("policy", name, EntryFields::kNeeded);
    const Result<RematPolicy> known = remat_policy(name);
    std::vector<std::string> kept, offloaded;
    fields.texts("saved_on_device", kept);
    fields.texts("offloaded_to_host", offloaded);
    if (known) options_.remat = *known;
    if (!known && kept.empty() && offloaded.empty())
      return fields.wrong("policy", known.error().message, known.error().hint);
    if (known && name != "custom") return;
    options_.remat.name = name;
    keep(fields, "saved_on_device", kept, Keep::kDevice);
    keep(fields, "offloaded_to_host", offloaded, Keep::kHost);
  }

  void keep(EntryFields& fields, std::string_view key, const std::vector<std::string>& names, Keep how) {
    for (const std::string& name : names) {
      if (const std::optional<SavedValue> value = parse_saved_value(name))
        options_.remat[*value] = how;
      else
        fields.wrong(key, fmt::format("\"{}\": no value of a layer is called \"{}\"", key, shown(name)));
    }
  }

  void attention() {
    std::string kernel;
    if (!fields_.text("attention_kernel", kernel)) return;
    if (kernel.starts_with("plain") || kernel.starts_with("dot_product"))
      options_.attention = AttentionKernel::kPlain;
    else if (kernel.starts_with("splash"))
      options_.attention = AttentionKernel::kSplash;
    else if (kernel.find("flash") != std::string::npos)
      options_.attention = AttentionKernel::kFlash;
    else
      return fields_.wrong("attention_kernel",
                           fmt::format("\"attention_kernel\" is not \"{}\"", shown(kernel)),
                           "it begins with plain, splash, or names a flash attention kernel");
    options_.tiles.tokamax |= kernel.find("tokamax") != std::string::npos;
  }

  void embedding() {
    std::string lookup;
    if (!fields_.text("embedding_lookup", lookup)) return;
    options_.one_hot_embedding = lookup.starts_with("one-hot");
    if (!options_.one_hot_embedding && lookup != "gather")
      assumptions_.push_back(fmt::format("embedding_lookup \"{}\" is treated as a gather", shown(lookup)));
  }

  void settings(const Value& object) {
    EntryFields fields(object, "\"other_flags\"", problems_);
    read_maxtext_settings(fields, options_);
    std::vector<const Value*> left_of_tiles;
    read_maxtext_expert_tiles(fields, false, options_.expert_tiles, problems_, left_of_tiles);
    for (const Value* left : left_of_tiles)
      assumptions_.push_back(fmt::format("other_flags: tile {} is not modelled", shown(left->key)));
    // Said elsewhere in the entry, or no matter of time.
    fields.pass_over({"sparse_matmul", "capacity_factor", "use_random_routing", "output_dir"});
    if (has_chunked_loss(object)) fields.pass_over({"cross_entropy"});
    for (const Value* left : fields.rest())
      assumptions_.push_back(fmt::format("other_flags.{}={} is not modelled", shown(left->key),
                                         left->is_scalar() ? shown(left->text) : "…"));
  }

  EntryFields fields_;
  DiagnosticList& problems_;
  std::vector<std::string>& assumptions_;
  StepOptions options_;
};

}  // namespace

bool has_chunked_loss(const Value& other_flags) {
  const Value* loss = other_flags.is_map() ? other_flags.find("cross_entropy") : nullptr;
  return loss && loss->is_scalar() && loss->text.starts_with("tokamax chunked_xla");
}

StepOptions read_published_options(const Value& entry, DiagnosticList& problems,
                                   std::vector<std::string>& assumptions) {
  return OptionsReader(entry, problems, assumptions).read();
}

}  // namespace hlosim
