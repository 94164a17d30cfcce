#include "study/measured_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <vector>

#include "base/text.h"

namespace hlosim {
namespace {

/// Doesn't change the time: labels and scales, results that follow from the arrays.
constexpr std::string_view kWithoutEffect[] = {
    "logits_dtype", "logits_scale", "dropout_rate", "reduction", "normalize_output",
    "labels",       "residuals",    "out",          "dout"};
struct Renamed {
  std::string_view from, to;
};
constexpr Renamed kRenamed[] = {
    {"is_causal", "causal"}, {"logits_soft_cap", "soft_cap"}, {"return_residuals", "residuals"}};

/// The first word of nested lists: precision is one per product and operand.
const Value& innermost(const Value& value) {
  return value.is_list() && !value.items.empty() ? innermost(value.items.front()) : value;
}

/// Adds what `value` says under its key. Errors: options that aren't modelled.
Result<void> add_setting(const Value& value, const std::string& path, bool is_loss,
                         std::vector<KernelSetting>& settings) {
  if (value.is_null() ||
      std::find(std::begin(kWithoutEffect), std::end(kWithoutEffect), value.key) != std::end(kWithoutEffect))
    return {};
  if (value.is_map()) {
    for (const Value& item : value.items)
      if (Result<void> added = add_setting(item, path + value.key + ".", is_loss, settings); !added)
        return added;
    return {};
  }
  std::string_view name = value.key;
  for (const Renamed& renamed : kRenamed)
    if (name == renamed.from) name = renamed.to;
  if (is_loss && name == "residuals") return {};  // the sums of the tokens are always a result
  const std::span<const std::string_view> known =
      kernel_arguments(is_loss ? "linear_softmax_cross_entropy_loss" : "flash_attention");
  if (std::find(known.begin(), known.end(), name) == known.end())
    return failure(fmt::format("args: \"{}{}\" is not modelled", path, shown(value.key)));
  settings.push_back({std::string(name), innermost(value).text});
  return {};
}

// ── kernels of servers and experts ──

const Value* item_of(const Value* map, std::string_view key) {
  const Value* const found = map ? map->find(key) : nullptr;
  return found && !found->is_null() ? found : nullptr;
}

std::string text_of(const Value* map, std::string_view key, std::string_view otherwise = {}) {
  const Value* const found = item_of(map, key);
  return found && found->is_scalar() ? found->text : std::string(otherwise);
}

/// "bfloat16" → "bf16", "fp8, one scale per output channel" → "f8e4m3fn"; other words as they are.
std::string element_word(std::string_view text) {
  constexpr Renamed kTypes[] = {{"bfloat16", "bf16"},
                                {"float32", "f32"},
                                {"float16", "f16"},
                                {"int8", "s8"},
                                {"int4", "s4"},
                                {"fp8", "f8e4m3fn"},
                                {"float8_e4m3fn", "f8e4m3fn"},
                                {"float8_e5m2", "f8e5m2"}};
  const std::string_view word = text.substr(0, text.find(','));
  for (const Renamed& type : kTypes)
    if (type.from == word) return std::string(type.to);
  return std::string(word);
}

/// A kernel as read_kernel() takes it.
struct Converted {
  std::string kernel{};
  std::vector<KernelSetting> arguments{}, blocks{};
  std::string lengths{};
  bool alone = false;  // its time has nothing of what the compiler does around it

  /// Takes `key` of `map` as `name`, if it is there.
  void take(const Value* map, std::string_view key, std::string_view name) {
    if (std::string text = text_of(map, key); !text.empty())
      arguments.push_back({std::string(name), std::move(text)});
  }
  void take_block(const Value* map, std::string_view key, std::string_view name) {
    if (std::string text = text_of(map, key); !text.empty())
      blocks.push_back({std::string(name), std::move(text)});
  }
};

/// Errors: a key of `map` with a value that isn't among `known`, unless it says no more than "none".
Result<void> check_keys(const Value* map, std::span<const std::string_view> known, std::string_view where) {
  if (!map) return {};
  for (const Value& item : map->items) {
    if (item.is_null() || (item.is_scalar() && item.text == "false")) continue;
    if (std::find(known.begin(), known.end(), item.key) == known.end())
      return failure(fmt::format("{}: \"{}\" is not modelled", where, shown(item.key)));
  }
  return {};
}

/// Which dimensions contract decides what a grouped product is of its forward one.
Result<std::string> grouped_form(const Value* arguments) {
  const Value* const numbers = item_of(arguments, "ragged_dot_dimension_numbers");
  const Value* const dot = numbers ? numbers->find("dot_dimension_numbers") : nullptr;
  if (!dot) return std::string("forward");
  std::string contracting;  // of both operands
  if (dot->is_list() && !dot->items.empty())
    for (const Value& operand : dot->items.front().items)
      for (const Value& dimension : operand.items) contracting += dimension.text;
  if (contracting == "11") return std::string("forward");
  if (contracting == "12") return std::string("lhs_gradient");
  if (contracting == "00") return std::string("rhs_gradient");
  return failure(fmt::format("args: \"ragged_dot_dimension_numbers\" contract {}, which is not modelled",
                             shown(contracting)));
}

Result<Converted> convert_grouped(const Value* arguments, const Value* blocks) {
  constexpr std::string_view kKnown[] = {"lhs",
                                         "rhs",
                                         "group_sizes",
                                         "ragged_dot_dimension_numbers",
                                         "precision",
                                         "preferred_element_type",
                                         "return_residuals",
                                         "zero_initialize",
                                         "form"};
  if (Result<void> checked = check_keys(arguments, kKnown, "args"); !checked)
    return tl::unexpected(checked.error());
  const Result<std::string> form = grouped_form(arguments);
  if (!form) return tl::unexpected(form.error());
  Converted made{.kernel = "ragged_dot"};
  made.arguments.push_back({"form", *form});
  made.take(arguments, "lhs", "lhs"), made.take(arguments, "rhs", "rhs");
  made.take(arguments, "return_residuals", "residuals");
  if (const std::string type = text_of(arguments, "preferred_element_type"); !type.empty())
    made.arguments.push_back({"result", element_word(type)});
  if (const Value* precision = item_of(arguments, "precision"))
    made.arguments.push_back({"precision", innermost(*precision).text});
  if (const Value* sizes = item_of(arguments, "group_sizes")) {
    if (sizes->is_list()) {
      for (const Value& size : sizes->items) made.lengths += (made.lengths.empty() ? "" : ",") + size.text;
      if (*form == "rhs_gradient")
        made.arguments.push_back({"groups", fmt::format("{}", sizes->items.size())});
    } else if (*form == "rhs_gradient") {
      made.take(sizes, "num_groups", "groups");
    }
  }
  for (const std::string_view name : {"tile_m", "tile_k", "tile_n", "input_buffer_count"})
    made.take_block(blocks, name, name);
  return made;
}

/// Blocks are in the order of the library's tables: pages, queries, and for decode sequences at a time. The
/// names that `blocks` has for them are not heeded.
Result<Converted> convert_latent(const Value* arguments, const Value* blocks, bool decode) {
  Converted made{.kernel = "mla_ragged_paged_attention"};
  for (const std::string_view name : {"q_heads", "kv_lora_rank", "qk_rope_head_dim", "page_size"})
    made.take(arguments, name, name);
  for (const std::string_view name : {"q_dtype", "kv_dtype"})
    if (const std::string type = text_of(arguments, name); !type.empty())
      made.arguments.push_back({std::string(name), element_word(type)});
  const std::string tokens = text_of(arguments, "tokens"), keys = text_of(arguments, "kv_len");
  if (tokens.empty() || keys.empty()) return failure("args: \"tokens\" and \"kv_len\" are needed");
  made.lengths = decode ? fmt::format("{}x1:{}", tokens, keys) : fmt::format("{}:{}", tokens, keys);
  std::vector<std::string> sizes;
  if (blocks)
    for (const Value& item : blocks->items) {
      if (item.is_list())
        for (const Value& size : item.items) sizes.push_back(size.text);
      else if (item.is_scalar() && item.key != "tuned")
        sizes.push_back(item.text);
    }
  if (decode && sizes.size() == 3)
    made.blocks = {{"decode_num_kv_pages_per_block", sizes[0]}, {"decode_batch_size", sizes[2]}};
  if (!decode && sizes.size() == 2)
    made.blocks = {{"num_kv_pages_per_block", sizes[0]}, {"num_queries_per_block", sizes[1]}};
  return made;
}
Result<Converted> convert_latent_decode(const Value* arguments, const Value* blocks) {
  return convert_latent(arguments, blocks, true);
}
Result<Converted> convert_latent_mixed(const Value* arguments, const Value* blocks) {
  return convert_latent(arguments, blocks, false);
}

/// Devices that aren't named are those of one host, weights that aren't are of the 8-bit type that servers of
/// the kernel store.
Result<Converted> convert_experts(const Value* arguments, const Value* blocks) {
  Converted made{.kernel = "fused_ep_moe"};
  for (const std::string_view name :
       {"tokens", "experts", "shared_experts", "top_k", "d_model", "d_ff_expert", "ep"})
    made.take(arguments, name, name);
  made.arguments.push_back({"weights", element_word(text_of(arguments, "weights", "fp8"))});
  if (const std::string wire = text_of(arguments, "activations_on_the_wire"); !wire.empty())
    made.arguments.push_back({"wire", element_word(wire)});
  const std::string version = text_of(blocks, "version", "v1");
  const bool is_pipelined = version == "2" || version == "v2" || version == "optimized";
  made.arguments.push_back({"version", is_pipelined ? "v2" : "v1"});
  for (const std::string_view name : {"bts", "bt"})
    if ((name == "bts") == is_pipelined) made.take_block(blocks, name, name);
  if (!made.blocks.empty()) made.take_block(blocks, "bf", "bf");
  return made;
}

/// A step of training has the kernel alone. What is fused into one kernel has the blocks of its keys' part.
Result<Converted> convert_splash(const Value* arguments, const Value* blocks, bool backward) {
  Converted made{.kernel = backward ? "flash_attention_vjp" : "flash_attention", .alone = true};
  if (arguments)
    for (const Value& item : arguments->items)
      if (Result<void> added = add_setting(item, "", false, made.arguments); !added)
        return tl::unexpected(added.error());
  const std::span<const std::string_view> known = kernel_blocks(made.kernel);
  if (blocks)
    for (const Value& item : blocks->items)
      if (std::find(known.begin(), known.end(), item.key) != known.end() && !item.is_null())
        made.blocks.push_back({item.key, item.text});
  const std::string fused = text_of(blocks, "fused_backward", "true");
  if (backward && fused != "true") return failure("blocks: gradients in several kernels are not modelled");
  return made;
}
Result<Converted> convert_splash_forward(const Value* arguments, const Value* blocks) {
  return convert_splash(arguments, blocks, false);
}
Result<Converted> convert_splash_vjp(const Value* arguments, const Value* blocks) {
  return convert_splash(arguments, blocks, true);
}

/// "bf16[8192,128]" → "bf16", "8192", "128".
std::optional<std::array<std::string, 3>> matrix_of(const Value* arguments, std::string_view key) {
  const std::string text = text_of(arguments, key);
  const size_t open = text.find('['), comma = text.find(','), close = text.find(']');
  if (open == std::string::npos || comma == std::string::npos || close != text.size() - 1 || comma < open)
    return std::nullopt;
  return std::array{text.substr(0, open), text.substr(open + 1, comma - open - 1),
                    text.substr(comma + 1, close - comma - 1)};
}

/// One head of attention as the compiler splits it: scores that are written, then their softmax.
Result<Converted> convert_scores(const Value* arguments, const Value*) {
  const auto q = matrix_of(arguments, "q"), k = matrix_of(arguments, "k");
  if (!q || !k) return failure("args: \"q\" and \"k\" are matrices such as bf16[8192,128]");
  Converted made{.kernel = "dot", .alone = true};
  made.arguments = {{"lhs", text_of(arguments, "q")},
                    {"rhs", fmt::format("{}[{},{}]", (*k)[0], (*k)[2], (*k)[1])}};
  return made;
}
Result<Converted> convert_softmax(const Value* arguments, const Value*) {
  const auto q = matrix_of(arguments, "q"), k = matrix_of(arguments, "k");
  if (!q || !k) return failure("args: \"q\" and \"k\" are matrices such as bf16[8192,128]");
  Converted made{.kernel = "softmax_of_scores", .alone = true};
  made.arguments = {{"scores", fmt::format("{}[{},{}]", (*q)[0], (*q)[1], (*k)[1])},
                    {"v", text_of(arguments, "v")}};
  return made;
}

struct MeasuredForm {
  std::string_view kernel;
  Result<Converted> (*convert)(const Value* arguments, const Value* blocks);
};
constexpr MeasuredForm kForms[] = {{"ragged_dot", convert_grouped},
                                   {"mla_ragged_paged_decode", convert_latent_decode},
                                   {"mla_ragged_paged_mixed", convert_latent_mixed},
                                   {"fused_ep_moe", convert_experts},
                                   {"splash_attention", convert_splash_forward},
                                   {"splash_attention_vjp", convert_splash_vjp},
                                   {"xla_fusion_scores", convert_scores},
                                   {"xla_online_softmax_custom_call", convert_softmax}};

/// A kernel of hlosim's own name: arguments, blocks and `lengths` as the command takes them.
Result<Converted> convert_plain(const Value& kernel, const Value* arguments, const Value* blocks) {
  Converted made{.kernel = kernel.text};
  const bool is_loss = kernel.text.starts_with("linear");
  const bool is_training = is_loss || kernel.text.starts_with("flash_attention");
  if (arguments)
    for (const Value& item : arguments->items) {
      if (!is_training && item.key == "lengths") {
        made.lengths = item.text;
      } else if (!is_training) {
        if (item.is_scalar() && !item.is_null())
          made.arguments.push_back({item.key, element_word(item.text)});
      } else if (Result<void> added = add_setting(item, "", is_loss, made.arguments); !added) {
        return tl::unexpected(added.error());
      }
    }
  if (blocks)
    for (const Value& item : blocks->items)
      if (!item.is_null()) made.blocks.push_back({item.key, item.text});
  return made;
}

}  // namespace

Result<KernelRequest> read_measured_kernel(const Value& kernel, const Value* arguments, const Value* blocks) {
  const auto* const form = std::find_if(std::begin(kForms), std::end(kForms),
                                        [&](const MeasuredForm& one) { return one.kernel == kernel.text; });
  const Result<Converted> made =
      form == std::end(kForms) ? convert_plain(kernel, arguments, blocks) : form->convert(arguments, blocks);
  if (!made) return tl::unexpected(made.error());
  Result<KernelRequest> request = read_kernel(made->kernel, made->arguments, made->blocks, made->lengths);
  if (request) request->alone = made->alone;
  return request;
}

}  // namespace hlosim
