// One question has one answer, whoever is asked: what memory holds, what a program is, what explains a time.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>

#include "buffers/space_use.h"
#include "input/load_modules.h"
#include "input/proto_text.h"
#include "report/explain.h"
#include "support/estimated.h"
#include "support/module_files.h"

namespace hlosim {
namespace {

constexpr const char* kDevices[] = {"v4", "v5e", "v6e", "v7x"};

/// Calls f(file, module) for modules that are right and no larger than that.
template <class F>
void for_each_small(const test::Sample& sample, size_t characters, F&& f) {
  for (const std::filesystem::path& file : test::right_modules(sample)) {
    const Result<SourcePtr> source = read_source(file.string());
    if (!source || (*source)->text().size() > characters) continue;
    DiagnosticList problems;
    const std::vector<Module> modules = load_modules(*source, op_table(), problems);
    if (problems.has_errors()) continue;
    for (const Module& module : modules) f(file.filename().string(), module);
  }
}

// ── memory ──

TEST(SameAnswer, WhatReportsHoldIsWhatBuffersNeed) {
  size_t compared = 0, less = 0, count = 0;
  for_each_small({.file_tests = 2, .others = 24}, 100'000,
                 [&](const std::string& name, const Module& module) {
                   const Device device = test::device_or_fail(kDevices[count++ % std::size(kDevices)]);
                   const Result<Estimate> run = estimate(module, op_table(), device, {});
                   if (!run || !run->occupancy.unknown.empty()) return;
                   BufferOptions options;
                   options.padded = true;
                   options.schedule = ScheduleSource::kText;
                   const auto analysis = analyse_buffers(*run->module, op_table(), options);
                   if (!analysis || (*analysis)->schedule.steps != run->occupancy.steps) return;
                   std::map<int64_t, const SpaceUse*> there;
                   const std::vector<SpaceUse> uses = space_use(**analysis);
                   for (const SpaceUse& use : uses) there[use.space] = &use;
                   for (const SpaceOccupancy& space : run->occupancy.spaces) {
                     if (!there.contains(space.number)) continue;
                     const int64_t needed = there[space.number]->peak;
                     // Never more: a module that has its place would be said to run out of memory.
                     EXPECT_LE(space.peak.count(), needed)
                         << name << " on " << device.config.name << ", S(" << space.number << ")";
                     ++compared;
                     less += space.peak.count() < needed;
                   }
                 });
  EXPECT_GT(compared, 40u);
  EXPECT_LT(less, compared);
}

TEST(SameAnswer, WhatIsWrittenOverIsNoSecondArray) {
  const test::Estimated e = test::estimated(
      "HloModule m, is_scheduled=true\nENTRY e {\n"
      "  p = f32[1536,1024,1024]{2,1,0:T(8,128)} parameter(0)\n"
      "  b = f32[1536,1024,1024]{2,1,0:T(8,128)} negate(p)\n"
      "  c = f32[1536,1024,1024]{2,1,0:T(8,128)} tanh(b)\n"
      "  ROOT d = f32[1536,1024,1024]{2,1,0:T(8,128)} exponential(c)\n}\n",
      "v5e");
  // Two arrays of 6 GiB fit into 16 GiB.
  EXPECT_EQ(e.estimate.occupancy.spaces.at(0).peak, Bytes(int64_t{12} << 30));
  EXPECT_TRUE(e.estimate.occupancy.findings.empty());
}

// ── what a program is ──

TEST(SameAnswer, AProtoIsTheProgramThatItWasMadeOf) {
  // Where the text spells out what is so anyway, or quotes what need not be quoted, its proto says less.
  size_t compared = 0, same = 0, count = 0;
  for_each_small({.file_tests = 2, .others = 16}, 100'000,
                 [&](const std::string& name, const Module& module) {
                   const Result<std::string> proto = proto_of(module);
                   if (!proto) return;  // it says what a proto can't hold
                   const Result<std::string> text = text_of_proto(*proto, name);
                   ASSERT_TRUE(text) << name;
                   const Module again = test::module_or_fail(*text);
                   same += module_fingerprint(again, op_table()) == module_fingerprint(module, op_table());
                   const Device device = test::device_or_fail(kDevices[count++ % std::size(kDevices)]);
                   const auto run = estimate(module, op_table(), device, {}),
                              run_again = estimate(again, op_table(), device, {});
                   ASSERT_EQ(run.has_value(), run_again.has_value()) << name;
                   if (!run) return;
                   EXPECT_EQ(run->simulation.totals.makespan, run_again->simulation.totals.makespan) << name;
                   ++compared;
                 });
  EXPECT_GT(compared, 40u);
  EXPECT_GT(same, compared * 85 / 100);
}

TEST(SameAnswer, AProtoKeepsWhatItsTextMeans) {
  const char* const texts[] = {
      // The start alone has a configuration.
      "HloModule m, is_scheduled=true\n"
      "wrapped {\n  q = f32[8] parameter(0)\n  ROOT c = f32[8] custom-call(q), custom_call_target=\"k\"\n}\n"
      "ENTRY e {\n  p = f32[8] parameter(0)\n"
      "  s = ((f32[8]), f32[8]) async-start(p), calls=wrapped, backend_config={\"cores\":[\"0\"]}\n"
      "  ROOT d = f32[8] async-done(s)\n}\n",
      // Attributes in another order, twice the same computation further up.
      "HloModule m\n"
      "body {\n  t = (s32[], f32[8,8]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
      "  x = f32[8,8] get-tuple-element(t), index=1\n"
      "  y = f32[8,8] dot(x, x), rhs_contracting_dims={0}, lhs_contracting_dims={1}\n"
      "  ROOT r = (s32[], f32[8,8]) tuple(i, y)\n}\n"
      "more {\n  t = (s32[], f32[8,8]) parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
      "  n = s32[] constant(4)\n  ROOT l = pred[] compare(i, n), direction=LT\n}\n"
      "ENTRY e {\n  z = s32[] constant(0)\n  p = f32[8,8] parameter(0)\n  t = (s32[], f32[8,8]) tuple(z, p)\n"
      "  ROOT w = (s32[], f32[8,8]) while(t), condition=more, body=body\n}\n",
      // Without the word they are the largest.
      "HloModule m\nENTRY e {\n  p = f32[8] parameter(0)\n"
      "  ROOT t = (f32[2], s32[2]) topk(p), k=2, largest=false\n}\n",
  };
  for (const char* text : texts) {
    const Module module = test::module_or_fail(text);
    const Result<std::string> proto = proto_of(module);
    ASSERT_TRUE(proto) << text;
    const Result<std::string> again = text_of_proto(*proto, "m");
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(module_fingerprint(test::module_or_fail(*again), op_table()),
              module_fingerprint(module, op_table()))
        << text << *again;
  }
}

TEST(SameAnswer, AProtoSaysWhatItsTextLeavesOut) {
  const Module module = test::module_or_fail(
      "HloModule m\nENTRY e {\n  p = f32[8] parameter(0)\n  ROOT t = (f32[2], s32[2]) topk(p), k=2\n}\n");
  const Result<std::string> proto = proto_of(module);
  ASSERT_TRUE(proto);
  const Result<std::string> again = text_of_proto(*proto, "m");
  ASSERT_TRUE(again);
  EXPECT_NE(again->find("largest=true"), std::string::npos) << *again;
}

// ── equations ──

/// "1.643 us" in picoseconds; no time: nullopt.
std::optional<double> picoseconds(const std::string& text) {
  const std::map<std::string, double> units = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
  const size_t space = text.find(' ');
  if (space == std::string::npos || !units.contains(text.substr(space + 1))) return std::nullopt;
  return std::strtod(text.c_str(), nullptr) * units.at(text.substr(space + 1));
}

/// The value of a sum of named times, as "max(a - b, 0) + c, at least d - e, + f"; nullopt: it is no such
/// sum.
std::optional<double> sum_of(std::string formula, std::map<std::string, double> values) {
  const auto term = [&](std::string_view words, size_t from) -> std::pair<std::string, double> {
    std::pair<std::string, double> best{"", 0};
    for (const auto& [name, value] : values)
      if (words.substr(from).starts_with(name) && name.size() > best.first.size()) best = {name, value};
    return best;
  };
  const auto part = [&](std::string_view words) -> std::optional<double> {
    double total = 0, sign = 1;
    for (size_t at = 0; at < words.size();) {
      const auto [name, value] = term(words, at);
      if (name.empty()) return std::nullopt;
      total += sign * value;
      at += name.size();
      if (at == words.size()) break;
      if (words.substr(at, 3) != " + " && words.substr(at, 3) != " - ") return std::nullopt;
      sign = words[at + 1] == '+' ? 1 : -1;
      at += 3;
    }
    return total;
  };
  if (const size_t end = formula.find(", 0)"); formula.starts_with("max(") && end != std::string::npos) {
    const auto inside = part(std::string_view(formula).substr(4, end - 4));
    if (!inside) return std::nullopt;
    values["the larger"] = std::max(*inside, 0.0), formula.replace(0, end + 4, "the larger");
  }
  double more = 0;
  if (const size_t plus = formula.rfind(", + "); plus != std::string::npos) {
    const auto added = part(std::string_view(formula).substr(plus + 4));
    if (!added) return std::nullopt;
    more = *added, formula.resize(plus);
  }
  double least = 0;
  if (const size_t at = formula.find(", at least "); at != std::string::npos) {
    const auto lower = part(std::string_view(formula).substr(at + 11));
    if (!lower) return std::nullopt;
    least = *lower, formula.resize(at);
  }
  const auto sum = part(formula);
  return sum ? std::optional(std::max(*sum, least) + more) : std::nullopt;
}

/// The term's result follows from its formula and numbers, where that is a sum of times. False: it isn't.
bool holds(const ExplainedTerm& term, const std::string& where) {
  std::map<std::string, double> values;
  double largest = static_cast<double>(term.result.count());
  for (const ExplainedNumber& number : term.numbers)
    if (const auto time = picoseconds(number.value)) {
      values[number.name] = *time;
      largest = std::max(largest, *time);
    }
  const auto sum = sum_of(term.formula, values);
  if (!sum) return false;
  // Times are shown with four digits.
  EXPECT_NEAR(*sum, static_cast<double>(term.result.count()), 2 + largest * 2e-3)
      << where << ": " << term.name << " = " << term.formula;
  return true;
}

TEST(SameAnswer, EquationsGiveWhatTheySay) {
  size_t sums = 0, not_hidden = 0, count = 0;
  for_each_small({.file_tests = 4, .others = 32}, 50'000, [&](const std::string& name, const Module& module) {
    const Device device = test::device_or_fail(kDevices[count++ % std::size(kDevices)]);
    const Result<Estimate> run = estimate(module, op_table(), device, {});
    if (!run) return;
    size_t shown = 0;
    for (const InstructionRecord& record : run->simulation.instructions) {
      if (record.executions == 0 || ++shown > 25) continue;
      const auto e = explain(*run->module, op_table(), device, {}, record.id, run->simulation);
      ASSERT_TRUE(e);
      if (e->cost.time().count() > kForever.count() / 4) continue;  // sums of such times stop growing
      const std::string where = name + " on " + device.config.name + ", " + e->instruction;
      for (const ExplainedTerm& term : e->terms) {
        const bool is_sum = holds(term, where);
        sums += is_sum;
        not_hidden += is_sum && term.name == "not hidden";
      }
      // The run's time is the instruction's own, what it waits, and what it shares.
      if (!op_table()[(*run->module)[record.id].opcode].has(kCallsInline)) {
        EXPECT_EQ(e->cost.time() * e->executions + e->waited + e->shared, e->in_run) << where;
      }
    }
  });
  EXPECT_GT(sums, 300u);
  EXPECT_GT(not_hidden, 100u);
}

TEST(SameAnswer, OfSeveralOfOneNameTheOneThatRunsIsExplained) {
  const test::Estimated e = test::estimated(
      "HloModule m, is_scheduled=true\n"
      "f {\n  k = f32[1024]{0:T(1024)} parameter(0)\n  ROOT r = f32[1024]{0:T(1024)} tanh(k)\n}\n"
      "ENTRY e {\n  p = f32[1024]{0:T(1024)} parameter(0)\n"
      "  k = f32[1024]{0:T(1024)} fusion(p), kind=kLoop, calls=f\n"
      "  ROOT r = f32[1024]{0:T(1024)} negate(k)\n}\n",
      "v5e");
  const Module& module = *e.estimate.module;
  const auto opcode = [&](std::string_view name, std::string_view computation) {
    return module[find_instruction(module, e.estimate.simulation, name, computation)].opcode;
  };
  EXPECT_EQ(opcode("k", ""), Opcode::kFusion);
  EXPECT_EQ(opcode("%r", ""), Opcode::kNegate);
  EXPECT_EQ(opcode("r", "%f"), Opcode::kTanh);
  EXPECT_FALSE(find_instruction(module, e.estimate.simulation, "p", "f").valid());
  const auto inside =
      explain(module, op_table(), e.device, {}, find_instruction(module, e.estimate.simulation, "r", "f"),
              e.estimate.simulation);
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->run_by, std::vector<std::string>{"k"});
}

}  // namespace
}  // namespace hlosim
