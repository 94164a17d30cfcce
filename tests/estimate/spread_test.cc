// Programs spread over meshes: what they send, along which axes, and what is refused.
#include "estimate/partition_over_mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "report/report.h"
#include "support/estimated.h"
#include "support/module_files.h"

namespace hlosim {
namespace {

using testing::HasSubstr;

/// Bytes that a device sends, by "axes kind", of the whole run.
std::map<std::string, double> sent_by(const std::string& module, const std::string& mesh) {
  const Module given = test::module_or_fail(test::own_module(module));
  const Device device = test::device_or_fail("v5e");
  EstimateOptions options;
  const Result<MeshRequest> request = parse_mesh_request(mesh);
  EXPECT_TRUE(request) << render(request.error());
  options.mesh = *request;
  const Result<Estimate> run = estimate(given, op_table(), device, options);
  EXPECT_TRUE(run) << render(run.error());
  if (!run) return {};
  const Report report = make_report(given, op_table(), device, *run);
  std::map<std::string, double> sent;
  for (const AxisUse& use : report.spread->uses)
    sent[use.axes + " " + use.kind] += static_cast<double>(use.sent.count());
  return sent;
}

/// Of the same kinds, within 2 %, and nothing else that counts.
void expect_sent(const std::string& module, const std::string& mesh, std::map<std::string, double> expected) {
  SCOPED_TRACE(module + " on " + mesh);
  double whole = 0;
  for (const auto& [what, bytes] : expected) whole += bytes;
  for (const auto& [what, bytes] : sent_by(module, mesh)) {
    const auto found = expected.find(what);
    if (found == expected.end()) {
      EXPECT_LE(bytes, 0.001 * whole) << "a collective too many: " << what;
      continue;
    }
    EXPECT_NEAR(bytes, found->second, 0.02 * found->second) << what;
    expected.erase(found);
  }
  for (const auto& [what, bytes] : expected) ADD_FAILURE() << "missing: " << what << " of " << bytes;
}

// Of tests/samples/mlp_layer.hlo: four weights of 32 x 128, activations of 64 x 32, in f32.
constexpr double kWeights = 4 * 32 * 128 * 4.0, kActivation = 64 * 32 * 4.0;

TEST(SpreadPatterns, DataParallelSumsGradientsOnce) {
  for (const int64_t n : {2, 4, 8}) {
    const double ring = static_cast<double>(n - 1) / static_cast<double>(n);
    expect_sent("mlp_layer", fmt::format("data={}; x|g=[data,_]; w.=[_,_]", n),
                {{"data all-reduce", 2 * ring * kWeights}});
  }
}

TEST(SpreadPatterns, TensorParallelSumsActivationsFourTimes) {
  for (const int64_t n : {2, 4, 8}) {
    const double ring = static_cast<double>(n - 1) / static_cast<double>(n);
    expect_sent("mlp_layer", fmt::format("model={}; x|g=[_,_]; w1|w3=[_,model]; w2|w4=[model,_]", n),
                {{"model all-reduce", 4 * 2 * ring * kActivation}});
  }
}

TEST(SpreadPatterns, SequenceParallelGathersAndScattersInstead) {
  for (const int64_t n : {2, 4, 8}) {
    const double ring = static_cast<double>(n - 1) / static_cast<double>(n);
    expect_sent(
        "mlp_layer", fmt::format("model={}; x|g=[model,_]; w1|w3=[_,model]; w2|w4=[model,_]", n),
        {{"model all-gather", 4 * ring * kActivation}, {"model reduce-scatter", 4 * ring * kActivation}});
  }
}

TEST(SpreadPatterns, FullyShardedGathersTwiceAndScattersOnce) {
  constexpr double kLayers = 4 * 2 * 16 * 64 * 4.0;  // of tests/samples/layers_step.hlo
  for (const int64_t n : {2, 4, 8}) {
    const double ring = static_cast<double>(n - 1) / static_cast<double>(n);
    expect_sent("layers_step",
                fmt::format("fsdp={}; tokens|target=[fsdp,_]; (w|mean|square).up=[_,fsdp,_]; "
                            "(w|mean|square).down=[_,_,fsdp]",
                            n),
                {{"fsdp all-gather", 2 * ring * kLayers}, {"fsdp reduce-scatter", ring * kLayers}});
  }
}

TEST(SpreadPatterns, ExpertsExchangeTokensFourTimes) {
  constexpr double kTokens = 4 * 8 * 4 * 8 * 4.0;
  for (const int64_t n : {2, 4}) {
    const double ring = static_cast<double>(n - 1) / static_cast<double>(n);
    expect_sent("experts_layer", fmt::format("expert={}; slots|g=[expert,_,_,_]; w1|w2=[expert,_,_]", n),
                {{"expert all-to-all", 4 * ring * kTokens / static_cast<double>(n)}});
  }
}

TEST(SpreadPatterns, TwoAxesEachSendTheirOwn) {
  // Each half of the data sums the gradients of its part of the weights; each model group activations of its
  // part of the data.
  expect_sent(
      "mlp_layer", "data=2,model=4; x|g=[data,_]; w1|w3=[_,model]; w2|w4=[model,_]",
      {{"data all-reduce", 2 * 0.5 * kWeights / 4}, {"model all-reduce", 4 * 2 * 0.75 * kActivation / 2}});
}

std::string error_of(const std::string& module, const std::string& mesh,
                     const SimulateOptions& options = {}) {
  const Module given = test::module_or_fail(test::own_module(module));
  const Device device = test::device_or_fail("v5e");
  const Result<MeshRequest> request = parse_mesh_request(mesh);
  if (!request) return request.error().message;
  const Result<PartitionedProgram> spread = partition_over_mesh(given, op_table(), device, options, *request);
  return spread ? "" : spread.error().message;
}

TEST(PartitionedProgram, RefusesWhatDoesntFit) {
  EXPECT_THAT(error_of("mlp_layer", "data=2; nothing=[data]"), HasSubstr("no parameter of that name"));
  EXPECT_NE(error_of("partitions_step", "data=8"), "");  // for four partitions
  EXPECT_THAT(error_of("partitions_step", "data=4; part=[data,_]"), HasSubstr("partitioned already"));
  EXPECT_THAT(error_of("tpu_block", "data=4"), HasSubstr("a compiler has made module"));
}

TEST(PartitionedProgram, APartitionedModuleStaysAndItsAxesGetNames) {
  const Module given = test::module_or_fail(test::own_module("partitions_step"));
  const Device device = test::device_or_fail("v5e");
  const Result<MeshRequest> request = parse_mesh_request("a=2,b=2");
  ASSERT_TRUE(request);
  const Result<PartitionedProgram> spread = partition_over_mesh(given, op_table(), device, {}, *request);
  ASSERT_TRUE(spread) << render(spread.error());
  EXPECT_TRUE(spread->notes.was_partitioned);
  EXPECT_EQ(to_text(spread->module, op_table()), to_text(given, op_table()));
  EstimateOptions options;
  options.mesh = *request;
  const Result<Estimate> with = estimate(given, op_table(), device, options);
  const Result<Estimate> without = estimate(given, op_table(), device, {});
  ASSERT_TRUE(with && without);
  EXPECT_EQ(with->simulation->totals.makespan, without->simulation->totals.makespan);
  const Report report = make_report(given, op_table(), device, *with);
  ASSERT_FALSE(report.spread->uses.empty());
  for (const AxisUse& use : report.spread->uses) EXPECT_EQ(use.axes, "a,b");
}

TEST(PartitionedProgram, WhoAskedForAReshardingIsKnown) {
  const Module given = test::module_or_fail(test::own_module("mlp_layer"));
  const Device device = test::device_or_fail("v5e");
  EstimateOptions options;
  options.mesh = *parse_mesh_request("model=4; x|g=[model,_]; w1|w3=[_,model]; w2|w4=[model,_]");
  const Result<Estimate> run = estimate(given, op_table(), device, options);
  ASSERT_TRUE(run) << render(run.error());
  const Report report = make_report(given, op_table(), device, *run);
  ASSERT_FALSE(report.spread->reshardings.empty());
  size_t ran = 0;
  for (const ReportResharding& row : report.spread->reshardings) {
    EXPECT_FALSE(row.asked_by.empty());
    ran += row.executions > 0;
  }
  EXPECT_EQ(ran, report.spread->reshardings.size());
}

TEST(PartitionedProgram, OrdersOnATorusNumberChipsAsTheSliceDoes) {
  const Module given = test::module_or_fail(test::own_module("mlp_layer"));
  const Device device = test::device_or_fail("v5p");
  SimulateOptions options;
  options.slice.topology = Topology{{2, 4, 1}};
  const Result<MeshRequest> request =
      parse_mesh_request("data=2,model=4; w1=[_,model]; order=model=y,data=x");
  ASSERT_TRUE(request);
  const Result<PartitionedProgram> spread = partition_over_mesh(given, op_table(), device, options, *request);
  ASSERT_TRUE(spread) << render(spread.error());
  // x is fastest: neighbours along y are two apart.
  EXPECT_EQ(spread->notes.mesh.device_order, (std::vector<int64_t>{0, 2, 4, 6, 1, 3, 5, 7}));
}

TEST(MeshRequest, IsReadFromOneText) {
  const Result<MeshRequest> request = parse_mesh_request("fsdp=16,tensor=4; wi=[fsdp,tensor]; order=auto");
  ASSERT_TRUE(request) << render(request.error());
  EXPECT_EQ(request->devices(), 64);
  ASSERT_EQ(request->said.size(), 1u);
  EXPECT_EQ(request->said[0].text, "wi=[fsdp,tensor]");
  EXPECT_EQ(request->order, "auto");
  EXPECT_EQ(request->text(), "fsdp=16,tensor=4; wi=[fsdp,tensor]; order=auto");
  EXPECT_FALSE(parse_mesh_request("data=x"));
  EXPECT_FALSE(parse_mesh_request("data=2; wi=[model]"));
  EXPECT_FALSE(parse_mesh_request(""));
}

TEST(MeshRequest, SpacesAroundItsPartsAreNoPartOfThem) {
  const Result<MeshRequest> request = read_mesh_request("data=2", {"\twi=[data] "}, " auto\t");
  ASSERT_TRUE(request) << render(request.error());
  EXPECT_EQ(request->text(), "data=2; wi=[data]; order=auto");
}

}  // namespace
}  // namespace hlosim
