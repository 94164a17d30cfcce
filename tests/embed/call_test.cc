// Commands as functions.
#include "embed/call.h"

#include <gmock/gmock.h>

#include <thread>

#include "support/folders.h"
#include "support/module_files.h"

namespace hlosim {
namespace {

using ::testing::HasSubstr;

constexpr const char* kAdder =
    "HloModule m\nENTRY e {\n  a = f32[2] parameter(0)\n  ROOT x = f32[2] add(a, a)\n}\n";

SourcePtr source(const std::string& text) { return std::make_shared<const SourceFile>("<m>", text); }

CallResult call_with(std::vector<std::string> line, Exchange exchange) {
  Stop stop;
  return call(line, std::move(exchange), stop);
}

TEST(Call, TakesTextsInPlaceOfFiles) {
  Exchange exchange;
  exchange.inputs.push_back({"<m>", source(kAdder), {}});
  const CallResult done = call_with({"print", "<m>"}, exchange);
  EXPECT_EQ(done.code, 0);
  EXPECT_THAT(done.out, HasSubstr("add(%a, %a)"));
  EXPECT_TRUE(done.findings.empty());
}

TEST(Call, TakesModulesThatWereRead) {
  const LoadResult loaded = load_for_calls("<m>", source(kAdder), {});
  ASSERT_EQ(loaded.modules.size(), 1u);
  Exchange text, module;
  text.inputs.push_back({"<m>", source(kAdder), {}});
  module.inputs.push_back({"<m>", nullptr, loaded.modules});
  const std::vector<std::string> line = {"report", "<m>", "--device=v5e", "--format=json"};
  const CallResult from_text = call_with(line, text), from_module = call_with(line, module);
  EXPECT_EQ(from_text.out, from_module.out);
  EXPECT_THAT(from_text.out, HasSubstr("\"total_ps\""));
}

TEST(Call, FindingsHaveTheirPlaces) {
  Exchange exchange;
  exchange.inputs.push_back({"<m>", source("HloModule m\nENTRY e {\n  ROOT x = f32[] nothing()\n}\n"), {}});
  const CallResult done = call_with({"check", "<m>"}, exchange);
  EXPECT_EQ(done.code, 2);
  EXPECT_TRUE(done.err.empty());
  ASSERT_FALSE(done.findings.empty());
  ASSERT_TRUE(done.findings[0].source);
  EXPECT_EQ(done.findings[0].source->locate(done.findings[0].offset).line, 3);
}

TEST(Call, WhatIsNoCommandOrOption) {
  EXPECT_THAT(call_with({"reprot"}, {}).findings.at(0).message, HasSubstr("reprot"));
  EXPECT_THAT(call_with({}, {}).findings.at(0).message, HasSubstr("no command"));
  const CallResult wrong = call_with({"report", "<m>", "--topologi=2x2"}, {});
  EXPECT_TRUE(wrong.failed());
  EXPECT_THAT(wrong.findings.at(0).hint, HasSubstr("--topology"));
}

TEST(Call, NothingEndsTheProcess) {
  Exchange exchange;
  exchange.inputs.push_back({"<m>", source(kAdder), {}});
  for (const char* option : {"--max-seconds=1", "--max-memory=1"}) {
    const CallResult done = call_with({"report", "<m>", "--device=v5e", option}, exchange);
    EXPECT_TRUE(done.failed()) << option;
  }
}

TEST(Call, RunExchangesArrays) {
  const float given[2] = {1, 2.5};
  Exchange exchange;
  exchange.inputs.push_back({"<m>", source(kAdder), {}});
  exchange.arrays = {{{"<f4", {2}, reinterpret_cast<const std::byte*>(given), sizeof given}}};
  std::vector<float> outputs;
  exchange.outputs = [&](const std::string& device, std::span<const Array> leaves) {
    EXPECT_EQ(device, "");
    outputs.assign(leaves[0].as<float>(), leaves[0].as<float>() + leaves[0].count());
  };
  const CallResult done = call_with({"run", "<m>"}, exchange);
  EXPECT_EQ(done.code, 0);
  EXPECT_TRUE(done.out.empty()) << "whoever takes the outputs is shown none";
  EXPECT_EQ(outputs, (std::vector<float>{2, 5}));
}

TEST(Call, ArraysHaveToBeThoseOfTheModule) {
  const double given[2] = {1, 2.5};
  const NumpyArray array{"<f8", {2}, reinterpret_cast<const std::byte*>(given), sizeof given};
  Exchange exchange;
  exchange.inputs.push_back({"<m>", source(kAdder), {}});
  exchange.arrays = {{array}};
  EXPECT_THAT(call_with({"run", "<m>"}, exchange).findings.at(0).message, HasSubstr("float64"));
  exchange.arrays = {{}};
  EXPECT_THAT(call_with({"run", "<m>"}, exchange).findings.at(0).message, HasSubstr("0 arrays are given"));
  exchange.arrays = {{array, array}};
  exchange.arrays[0][0].type = exchange.arrays[0][1].type = "<f4";
  EXPECT_TRUE(call_with({"run", "<m>"}, exchange).failed());
  exchange.arrays = {{array}};
  EXPECT_THAT(call_with({"run", "<m>", "--args=zeros"}, exchange).findings.at(0).message,
              HasSubstr("exclude"));
}

TEST(Call, AStopEndsARun) {
  const std::string endless =
      "HloModule m\nb { p = (s32[]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n one = s32[] "
      "constant(1)\n"
      " next = s32[] add(i, one)\n ROOT r = (s32[]) tuple(next) }\n"
      "c { p = (s32[]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n most = s32[] constant(-1)\n"
      " ROOT t = pred[] compare(i, most), direction=NE }\n"
      "ENTRY e { z = s32[] parameter(0)\n t = (s32[]) tuple(z)\n"
      " ROOT w = (s32[]) while(t), condition=c, body=b }\n";
  Exchange exchange;
  exchange.inputs.push_back({"<m>", source(endless), {}});
  Stop stop;
  std::thread asker([&] {
    while (!stop.is_heard()) std::this_thread::yield();
    stop.ask("enough");
  });
  const std::vector<std::string> line = {"run", "<m>", "--args=zeros"};
  const CallResult done = call(line, exchange, stop);
  asker.join();
  EXPECT_TRUE(done.failed());
  EXPECT_THAT(done.findings.at(0).message, HasSubstr("enough"));
}

TEST(Call, ManyAtOnceGiveTheSame) {
  const LoadResult loaded = load_for_calls((test::own_modules().front()).string(), nullptr, {});
  ASSERT_FALSE(loaded.modules.empty());
  Exchange exchange;
  exchange.inputs.push_back({"<m>", nullptr, loaded.modules});
  const std::vector<std::string> line = {"report", "<m>", "--device=v5e", "--format=json"};
  const std::string expected = call_with(line, exchange).out;
  std::vector<std::string> results(4);
  std::vector<std::thread> threads;
  for (std::string& result : results) threads.emplace_back([&] { result = call_with(line, exchange).out; });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) EXPECT_EQ(result, expected);
}

TEST(LoadForCalls, ReadsFilesAndSaysWhatIsWrong) {
  for (const std::filesystem::path& path : test::own_modules())
    EXPECT_FALSE(load_for_calls(path.string(), nullptr, {}).modules.empty()) << path;
  const LoadResult missing = load_for_calls("no/such/file.hlo", nullptr, {});
  EXPECT_TRUE(missing.modules.empty());
  EXPECT_THAT(missing.findings.at(0).message, HasSubstr("no/such/file.hlo"));
  const std::vector<std::string> wrong = {"--dimm=8"};
  EXPECT_THAT(load_for_calls("<m>", source(kAdder), wrong).findings.at(0).hint, HasSubstr("--dim"));
}

}  // namespace
}  // namespace hlosim
