// What a tuner, a sweep or a gate calls "as given" takes as long as the report says, to the picosecond,
// whatever the options are that both take.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/run.h"
#include "support/module_files.h"

namespace hlosim {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// What is best done with what its loop slices depends on how often that runs, what can be hidden behind the
/// custom call on how long that takes.
constexpr std::string_view kLoop = R"(HloModule loop, num_partitions=16
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
body {
  s = (s32[], s32[], bf16[64,1024], bf16[16,1024,1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  x = bf16[64,1024] get-tuple-element(s), index=2
  w = bf16[16,1024,1024] get-tuple-element(s), index=3
  one = s32[] constant(1)
  z = s32[] constant(0)
  j = s32[] add(i, one)
  d = bf16[1,1024,1024] dynamic-slice(w, i, z, z), dynamic_slice_sizes={1,1024,1024}
  f = bf16[1024,1024] reshape(d)
  y = bf16[64,1024] dot(x, f), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], s32[], bf16[64,1024], bf16[16,1024,1024]) tuple(j, n, y, w)
}
condition {
  s = (s32[], s32[], bf16[64,1024], bf16[16,1024,1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  ROOT l = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = bf16[64,1024] parameter(0)
  w = bf16[16,1024,1024] parameter(1)
  v = f32[512,128] parameter(2)
  n = s32[] parameter(3)
  z = s32[] constant(0)
  init = (s32[], s32[], bf16[64,1024], bf16[16,1024,1024]) tuple(z, n, x, w)
  loop = (s32[], s32[], bf16[64,1024], bf16[16,1024,1024]) while(init), condition=condition, body=body
  k = bf16[64,1024] get-tuple-element(loop), index=2
  r = f32[512,128] all-reduce(v), channel_id=1,
      replica_groups=[4,4]<=[16], use_global_device_ids=true, to_apply=sum
  m = bf16[64,1024] custom-call(k), custom_call_target="kernel"
  q = f32[512,128] tanh(r)
  g = f32[512,128] all-reduce(q), channel_id=2,
      replica_groups=[2,8]<=[16], use_global_device_ids=true, to_apply=sum
  h = f32[512,128] exponential(g)
  p = f32[512,512] dot(h, v), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  u = f32[512,512] all-reduce(p), channel_id=3,
      replica_groups=[1,16]<=[16], use_global_device_ids=true, to_apply=sum
  ROOT o = (bf16[64,1024], f32[512,128], f32[512,512]) tuple(m, h, u)
}
)";

/// The best order depends on which of the links each group has to itself.
constexpr std::string_view kTransfers = R"(HloModule transfers, num_partitions=16
sum {
  a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT c = bf16[] add(a, b)
}
ENTRY e {
  x = bf16[1024,1024] parameter(0)
  v1 = bf16[1024,1024] all-reduce(x), channel_id=1,
      replica_groups=[8,2]<=[16], use_global_device_ids=true, to_apply=sum
  v2 = bf16[1024,1024] all-reduce(v1), channel_id=2,
      replica_groups=[2,8]<=[16], use_global_device_ids=true, to_apply=sum
  v3 = bf16[1024,1024] all-reduce(v1), channel_id=3,
      replica_groups=[4,4]<=[16], use_global_device_ids=true, to_apply=sum
  v4 = bf16[1024,1024] dot(x, v1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  v5 = bf16[1024,1024] all-reduce(v3), channel_id=5,
      replica_groups=[1,16]<=[16], use_global_device_ids=true, to_apply=sum
  v6 = bf16[1024,1024] dot(v4, v4), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  v7 = bf16[1024,1024] dot(v6, v1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  v8 = bf16[1024,1024] dot(v7, v3), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  v9 = bf16[1024,1024] dot(v8, v8), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  v10 = bf16[1024,1024] dot(v7, v6), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT o = (bf16[1024,1024], bf16[1024,1024], bf16[1024,1024], bf16[1024,1024], bf16[1024,1024],
      bf16[1024,1024], bf16[1024,1024], bf16[1024,1024], bf16[1024,1024], bf16[1024,1024],
      bf16[1024,1024]) tuple(x, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10)
}
)";

constexpr std::string_view kScheduled = R"(HloModule scheduled, is_scheduled=true, num_partitions=16
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  a = f32[256,512]{1,0:T(8,128)} parameter(0)
  b = f32[512,256]{0,1:T(8,128)} parameter(1)
  r = f32[256,512]{1,0:T(8,128)} all-reduce(a), channel_id=1,
      replica_groups=[1,16]<=[16], use_global_device_ids=true, to_apply=sum
  n = f32[256,512]{1,0:T(8,128)} negate(a)
  m = f32[256,512]{1,0:T(8,128)} custom-call(n), custom_call_target="kernel"
  d = f32[256,256]{1,0:T(8,128)} dot(m, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[256,512]{1,0:T(8,128)}, f32[256,256]{1,0:T(8,128)}) tuple(r, d)
}
)";

class AsGiven : public testing::Test {
 protected:
  AsGiven() {
    std::string name = (fs::temp_directory_path() / "hlosim_as_given.XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    const std::string_view texts[] = {kLoop, kTransfers, kScheduled};
    std::ofstream all(path("modules.hlo"));
    for (size_t i = 0; i < kModules; ++i) {
      all << (i > 0 ? "\n// -----\n\n" : "") << texts[i];
      std::ofstream(path(fmt::format("{}.hlo", i))) << texts[i];
    }
    std::ofstream(path("bitcasts.hlo")) << test::own_module("bitcasts_by_device");
    std::ofstream(path("costs.yaml")) << "kernel: {time: 3 ms}\n";
  }
  ~AsGiven() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// The documents that a command writes to standard output.
  std::vector<Json> documents(std::vector<std::string> line) const {
    std::istringstream in;
    std::ostringstream out, err;
    const int code = run(line, in, out, err);
    EXPECT_EQ(code, kExitSuccess) << line[0] << ": " << err.str();
    if (code != kExitSuccess) return {};
    const Json json = Json::parse(out.str());
    return json.is_array() ? json.get<std::vector<Json>>() : std::vector<Json>{json};
  }
  static std::vector<std::string> with(std::vector<std::string> line, const std::vector<std::string>& more) {
    line.insert(line.end(), more.begin(), more.end());
    return line;
  }

  std::vector<int64_t> times(const std::vector<std::string>& command, const std::string& pointer,
                             const std::vector<std::string>& options) const {
    std::vector<int64_t> all;
    for (const Json& json : documents(with(command, options)))
      all.push_back(json.at(Json::json_pointer(pointer)).get<int64_t>());
    return all;
  }

  /// Times of the modules of a file by device, as a baseline of a gate over these devices has them.
  std::map<std::string, std::vector<int64_t>> gated(const std::string& file,
                                                    const std::vector<std::string>& devices,
                                                    const std::string& settings) const {
    std::ofstream(path("gate.yaml")) << fmt::format("modules: [{}]\ndevices: [{}]\nbaseline: b.json{}\n",
                                                    file, fmt::join(devices, ", "), settings);
    fs::remove(path("b.json"));
    std::istringstream in;
    std::ostringstream out, err;
    const std::vector<std::string> line = {"gate", "--config=" + path("gate.yaml"), "--update-baseline"};
    EXPECT_EQ(run(line, in, out, err), kExitSuccess) << err.str();
    std::map<std::string, std::vector<int64_t>> by_device;
    std::ifstream written(path("b.json"));
    const Json baseline = Json::parse(written);
    for (const Json& one : baseline.at("runs"))
      by_device[one.at("device").get<std::string>()].push_back(one.at("metrics").at(0).at(2).get<int64_t>());
    return by_device;
  }

  static constexpr size_t kModules = 3;
  fs::path folder_;
};

TEST_F(AsGiven, IsTheReportsTime) {
  const std::string file = path("modules.hlo");
  const std::vector<std::vector<std::string>> choices = {
      {},
      {"--topology=2x8"},
      {"--topology=16x1"},
      {"--topology=2x4", "--slices=2"},
      {"--devices=64"},
      {"--while-trip-count=200"},
      {"--custom-call-costs=" + path("costs.yaml")},
      {"--set=ici.bandwidth=1 GB/s"},
      {"--set=memory.hbm.bandwidth=100 GB/s", "--topology=2x8"},
      {"--no-lower"},
      {"--no-lower", "--topology=2x8", "--while-trip-count=200"},
      {"--module=loop", "--while-trip-count=200"},
      {"--module=1", "--topology=2x8"},
      {"--topology=2x8", "--while-trip-count=200", "--custom-call-costs=" + path("costs.yaml")},
  };
  std::set<std::vector<int64_t>> different;
  for (const std::vector<std::string>& choice : choices) {
    std::string shown;
    for (const std::string& option : choice) shown += option + " ";
    SCOPED_TRACE(shown);
    const std::vector<std::string> options = with({file, "--device=v5e", "--format=json"}, choice);
    const std::vector<int64_t> expected = times({"report"}, "/time/total_ps", options);
    ASSERT_FALSE(expected.empty());
    different.insert(expected);
    EXPECT_EQ(times({"tune", "schedule"}, "/time_before_ps", options), expected);
    EXPECT_EQ(times({"tune", "layout", "--moves=1", "--exact-steps=0"}, "/before/time_ps", options),
              expected);
    EXPECT_EQ(times({"tune", "prefetch", "--moves=1"}, "/input/time_ps", options), expected);
  }
  EXPECT_GT(different.size(), 8u);  // they are options that matter
}

TEST_F(AsGiven, IsWhatASweepAndAGateStartFrom) {
  for (const std::string lower : {"true", "false"})
    for (const std::string topology : {"4x4", "2x8"})
      for (const std::string trips : {"1", "200"}) {
        SCOPED_TRACE(lower + " " + topology + " " + trips);
        std::vector<std::string> options = {path("modules.hlo"), "--device=v5e", "--format=json",
                                            "--topology=" + topology, "--while-trip-count=" + trips};
        if (lower == "false") options.emplace_back("--no-lower");
        const std::vector<int64_t> expected = times({"report"}, "/time/total_ps", options);
        ASSERT_EQ(expected.size(), kModules);
        for (size_t i = 0; i < kModules; ++i) {
          std::ofstream(path("sweep.yaml"))
              << "modules: " << i << ".hlo\ndevices: v5e\nknobs:\n  lower: " << lower
              << "\n  topology: " << topology << "\n  while_trip_count: " << trips << "\n";
          const std::vector<Json> swept =
              documents({"sweep", path("sweep.yaml"), "--format=json", "--no-journal"});
          ASSERT_EQ(swept.size(), 1u);
          EXPECT_EQ(swept[0].at("points").at(0).at("metrics").at("time").get<int64_t>(), expected[i])
              << swept[0].dump();
        }
        const std::string settings =
            "\ntopology: " + topology + "\nwhile_trip_count: " + trips + "\nlower: " + lower;
        EXPECT_EQ(gated("modules.hlo", {"v5e"}, settings).at("v5e"), expected);
      }
}

TEST_F(AsGiven, FlagsMeanTheSameInSweepsAndGates) {
  std::set<std::vector<int64_t>> different;
  for (const std::string kib : {"1024", "16384", "65536"}) {
    const std::string flag = "--xla_tpu_scoped_vmem_limit_kib=" + kib;
    const std::vector<int64_t> expected =
        times({"report"}, "/time/total_ps",
              {path("modules.hlo"), "--device=v5e", "--format=json", "--xla-flags=" + flag});
    ASSERT_EQ(expected.size(), kModules);
    different.insert(expected);
    std::ofstream(path("sweep.yaml")) << "modules: 0.hlo\ndevices: v5e\nxla_flags: \"" << flag << "\"\n";
    const std::vector<Json> swept = documents({"sweep", path("sweep.yaml"), "--format=json", "--no-journal"});
    ASSERT_EQ(swept.size(), 1u);
    EXPECT_EQ(swept[0].at("points").at(0).at("metrics").at("time").get<int64_t>(), expected[0]);
    EXPECT_EQ(gated("modules.hlo", {"v5e"}, "\nxla_flags: [\"" + flag + "\"]").at("v5e"), expected);
    std::ofstream(path("flags.txt")) << flag << "\n";
    EXPECT_EQ(gated("modules.hlo", {"v5e"}, "\nxla_flags: [\"@flags.txt\"]").at("v5e"), expected);
  }
  EXPECT_GT(different.size(), 1u);
}

TEST_F(AsGiven, AMeshIsTheSameToAll) {
  const std::string file = path("mlp_layer.hlo");
  std::ofstream(file) << test::own_module("mlp_layer");
  std::set<int64_t> different;
  for (const std::string mesh : {"data=4,model=1", "data=2,model=2", "data=1,model=4"})
    for (const std::vector<std::string>& shards :
         {std::vector<std::string>{"x|g=[data,_]", "w1|w3=[_,model]"}, {"w.=[data,_]"}}) {
      SCOPED_TRACE(mesh + " " + shards[0]);
      std::vector<std::string> options = {file, "--device=v5e", "--format=json", "--mesh=" + mesh};
      std::string request = mesh;
      std::vector<std::string> search = {
          "tune", "mesh", file, "--device=v5e", "--devices=4", "--axes=data,model", "--format=json", "--all"};
      for (const std::string& shard : shards) {
        options.push_back("--shard=" + shard);
        search.push_back("--shard=" + shard);
        request += "; " + shard;
      }
      const std::vector<int64_t> expected = times({"report"}, "/time/total_ps", options);
      ASSERT_EQ(expected.size(), 1u);
      different.insert(expected[0]);
      EXPECT_EQ(times({"tune", "schedule"}, "/time_before_ps", options), expected);
      EXPECT_EQ(times({"tune", "layout", "--moves=1", "--exact-steps=0"}, "/before/time_ps", options),
                expected);
      EXPECT_EQ(gated("mlp_layer.hlo", {"v5e"}, "\nmesh: \"" + request + "\"").at("v5e"), expected);
      std::ofstream(path("sweep.yaml"))
          << "modules: mlp_layer.hlo\ndevices: v5e\nknobs:\n  mesh: \"" << request << "\"\n";
      const std::vector<Json> swept =
          documents({"sweep", path("sweep.yaml"), "--format=json", "--no-journal"});
      ASSERT_EQ(swept.size(), 1u);
      EXPECT_EQ(swept[0].at("points").at(0).at("metrics").at("time").get<int64_t>(), expected[0]);
      const std::vector<Json> found = documents(search);
      ASSERT_EQ(found.size(), 1u);
      bool is_there = false;
      for (const Json& row : found[0].at("rows"))
        if (row.at("mesh") == mesh) {
          is_there = true;
          EXPECT_EQ(row.at("values").at("time").get<int64_t>(), expected[0]);
        }
      EXPECT_TRUE(is_there);
    }
  EXPECT_GT(different.size(), 3u);
}

TEST_F(AsGiven, GatesGiveTheSameInAnyOrderOfDevices) {
  std::map<std::string, std::vector<int64_t>> alone;
  for (const char* device : {"v2", "v5e", "v7x"})
    alone.merge(gated("bitcasts.hlo", {device}, "\nlower: false"));
  ASSERT_EQ(alone.size(), 3u);
  EXPECT_EQ(gated("bitcasts.hlo", {"v2", "v5e", "v7x"}, "\nlower: false"), alone);
  EXPECT_EQ(gated("bitcasts.hlo", {"v7x", "v5e", "v2"}, "\nlower: false"), alone);
}

}  // namespace
}  // namespace hlosim
