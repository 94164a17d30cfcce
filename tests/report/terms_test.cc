// Readers of recorded terms: sensitivities of keys, and the tables of docs/timing_model.md.
#include "terms/terms.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "report/explain.h"
#include "support/estimated.h"
#include "support/folders.h"

namespace hlosim {
namespace {

Explanation explained(const test::Estimated& run, std::string_view name) {
  const Module& module = *run.estimate.module;
  const InstructionId id = find_instruction(module, *run.estimate.simulation, name, "");
  auto e = explain(module, op_table(), run.device, {}, id, *run.estimate.simulation);
  EXPECT_TRUE(e) << name;
  return e ? std::move(*e) : Explanation();
}

/// The input of that name in the instruction's term; empty: there is none.
std::string input_of(const Explanation& explanation, std::string_view term, std::string_view input) {
  for (const Term& one : explanation.terms)
    for (const TermInput& fact : one.inputs)
      if (one.name == term && fact.name == input) return fact.value;
  return {};
}

TEST(RecordedTerms, SayWhatAConvolutionContracts) {
  const test::Estimated run = test::estimated(R"(HloModule m, is_scheduled=true
ENTRY e {
  x = bf16[64,32,32,256]{3,0,2,1:T(8,128)(2,1)} parameter(0)
  w = bf16[3,3,256,512]{3,2,1,0:T(8,128)(2,1)} parameter(1)
  ROOT c = bf16[64,30,30,512]{3,0,2,1:T(8,128)(2,1)} convolution(x, w), window={size=3x3}, dim_labels=b01f_01io->b01f
}
)",
                                              "v6e");
  EXPECT_EQ(input_of(explained(run, "c"), "MXU", "contracted"), "256 features x 9 positions");
}

TEST(RecordedTerms, NameTheKeysOfServersTiles) {
  constexpr std::string_view kText = R"(HloModule m, is_scheduled=true
ENTRY e {
  x = bf16[2048,2048]{1,0:T(8,128)(2,1)} parameter(0)
  w = bf16[8,2048,1024]{2,1,0:T(8,128)(2,1)} parameter(1)
  sizes = s32[8]{0:T(256)} parameter(2)
  ROOT r = bf16[2048,1024]{1,0:T(8,128)(2,1)} ragged-dot(x, w, sizes), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
}
)";
  const std::string tile = "rows of a tile", below = "rows of a group, below";
  const Explanation by_groups = explained(test::estimated(kText, "v7x"), "r");  // 256 rows: another kernel
  EXPECT_EQ(input_of(by_groups, "blocks", tile), "");
  const Explanation served =
      explained(test::estimated(kText, "v7x", {{"kernel.ragged_walk", "served"}}), "r");
  EXPECT_EQ(input_of(served, "blocks", tile), "128");
  EXPECT_EQ(input_of(served, "blocks", "buffers of weights"), "3");
  EXPECT_EQ(input_of(served, "blocks", below), "");
  EXPECT_LT(served.cost.time(), by_groups.cost.time());
}

// ── sensitivities ──

/// A key by that many percent: the time of `name` by how many percent per percent?
double measured(std::string_view text, const char* device, std::string_view name, const std::string& key,
                double before, double percent, const char* unit) {
  const std::string more = fmt::format("{:.6g} {}", before * (1 + percent / 100), unit);
  const auto time = [&](const std::vector<DeviceOverride>& changes) {
    return static_cast<double>(explained(test::estimated(text, device, changes), name).cost.time().count());
  };
  const double plain = time({});
  return (time({{key, more}}) / plain - 1) / (percent / 100);
}

TEST(Sensitivities, AreThoseOfTheSimulatedTime) {
  constexpr std::string_view kText = R"(HloModule m, is_scheduled=true, replica_count=4
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
ENTRY e {
  p = f32[8,128]{1,0:T(8,128)} parameter(0)
  large = f32[4096,4096]{1,0:T(8,128)} parameter(1)
  small = f32[8,128]{1,0:T(8,128)} negate(p)
  long = f32[4096,4096]{1,0:T(8,128)} negate(large)
  r = f32[8,128]{1,0:T(8,128)} all-reduce(small), replica_groups={{0,1,2,3}}, to_apply=add
  ROOT t = (f32[8,128]{1,0:T(8,128)}, f32[4096,4096]{1,0:T(8,128)}) tuple(r, long)
}
)";
  struct Expected {
    const char *device, *name, *key;
    double value;
    const char* unit;
  };
  // The smallest fusion, the start of an instruction, the launch of a collective.
  const Expected cases[] = {{"unit", "long", "overhead.instruction", 1, "ns"},
                            {"v5e", "r", "ici.launch", 1, "us"}};
  for (const Expected& one : cases) {
    const test::Estimated run = test::estimated(kText, one.device);
    const std::vector<KeySensitivity> keys = sensitivities(explained(run, one.name).terms);
    const auto found =
        std::find_if(keys.begin(), keys.end(), [&](const KeySensitivity& key) { return key.key == one.key; });
    ASSERT_NE(found, keys.end()) << one.key;
    const std::string text = run.device.value(one.key)->text;
    const double now = std::strtod(text.c_str(), nullptr);
    EXPECT_NEAR(
        found->share,
        measured(kText, one.device, one.name, one.key, now, 100, text.substr(text.find(' ') + 1).c_str()),
        1e-3 * found->share + 1e-9)
        << one.key;
  }
}

TEST(Sensitivities, LeaveOutKeysThatOtherPartsDependOn) {
  Term whole{"time", "a + b", {}, Picoseconds(100)};
  const Device device = test::device_or_fail("v5e");
  whole.adds_key(device, "instruction", "overhead.instruction", Picoseconds(25));
  whole.adds("longest unit", Picoseconds(75));
  ASSERT_EQ(sensitivities({whole}).size(), 1u);
  EXPECT_EQ(sensitivities({whole})[0].share, 0.25);
  Term other{"HBM", "", {}, Picoseconds(75)};
  other.key(device, "instruction", "overhead.instruction");
  EXPECT_TRUE(sensitivities({other, whole}).empty());
}

// ── docs/timing_model.md ──

constexpr std::string_view kUnits = R"(HloModule m, is_scheduled=true
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
ENTRY e {
  a = bf16[512,512]{1,0:T(8,128)(2,1)} parameter(0)
  table = f32[65536,64]{1,0:T(8,128)} parameter(1)
  at = s32[4096,1]{1,0:T(8,128)} parameter(2)
  v = f32[256,256]{1,0:T(8,128)S(1)} parameter(3)
  w = f32[256,256]{1,0:T(8,128)} parameter(4)
  product = bf16[512,512]{1,0:T(8,128)(2,1)} dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sums = f32[256,256]{1,0:T(8,128)} exponential(w)
  zero = f32[] constant(0)
  lanes = f32[256]{0:T(256)} reduce(w, zero), dimensions={1}, to_apply=add
  moved = f32[256,256]{1,0:T(8,128)S(1)} negate(v)
  rows = f32[4096,64]{1,0:T(8,128)} gather(table, at), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,64}
  begin = token[] after-all()
  fed = (f32[8,128]{1,0:T(8,128)}, token[]) infeed(begin)
  ROOT all = (bf16[512,512]{1,0:T(8,128)(2,1)}, f32[256,256]{1,0:T(8,128)}) tuple(product, sums)
}
)";

/// "mxu.types.bf16.rows" is "mxu.types.TYPE.rows", one operation's class CLASS.
std::string general(const std::string& key) {
  for (const auto& [prefix, word] : {std::pair("mxu.types.", "TYPE"), {"vpu.ops.", "CLASS"}}) {
    if (!key.starts_with(prefix)) continue;
    const size_t dot = key.find('.', std::string(prefix).size());
    return fmt::format("{}{}{}", prefix, word, key.substr(dot));
  }
  return key;
}

TEST(TimingModel, TheTableOfUnitsIsWhatTermsRecord) {
  const std::string document = test::file_text(test::source_folder() / "docs/timing_model.md");
  std::map<std::string, std::set<std::string>> keys, equations;
  std::vector<std::string> order;
  const test::Estimated run = test::estimated(kUnits, "v6e");
  for (const InstructionRecord& record : run.estimate.simulation->instructions)
    for (const Term& term : explained(run, (*run.estimate.module)[record.id].name).terms) {
      if (term.unit == Unit::kNone) continue;
      if (!keys.contains(term.name)) order.push_back(term.name);
      equations[term.name].insert(term.equation);
      for (const TermInput& input : term.inputs)
        if (!input.key.empty()) keys[term.name].insert(general(input.key));
    }
  EXPECT_EQ(order.size(), 8u) << "MXU, VPU, EUP, XLU, scalar, HBM, VMEM, host";
  for (const std::string& unit : order) {
    std::string text, list;
    for (std::string equation : equations[unit]) {
      for (size_t at = 0; (at = equation.find('\n', at)) != std::string::npos;) equation.replace(at, 1, " ");
      text += (text.empty() ? "" : "; or ") + equation;
    }
    for (const std::string& key : keys[unit]) list += fmt::format("{}`{}`", list.empty() ? "" : ", ", key);
    const std::string row = fmt::format("| {} | {} | {} |", unit, text, list);
    EXPECT_NE(document.find(row), std::string::npos) << "docs/timing_model.md has no row\n" << row;
  }
}

}  // namespace
}  // namespace hlosim
