// Models from YAML.
#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "base/quantity_text.h"
#include "base/text.h"
#include "base/value.h"
#include "workloads/model_words.h"

namespace hlosim {
namespace {

/// One map of the file, key by key. Keys that nobody asked for are errors.
class MapReader {
 public:
  /// `prefix`: of its keys in model_fault(), "moe.".
  MapReader(const Value& map, std::string what, std::string prefix, DiagnosticList& problems)
      : map_(map), what_(std::move(what)), prefix_(std::move(prefix)), problems_(problems) {
    if (!map.is_map())
      problems_.add(error_at(map, fmt::format("expected the keys of {}, found {}", what_, described(map))));
  }
  void integer(std::string_view key, int64_t& into, int64_t low = 1) {
    const Value* value = scalar(key, "a whole number");
    if (!value) return;
    const Result<int64_t> read = TextForm<int64_t>::read(value->text);
    constexpr double kMostRead = 9e18;  // what is less and too large is found with all others
    if (read && *read >= low)
      into = *read;
    else if (is_number_beyond(value->text, kMostRead))
      add_out_of_range(*value, key, fmt::format("a whole number from {} to {}", low, most_of(full(key))));
    else
      problems_.add(error_at(
          *value, fmt::format("{}: '{}' is not a whole number from {} on", key, shown(value->text), low)));
  }
  void number(std::string_view key, double& into) {
    const Value* value = scalar(key, "a number");
    if (!value) return;
    const Result<double> read = TextForm<double>::read(value->text);
    const double most = most_number_of(full(key));
    if (is_number_beyond(value->text, most))
      add_out_of_range(*value, key, fmt::format("a number from 0 to {:g}", most));
    else if (read && *read >= 0)
      into = *read;
    else
      problems_.add(
          error_at(*value, fmt::format("{}: '{}' is not a number from 0 on", key, shown(value->text))));
  }
  void boolean(std::string_view key, bool& into) {
    const Value* value = scalar(key, "true or false");
    if (!value) return;
    const Result<bool> read = TextForm<bool>::read(value->text);
    if (read)
      into = *read;
    else
      problems_.add(error_at(*value, fmt::format("{}: {}", key, read.error().message)));
  }
  void text(std::string_view key, std::string& into) {
    if (const Value* value = scalar(key, "text")) into = value->text;
  }
  template <class Enum, size_t n>
  void word(std::string_view key, const ModelWord<Enum> (&words)[n], Enum& into) {
    const Value* value = scalar(key, "a word");
    if (!value) return;
    std::vector<std::string_view> names;
    for (const ModelWord<Enum>& one : words) {
      if (one.word == value->text) {
        into = one.value;
        return;
      }
      names.push_back(one.word);
    }
    problems_.add(error_at(
        *value, fmt::format("{}: '{}' is none of {}", key, shown(value->text), fmt::join(names, ", ")),
        did_you_mean(value->text, names)));
  }
  const Value* section(std::string_view key) {
    known_.push_back(key);
    return map_.is_map() ? map_.find(key) : nullptr;
  }
  void finish() {
    if (!map_.is_map()) return;
    for (const Value& item : map_.items)
      if (std::find(known_.begin(), known_.end(), item.key) == known_.end())
        problems_.add(error_at_key(item, fmt::format("unknown key \"{}\" of {}", shown(item.key), what_),
                                   did_you_mean(item.key, known_)));
  }
  void need(std::string_view key) {
    if (map_.is_map() && !map_.find(key))
      problems_.add(error_at(map_, fmt::format("\"{}\" of {} is missing", key, what_)));
  }

 private:
  std::string full(std::string_view key) const { return fmt::format("{}{}", prefix_, key); }
  void add_out_of_range(const Value& value, std::string_view key, const std::string& expected) {
    problems_.add(error_at(
        value, fmt::format("{}: '{}' is out of range: expected {}", key, shown(value.text), expected)));
  }
  const Value* scalar(std::string_view key, std::string_view expected) {
    const Value* value = section(key);
    if (!value) return nullptr;
    if (value->is_scalar() && !value->text.empty()) return value;
    problems_.add(
        error_at(*value, fmt::format("{}: expected {}, found {}", key, expected, described(*value))));
    return nullptr;
  }

  const Value& map_;
  std::string what_, prefix_;
  DiagnosticList& problems_;
  std::vector<std::string_view> known_;
};

void read_latent(const Value& value, AttentionConfig& attention, DiagnosticList& problems) {
  LatentAttention latent;
  MapReader read(value, "latent attention", "attention.latent.", problems);
  read.integer("q_rank", latent.q_rank, 0);
  read.integer("kv_rank", latent.kv_rank);
  read.integer("nope_dim", latent.nope_dim);
  read.integer("rope_dim", latent.rope_dim);
  read.integer("value_dim", latent.value_dim);
  read.finish();
  attention.latent = latent;
}

void read_attention(const Value& value, AttentionConfig& attention, DiagnosticList& problems) {
  MapReader read(value, "attention", "attention.", problems);
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
  MapReader read(value, "moe", "moe.", problems);
  for (const char* key : {"experts", "top_k", "d_ff"}) read.need(key);
  read.integer("experts", moe.experts);
  read.integer("top_k", moe.top_k);
  read.integer("d_ff", moe.d_ff);
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

void read_model(MapReader& read, ModelConfig& model) {
  for (const char* key : {"name", "layers", "d_model", "q_heads", "vocab"}) read.need(key);
  read.text("name", model.name);
  read.integer("layers", model.layers);
  read.integer("d_model", model.d_model);
  read.integer("d_ff", model.d_ff);
  read.integer("q_heads", model.q_heads);
  model.kv_heads = model.q_heads;
  read.integer("kv_heads", model.kv_heads);
  if (model.q_heads > 0) model.head_dim = model.d_model / model.q_heads;
  read.integer("head_dim", model.head_dim);
  read.integer("vocab", model.vocab);
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
  MapReader read(*root, "a model", "", problems);
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
