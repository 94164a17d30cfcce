// The examples at the beginning of headers: their lines are compiled as the headers have them, and give the
// values that the comments behind them state.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/quantity_text.h"
#include "base/units.h"
#include "buffers/interval_packing.h"
#include "buffers/taken_space.h"
#include "cpu_kernels/fold.h"
#include "cpu_kernels/strided_copy.h"
#include "hlo/cursor.h"
#include "hlo/legacy.h"
#include "hlo/name_table.h"
#include "hlo/opcode.h"
#include "interconnect/interconnect.h"
#include "interconnect/slice.h"
#include "interconnect/torus.h"
#include "layout/element_type.h"
#include "layout/shape_text.h"
#include "layout/strided_view.h"
#include "model/device.h"
#include "model/device_files.h"
#include "ops/custom_calls/gemm_config.h"
#include "ops/window.h"
#include "physical/tiled_bytes.h"
#include "prefetch/copy_slots.h"
#include "report/html/html_data.h"
#include "support/folders.h"
#include "systolic/systolic.h"
#include "xla_dump/dump_line.h"

namespace hlosim {
namespace {

std::string printed(bool value) { return value ? "true" : "false"; }
std::string printed(const std::string& value) { return "\"" + value + "\""; }
std::string printed(std::string_view value) { return printed(std::string(value)); }
std::string printed(const LegacyOpcode* value) { return value ? "" : "null"; }
template <class T>
requires std::is_arithmetic_v<T> std::string printed(T value) { return fmt::format("{}", value); }
std::string printed(const std::complex<double>& value) {
  return value.imag() == 0 ? printed(value.real()) : "";
}
std::string printed(const Result<Hertz>& value) {
  return value ? fmt::format("Hertz({}e9)", value->count() / 1e9) : "an error";
}
std::string printed(const Result<Bytes>& value) { return value ? to_text(*value) : "an error"; }
std::string printed(Opcode value) {
  switch (value) {
#define HLOSIM_OPCODE(Name, text) \
  case Opcode::k##Name:           \
    return "Opcode::k" #Name;
#include "hlo/opcodes.def"
#undef HLOSIM_OPCODE
  }
  return "";
}
std::string printed(ElementType value) { return value == ElementType::kS4 ? "ElementType::kS4" : ""; }

/// The values of several expressions, as a comment states them.
template <class... T>
std::string all_printed(const T&... values) {
  std::string text;
  ((text += (text.empty() ? "" : ", ") + printed(values)), ...);
  return text;
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

/// The lines `//   code  // note` before the #pragma of a header.
class HeaderExamples {
 public:
  explicit HeaderExamples(const std::string& name) : name_(name) {
    std::istringstream lines(text_of(name));
    for (std::string line; std::getline(lines, line) && !line.starts_with('#');) {
      if (!line.starts_with("//   ")) continue;
      const size_t note = std::min(line.find("  //", 5), line.size());
      code_ += without_blanks(line.substr(5, note - 5));
      if (note < line.size()) notes_.emplace_back(code_.size(), line.substr(note + 5));
    }
  }

  /// The header has the code.
  void expect(const std::string& code) const {
    EXPECT_NE(code_.find(without_blanks(code)), std::string::npos) << name_ << " has no example " << code;
  }
  /// The header has the code, with a note that begins with the value.
  void expect(const std::string& code, const std::string& value) const {
    const std::string wanted = without_blanks(code);
    const std::string bare = value.starts_with('"') ? value.substr(1, value.size() - 2) : value;
    for (const auto& [end, note] : notes_) {
      const std::string_view before =
          std::string_view(code_).substr(0, end - (code_[end - 1] == ';' ? 1 : 0));
      if (!before.ends_with(wanted)) continue;
      if (!note.starts_with(value) && !note.starts_with(bare))
        ADD_FAILURE() << name_ << ": " << code << " is " << value << ", not " << note;
      return;
    }
    ADD_FAILURE() << name_ << " has no example with a note " << code;
  }

 private:
  static std::string text_of(const std::string& name) {
    const std::filesystem::path source = test::source_folder() / "src";
    if (std::string text = test::file_text(source / name); !text.empty()) return text;
    for (const auto& district : std::filesystem::directory_iterator(source))
      if (std::string text = test::file_text(district.path() / name); !text.empty()) return text;
    ADD_FAILURE() << "no header " << name;
    return "";
  }

  std::string name_;
  std::string code_;                                   // of all lines, without blanks
  std::vector<std::pair<size_t, std::string>> notes_;  // the end of the code before each
};

// A statement of the header; an expression of the header whose value its note states.
#define CODE(header, ...)      \
  header.expect(#__VA_ARGS__); \
  __VA_ARGS__
#define VALUE(header, ...) header.expect(#__VA_ARGS__, all_printed(__VA_ARGS__))

TEST(HeaderExamples, Base) {
  const HeaderExamples units("base/units.h"), quantities("base/quantity_text.h");
  CODE(units, const Picoseconds time = duration(Bytes(4096), BytesPerSecond(1e9)));
  VALUE(units, to_text(time));
  VALUE(quantities, TextForm<Hertz>::read("1.05 GHz"));
  VALUE(quantities, TextForm<Bytes>::write(Bytes(16 << 20)));
  VALUE(quantities, TextForm<Bytes>::read("16"));
}

TEST(HeaderExamples, Layouts) {
  const HeaderExamples types("layout/element_type.h"), views("layout/strided_view.h"),
      tiles("physical/tiled_bytes.h");
  VALUE(types, parse_element_type("s4"));
  VALUE(types, bit_width(ElementType::kS4), byte_width(ElementType::kS4));
  CODE(views, StridedView rows = dense_view(std::vector<int64_t>{2, 3}));
  EXPECT_EQ(rows.strides, (std::vector<int64_t>{3, 1}));
  CODE(views, std::swap(rows.strides[0], rows.strides[1]));
  EXPECT_EQ(rows.strides, (std::vector<int64_t>{1, 3}));
  ShapePool pool;
  const ShapeRef shape = *parse_shape(pool, "f32[5,3]{1,0:T(8,128)}");
  CODE(tiles, const Result<TiledBytes> tiled = TiledBytes::make(shape));
  EXPECT_EQ(tiled->size(), 4096);
}

TEST(HeaderExamples, Text) {
  const HeaderExamples cursor("hlo/cursor.h"), table("hlo/name_table.h"), opcodes("hlo/opcode.h"),
      page("report/html/html_data.h");
  const std::string text = "key = 12 // twelve";
  CODE(cursor, Cursor in(text, 0, text.size()));
  CODE(cursor, const std::string_view key = in.word());
  CODE(cursor, int64_t value = 0);
  EXPECT_TRUE(in.need('=', "after a key") && in.integer(value));
  EXPECT_EQ(key, "key");
  EXPECT_EQ(value, 12);
  CODE(table, NameTable names);
  VALUE(table, names.add("x", 0));
  VALUE(table, *names.find("x"));
  VALUE(opcodes, to_text(AttrKey::kBackendConfig));
  CODE(page, ColumnWriter columns(2));
  CODE(page, columns.whole_numbers("first", std::vector<int64_t>{5, 6}));
  VALUE(page, columns.take());
}

TEST(HeaderExamples, Kernels) {
  const HeaderExamples copies("cpu_kernels/strided_copy.h"), folds("cpu_kernels/fold.h");
  const std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  const auto* source = reinterpret_cast<const std::byte*>(values.data());
  {
    std::array<float, 6> turned{};
    auto* destination = reinterpret_cast<std::byte*>(turned.data());
    CODE(copies, const int64_t sizes[] = {2, 3}, from[] = {3, 1}, to[] = {1, 2});
    CODE(copies, const StridedCopy transpose(sizes, from, to, 4));
    CODE(copies, transpose.run(source, destination));
    EXPECT_EQ(turned, (std::array<float, 6>{1, 4, 2, 5, 3, 6}));
  }
  const float none = 0;
  std::array<float, 2> sums{};
  const std::byte *in = source, *zero = reinterpret_cast<const std::byte*>(&none);
  auto* out = reinterpret_cast<std::byte*>(sums.data());
  CODE(folds, const FoldKernel sum = fold_kernel(FoldOp::kAdd, ElementType::kF32));
  CODE(folds, const int64_t sizes[] = {2, 3}, strides[] = {3, 1});
  CODE(folds, const uint8_t reduced[] = {0, 1});
  CODE(folds, fold(sum, sizes, strides, reduced, in, zero, out));
  EXPECT_EQ(sums, (std::array<float, 2>{6, 15}));
}

TEST(HeaderExamples, Windows) {
  const HeaderExamples windows("ops/window.h");
  CODE(windows, WindowDimension three{.size = 3, .stride = 2});
  VALUE(windows, window_places(9, three));
  const TapPlaces middle = tap_places(9, three, 1);
  EXPECT_EQ(middle.element, 1);
  EXPECT_EQ(middle.element_step, 2);
  EXPECT_EQ(middle.count, 4);
}

TEST(HeaderExamples, Spellings) {
  const HeaderExamples legacy("hlo/legacy.h"), dumps("xla_dump/dump_line.h"),
      products("ops/custom_calls/gemm_config.h");
  VALUE(legacy, find_legacy_opcode("cross-replica-sum")->opcode);
  VALUE(legacy, find_legacy_opcode("all-reduce"));
  CODE(dumps, DumpLine line("value: <3 add @0> (size=16)", 0));
  CODE(dumps, line.need("value: <"));
  CODE(dumps, const int64_t number = line.number());
  EXPECT_EQ(number, 3);
  EXPECT_TRUE(line.ok());
  CODE(products,
       const GemmConfig config = parse_gemm_config(R"({"alpha_real":2,"beta":0,"epilogue":"BIAS"})"));
  VALUE(products, config.alpha);
  EXPECT_EQ(config.epilogue, "BIAS");
}

TEST(HeaderExamples, Devices) {
  const HeaderExamples slices("interconnect/slice.h"), files("model/device_files.h");
  DiagnosticList problems;
  const std::optional<Device> v4 = load_device("v4", {}, {}, problems);
  ASSERT_TRUE(v4);
  const Device& device = *v4;
  struct {
    int64_t num_partitions() const { return 1; }
  } module;
  AssumptionList assumptions;
  CODE(slices, Result<SliceRequest> request = parse_topology("4x4x8"));
  CODE(slices,
       Result<Slice> slice = choose_slice(device.config, *request, module.num_partitions(), assumptions));
  VALUE(slices, slice->text());
  const DeviceSearch search;
  CODE(files, const std::optional<DeviceTree> tree = read_device_tree("v5e", search, problems));
  VALUE(files, tree->root.find("clock")->text);
}

TEST(HeaderExamples, Links) {
  const HeaderExamples wires("interconnect/interconnect.h"), forms("interconnect/torus.h"),
      arrays("systolic/systolic.h");
  CODE(wires, const Interconnect torus({4, 4}, {true, true}));
  VALUE(wires, torus.neighbour(3, 0, true));
  VALUE(wires, torus.ways(0, 2).size());
  CODE(forms, const TorusAxis axes[] = {{0, 4, true}, {1, 4, true}});
  VALUE(forms, diameter(axes));
  CODE(arrays, const Result<SystolicRun> run = systolic_run(SystolicDataflow::kWeightStationary, {128, 128},
                                                            {.m = 256, .n = 256, .k = 256}));
  VALUE(arrays, run->row_folds * run->column_folds);
}

TEST(HeaderExamples, Memory) {
  const HeaderExamples packing("buffers/interval_packing.h"), taken("buffers/taken_space.h"),
      copies("prefetch/copy_slots.h");
  CODE(packing, const PackItem items[] = {{.size = 64, .start = 0, .end = 1, .group = 0},
                                          {.size = 64, .start = 2, .end = 3, .group = 1}});
  VALUE(packing, pack_best(items, 64).size);
  CODE(taken, TakenSpace heap(10));
  CODE(taken, heap.take({0, 4}, {0, 64}));
  CODE(taken, const TimeSpan late[] = {{3, 6}});
  VALUE(taken, heap.best_gap(late, 16));
  CODE(copies, CopySlots slots({3, 5, 2}));
  VALUE(copies, slots.add(0, 2, 6));
  VALUE(copies, slots.add(0, 2, 3));
}

}  // namespace
}  // namespace hlosim
