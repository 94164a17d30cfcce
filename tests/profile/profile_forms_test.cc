// The forms in which XProf's tables come, traces and spaces with SparseCores, runs of several hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "profile/read_profile.h"
#include "profile/tpu_core.h"
#include "profile/wire_text.h"

namespace hlosim {
namespace {

using test::bytes;
using test::number;

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Profile read(std::string text) {
  Result<Profile> profile = read_profile(std::make_shared<const SourceFile>("x", std::move(text)));
  if (profile) return std::move(*profile);
  ADD_FAILURE() << profile.error().message;
  return {};
}

const ProfiledOperation& operation(const Profile& profile, std::string_view name) {
  for (const ProfiledProgram& program : profile.programs)
    for (const ProfiledOperation& one : program.operations)
      if (one.name == name) return one;
  ADD_FAILURE() << "no operation " << name;
  static const ProfiledOperation kNone;
  return kNone;
}

// ── names of planes ──

TEST(ParseTpuCore, TellsSparseCoresFromDevices) {
  ASSERT_TRUE(parse_tpu_core("/device:TPU:3"));
  EXPECT_EQ(parse_tpu_core("/device:TPU:3")->device, 3);
  EXPECT_FALSE(parse_tpu_core("/device:TPU:3")->is_beside);
  ASSERT_TRUE(parse_tpu_core("/device:TPU:12 SparseCore 1"));
  EXPECT_EQ(parse_tpu_core("/device:TPU:12 SparseCore 1")->device, 12);
  EXPECT_TRUE(parse_tpu_core("/device:TPU:12 SparseCore 1")->is_beside);
  for (const char* none : {"/device:TPU:", "/device:TPU:x", "/device:TPU:-1", "/device:GPU:0", "/host:CPU",
                           "/device:TPU:0 Other 1", "/device:TPU:99999999999999999999"})
    EXPECT_FALSE(parse_tpu_core(none)) << none;
}

// ── tables ──

/// As XProf exports them: every field in quotes, titles first, line ends within fields.
constexpr std::string_view kExported =
    "\"Rank\",\"Program id\",\"HLO op category\",\"HLO op name\",\"HLO op text\",\"Framework op name\",\"#"
    "Occurrences\",\"Total time (us)\",\"Avg. time (us)\",\"Total self time (us)\",\"Avg. self time (us)\","
    "\"Total self time (%)\",\"Cumulative total self time (%)\",\"%time stalled by DMA\",\"Model GFLOP/"
    "s\",\"Normalized GFLOP/s\",\"Measured memory BW (GiB/s)\",\"HBM BW (GiB/s)\",\"CMEM Read BW (GiB/"
    "s)\",\"CMEM Write BW (GiB/s)\",\"Operational intensity (FLOPS/Byte)\",\"Bound "
    "by\",\"Rematerialization\",\"Outside Compilation\",\"Autotuned\",\"Source Info\",\"TPU core "
    "type\",\"Parent op name\",\"VDD Energy (J)\"\n"
    "\"1.0\",\"9646411105960254074\",\"loop fusion\",\"fusion.3\",\"%fusion.3 = f32[8]{0} fusion(f32[8]{0} "
    "%p), kind=kLoop\",\"jit(f)/add\",\"4.0\",\"40.5\",\"10.125\",\"40.25\",\"10.0625\",\"80.5\",\"80.5\","
    "\"0.0\",\"2.0\",\"4.0\",\"8.0\",\"6.0\",\"0.0\",\"0.0\",\"0.46566128730773926\",\"HBM\",\"No\",\"No\","
    "\"No\",\"f.py:3\nmain.py:7\",\"TensorCore\",\"\",\"0.0\"\n"
    "\"2.0\",\"9646411105960254074\",\"async-start\",\"async-start.1\",\"%async-start.1 = ((f32[8]{0}), "
    "f32[8]{0}, u32[]) async-start(f32[8]{0} %p)\",\"\",\"2.0\",\"3e0\",\"1.5\",\"3.0\",\"1.5\",\"6.0\","
    "\"86.5\",\"0.0\",\"0.0\",\"0.0\",\"0.0\",\"0.0\",\"0.0\",\"0.0\",\"0.0\",\"Unknown\",\"No\",\"No\","
    "\"No\",\"\",\"TensorCore\",\"\",\"0.0\"\n"
    "\"0.0\",\"9646411105960254074\",\"gather\",\"gather.2\",\"%gather.2 = f32[8]{0} gather(f32[8]{0} "
    "%p)\",\"\",\"2.0\",\"30.0\",\"15.0\",\"30.0\",\"15.0\",\"0.0\",\"0.0\",\"0.0\",\"0.0\",\"0.0\",\"1.0\","
    "\"1.0\",\"0.0\",\"0.0\",\"0.0\",\"HBM\",\"No\",\"No\",\"No\",\"\",\"SparseCore\",\"async-start.1\","
    "\"0.0\"\n";

TEST(ReadTable, CsvAsXprofExportsIt) {
  const Profile profile = read(std::string(kExported));
  EXPECT_EQ(profile.form, "hlo_stats");
  ASSERT_EQ(profile.programs.size(), 1u);
  EXPECT_EQ(profile.programs[0].id, 9646411105960254074u);
  const ProfiledOperation& fusion = operation(profile, "fusion.3");
  EXPECT_EQ(fusion.occurrences, 4);
  EXPECT_EQ(fusion.self_time, Picoseconds(40'250'000));
  EXPECT_EQ(fusion.time, Picoseconds(40'500'000));
  EXPECT_EQ(fusion.source, "f.py:3\nmain.py:7");
  EXPECT_EQ(fusion.flops, 40500) << "4 GFLOP/s for 40.5 us, a quarter each";
  EXPECT_EQ(fusion.model_flops, 20250);
  EXPECT_EQ(fusion.bytes, 86973) << "8 GiB/s";
  EXPECT_EQ(operation(profile, "async-start.1").self_time, Picoseconds(3'000'000));
}

TEST(ReadTable, WhatRanOnSparseCoresIsBeside) {
  const Profile profile = read(std::string(kExported));
  EXPECT_TRUE(operation(profile, "gather.2").beside);
  EXPECT_EQ(operation(profile, "gather.2").core, "SparseCore");
  EXPECT_FALSE(operation(profile, "fusion.3").beside);
  EXPECT_EQ(operation(profile, "fusion.3").core, "");
}

TEST(ReadTable, MarksInFrontAndOtherSeparators) {
  const std::string plain = "hlo_op_name,category,occurrences,total_self_time\nfusion.3,\"a; b\",2,1.5\n";
  for (const char separator : {',', ';', '\t'}) {
    std::string text = plain;
    std::replace(text.begin(), text.end(), ',', separator);
    for (const char* mark : {"", "\xef\xbb\xbf"}) {
      const Profile profile = read(mark + text);
      EXPECT_EQ(operation(profile, "fusion.3").self_time, Picoseconds(1'500'000)) << separator;
      EXPECT_EQ(operation(profile, "fusion.3").category, "a; b");
    }
  }
}

/// 2e12 FLOP/s by intensity and bandwidth, whatever the title says.
std::string with_rates(std::string_view model, std::string_view normalized) {
  return "hlo_op_name,occurrences,total_time,model_flop_rate,normalized_flop_rate,measured_memory_bw,"
         "operational_intensity\nfirst.1,1,1," +
         std::string(model) + "," + std::string(normalized) + ",931.3225746154785,2\n" + "second.2,1,1," +
         std::string(model) + ",0,0,0\n";
}

TEST(ReadTable, RatesOfFlopsInEitherUnit) {
  for (const auto& [model, normalized] : {std::pair("1000", "2000"), std::pair("1", "2")}) {
    const Profile profile = read(with_rates(model, normalized));
    EXPECT_EQ(operation(profile, "first.1").flops, 2'000'000) << model;
    EXPECT_EQ(operation(profile, "first.1").model_flops, 1'000'000) << model;
    EXPECT_EQ(operation(profile, "second.2").model_flops, 1'000'000) << "as above it";
  }
}

TEST(ReadTable, NumbersOfProgramsAreWholeNumbers) {
  const Profile profile =
      read("hlo_op_name,program_id,occurrences,total_self_time\na.1,9.6E+18,1,1\nb.2,12,1,1\nc.3,f(7),1,1\n");
  ASSERT_EQ(profile.programs.size(), 3u);
  EXPECT_FALSE(profile.programs[0].id) << "rounded by whoever wrote it";
  EXPECT_EQ(profile.programs[1].id, 12u);
  EXPECT_EQ(profile.programs[2].id, 7u);
  EXPECT_EQ(profile.programs[2].name, "f");
}

TEST(ReadTable, RowsAsObjects) {
  const Profile profile = read(R"j([
  {"program_id":"7","hlo_op_name":"fusion.3","category":"loop fusion","occurrences":2,"total_self_time":3.5},
  {"occurrences":1,"hlo_op_name":"copy.1","total_self_time":null,"total_time":2}])j");
  EXPECT_EQ(operation(profile, "fusion.3").self_time, Picoseconds(3'500'000));
  EXPECT_EQ(profile.programs[0].id, 7u);
  EXPECT_EQ(operation(profile, "copy.1").self_time, Picoseconds(2'000'000)) << "without children";
}

TEST(ReadTable, OperationsOfTheFramework) {
  const Profile profile = read(R"j([{"cols":[{"id":"rank","label":"Rank","type":"number"},
  {"id":"host_or_device","label":"Host/device","type":"string"},{"id":"type","label":"Operation Type"},
  {"id":"operation","label":"Operation Name"},{"id":"occurrences","label":"#Occurrences"},
  {"id":"total_time","label":"Total time (us)"},{"id":"avg_time","label":"Avg. time (us)"},
  {"id":"total_self_time","label":"Total self-time (us)"},{"id":"avg_self_time","label":"Avg. self-time (us)"}],
  "rows":[{"c":[{"v":1.0},{"v":"Device"},{"v":"add"},{"v":"jit(f)/add"},{"v":4.0},{"v":8.0},{"v":2.0},{"v":8.0},{"v":2.0}]},
  {"c":[{"v":2.0},{"v":"Device"},{"v":"IDLE"},{"v":"IDLE"},{"v":0.0},{"v":5.0},{"v":0.0},{"v":5.0},{"v":0.0}]},
  {"c":[{"v":1.0},{"v":"Host"},{"v":"Dataset"},{"v":"next"},{"v":1.0},{"v":9.0},{"v":9.0},{"v":9.0},{"v":9.0}]}]},
  {"cols":[],"rows":[]}])j");
  EXPECT_EQ(profile.form, "framework_op_stats");
  ASSERT_EQ(profile.programs.size(), 1u);
  ASSERT_EQ(profile.programs[0].operations.size(), 1u) << "neither what is between nor what is on hosts";
  EXPECT_EQ(operation(profile, "jit(f)/add").mean(), Picoseconds(2'000'000));
  EXPECT_EQ(operation(profile, "jit(f)/add").op_name, "jit(f)/add");
  EXPECT_EQ(operation(profile, "jit(f)/add").category, "add");
}

TEST(ReadTable, TheRooflinesTotal) {
  const Profile profile = read(
      "\"Step\",\"Rank\",\"Category\",\"Operation\",\"# Occurrences\",\"Total Time (us)\",\"Total self time "
      "(us)\",\"Bound by\"\n"
      "\"Total\",\"0\",\"Program\",\"Program\",\"1\",\"9\",\"9\",\"HBM\"\n"
      "\"Total\",\"1\",\"fusion\",\"fusion.3\",\"2\",\"8\",\"8\",\"HBM\"\n"
      "\"Average\",\"1\",\"fusion\",\"fusion.3\",\"1\",\"4\",\"4\",\"HBM\"\n");
  EXPECT_EQ(profile.form, "roofline_model");
  ASSERT_EQ(profile.programs[0].operations.size(), 1u);
  EXPECT_EQ(operation(profile, "fusion.3").self_time, Picoseconds(8'000'000));
}

TEST(ReadTable, OpProfilesByOriginAndWithoutZeros) {
  const Profile profile = read(R"j({"by_program":{"name":"by_program"},"by_provenance":{"children":[
  {"name":"jit_f(42)","metrics":{"raw_time":2e6},"children":[{"name":"add","children":[{"name":"loop fusion",
   "children":[{"name":"fusion.3","metrics":{"raw_time":2e6,"raw_flops":64,"bf16_flops":32,"occurrences":2},
   "xla":{"expression":"%fusion.3 = f32[8]{0} fusion(f32[8]{0} %p)","program_id":"42"},
   "children":[{"name":"add.1","metrics":{"raw_flops":64},"xla":{"op":"add"}}]}]}]}]}]},"device_type":"TPU v4"})j");
  EXPECT_EQ(profile.form, "op_profile");
  ASSERT_EQ(profile.programs.size(), 1u);
  EXPECT_EQ(profile.programs[0].id, 42u);
  EXPECT_EQ(profile.programs[0].operations.size(), 1u);
  EXPECT_EQ(operation(profile, "fusion.3").mean(), Picoseconds(1'000'000));
  EXPECT_EQ(operation(profile, "fusion.3").model_flops, 32);
  EXPECT_EQ(operation(profile, "fusion.3").flops, 16);
}

// ── traces ──

std::string named(int pid, const char* process, std::initializer_list<std::pair<int, const char*>> threads) {
  std::string text = "{\"ph\":\"M\",\"pid\":" + std::to_string(pid) +
                     ",\"name\":\"process_name\",\"args\":{\"name\":\"" + process + "\"}},";
  for (const auto& [tid, name] : threads)
    text += "{\"ph\":\"M\",\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(tid) +
            ",\"name\":\"thread_name\",\"args\":{\"name\":\"" + name + "\"}},";
  return text;
}

std::string event(int pid, int tid, const char* name, const char* start, const char* duration) {
  return "{\"ph\":\"X\",\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(tid) +
         ",\"ts\":" + start + ",\"dur\":" + duration + ",\"name\":\"" + name + "\"},";
}

/// Two programs one after the other, the second with something on a SparseCore, which the trace has first.
std::string trace_with_sparse_core() {
  return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" +
         named(3, "/device:TPU:0 SparseCore 0",
               {{1, "Sparse Core Steps"}, {2, "Sparse Core Modules"}, {3, "Sparse Core Ops"}}) +
         named(4, "/device:TPU:0", {{2, "XLA Modules"}, {3, "XLA Ops"}, {9, "XLA TraceMe"}}) +
         named(5, "/device:CUSTOM:Megascale Trace", {{1, "x"}}) + event(3, 1, "sc step", "20", "5") +
         event(3, 2, "sc_offload(0)", "21", "3") + event(3, 3, "gather.2", "21.5", "2.25") +
         event(4, 2, "jit_f(1)", "0", "10") + event(4, 2, "jit_g(2)", "20", "10") +
         event(4, 3, "fusion.1", "1", "2") + event(4, 3, "fusion.1", "22", "3") +
         event(5, 1, "dcn", "1", "1") + "{}]}";
}

TEST(ReadTrace, SparseCoresBelongToTheProgramOfTheirDevice) {
  const Profile profile = read(trace_with_sparse_core());
  ASSERT_EQ(profile.programs.size(), 2u);
  EXPECT_EQ(profile.devices, 1);
  EXPECT_EQ(profile.programs[0].name, "jit_f");
  EXPECT_EQ(profile.programs[0].runs, 1);
  ASSERT_EQ(profile.programs[1].operations.size(), 2u);
  const ProfiledOperation& gather = operation(profile, "gather.2");
  EXPECT_EQ(&gather, &profile.programs[1].operations[1]);
  EXPECT_EQ(gather.core, "SparseCore");
  EXPECT_TRUE(gather.beside);
  EXPECT_EQ(gather.self_time, Picoseconds(2'250'000));
  EXPECT_TRUE(profile.steps.empty()) << "the SparseCore's are none of the program's";
  EXPECT_THAT(profile.notes, ElementsAre("process '/device:CUSTOM:Megascale Trace' is not read"));
}

// ── spaces ──

std::string kind(uint64_t id, const std::string& name) {
  return bytes(4, number(1, id) + bytes(2, number(1, id) + bytes(2, name)));
}
std::string line(const std::string& name, uint64_t what, uint64_t start, uint64_t duration) {
  return bytes(3, bytes(2, name) + bytes(4, number(1, what) + number(2, start) + number(3, duration)));
}

std::string space(uint64_t fusion_time) {
  const std::string sparse = number(1, 3) + bytes(2, "/device:TPU:0 SparseCore 0") +
                             line("Sparse Core Ops", 1, 500, 70) + line("Sparse Core Modules", 2, 400, 200) +
                             kind(1, "%gather.2 = f32[8]{0} gather(f32[8]{0} %p)") + kind(2, "sc_offload(0)");
  const std::string dense = number(1, 2) + bytes(2, "/device:TPU:0") + line("XLA Modules", 2, 0, 1000) +
                            line("XLA Ops", 1, 100, fusion_time) + line("Steps", 3, 0, 1000) +
                            kind(1, "%fusion.1 = f32[8]{0} fusion(f32[8]{0} %p), kind=kLoop") +
                            kind(2, "jit_f(42)") + kind(3, "7");
  return bytes(1, sparse) + bytes(1, dense) + bytes(4, "host");
}

TEST(ReadXspace, SparseCoresBelongToTheProgramOfTheirDevice) {
  const Profile profile = read(space(300));
  ASSERT_EQ(profile.programs.size(), 1u);
  EXPECT_EQ(profile.devices, 1);
  EXPECT_EQ(profile.programs[0].runs, 1);
  const ProfiledOperation& gather = operation(profile, "gather.2");
  EXPECT_EQ(gather.core, "SparseCore");
  EXPECT_TRUE(gather.beside);
  EXPECT_EQ(gather.self_time, Picoseconds(70));
  EXPECT_TRUE(profile.notes.empty());
}

// ── folders ──

class RunFolder : public testing::Test {
 protected:
  RunFolder() : path_(testing::TempDir() + "/forms-" + std::to_string(::getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~RunFolder() override { std::filesystem::remove_all(path_); }
  void write(const std::string& file, const std::string& text) {
    std::ofstream(path_ + "/" + file, std::ios::binary) << text;
  }
  std::string path_;
};

TEST_F(RunFolder, HostsAreAddedUp) {
  write("a.xplane.pb", space(300));
  write("b.xplane.pb", space(500));
  write("b.trace.json", trace_with_sparse_core());
  const Result<Profile> profile = read_profile(path_);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->devices, 2);
  ASSERT_EQ(profile->programs.size(), 1u);
  EXPECT_EQ(profile->programs[0].runs, 2);
  EXPECT_EQ(profile->programs[0].time, Picoseconds(2000));
  EXPECT_EQ(operation(*profile, "fusion.1").occurrences, 2);
  EXPECT_EQ(operation(*profile, "fusion.1").self_time, Picoseconds(800));
  EXPECT_EQ(operation(*profile, "fusion.1").longest, Picoseconds(500));
  EXPECT_EQ(operation(*profile, "gather.2").self_time, Picoseconds(140));
  ASSERT_EQ(profile->steps.size(), 1u);
  EXPECT_EQ(profile->steps[0].occurrences, 2);
  EXPECT_THAT(profile->notes, ElementsAre("2 hosts' files together"));
}

TEST_F(RunFolder, ADamagedHostIsNamed) {
  write("a.xplane.pb", space(300));
  write("b.xplane.pb", space(300).substr(0, 100));
  const Result<Profile> profile = read_profile(path_);
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().message, HasSubstr("b.xplane.pb"));
}

TEST_F(RunFolder, TablesWhereNothingElseIs) {
  write("hlo_stats.csv", std::string(kExported));
  write("host.op_profile.json", "{}");
  const Result<Profile> profile = read_profile(path_);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->form, "hlo_stats");
  EXPECT_THAT(profile->notes, Contains("the first of 2 tables"));
  write("perfetto_trace.json", trace_with_sparse_core());
  EXPECT_EQ(read_profile(path_)->form, "trace");
}

}  // namespace
}  // namespace hlosim
