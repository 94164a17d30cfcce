#include "serving/step_predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/saturating.h"
#include "base/text.h"
#include "text/entry_fields.h"
#include "text/json.h"
#include "text/read_json.h"

namespace hlosim {
namespace {

/// A chunk of a prompt: so many tokens behind those that the cache has already.
void add_chunk(const Value& object, const ServingSetup& setup, DiagnosticList& problems,
               ServerStepLoad& load) {
  if (!object.is_map()) {
    problems.add(
        error_at(object, fmt::format("a chunk of a prompt is an object, not {}", json_kind(object))));
    return;
  }
  int64_t tokens = 0, computed = 0;
  EntryFields fields(object, "a chunk of a prompt", problems);
  fields.whole("tokens", tokens, 1, EntryFields::kNeeded);
  fields.whole("computed", computed, 0);
  for (const Value* left : fields.rest())
    problems.add(error_at_key(*left, fmt::format("a chunk of a prompt has no \"{}\"", shown(left->key))));
  if (computed > setup.max_model_len || tokens > setup.max_model_len - computed)
    problems.add(
        error_at(object, fmt::format("a prompt of {} tokens, {} of them computed, is more than "
                                     "--max-model-len={}",
                                     saturating_add(computed, tokens), computed, setup.max_model_len)));
  const auto begin = static_cast<double>(computed), end = static_cast<double>(computed + tokens);
  load.prefill = saturating_add(load.prefill, tokens), load.prefill_pairs += (end * end - begin * begin) / 2;
}

void check_load(EntryFields& fields, const ServingSetup& setup, const ServerStepLoad& load) {
  if (load.decodes == 0 && load.prefill == 0)
    return fields.wrong("decodes", "the step has neither decodes nor prefill");
  if (load.decodes > setup.max_seqs)
    fields.wrong("decodes",
                 fmt::format("{} requests are more than --max-num-seqs={}", load.decodes, setup.max_seqs));
  else if (setup.speculation.tokens > 0 && load.decodes > setup.most_decodes())
    fields.wrong("decodes", fmt::format("{} requests of {} tokens are more than --max-num-batched-tokens={}",
                                        load.decodes, setup.decode_tokens(), setup.max_batched_tokens));
  const int64_t decoded = saturating_multiply(load.decodes, setup.decode_tokens());
  if (load.prefill > 0 && load.prefill > setup.max_batched_tokens - decoded)
    fields.wrong("prefill", fmt::format("{} tokens are more than --max-num-batched-tokens={}",
                                        saturating_add(decoded, load.prefill), setup.max_batched_tokens));
  if (load.context < load.decodes || load.context / std::max<int64_t>(load.decodes, 1) > setup.max_model_len)
    fields.wrong("context",
                 fmt::format("{} tokens in the caches of {} requests: from 1 to --max-model-len={} each",
                             load.context, load.decodes, setup.max_model_len));
  if (!setup.mixed_steps && load.decodes > 0 && load.prefill > 0)
    fields.wrong("prefill", "--scheduler=sglang has no step with decodes and prompts");
}

/// A step, or with instances apart the tokens of a cache that is transferred.
struct PredictedLoad {
  ServerStepLoad step;
  int64_t transferred = 0;
};

const PredictedSide& side_of(const PredictedServer& server, const ServerStepLoad& load) {
  return server.prefill && load.decodes == 0 ? *server.prefill : server.decode;
}

PredictedLoad read_load(const Value& object, const PredictedServer& server, DiagnosticList& problems) {
  PredictedLoad made;
  ServerStepLoad& load = made.step;
  const ServingSetup& setup = server.decode.setup;
  EntryFields fields(object, "a step", problems);
  fields.find("id");
  if (server.link && fields.whole("transfer", made.transferred, 1)) {
    for (const Value* left : fields.rest())
      problems.add(error_at_key(*left, fmt::format("a transfer has no \"{}\"", shown(left->key))));
    if (made.transferred > setup.max_model_len)
      fields.wrong("transfer", fmt::format("a cache of {} tokens is more than --max-model-len={}",
                                           made.transferred, setup.max_model_len));
    return made;
  }
  fields.whole("decodes", load.decodes, 0);
  fields.whole("context", load.context, 0, load.decodes > 0 ? EntryFields::kNeeded : EntryFields::kOptional);
  if (const Value* chunks = fields.find("prefill")) {
    if (chunks->is_list())
      for (const Value& chunk : chunks->items) add_chunk(chunk, setup, problems, load);
    else
      fields.wrong("prefill", fmt::format("\"prefill\" is an array of chunks, not {}", json_kind(*chunks)));
  }
  for (const Value* left : fields.rest())
    problems.add(error_at_key(*left, fmt::format("a step has no \"{}\"", shown(left->key)),
                              "there are decodes, context, prefill and id"));
  if (server.prefill && load.decodes > 0 && load.prefill > 0)
    fields.wrong("prefill", "prompts and decodes are on instances apart: a step has one of both");
  if (problems.error_count() == 0) check_load(fields, side_of(server, load).setup, load);
  return made;
}

/// `column`: where in the line, from 1; errors of the simulation have none.
std::string error_line(Json answer, const Diagnostic& diagnostic) {
  answer["error"] = diagnostic.message;
  if (diagnostic.source) answer["column"] = diagnostic.source->locate(diagnostic.offset).column;
  return answer.dump();
}

}  // namespace

std::string predict_step_line(std::string_view line, const PredictedServer& server) {
  Json answer = Json::object();
  DiagnosticList problems;
  const auto source = std::make_shared<const SourceFile>("step", std::string(line));
  const std::optional<Value> root = parse_json(source, problems);
  PredictedLoad load;
  if (root && root->is_map()) {
    const std::optional<Json> parsed = Json::parse(line);
    if (const Json* id = parsed ? parsed->find("id") : nullptr) answer["id"] = *id;
    load = read_load(*root, server, problems);
  } else if (root) {
    problems.add(error_at(*root, fmt::format("a step is an object, not {}", json_kind(*root))));
  }
  for (const Diagnostic& problem : problems.items())
    if (problem.severity == Severity::kError) return error_line(std::move(answer), problem);
  if (load.transferred > 0) {
    const auto tokens = static_cast<double>(load.transferred);
    answer["seconds"] = tokens * server.link->seconds_per_token + server.link->latency;
    return answer.dump();
  }
  const auto& [setup, times] = side_of(server, load.step);
  const Result<ServerStepCost> cost = times.cost(load.step);
  if (!cost) return error_line(std::move(answer), cost.error());
  answer["seconds"] = cost->seconds + setup.host_seconds;
  answer["device_seconds"] = cost->seconds, answer["host_seconds"] = setup.host_seconds;
  answer["tokens"] = token_bucket(setup, load.step.decodes * setup.decode_tokens() + load.step.prefill);
  if (setup.speculation.tokens > 0) {
    answer["draft_seconds"] = cost->draft_seconds;
    answer["tokens_per_decode"] = setup.speculation.acceptance_length();
  }
  return answer.dump();
}

}  // namespace hlosim
