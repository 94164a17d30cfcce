// Results that the examples at the beginning of headers state.
#include <gtest/gtest.h>

#include <array>
#include <string>
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
#include "interconnect/torus.h"
#include "layout/element_type.h"
#include "layout/shape_text.h"
#include "layout/strided_view.h"
#include "model/device.h"
#include "model/device_files.h"
#include "model/slice.h"
#include "ops/custom_calls/gemm_config.h"
#include "ops/window.h"
#include "physical/tiled_bytes.h"
#include "prefetch/copy_slots.h"
#include "report/html/html_data.h"
#include "sim/link_simulation.h"
#include "systolic/systolic.h"
#include "xla_dump/dump_line.h"

namespace hlosim {
namespace {

TEST(HeaderExamples, Base) {
  EXPECT_EQ(to_text(duration(Bytes(4096), BytesPerSecond(1e9))), "4.096 us");
  EXPECT_EQ(TextForm<Hertz>::read("1.05 GHz")->count(), 1.05e9);
  EXPECT_EQ(TextForm<Bytes>::write(Bytes(16 << 20)), "16 MiB");
  EXPECT_FALSE(TextForm<Bytes>::read("16"));
}

TEST(HeaderExamples, Layouts) {
  EXPECT_EQ(parse_element_type("s4"), ElementType::kS4);
  EXPECT_EQ(bit_width(ElementType::kS4), 4);
  EXPECT_EQ(byte_width(ElementType::kS4), 1);
  EXPECT_EQ(dense_view(std::vector<int64_t>{2, 3}).strides, (std::vector<int64_t>{3, 1}));
  ShapePool pool;
  EXPECT_EQ(TiledBytes::make(*parse_shape(pool, "f32[5,3]{1,0:T(8,128)}"))->size(), 4096);
}

TEST(HeaderExamples, Text) {
  const std::string text = "key = 12 // twelve";
  Cursor in(text, 0, text.size());
  int64_t value = 0;
  EXPECT_EQ(in.word(), "key");
  EXPECT_TRUE(in.need('=', "after a key") && in.integer(value));
  EXPECT_EQ(value, 12);
  NameTable names;
  EXPECT_TRUE(names.add("x", 0));
  EXPECT_EQ(*names.find("x"), 0);
  EXPECT_EQ(to_text(AttrKey::kBackendConfig), "backend_config");
  ColumnWriter columns(2);
  columns.whole_numbers("first", std::vector<int64_t>{5, 6});
  EXPECT_EQ(columns.take(), R"({"rows":2,"columns":{"first":{"d":[5,1]}}})");
}

TEST(HeaderExamples, Kernels) {
  const std::array<float, 6> in = {1, 2, 3, 4, 5, 6};
  std::array<float, 6> turned{};
  const int64_t sizes[] = {2, 3}, from[] = {3, 1}, to[] = {1, 2};
  StridedCopy(sizes, from, to, 4)
      .run(reinterpret_cast<const std::byte*>(in.data()), reinterpret_cast<std::byte*>(turned.data()));
  EXPECT_EQ(turned, (std::array<float, 6>{1, 4, 2, 5, 3, 6}));

  const int64_t strides[] = {3, 1};
  const uint8_t reduced[] = {0, 1};
  const float zero = 0;
  std::array<float, 2> sums{};
  fold(fold_kernel(FoldOp::kAdd, ElementType::kF32), sizes, strides, reduced,
       reinterpret_cast<const std::byte*>(in.data()), reinterpret_cast<const std::byte*>(&zero),
       reinterpret_cast<std::byte*>(sums.data()));
  EXPECT_EQ(sums, (std::array<float, 2>{6, 15}));
}

TEST(HeaderExamples, Windows) {
  const WindowDimension three{.size = 3, .stride = 2};
  EXPECT_EQ(window_places(9, three), 4);
  const TapPlaces middle = tap_places(9, three, 1);
  EXPECT_EQ(middle.element, 1);
  EXPECT_EQ(middle.element_step, 2);
  EXPECT_EQ(middle.count, 4);
}

TEST(HeaderExamples, Spellings) {
  EXPECT_EQ(find_legacy_opcode("cross-replica-sum")->opcode, Opcode::kAllReduce);
  EXPECT_EQ(find_legacy_opcode("all-reduce"), nullptr);
  DumpLine line("value: <3 add @0> (size=16)", 0);
  line.need("value: <");
  EXPECT_EQ(line.number(), 3);
  EXPECT_TRUE(line.ok());
  const GemmConfig config = parse_gemm_config(R"({"alpha_real":2,"beta":0,"epilogue":"BIAS"})");
  EXPECT_EQ(config.alpha, 2.0);
  EXPECT_EQ(config.epilogue, "BIAS");
}

TEST(HeaderExamples, Devices) {
  DiagnosticList problems;
  const std::optional<Device> v4 = load_device("v4", {}, {}, problems);
  ASSERT_TRUE(v4);
  AssumptionList assumptions;
  const Result<SliceRequest> request = parse_topology("4x4x8");
  EXPECT_EQ(choose_slice(v4->config, *request, 1, assumptions)->text(), "4x4x8 (torus)");
  const std::optional<DeviceTree> v5e = read_device_tree("v5e", {}, problems);
  EXPECT_EQ(v5e->root.find("clock")->text, "1.5 GHz");
}

TEST(HeaderExamples, Links) {
  const Interconnect torus({4, 4}, {true, true});
  EXPECT_EQ(torus.neighbour(3, 0, true), 0);
  EXPECT_EQ(torus.ways(0, 2).size(), 2u);
  LinkSimulation links(2, Picoseconds(100));
  const uint32_t first = links.add(0, Picoseconds(1000));
  links.add(1, Picoseconds(1000), first);
  EXPECT_EQ(links.run(Picoseconds(0)), Picoseconds(2200));
  const TorusAxis axes[] = {{0, 4, true}, {1, 4, true}};
  EXPECT_EQ(diameter(axes), 4);
  const Result<SystolicRun> run =
      systolic_run(SystolicDataflow::kWeightStationary, {128, 128}, {.m = 256, .n = 256, .k = 256});
  EXPECT_EQ(run->row_folds * run->column_folds, 4);
}

TEST(HeaderExamples, Memory) {
  const PackItem items[] = {{.size = 64, .start = 0, .end = 1, .group = 0},
                            {.size = 64, .start = 2, .end = 3, .group = 1}};
  EXPECT_EQ(pack_best(items, 64).size, 64);
  TakenSpace heap(10);
  heap.take({0, 4}, {0, 64});
  const TimeSpan late[] = {{3, 6}};
  EXPECT_EQ(heap.best_gap(late, 16), 64);
  CopySlots slots({3, 5, 2});
  EXPECT_TRUE(slots.add(0, 2, 6));
  EXPECT_FALSE(slots.add(0, 2, 3));
}

}  // namespace
}  // namespace hlosim
