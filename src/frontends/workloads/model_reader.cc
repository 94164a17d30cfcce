// Models from YAML.
#include <fmt/format.h>

#include "base/text.h"
#include "base/value.h"
#include "text/entry_fields.h"
#include "workloads/model_words.h"

namespace hlosim {
namespace {

/// One section of the file. The bounds of its numbers are model_fault()'s.
class SectionReader {
 public:
  /// `prefix`: of its keys in model_fault(), "moe.".
  SectionReader(const Value& map, std::string what, std::string prefix, DiagnosticList& problems)
      : fields_(map, std::move(what), problems), prefix_(std::move(prefix)) {}

  void integer(std::string_view key, int64_t& into, int64_t low = 1,
               EntryFields::Need need = EntryFields::kOptional) {
    fields_.whole(key, into, low, need, most_of(prefix_ + std::string(key)));
  }
  void needed(std::string_view key, int64_t& into) { integer(key, into, 1, EntryFields::kNeeded); }
  void number(std::string_view key, double& into) {
    fields_.not_negative(key, into, most_number_of(prefix_ + std::string(key)));
  }
  void boolean(std::string_view key, bool& into) { fields_.flag(key, into); }
  void text(std::string_view key, std::string& into, EntryFields::Need need = EntryFields::kOptional) {
    fields_.text(key, into, need);
  }
  template <class Enum, size_t n>
  void word(std::string_view key, const ModelWord<Enum> (&words)[n], Enum& into) {
    std::string text;
    if (!fields_.text(key, text)) return;
    std::vector<std::string_view> names;
    for (const ModelWord<Enum>& one : words) {
      if (one.word == text) {
        into = one.value;
        return;
      }
      names.push_back(one.word);
    }
    fields_.wrong(key,
                  fmt::format("\"{}\" is one of {}, not \"{}\"", key, fmt::join(names, ", "), shown(text)),
                  did_you_mean(text, names));
  }
  const Value* section(std::string_view key) { return fields_.object(key); }
  void finish() { fields_.refuse_rest(); }

 private:
  EntryFields fields_;
  std::string prefix_;
};

void read_latent(const Value& value, AttentionConfig& attention, DiagnosticList& problems) {
  LatentAttention latent;
  SectionReader read(value, "latent attention", "attention.latent.", problems);
  read.integer("q_rank", latent.q_rank, 0);
  read.integer("kv_rank", latent.kv_rank);
  read.integer("nope_dim", latent.nope_dim);
  read.integer("rope_dim", latent.rope_dim);
  read.integer("value_dim", latent.value_dim);
  read.finish();
  attention.latent = latent;
}

void read_attention(const Value& value, AttentionConfig& attention, DiagnosticList& problems) {
  SectionReader read(value, "attention", "attention.", problems);
  read.integer("window", attention.window);
  read.text("pattern", attention.pattern);
  read.number("soft_cap", attention.soft_cap);
  read.boolean("bias", attention.bias);
  read.boolean("output_bias", attention.output_bias);
  read.boolean("sinks", attention.sinks);
  read.boolean("qk_norm", attention.qk_norm);
  read.integer("global_head_dim", attention.global_head_dim);
  read.integer("global_kv_heads", attention.global_kv_heads);
  read.boolean("global_shares_kv", attention.global_shares_kv);
  read.number("scale", attention.scale);
  if (const Value* latent = read.section("latent")) read_latent(*latent, attention, problems);
  read.finish();
}

MoeConfig read_moe(const Value& value, DiagnosticList& problems) {
  MoeConfig moe;
  SectionReader read(value, "moe", "moe.", problems);
  read.needed("experts", moe.experts);
  read.needed("top_k", moe.top_k);
  read.needed("d_ff", moe.d_ff);
  read.integer("shared_experts", moe.shared_experts, 0);
  read.integer("d_ff_shared", moe.d_ff_shared, 0);
  read.word("dispatch", kDispatchWords, moe.dispatch);
  read.number("capacity_factor", moe.capacity_factor);
  read.word("score", kScoreWords, moe.score);
  read.boolean("normalize_top_k", moe.normalize_top_k);
  read.integer("first_dense_layers", moe.first_dense_layers, 0);
  read.integer("every", moe.every);
  read.boolean("bias", moe.bias);
  read.boolean("random_routing", moe.random_routing);
  read.finish();
  return moe;
}

void read_model(SectionReader& read, ModelConfig& model) {
  read.text("name", model.name, EntryFields::kNeeded);
  read.needed("layers", model.layers);
  read.needed("d_model", model.d_model);
  read.integer("d_ff", model.d_ff);
  read.needed("q_heads", model.q_heads);
  model.kv_heads = model.q_heads;
  read.integer("kv_heads", model.kv_heads);
  if (model.q_heads > 0) model.head_dim = model.d_model / model.q_heads;
  read.integer("head_dim", model.head_dim);
  read.needed("vocab", model.vocab);
  read.boolean("gated_mlp", model.gated_mlp);
  read.word("activation", kActivationWords, model.activation);
  read.boolean("mlp_bias", model.mlp_bias);
  read.boolean("fused_qkv", model.fused_qkv);
  read.boolean("tied_embeddings", model.tied_embeddings);
  read.boolean("predicts_ahead", model.predicts_ahead);
  read.boolean("scale_embeddings", model.scale_embeddings);
  read.number("final_soft_cap", model.final_soft_cap);
  read.word("norm", kNormWords, model.norm);
  read.number("norm_epsilon", model.norm_epsilon);
  read.boolean("post_norms", model.post_norms);
  read.boolean("parallel_block", model.parallel_block);
  read.word("position", kPositionWords, model.position);
  read.integer("max_positions", model.max_positions);
  read.number("rope_theta", model.rope_theta);
  read.boolean("rope_interleaved", model.rope_interleaved);
}

/// The value of "moe.every"; of what it is part of where the file doesn't have it.
const Value& at_key(const Value& root, std::string_view key) {
  const Value* at = &root;
  while (!key.empty()) {
    const size_t dot = std::min(key.find('.'), key.size());
    const Value* part = at->is_map() ? at->find(key.substr(0, dot)) : nullptr;
    if (!part) break;
    at = part;
    key.remove_prefix(std::min(dot + 1, key.size()));
  }
  return *at;
}

}  // namespace

Result<ModelConfig> read_model_config(const SourcePtr& source) {
  DiagnosticList problems;
  const std::optional<Value> root = parse_yaml(source, problems);
  if (!root) return tl::unexpected(problems.items().front());
  ModelConfig model;
  SectionReader read(*root, "a model", "", problems);
  read_model(read, model);
  if (const Value* attention = read.section("attention"))
    read_attention(*attention, model.attention, problems);
  if (const Value* moe = read.section("moe")) model.moe = read_moe(*moe, problems);
  read.finish();
  if (problems.has_errors()) return tl::unexpected(problems.items().front());
  if (const std::optional<ModelFault> fault = model_fault(model))
    return tl::unexpected(error_at(at_key(*root, fault->key), fault->message));
  return model;
}

}  // namespace hlosim
