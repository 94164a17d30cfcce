// Traces and tables as XProf writes them, and XSpace put together field by field.
#include "profile/read_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "profile/wire_text.h"
#include "profile/xspace_reader.h"
#include "support/folders.h"

namespace hlosim {
namespace {

using test::bytes;
using test::number;

using testing::ElementsAre;
using testing::HasSubstr;

SourcePtr source_of(std::string text, std::string name = "x") {
  return std::make_shared<const SourceFile>(std::move(name), std::move(text));
}

const ProfiledOperation& operation(const ProfiledProgram& program, std::string_view name,
                                   bool beside = false) {
  for (const ProfiledOperation& one : program.operations)
    if (one.name == name && one.beside == beside) return one;
  ADD_FAILURE() << "no operation " << name;
  static const ProfiledOperation kNone;
  return kNone;
}

std::string complete(int tid, std::string_view name, std::string_view start, std::string_view duration,
                     std::string_view args = "") {
  return ",{\"ph\":\"X\",\"pid\":3,\"tid\":" + std::to_string(tid) + ",\"ts\":" + std::string(start) +
         ",\"dur\":" + std::string(duration) + ",\"name\":\"" + std::string(name) + "\",\"args\":{" +
         std::string(args) + "}}";
}

std::string trace_text() {
  return R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[
{"ph":"M","pid":3,"name":"process_name","args":{"name":"/device:TPU:0"}}
,{"ph":"M","pid":3,"tid":1,"name":"thread_name","args":{"name":"Steps"}}
,{"ph":"M","pid":3,"tid":2,"name":"thread_name","args":{"name":"XLA Modules"}}
,{"ph":"M","pid":3,"tid":3,"name":"thread_name","args":{"name":"XLA Ops"}}
,{"ph":"M","pid":3,"tid":4,"name":"thread_name","args":{"name":"Async XLA Ops"}}
,{"ph":"M","pid":9,"name":"process_name","args":{"name":"/host:CPU"}}
,{"ph":"X","pid":9,"tid":1,"ts":0,"dur":99,"name":"host work"})" +
         complete(1, "7", "100", "50.5") + complete(2, "jit_f(42)", "100", "50", "\"run_id\":\"1\"") +
         complete(3, "while.1", "100.5", "40.25",
                  R"j("long_name":"%while.1 = f32[8]{0} while(f32[8]{0} %p)","hlo_category":"while")j") +
         complete(3, "fusion.2", "101", "10.000001",
                  R"j("long_name":"%fusion.2 = f32[8]{0} fusion(f32[8]{0} %p), kind=kLoop",)j"
                  R"j("hlo_category":"loop fusion","model_flops":"12","flops":"16","bytes_accessed":"64",)j"
                  R"j("tf_op":"jit(f)/add:","source":"f.py:3")j") +
         complete(3, "fusion.2", "120", "12") +
         complete(4, "async-copy", "102", "30",
                  R"j("long_name":"%copy-start = (f32[8]{0}, f32[8]{0}, u32[]) copy-start(f32[8]{0} %p)",)j"
                  R"j("hlo_op":"copy-done")j") +
         ",{}]}";
}

TEST(ReadTrace, GivesProgramsOperationsAndSteps) {
  const Result<Profile> profile = read_profile(source_of(trace_text()));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->form, "trace");
  EXPECT_EQ(profile->devices, 1);
  ASSERT_EQ(profile->programs.size(), 1u);
  const ProfiledProgram& program = profile->programs[0];
  EXPECT_EQ(program.name, "jit_f");
  EXPECT_EQ(program.id, 42u);
  EXPECT_EQ(program.runs, 1);
  EXPECT_EQ(program.time, Picoseconds(50'000'000));
  const ProfiledOperation& fusion = operation(program, "fusion.2");
  EXPECT_EQ(fusion.occurrences, 2) << "one of them without its text";
  EXPECT_EQ(fusion.self_time, Picoseconds(22'000'001));
  EXPECT_EQ(fusion.flops, 16);
  EXPECT_EQ(fusion.model_flops, 12);
  EXPECT_EQ(fusion.bytes, 64);
  EXPECT_EQ(fusion.category, "loop fusion");
  EXPECT_EQ(fusion.source, "f.py:3");
  EXPECT_EQ(operation(program, "while.1").self_time, Picoseconds(40'250'000 - 22'000'001));
  EXPECT_EQ(operation(program, "while.1").time, Picoseconds(40'250'000));
  EXPECT_EQ(operation(program, "copy-start", true).time, Picoseconds(30'000'000));
  ASSERT_EQ(profile->steps.size(), 1u);
  EXPECT_EQ(profile->steps[0].name, "7");
  EXPECT_EQ(profile->steps[0].time, Picoseconds(50'500'000));
}

TEST(ReadTrace, TheDevicesClockCountsWhereAllHaveIt) {
  const std::string head = R"([{"ph":"M","pid":3,"name":"process_name","args":{"name":"/device:TPU:0"}})"
                           R"(,{"ph":"M","pid":3,"tid":3,"name":"thread_name","args":{"name":"XLA Ops"}})";
  const std::string first =
      complete(3, "a", "1", "5", R"("device_offset_ps":"1000","device_duration_ps":"4000123")");
  const std::string second = complete(3, "b", "7", "5");
  const Result<Profile> all = read_profile(source_of(head + first + "]"));
  const Result<Profile> some = read_profile(source_of(head + first + second + "]"));
  ASSERT_TRUE(all && some);
  EXPECT_EQ(operation(all->programs[0], "a").time, Picoseconds(4'000'123));
  EXPECT_EQ(operation(some->programs[0], "a").time, Picoseconds(5'000'000));
}

TEST(ReadTrace, DamageHasItsPlace) {
  const std::string text = trace_text();
  const Result<Profile> cut = read_profile(source_of(text.substr(0, text.size() - 10)));
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message, HasSubstr("damaged trace: expected"));
  EXPECT_GT(cut.error().offset, 1000u);
  const Result<Profile> wrong =
      read_profile(source_of(R"([{"ph":"X","pid":1,"tid":1,"name":"a","ts":"soon","dur":1}])"));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().offset, 1u);
  EXPECT_THAT(wrong.error().message, HasSubstr("\"ts\" and \"dur\" in microseconds"));
}

constexpr std::string_view kStats = R"j([{"cols":[
 {"id":"rank","label":"Rank","type":"number"},{"id":"program_id","label":"Program id","type":"string"},
 {"id":"category","label":"HLO op category"},{"id":"hlo_op_name","label":"HLO op name"},
 {"id":"hlo_op_expression","label":"HLO op text"},{"id":"tf_op_name","label":"Framework op name"},
 {"id":"occurrences","label":"#Occurrences"},{"id":"total_time","label":"Total time (us)"},
 {"id":"total_self_time","label":"Total self time (us)"},{"id":"model_flop_rate","label":"Model GFLOP/s"},
 {"id":"measured_memory_bw","label":"Measured memory BW (GiB/s)"},{"id":"bound_by","label":"Bound by"}],
 "rows":[{"c":[{"v":1},{"v":"9646411105960254074"},{"v":"loop fusion"},{"v":"fusion.3"},
   {"v":"%fusion.3 = f32[8]{0} fusion(f32[8]{0} %p)"},{"v":"jit(f)/add"},{"v":4},{"v":40.5},{"v":40.25},{"v":2},
   {"v":1},{"v":"HBM"}]},
  {"c":[{"v":2},{"v":"7"},{"v":"while"},{"v":"while.1"},null,{"v":""},{"v":1},{"v":9},{"v":1.5},null,null,null]}]},
 {"p":{"device_type":"TPU v5"}}])j";

TEST(ReadTable, HloStatsAsJson) {
  const Result<Profile> profile = read_profile(source_of(std::string(kStats)));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->form, "hlo_stats");
  ASSERT_EQ(profile->programs.size(), 2u);
  EXPECT_EQ(profile->programs[0].id, 9646411105960254074u);
  const ProfiledOperation& fusion = operation(profile->programs[0], "fusion.3");
  EXPECT_EQ(fusion.occurrences, 4);
  EXPECT_EQ(fusion.time, Picoseconds(40'500'000));
  EXPECT_EQ(fusion.self_time, Picoseconds(40'250'000));
  EXPECT_EQ(fusion.model_flops, 20250);  // 2 GFLOP/s for 40.5 us, four times
  EXPECT_EQ(fusion.bound_by, "HBM");
  EXPECT_EQ(operation(profile->programs[1], "while.1").self_time, Picoseconds(1'500'000));
}

TEST(ReadTable, HloStatsAsCsvByTitlesToo) {
  const std::string rows =
      "\"loop fusion\",fusion.3,\"%fusion.3 = (f32[8]{0}, f32[8]{0}) fusion(f32[8]{0} %p)\",4,40.5\r\n";
  for (const char* head : {"category,hlo_op_name,hlo_op_expression,occurrences,total_self_time\r\n",
                           "HLO op category,HLO op name,HLO op text,#Occurrences,Total self time (us)\n"}) {
    const Result<Profile> profile = read_profile(source_of(head + rows));
    ASSERT_TRUE(profile) << profile.error().message;
    const ProfiledOperation& fusion = operation(profile->programs[0], "fusion.3");
    EXPECT_EQ(fusion.self_time, Picoseconds(40'500'000));
    EXPECT_EQ(fusion.text, "%fusion.3 = (f32[8]{0}, f32[8]{0}) fusion(f32[8]{0} %p)");
  }
}

TEST(ReadTable, WrongTablesSayWhere) {
  const auto message = [](std::string text) {
    const Result<Profile> profile = read_profile(source_of(std::move(text)));
    return profile ? std::string("none") : profile.error().message;
  };
  EXPECT_EQ(message("hlo_op_name,occurrences\na,1\n"), "a table without the column total_self_time");
  EXPECT_EQ(message("hlo_op_name,occurrences,total_self_time\na,1\n"),
            "2 fields, expected 3 as in the first line");
  EXPECT_THAT(message("hlo_op_name,occurrences,total_self_time\na,1,soon\n"), HasSubstr("time 'soon' of a"));
  EXPECT_THAT(message("hlo_op_name,occurrences,total_self_time\n\"a,1,2\n"),
              testing::AnyOf(HasSubstr("fields"), HasSubstr("quote")));
  EXPECT_EQ(message(R"({"cols":[{"id":"hlo_op_name"}],"rows":[]})"),
            "a table without the column total_self_time");
  EXPECT_EQ(message("nothing of the kind"), "'x' is not a profile");
}

TEST(ReadTable, OpProfileTree) {
  const Result<Profile> profile =
      read_profile(source_of(R"j({"byCategory":{"name":"by_category","children":[]},
   "byProgram":{"name":"by_program","children":[{"name":"jit_f(42)","children":[{"name":"loop fusion","children":[
    {"name":"fusion.3",
     "metrics":{"rawTime":40500000.0,"rawFlops":64,"occurrences":4,"rawBytesAccessedArray":[400,0]},
     "xla":{"op":"fusion","expression":"%fusion.3 = f32[8]{0} fusion(f32[8]{0} %p)","category":"loop fusion"},
     "children":[{"name":"add.1","metrics":{"rawTime":0,"rawFlops":64,"occurrences":0},"xla":{"op":"add"}}]},
    {"name":"copy.1 and its duplicate(s)","metrics":{"rawTime":7000,"occurrences":2},"numChildren":3,
     "xla":{"expression":"%copy.1 = f32[8]{0} copy(f32[8]{0} %p)"},"children":[
     {"name":"copy.1","metrics":{"rawTime":5000,"occurrences":1},"xla":{"category":"data formatting"}}]},
    {"name":"IDLE","metrics":{"rawTime":900,"occurrences":1},"xla":{"category":"IDLE"}}],
    "numChildren":9}]}]},"deviceType":"TPU v4"})j"));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->form, "op_profile");
  EXPECT_EQ(profile->device_type, "TPU v4");
  ASSERT_EQ(profile->programs.size(), 1u);
  EXPECT_EQ(profile->programs[0].name, "jit_f");
  const ProfiledOperation& fusion = operation(profile->programs[0], "fusion.3");
  EXPECT_EQ(fusion.time, Picoseconds(40'500'000));
  EXPECT_EQ(fusion.flops, 16);
  EXPECT_EQ(fusion.bytes, 100);
  EXPECT_EQ(profile->programs[0].operations.size(), 2u) << "no groups, parts of fusions, nor what is between";
  EXPECT_EQ(operation(profile->programs[0], "copy.1").time, Picoseconds(5000));
  EXPECT_THAT(profile->notes, ElementsAre("an op_profile has the longest operations of each category only"));
}

// ── XSpace ──

std::string named(int field, uint64_t id, const std::string& name, const std::string& more = "") {
  return bytes(field, number(1, id) + bytes(2, number(1, id) + bytes(2, name) + more));
}

/// Two events of one operation in a run of jit_f(42), one of them by the device's clock.
std::string space(const std::string& second_event = "") {
  const std::string event =
      bytes(4, number(1, 1) + number(2, 1000) + number(3, 500) + bytes(4, number(1, 3) + number(3, 1001)) +
                   bytes(4, number(1, 4) + number(3, 499)));
  const std::string plane =
      number(1, 2) + bytes(2, "/device:TPU:0") +
      bytes(3, number(1, 2) + bytes(2, "XLA Modules") + bytes(4, number(1, 2) + number(3, 9000))) +
      bytes(3, number(1, 3) + bytes(2, "XLA Ops") + event + second_event) +
      named(4, 1, "%add.1 = f32[8]{0} add(f32[8]{0} %p, f32[8]{0} %p)",
            bytes(4, "add.1") + bytes(5, number(1, 1) + bytes(5, "non-fusion elementwise")) +
                bytes(5, number(1, 2) + number(4, 8))) +
      named(4, 2, "jit_f(42)") + named(5, 1, "hlo_category") + named(5, 2, "flops") +
      named(5, 3, "device_offset_ps") + named(5, 4, "device_duration_ps");
  return bytes(1, plane);
}

TEST(ReadXspace, ReadsWhatIsThere) {
  const Result<Profile> profile = read_profile(source_of(space()));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->form, "XSpace");
  ASSERT_EQ(profile->programs.size(), 1u);
  EXPECT_EQ(profile->programs[0].name, "jit_f");
  const ProfiledOperation& add = operation(profile->programs[0], "add.1");
  EXPECT_EQ(add.time, Picoseconds(499));
  EXPECT_EQ(add.flops, 8);
  EXPECT_EQ(add.category, "non-fusion elementwise");
}

TEST(ReadXspace, OneClockForALine) {
  const Result<Profile> profile =
      read_profile(source_of(space(bytes(4, number(1, 1) + number(2, 3000) + number(3, 700)))));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(operation(profile->programs[0], "add.1").time, Picoseconds(1200));
}

TEST(ReadXspace, DamageHasItsOffset) {
  const auto message = [](const std::string& text) {
    const Result<Profile> profile = read_xspace(text, "x");
    return profile ? std::string("none") : profile.error().message;
  };
  const std::string whole = space();
  EXPECT_EQ(message(whole + "\x0a\x05"), "cannot read 'x': damaged at byte " + std::to_string(whole.size()) +
                                             ", expected a field of XSpace");
  EXPECT_THAT(message(space(bytes(4, number(1, 77)))),
              HasSubstr("expected an XEvent with metadata of its plane"));
  EXPECT_THAT(message(space(bytes(4, number(1, 1) + number(3, static_cast<uint64_t>(-5))))),
              HasSubstr("an offset and a duration from 0 on"));
  EXPECT_THAT(message(space(bytes(4, "\x08"))), HasSubstr("expected an XEvent"));
  // Cut anywhere, changed anywhere: an answer, never a crash.
  for (size_t i = 0; i < whole.size(); ++i) {
    message(whole.substr(0, i));
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x81);
    message(changed);
  }
}

TEST(ReadXspace, IsToldFromAModule) {
  EXPECT_TRUE(looks_like_xspace(space()));
  EXPECT_FALSE(looks_like_xspace(bytes(1, bytes(1, "jit_f") + bytes(2, "main"))));
  EXPECT_FALSE(looks_like_xspace("HloModule m"));
  EXPECT_FALSE(looks_like_xspace(""));
}

// ── folders and packed files ──

class LogFolder : public testing::Test {
 protected:
  LogFolder() : path_(testing::TempDir() + "/log-" + std::to_string(::getpid())) {}
  ~LogFolder() override { std::filesystem::remove_all(path_); }
  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path_ + "/" + file).parent_path());
    std::ofstream(path_ + "/" + file, std::ios::binary) << text;
  }
  std::string path_;
};

TEST_F(LogFolder, TheLatestRunAndTheBestFormCount) {
  write("plugins/profile/2026_01_01/a.xplane.pb", space());
  write("plugins/profile/2026_02_01/b.trace.json", trace_text());
  write("plugins/profile/2026_02_01/b.xplane.pb", space());
  write("plugins/profile/2026_02_01/notes.txt", "nothing");
  const Result<Profile> profile = read_profile(path_);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_THAT(profile->file, HasSubstr("2026_02_01/b.xplane.pb"));
  EXPECT_THAT(profile->notes, ElementsAre("run 2026_02_01 of 2: the latest"));
}

TEST_F(LogFolder, PackedFilesAreUnpacked) {
  std::filesystem::create_directories(path_);
  const std::string file = path_ + "/t.trace.json.gz", text = trace_text();
  gzFile packed = gzopen(file.c_str(), "wb");
  ASSERT_EQ(gzwrite(packed, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  gzclose(packed);
  const Result<Profile> profile = read_profile(path_);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->form, "trace");
  write("t.trace.json.gz", test::file_text(file).substr(0, 40));
  const Result<Profile> cut = read_profile(path_);
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message, HasSubstr("the gzip data is cut off"));
}

TEST_F(LogFolder, EmptyFoldersSaySo) {
  std::filesystem::create_directories(path_);
  const Result<Profile> none = read_profile(path_);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("no profile in"));
  EXPECT_FALSE(read_profile(path_ + "/missing.xplane.pb"));
}

// ── a real one ──

TEST(ReadXspace, ARealProfile) {
  const std::filesystem::path file =
      test::shared_folder() / "measured/profiles/raw/v6e_offload_loop.xplane.pb";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << test::no_shared("profile");
  const Result<Profile> profile = read_profile(file.string());
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->device_type, "TPU v6 Lite");
  EXPECT_EQ(profile->devices, 4);
  const ProfiledProgram* loop = profile->program(12190760917235803885u);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->name, "jit_f");
  EXPECT_EQ(loop->operations.size(), 21u) << "15 on the TensorCore, 6 beside it";
  EXPECT_FALSE(loop->hlo.empty());
  for (const ProfiledOperation& one : loop->operations) EXPECT_FALSE(one.text.empty()) << one.name;
}

}  // namespace
}  // namespace hlosim
