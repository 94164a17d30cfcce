#include "serving/serving_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "text/json.h"
#include "text/table.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

std::string gibibytes(int64_t bytes) {
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30));
}

std::string category(size_t i) {
  return i < kCostCategoryCount ? std::string(to_text(static_cast<CostCategory>(i))) : "waiting";
}

double rate(int64_t count, const ServingRun& run) {
  return run.seconds > 0 ? static_cast<double>(count) / run.seconds : 0;
}

/// Of the answers' tokens; 0 without a price.
double price_per_million(const ServingReport& report) {
  if (report.run.output_tokens == 0) return 0;
  const double hours = report.run.seconds / 3600 * static_cast<double>(report.chips());
  return report.price * hours / static_cast<double>(report.run.output_tokens) * 1e6;
}

double joules(const EngineWork& work, const ServingSetup& setup, int64_t instances) {
  return work.cost.picojoules * 1e-12 * static_cast<double>(setup.devices() * instances);
}

double joules_per_token(const ServingReport& report) {
  if (report.run.output_tokens == 0) return 0;
  double all = joules(report.run, report.setup, report.instances);
  if (const PrefillReport* prefill = report.prefill)
    all += joules(prefill->work, prefill->setup, prefill->instances);
  return all / static_cast<double>(report.run.output_tokens);
}

std::string largest(const ServerStepCost& work) {
  const auto most = std::max_element(work.by_category.begin(), work.by_category.end());
  return category(static_cast<size_t>(most - work.by_category.begin()));
}

/// Of one instance.
int64_t requests_that_fit(const ServingSetup& setup, const ServingMemory& memory) {
  return memory.pages / memory.pages_of(setup.max_model_len) * setup.replicas();
}

std::string latency_text(const ServingRun& run) {
  Table table({{"ms", Align::kLeft}, {"mean"}, {"median"}, {"P99"}});
  const auto add = [&](const char* name, const Latency& one) {
    table.add({name, fmt::format("{:.2f}", one.mean), fmt::format("{:.2f}", one.median),
               fmt::format("{:.2f}", one.p99)});
  };
  add("TTFT", run.ttft), add("TPOT", run.tpot), add("ITL", run.itl);
  return table.text("  ");
}

Json latency_json(const Latency& one) {
  return {{"mean", one.mean}, {"median", one.median}, {"p99", one.p99}};
}

std::string memory_text(const ServingSetup& setup, const ServingMemory& memory) {
  Table table({{"a device", Align::kLeft}, {"size"}});
  table.add({"weights as stored", gibibytes(memory.weights)});
  if (memory.draft_weights > 0) table.add({"draft model's weights", gibibytes(memory.draft_weights)});
  table.add({"cache", gibibytes(memory.cache())});
  table.add({"left for programs", gibibytes(memory.headroom())});
  table.add({"usable", gibibytes(memory.capacity)});
  std::string text = table.text("  ");
  text +=
      fmt::format("  {} B of cache a token, pages of {} tokens, {} tokens in all; {} requests of {} fit\n",
                  memory.bytes_per_token, memory.page, memory.tokens() * setup.replicas(),
                  requests_that_fit(setup, memory), setup.max_model_len);
  if (memory.window > 0)
    text += fmt::format("  {} B of these are of layers that keep a window of {} tokens\n",
                        memory.window_bytes, memory.window);
  return text;
}

/// Accepted tokens of a step and the one that the verification computes.
double acceptance_length(const ServingRun& run) {
  if (run.verifications == 0) return 0;
  return 1 + static_cast<double>(run.accepted_drafts) / static_cast<double>(run.verifications);
}

std::string speculation_text(const ServingReport& report) {
  const ServingRun& run = report.run;
  const Speculation& speculation = report.setup.speculation;
  std::string text = fmt::format(
      "  acceptance length {:.2f} (expected {:.2f}): {} drafts of {} tokens, {} tokens accepted\n",
      acceptance_length(run), speculation.acceptance_length(), run.verifications, speculation.tokens,
      run.accepted_drafts);
  if (speculation.draft)
    text += fmt::format("  {} takes {:.1f} % of the device's time\n", speculation.draft->name,
                        100 * run.cost.draft_seconds / std::max(run.cost.seconds, 1e-30));
  return text;
}

Json speculation_json(const ServingReport& report) {
  const ServingRun& run = report.run;
  const Speculation& speculation = report.setup.speculation;
  Json json = {{"num_speculative_tokens", speculation.tokens}, {"acceptance_rate", speculation.acceptance}};
  json["draft_model"] = speculation.draft ? Json(speculation.draft->name) : Json(nullptr);
  json["expected_acceptance_length"] = speculation.acceptance_length();
  json["acceptance_length"] = acceptance_length(run);
  json["drafts"] = run.verifications;
  json["draft_tokens"] = run.verifications * speculation.tokens;
  json["accepted_tokens"] = run.accepted_drafts;
  json["draft_model_s"] = run.cost.draft_seconds;
  return json;
}

/// Of an instance over so many seconds.
std::string steps_text(const EngineWork& work, double seconds) {
  const double all = std::max(seconds, 1e-30);
  std::string text = fmt::format(
      "  {} steps, {} with prompts; {:.1f} % of the time in steps with prompts, {:.1f} % in steps that only "
      "decode, {:.1f} % between steps\n  at most {} requests in a step, {} thrown out for room\n",
      work.steps, work.mixed_steps, 100 * work.mixed_seconds / all, 100 * work.decode_seconds / all,
      100 * work.host_seconds / all, work.most_running, work.preemptions);
  text += "  of the device's time: ";
  for (size_t i = 0; i < work.cost.by_category.size(); ++i) {
    const double share = work.cost.seconds > 0 ? work.cost.by_category[i] / work.cost.seconds : 0;
    if (share >= 0.0005) text += fmt::format("{} {}, ", category(i), percent_text(share));
  }
  return text + fmt::format("most of it {}\n", largest(work.cost));
}

std::string prefill_text(const PrefillReport& prefill, double seconds) {
  const Latency& transfer = prefill.transfer;
  return fmt::format(
      "Prefill instances: {} on {} ({} chips each, tp {})\n{}{}  caches: {:.0f} B a token, {:.1f} us each at "
      "the "
      "slower side; mean {:.2f}, median {:.2f}, P99 {:.2f} ms from the end of a prompt to its cache's "
      "arrival\n",
      prefill.instances, prefill.device, chips_of(prefill.setup, prefill.devices_per_chip),
      prefill.setup.tensor, memory_text(prefill.setup, prefill.memory), steps_text(prefill.work, seconds),
      prefill.link.bytes_per_token, prefill.link.seconds_per_token * 1e6, transfer.mean, transfer.median,
      transfer.p99);
}

std::string curve_text(const std::vector<ServingPoint>& curve) {
  Table table({{"requests"}, {"tok/s/chip"}, {"tok/s/user"}, {"TTFT ms"}, {"TPOT ms"}, {"", Align::kLeft}});
  for (const ServingPoint& one : curve) {
    if (!one.simulated) {
      table.add({std::to_string(one.concurrency), "-", "-", "-", "-", one.reason});
      continue;
    }
    table.add({std::to_string(one.concurrency), fmt::format("{:.1f}", one.per_chip),
               fmt::format("{:.1f}", one.per_user), fmt::format("{:.1f}", one.ttft_ms),
               fmt::format("{:.2f}", one.tpot_ms), one.front ? "*" : ""});
  }
  return table.text("  ") + "  * no other load has more of both tok/s/chip and tok/s/user\n";
}

Json memory_json(const ServingSetup& setup, const ServingMemory& memory) {
  Json json = {{"usable_bytes", memory.capacity},
               {"weights_bytes", memory.weights},
               {"cache_bytes", memory.cache()},
               {"headroom_bytes", memory.headroom()},
               {"bytes_per_token", memory.bytes_per_token},
               {"page_tokens", memory.page},
               {"cache_tokens", memory.tokens() * setup.replicas()},
               {"requests_that_fit", requests_that_fit(setup, memory)}};
  if (memory.draft_weights > 0) json["draft_weights_bytes"] = memory.draft_weights;
  if (memory.window > 0)
    json["window_tokens"] = memory.window, json["window_bytes_per_token"] = memory.window_bytes;
  return json;
}

Json steps_json(const EngineWork& work) {
  return {{"count", work.steps},
          {"with_prompts", work.mixed_steps},
          {"preemptions", work.preemptions},
          {"most_running", work.most_running},
          {"mixed_s", work.mixed_seconds},
          {"decode_s", work.decode_seconds},
          {"host_s", work.host_seconds}};
}

Json category_json(const ServerStepCost& cost) {
  Json json = Json::object();
  for (size_t i = 0; i < cost.by_category.size(); ++i) json[category(i)] = cost.by_category[i];
  return json;
}

Json prefill_json(const PrefillReport& prefill) {
  Json json = {{"device", prefill.device}, {"instances", prefill.instances}};
  json["mesh"] = {{"tensor", prefill.setup.tensor}};
  json["memory"] = memory_json(prefill.setup, prefill.memory), json["steps"] = steps_json(prefill.work);
  json["device_seconds"] = category_json(prefill.work.cost), json["bound_by"] = largest(prefill.work.cost);
  json["transfer"] = {{"bytes_per_token", prefill.link.bytes_per_token},
                      {"seconds_per_token", prefill.link.seconds_per_token},
                      {"latency_s", prefill.link.latency},
                      {"ms", latency_json(prefill.transfer)}};
  return json;
}

Json curve_json(const std::vector<ServingPoint>& curve) {
  Json rows = Json::array();
  for (const ServingPoint& one : curve) {
    Json row = {{"concurrency", one.concurrency}, {"front", one.front}};
    row["reason"] = one.reason.empty() ? Json(nullptr) : Json(one.reason);
    if (one.simulated) {
      row["output_tok_s_chip"] = one.per_chip, row["tok_s_user"] = one.per_user;
      row["ttft_ms_median"] = one.ttft_ms, row["tpot_ms_mean"] = one.tpot_ms;
      row["request_per_s"] = one.requests_per_s;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void add_speculation(const Speculation& speculation, std::vector<std::string>& lines) {
  if (speculation.tokens == 0) return;
  lines.push_back(fmt::format(
      "speculation: each drafted token is accepted with probability {}, if the one before it is; the "
      "{} tokens of a request in a step read its cache once, their products take as long as in prompts",
      speculation.acceptance, speculation.tokens + 1));
  lines.push_back("ITL: a gap for each step of a request, for any number of its tokens");
  lines.push_back(
      speculation.draft
          ? "the draft model runs once for each drafted token on the same devices, with bf16 weights, a "
            "cache of its own and no further time of the host; it takes prompts along"
          : "drafts are n-grams of the request: no time");
}

}  // namespace

std::vector<std::string> serving_assumptions(const ServingReport& report) {
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("times of steps: {} simulated modules, buckets of 16, 32, 64, … tokens; half way "
                  "between simulated lengths of the cache {:+.1f} % off the line",
                  report.simulated, 100 * report.interpolation_error));
  lines.push_back(fmt::format(
      "{:.2g} ms of the host between two steps with asynchronous scheduling (host.serving_step and, "
      "with SGLang's scheduler, host.sglang_step)",
      report.setup.host_seconds * 1e3));
  lines.push_back(fmt::format(
      "decode attention reads caches at {:.0f} % of the memory's bandwidth (kernel.cache_read), and "
      "takes {:.1f} us a request at least, the rounds of its kernel in all layers",
      100 * report.cache_read, report.attention_of_request * 1e6));
  if (window_bytes_per_token(report.setup) > 0)
    lines.push_back(fmt::format(
        "layers with a window read its {} tokens and {}", report.setup.model.attention.window,
        report.memory.window > 0 ? "keep their pages alone"
                                 : "keep all pages, as the heads of layers differ in size (vLLM)"));
  if (report.setup.offloads_all_reduces && report.setup.devices() > 1)
    lines.push_back(
        "SparseCores drive all-reduces where the device has some, unless --xla-flags sets "
        "xla_tpu_enable_sparse_core_collective_offload_all_reduce");
  lines.push_back(fmt::format("usable memory: {}", report.memory.capacity_source));
  add_speculation(report.setup.speculation, lines);
  if (report.prefill)
    lines.insert(
        lines.end(),
        {"caches go through the chips' share of the networks of their hosts (host.dcn, host.chips), one "
         "after the other; each takes host.dcn.latency more",
         "the first token is that of the decode instance's first step: TTFT includes prefill, the wait for "
         "pages, the transfer and that step",
         "a request goes to the prefill instance with the fewest tokens, then to the decode instance with "
         "the fewest requests"});
  if (report.setup.model.attention.latent)
    lines.push_back(
        "latent attention: the longer of reading latents and of the absorbed products over them, as "
        "simulated");
  if (const auto& moe = report.setup.model.moe) {
    const bool is_dropless = moe->dispatch == MoeConfig::Dispatch::kDropless;
    if (is_dropless)
      lines.push_back(
          "experts: each token has every expert with the same probability; a step reads the weights of those "
          "that have a token");
    else
      lines.push_back("experts: tokens are routed evenly; every expert's weights are read in every step");
    if (!is_dropless && report.setup.weight_type != ElementType::kInvalid)
      lines.push_back("experts stored in a narrow type are widened as a whole in every step");
  }
  lines.push_back(
      fmt::format("requests have no common prefixes; sampling is {}",
                  report.setup.sampling == Sampling::kRandom ? "by temperature, top-k and top-p" : "greedy"));
  return lines;
}

std::string to_text(const ServingReport& report) {
  const ServingRun& run = report.run;
  const ServingSetup& setup = report.setup;
  std::string text;
  const TextBuilder print{text};
  print("{} on {} ({} chips, tp {} dp {} ep {})\n\n", setup.model.name, report.device, report.chips(),
        setup.tensor, setup.data, setup.expert);
  print("Requests                        {}\nDuration (s)                    {:.2f}\n", run.requests,
        run.seconds);
  print("Total input tokens              {}\nTotal generated tokens          {}\n", run.input_tokens,
        run.output_tokens);
  print("Request throughput (req/s)      {:.2f}\n", rate(run.requests, run));
  print("Output token throughput (tok/s) {:.2f}\n", rate(run.output_tokens, run));
  print("Peak output throughput (tok/s)  {:.0f}\n", run.peak_output_rate);
  print("Total token throughput (tok/s)  {:.2f}\n", rate(run.output_tokens + run.input_tokens, run));
  print("Output tok/s per chip           {:.2f}\n",
        rate(run.output_tokens, run) / static_cast<double>(report.chips()));
  if (report.ttft_ms > 0 || report.itl_ms > 0)
    print("Goodput (req/s)                 {:.2f} ({:.1f} % of requests inside the limits)\n",
          rate(run.requests, run) * run.good_share, 100 * run.good_share);
  if (run.cost.picojoules > 0)
    print("Energy per output token         {:.3f} J on the chips, of what the device file has figures for\n",
          joules_per_token(report));
  else
    print("Energy per output token         unknown: {} has no energies in its device file\n", report.device);
  if (report.price > 0) print("Price per 10^6 output tokens    {:.4f}\n", price_per_million(report));
  print("\nLatency\n{}\n", latency_text(run));
  if (setup.speculation.tokens > 0) print("Speculative decoding\n{}\n", speculation_text(report));
  if (report.prefill) {
    print("{}\n", prefill_text(*report.prefill, run.seconds));
    print("Decode instances: {} on {} ({} chips each)\n\n", report.instances, report.device,
          chips_of(setup, report.devices_per_chip));
  }
  print("Memory\n{}\nSteps\n{}\nAssumptions\n", memory_text(setup, report.memory),
        steps_text(run, run.seconds));
  for (const std::string& line : serving_assumptions(report)) print("  {}\n", line);
  if (!report.curve.empty()) print("\nLoads\n{}", curve_text(report.curve));
  return text;
}

std::string to_json(const ServingReport& report) {
  const ServingRun& run = report.run;
  const ServingSetup& setup = report.setup;
  Json json = {{"schema_version", 1}, {"model", setup.model.name}, {"device", report.device}};
  json["chips"] = report.chips();
  json["mesh"] = {{"tensor", setup.tensor}, {"data", setup.data}, {"expert", setup.expert}};
  json["requests"] = run.requests, json["duration_s"] = run.seconds;
  json["input_tokens"] = run.input_tokens, json["output_tokens"] = run.output_tokens;
  json["throughput"] = {{"request_per_s", rate(run.requests, run)},
                        {"output_tok_s", rate(run.output_tokens, run)},
                        {"peak_output_tok_s", run.peak_output_rate},
                        {"total_tok_s", rate(run.output_tokens + run.input_tokens, run)}};
  json["latency_ms"] = {
      {"ttft", latency_json(run.ttft)}, {"tpot", latency_json(run.tpot)}, {"itl", latency_json(run.itl)}};
  if (report.ttft_ms > 0 || report.itl_ms > 0) json["inside_limits"] = run.good_share;
  if (setup.speculation.tokens > 0) json["speculation"] = speculation_json(report);
  json["memory"] = memory_json(setup, report.memory);
  json["steps"] = steps_json(run);
  json["device_seconds"] = category_json(run.cost), json["bound_by"] = largest(run.cost);
  if (run.cost.picojoules > 0) json["joules_per_output_token"] = joules_per_token(report);
  if (report.price > 0) json["price_per_million_output_tokens"] = price_per_million(report);
  if (report.prefill) json["instances"] = report.instances, json["prefill"] = prefill_json(*report.prefill);
  json["interpolation_error"] = report.interpolation_error;
  json["assumptions"] = Json(serving_assumptions(report));
  if (!report.curve.empty()) json["curve"] = curve_json(report.curve);
  return json.dump() + "\n";
}

}  // namespace hlosim
