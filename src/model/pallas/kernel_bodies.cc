#include "model/pallas/kernel_bodies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/rounding.h"
#include "base/text.h"
#include "model/core.h"
#include "model/pallas/kernel_call.h"
#include "ops/custom_calls/custom_call_targets.h"

namespace hlosim {
namespace {

std::string_view config_of(const Instruction& call) {
  const Attr* const config = call.find(AttrKey::kBackendConfig);
  return config ? config->text() : std::string_view{};
}

/// The integers of an operand that is a constant; empty: they aren't known.
std::vector<int64_t> values_of(const Instruction& operand) {
  std::vector<int64_t> values;
  const Literal* const literal = operand.literal;
  if (!literal || literal->elided || !literal->shape->is_array() || !is_integer(literal->shape->element_type))
    return values;
  const int64_t count = std::min<int64_t>(literal->shape->element_count(), int64_t{1} << 20);
  for (int64_t i = 0; i < count; ++i) values.push_back(integer_at(*literal, i));
  return values;
}

/// Operands that are no more than numbers come first: sizes of the grid, then lists that index maps read.
mosaic::KernelInputs inputs_of(const Module& module, const Instruction& call, const mlir::File& file,
                               const CustomCallCosts* given) {
  mosaic::KernelInputs inputs;
  const mosaic::KernelSignature signature = mosaic::kernel_signature(file);
  const auto& operands = call.operands;
  for (size_t i = 0; i < signature.dynamic_bounds + signature.prefetched && i < operands.size(); ++i) {
    std::vector<int64_t> values = operand_values(module, call, i, given);
    if (i < signature.dynamic_bounds)
      inputs.dynamic_bounds.push_back(values.size() == 1 ? values[0] : -1);
    else
      inputs.prefetched.push_back(std::move(values));
  }
  const ShapeRef one[] = {call.shape};
  const std::span<const ShapeRef> results = call.shape->is_tuple() ? call.shape->elements : std::span(one);
  inputs.results = static_cast<int64_t>(results.size());
  for (const ShapeRef result : results)
    inputs.result_bytes.push_back(static_cast<double>(result->is_array() ? result->element_count() : 0) *
                                  bit_width(result->element_type) / 8);
  return inputs;
}

/// The number that stands behind `key` in the configuration; 0: none.
double number_of(std::string_view config, std::string_view key) {
  const size_t at = config.find(key);
  if (at == std::string_view::npos) return 0;
  const size_t digits = config.find_first_of("0123456789", at + key.size());
  double value = 0;
  for (size_t i = digits; i < config.size() && config[i] >= '0' && config[i] <= '9'; ++i)
    value = 10 * value + (config[i] - '0');
  return value;
}

double flops_of(const mosaic::KernelBody& body) {
  double flops = 0;
  for (const mosaic::StepRun& run : body.runs)
    for (const mosaic::KernelProduct& p : body.works[run.work].products)
      flops += static_cast<double>(run.count) * p.times * 2 * static_cast<double>(p.batch) *
               static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  return flops;
}

std::string key_of(const Module& module, const Instruction& call, const CustomCallCosts* given) {
  std::string key(config_of(call));
  for (size_t i = 0; i < call.operands.size(); ++i)
    if (const std::vector<int64_t> values = operand_values(module, call, i, given); !values.empty())
      key += fmt::format("|{}:{}", values.size(), fmt::join(values, ","));
  return key;
}

/// Loops that run once because their trip count isn't known: how long a round takes, and how it is given.
void add_loop_times(KernelOfCall& kernel, std::string_view name) {
  const std::vector<size_t>& missing = kernel.body.missing_operands;
  for (size_t i = 0; i < kernel.body.unknown_loops.size(); ++i) {
    const std::string operands =
        missing.empty() ? std::string("OPERAND") : fmt::format("{}", fmt::join(missing, "|"));
    kernel.body.assumptions.push_back(fmt::format(
        "each iteration of the loop at {} takes {}; --kernel-values='{}:{}=VALUES' sets trip counts",
        kernel.body.unknown_loops[i].place, to_text(kernel.cost.unknown_loops[i]), shown(name), operands));
  }
}

}  // namespace

bool has_kernel_body(const Instruction& call) {
  return call.find(AttrKey::kCustomCallTarget) && custom_call_target(call) == "tpu_custom_call" &&
         config_of(call).find("body") != std::string_view::npos;
}

std::vector<int64_t> operand_values(const Module& module, const Instruction& call, size_t operand,
                                    const CustomCallCosts* given) {
  const Instruction& array = module[call.operands[operand]];
  if (const KernelValues* const values = given ? given->find_values(call, operand, array.name) : nullptr)
    return values->values;
  return values_of(array);
}

Result<mosaic::KernelBody> kernel_body_of(const Module& module, const Instruction& call,
                                          const DeviceConfig& device, const CustomCallCosts* given) {
  const KernelDensity* const density = given ? given->find_density(call) : nullptr;
  const Result<mlir::File> file = mosaic::read_kernel_body(std::string(call.name), config_of(call));
  if (!file) return tl::unexpected<Diagnostic>(file.error());
  mosaic::KernelInputs inputs = inputs_of(module, call, *file, given);
  const Core core(device);
  inputs.registers = {as_double(core.lanes()), as_double(core.sublanes())};
  if (density) inputs.density = density->share;
  const size_t dynamic_bounds = mosaic::kernel_signature(*file).dynamic_bounds;
  const auto gone_through = [&] {
    Result<mosaic::KernelBody> made = mosaic::kernel_body(*file, inputs);
    if (made)  // by the call's operands
      for (size_t& operand : made->missing_operands) operand += dynamic_bounds;
    return made;
  };
  Result<mosaic::KernelBody> body = gone_through();
  if (body && density)
    body->assumptions.push_back(
        body->has_unknown_conditions
            ? fmt::format("conditions on data are met in {:.4g} % of the steps (--kernel-density={})",
                          100 * density->share, shown(density->text))
            : "--kernel-density makes no difference: no condition depends on data that isn't known");
  if (!body || density || !body->has_unknown_conditions) return body;
  // Which steps do the work is data; how many of them, the author's count of FLOPs tells.
  const double stated = number_of(config_of(call), "\"cost_estimate\":{\"flops\""), all = flops_of(*body);
  if (stated <= 0 || stated >= 0.98 * all) return body;
  inputs.density = stated / all;
  Result<mosaic::KernelBody> sparse = gone_through();
  if (sparse)
    sparse->assumptions.push_back(
        fmt::format("conditions on data are met in {:.4g} % of the steps (from cost_estimate's FLOPs)",
                    100 * inputs.density));
  return sparse;
}

Bytes scoped_vmem_of(const Instruction& call) {
  const std::string_view config = config_of(call);
  const size_t list = config.find("\"scoped_memory_configs\":[");
  constexpr std::string_view kSpace = "\"memory_space\"", kSize = "\"size\"";
  for (size_t at = list; at != std::string_view::npos; at = config.find('{', at + 1)) {
    const size_t end = config.find('}', at);
    const std::string_view entry = config.substr(at, end == std::string_view::npos ? 0 : end - at);
    if (entry.find(']') < entry.find('{')) break;
    const auto number = [&](std::string_view key) {
      const size_t begin = entry.find(key);
      if (begin == std::string_view::npos) return int64_t{-1};
      const size_t digits = entry.find_first_of("0123456789", begin + key.size());
      int64_t value = 0;
      for (size_t i = digits; i < entry.size() && entry[i] >= '0' && entry[i] <= '9' && value < 1e15; ++i)
        value = value * 10 + (entry[i] - '0');
      return value;
    };
    if (number(kSpace) == 1 && number(kSize) > 0) return Bytes(number(kSize));
  }
  return {};
}

const KernelOfCall* KernelBodies::find(const Module& module, const Instruction& call, std::string& problem) {
  if (!has_kernel_body(call)) return nullptr;
  const KernelDensity* const density = given_ ? given_->find_density(call) : nullptr;
  const auto [at, is_new] = known_.try_emplace(key_of(module, call, given_) +
                                               (density ? "|density=" + density->text : std::string()));
  Known& known = at->second;
  if (is_new) {
    Result<mosaic::KernelBody> body = kernel_body_of(module, call, device_, given_);
    if (body) {
      KernelBodyCost cost = kernel_body_cost(*body, device_, scoped_vmem_of(call));
      // A kernel that is known by its name and operands says more than one round of its loops.
      if (body->unknown_loops.empty() || !find_kernel_call(module, call, device_, given_)) {
        known.kernel = std::make_unique<KernelOfCall>(KernelOfCall{std::move(*body), std::move(cost)});
        add_loop_times(*known.kernel, kernel_name(call));
      }
    } else {
      known.problem = body.error().source
                          ? fmt::format("{} at byte {}", body.error().message, body.error().offset)
                          : body.error().message;
    }
  }
  problem = known.problem;
  return known.kernel.get();
}

}  // namespace hlosim
