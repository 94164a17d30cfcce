// The points of a search of servers as text, JSON and CSV.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "serving/serving_search.h"
#include "text/escape.h"
#include "text/json.h"
#include "text/table.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

std::string command_of(const ServingSearchSpace& space, const ServingPoint& point,
                       const ServingSearchText& text) {
  return text.before + " " + serving_options(space, point) + text.behind;
}

std::string mesh_of(const ServingPoint& point) {
  std::string text = fmt::format("tp{}", point.tensor);
  if (point.data > 1) text += fmt::format(" dp{}", point.data);
  if (point.expert > 1) text += fmt::format(" ep{}", point.expert);
  if (point.experts_on_tensor) text += " (whole experts)";
  return text;
}

/// Reasons and how often each occurs, in the order of their first points.
std::vector<std::pair<std::string, size_t>> reasons_of(const std::vector<ServingPoint>& points) {
  std::vector<std::pair<std::string, size_t>> found;
  for (const ServingPoint& point : points) {
    if (point.reason.empty()) continue;
    const std::string kind = point.reason.substr(0, point.reason.find(':'));
    const auto known = std::find_if(found.begin(), found.end(), [&](const auto& one) {
      return one.first.substr(0, one.first.find(':')) == kind;
    });
    if (known == found.end())
      found.emplace_back(point.reason, 1);
    else
      ++known->second;
  }
  return found;
}

}  // namespace

std::string to_text(const ServingSearchSpace& space, const std::vector<ServingPoint>& points,
                    const ServingSearchText& options) {
  std::string text, commands;
  const TextBuilder print{text};
  Table table({{"", Align::kRight},
               {"tok/s/chip"},
               {"tok/s/user"},
               {"TTFT ms"},
               {"TPOT ms"},
               {"device", Align::kLeft},
               {"chips"},
               {"mesh", Align::kLeft},
               {"weights", Align::kLeft},
               {"cache", Align::kLeft},
               {"requests"},
               {"tokens"}});
  size_t answers = 0, rank = 0;
  for (const ServingPoint& one : points) {
    if (!one.reason.empty()) break;
    ++answers;
    if (!one.front && !options.all) continue;
    ++rank;
    table.add({fmt::format("{}{}", rank, one.front ? "*" : " "), fmt::format("{:.1f}", one.per_chip),
               fmt::format("{:.1f}", one.per_user), fmt::format("{:.1f}", one.ttft_ms),
               fmt::format("{:.2f}", one.tpot_ms), one.device, std::to_string(one.chips), mesh_of(one),
               one.weights, one.cache, std::to_string(one.concurrency), std::to_string(one.batched_tokens)});
    commands += fmt::format("{:>4}  {}\n", rank, command_of(space, one, options));
  }
  if (answers > 0) print("{}", table.text("  "));
  print("\n{} of {} configurations are possible{}; * no other one has more of both\n", answers, points.size(),
        space.limits.ttft_ms > 0 || space.limits.tpot_ms > 0 ? " within the limits" : "");
  if (!commands.empty()) print("\n{}", commands);
  const auto reasons = reasons_of(points);
  if (!reasons.empty()) print("\nwithout an answer\n\n");
  for (const auto& [reason, count] : reasons) print("  {} x {}\n", count, reason);
  return printable(std::move(text));
}

std::string to_json(const ServingSearchSpace& space, const std::vector<ServingPoint>& points,
                    const ServingSearchText& options) {
  Json rows = Json::array();
  for (const ServingPoint& one : points) {
    Json row = {{"device", one.device},
                {"chips", one.chips},
                {"mesh", {{"tensor", one.tensor}, {"data", one.data}, {"expert", one.expert}}},
                {"enable_expert_parallel", one.experts_on_tensor},
                {"weight_dtype", one.weights},
                {"kv_cache_dtype", one.cache},
                {"concurrency", one.concurrency},
                {"max_num_batched_tokens", one.batched_tokens},
                {"front", one.front},
                {"command", command_of(space, one, options)},
                {"reason", one.reason.empty() ? Json(nullptr) : Json(one.reason)}};
    if (one.simulated) {
      row["output_tok_s_chip"] = one.per_chip, row["tok_s_user"] = one.per_user;
      row["ttft_ms_median"] = one.ttft_ms, row["tpot_ms_mean"] = one.tpot_ms;
      row["request_per_s"] = one.requests_per_s;
    }
    rows.push_back(std::move(row));
  }
  return Json{{"schema_version", 1}, {"points", std::move(rows)}}.dump(1) + "\n";
}

std::string to_csv(const ServingSearchSpace& space, const std::vector<ServingPoint>& points,
                   const ServingSearchText& options) {
  std::string text =
      "device,chips,tp,dp,ep,enable_expert_parallel,weight_dtype,kv_cache_dtype,concurrency,max_num_batched_"
      "tokens,output_tok_s_"
      "chip,tok_s_user,ttft_ms_median,tpot_ms_mean,front,reason,command\n";
  for (const ServingPoint& one : points) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},", csv_field(one.device), one.chips, one.tensor,
                        one.data, one.expert, one.experts_on_tensor ? 1 : 0, one.weights, one.cache,
                        one.concurrency, one.batched_tokens);
    text += one.simulated ? fmt::format("{},{},{},{},", one.per_chip, one.per_user, one.ttft_ms, one.tpot_ms)
                          : ",,,,";
    text += fmt::format("{},{},{}\n", one.front ? 1 : 0, csv_field(one.reason),
                        csv_field(command_of(space, one, options)));
  }
  return text;
}

}  // namespace hlosim
