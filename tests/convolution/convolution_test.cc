// Convolutions against loops over every index, on operands whose sums are exact (see matmul_test.cc).
#include "convolution/convolution.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "convolution/convolution_geometry.h"
#include "convolution/convolution_kernels.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

using enum ElementType;

struct Dimension {
  int64_t input = 1, kernel = 1, stride = 1, low = 0, high = 0, base = 1, window = 1;
  bool reversed = false;

  int64_t output() const {
    const auto dilated = [](int64_t size, int64_t by) { return size == 0 ? 0 : (size - 1) * by + 1; };
    const int64_t room = dilated(input, base) + low + high - dilated(kernel, window);
    return room < 0 ? 0 : room / stride + 1;
  }
};

struct Case {
  int64_t batch = 1, inputs = 1, outputs = 1;  // per group
  int64_t feature_groups = 1, batch_groups = 1;
  std::vector<Dimension> spatial;
  // Dimensions in memory, most major first: 0 batch, 1 feature, 2… spatial; kernel: 0 output, 1 input
  // feature.
  std::vector<size_t> input_order, kernel_order, output_order;
  ElementType operand = kF32, result = kF32;

  std::string text() const {
    std::string text = fmt::format("batch {} features {}→{} groups {} {} {}→{}", batch, inputs, outputs,
                                   feature_groups, batch_groups, to_text(operand), to_text(result));
    for (const Dimension& d : spatial)
      text += fmt::format(" [{}*{} stride {} pad {},{} dilate {},{} {}]", d.input, d.kernel, d.stride, d.low,
                          d.high, d.base, d.window, d.reversed);
    return text + fmt::format(" orders {} {} {}", fmt::join(input_order, ""), fmt::join(kernel_order, ""),
                              fmt::join(output_order, ""));
  }
};

std::vector<int64_t> strides_of(const std::vector<int64_t>& sizes, const std::vector<size_t>& order) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= sizes[order[i]];
  }
  return strides;
}

int64_t product(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

struct Tensor {
  Tensor(std::vector<int64_t> dimensions, const std::vector<size_t>& order)
      : sizes(std::move(dimensions)),
        strides(strides_of(sizes, order)),
        values(static_cast<size_t>(product(sizes))) {}
  int64_t& at(const std::vector<int64_t>& index) {
    return values[static_cast<size_t>(
        std::inner_product(index.begin(), index.end(), strides.begin(), int64_t{0}))];
  }
  std::vector<int64_t> sizes, strides;
  std::vector<int64_t> values;  // small whole numbers
};

/// Calls visit(index) for all indices of a shape.
template <class Visit>
void for_each_index(const std::vector<int64_t>& sizes, Visit&& visit) {
  if (product(sizes) == 0) return;
  std::vector<int64_t> index(sizes.size(), 0);
  while (true) {
    visit(index);
    size_t i = sizes.size();
    while (i > 0 && ++index[i - 1] == sizes[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

std::vector<std::byte> bytes_of(const std::vector<int64_t>& values, ElementType type) {
  std::vector<std::byte> bytes(values.size() * static_cast<size_t>(byte_width(type)));
  for (size_t i = 0; i < values.size(); ++i) {
    std::byte* to = bytes.data() + i * static_cast<size_t>(byte_width(type));
    const auto number = static_cast<float>(values[i]);
    const double wide = static_cast<double>(values[i]);
    std::memset(to, 0, static_cast<size_t>(byte_width(type)));
    if (type == kF32 || type == kC64)
      std::memcpy(to, &number, 4);
    else if (type == kBF16)
      std::memcpy(to, reinterpret_cast<const std::byte*>(&number) + 2, 2);
    else if (type == kF64)
      std::memcpy(to, &wide, 8);
    else
      std::memcpy(to, &values[i], static_cast<size_t>(byte_width(type)));
  }
  return bytes;
}

struct Problem {
  explicit Problem(const Case& c)
      : input({c.batch * c.batch_groups, c.inputs * c.feature_groups}, {}),
        kernel({}, {}),
        output({}, {}),
        test(c) {
    std::vector<int64_t> in = input.sizes, k = {c.outputs * c.feature_groups * c.batch_groups, c.inputs},
                         out = {c.batch, k[0]};
    for (const Dimension& d : c.spatial) {
      in.push_back(d.input);
      k.push_back(d.kernel);
      out.push_back(d.output());
    }
    input = Tensor(in, c.input_order);
    kernel = Tensor(k, c.kernel_order);
    output = Tensor(out, c.output_order);
    std::mt19937 random(7);
    std::uniform_int_distribution<int64_t> small(-2, 2);
    for (int64_t& value : input.values) value = small(random);
    for (int64_t& value : kernel.values) value = small(random);
  }

  Convolution convolution(const void* in, const void* k, void* out) {
    const int64_t groups = test.feature_groups * test.batch_groups;
    spatial.clear();
    for (size_t i = 0; i < test.spatial.size(); ++i) {
      const Dimension& d = test.spatial[i];
      spatial.push_back({d.input, d.kernel, d.output(), d.stride, d.low, d.base, d.window, d.reversed,
                         input.strides[i + 2], kernel.strides[i + 2], output.strides[i + 2]});
    }
    return {.input = in,
            .kernel = k,
            .result = out,
            .input_type = test.operand,
            .kernel_type = test.operand,
            .result_type = test.result,
            .batch = test.batch,
            .input_batch_stride = input.strides[0],
            .output_batch_stride = output.strides[0],
            .groups = groups,
            .input_group_stride =
                test.batch_groups > 1 ? test.batch * input.strides[0] : test.inputs * input.strides[1],
            .kernel_group_stride = test.outputs * kernel.strides[0],
            .output_group_stride = test.outputs * output.strides[1],
            .input_features = test.inputs,
            .output_features = test.outputs,
            .input_feature_stride = input.strides[1],
            .output_feature_stride = output.strides[1],
            .kernel_input_feature_stride = kernel.strides[1],
            .kernel_output_feature_stride = kernel.strides[0],
            .spatial = spatial};
  }

  void compute_expected() {
    for_each_index(output.sizes, [&](const std::vector<int64_t>& at) {
      const int64_t group = at[1] / test.outputs;
      int64_t sum = 0;
      std::vector<int64_t> window = {test.inputs};
      for (const Dimension& d : test.spatial) window.push_back(d.kernel);
      for_each_index(window, [&](const std::vector<int64_t>& tap) {
        std::vector<int64_t> from = {at[0], tap[0]}, weight = {at[1], tap[0]};
        (test.batch_groups > 1 ? from[0] : from[1]) +=
            group * (test.batch_groups > 1 ? test.batch : test.inputs);
        for (size_t i = 0; i < test.spatial.size(); ++i) {
          const Dimension& d = test.spatial[i];
          const int64_t position = at[i + 2] * d.stride - d.low + tap[i + 1] * d.window;
          if (position < 0 || position % d.base != 0 || position / d.base >= d.input) return;
          from.push_back(position / d.base);
          weight.push_back(d.reversed ? d.kernel - 1 - tap[i + 1] : tap[i + 1]);
        }
        sum += input.at(from) * kernel.at(weight);
      });
      output.at(at) = sum;
    });
  }

  Tensor input, kernel, output;
  Case test;
  std::vector<ConvolutionSpatial> spatial;
};

std::vector<std::pair<std::string, ConvolutionLevel>> levels() {
  std::vector<std::pair<std::string, ConvolutionLevel>> list;
  for (const IsaLevel level : {IsaLevel::kV2, IsaLevel::kV3, IsaLevel::kV4})
    if (level <= supported_isa_level())
      list.emplace_back(std::string(name(level)), convolution_level(level, false));
  return list;
}

void expect_right(const Case& c) {
  Problem problem(c);
  problem.compute_expected();
  const auto input = bytes_of(problem.input.values, c.operand),
             kernel = bytes_of(problem.kernel.values, c.operand);
  const auto expected = bytes_of(problem.output.values, c.result);
  for (const auto& [name, level] : levels()) {
    std::vector<std::byte> result(expected.size(), std::byte{0x77});
    convolution(problem.convolution(input.data(), kernel.data(), result.data()), level);
    EXPECT_TRUE(result == expected) << c.text() << " on " << name;
  }
}

// Orders of [batch, feature, y, x] and [output, input, y, x].
const std::vector<size_t> kNhwc = {0, 2, 3, 1}, kNchw = {0, 1, 2, 3}, kHwio = {2, 3, 1, 0},
                          kOihw = {0, 1, 2, 3}, kMixed = {3, 1, 0, 2};

Case images(int64_t batch, int64_t inputs, int64_t outputs, Dimension y, Dimension x) {
  return {batch, inputs, outputs, 1, 1, {y, x}, kNhwc, kHwio, kNhwc};
}

TEST(Convolution, FeaturesAroundVectorsAndTiles) {
  for (const int64_t inputs : {1, 2, 15, 16, 17, 40})
    for (const int64_t outputs : {1, 3, 8, 16, 33, 64, 65, 130})
      expect_right(images(1, inputs, outputs, {5, 3, 1, 1, 1}, {6, 3, 1, 1, 1}));
}

TEST(Convolution, ManyPlaces) {
  expect_right(images(2, 20, 70, {20, 3, 1, 1, 1}, {21, 3, 1, 1, 1}));
  expect_right(images(3, 3, 10, {20, 5, 2, 2, 2}, {21, 5, 2, 1, 2}));
  expect_right(images(1, 300, 70, {7, 3, 1, 1, 1}, {7, 3, 1, 1, 1}));
  expect_right(images(2, 1700, 6, {3, 1}, {5, 1}));
}

TEST(Convolution, WindowsOfEveryKind) {
  for (const int64_t stride : {1, 2})
    for (const int64_t low : {-1, 0, 2})
      for (const int64_t high : {-2, 0, 1})
        for (const int64_t base : {1, 3})
          for (const int64_t window : {1, 2})
            for (const bool reversed : {false, true})
              for (const int64_t inputs : {2, 17})
                expect_right(
                    images(2, inputs, 5, {6, 3, stride, low, high, base, window, reversed}, {4, 2, 1, 1, 0}));
}

TEST(Convolution, EveryOrderOfDimensions) {
  for (const auto& input : {kNhwc, kNchw, kMixed})
    for (const auto& kernel : {kHwio, kOihw, kMixed})
      for (const auto& output : {kNhwc, kNchw, kMixed})
        for (const ElementType type : {kF32, kBF16, kF64, kS8, kS32, kC64}) {
          Case c = images(2, 18, 35, {5, 3, 1, 1, 1}, {6, 2, 2, 0, 1});
          c.input_order = input, c.kernel_order = kernel, c.output_order = output;
          c.operand = type;
          c.result = type == kS8 ? kS32 : type;
          expect_right(c);
          if (type == kBF16) {
            c.result = kF32;
            expect_right(c);
          }
        }
}

TEST(Convolution, Groups) {
  for (const auto& order : {kNhwc, kNchw})
    for (const ElementType type : {kF32, kBF16, kS32})
      for (const auto& [inputs, outputs] :
           {std::pair{1, 1}, std::pair{1, 2}, std::pair{4, 3}, std::pair{17, 20}})
        for (const int64_t groups : {2, 5, 33}) {
          Case c = images(2, inputs, outputs, {5, 3, 1, 1, 1}, {4, 2, 1, 1, 0});
          c.input_order = c.output_order = order;
          c.operand = c.result = type;
          c.feature_groups = groups;
          expect_right(c);
          c.feature_groups = 1;
          c.batch_groups = groups;
          expect_right(c);
        }
}

// Rows of places that are wider than tiles, with and without padding on either side.
TEST(Convolution, FewChannelsInWideRows) {
  for (const int64_t stride : {1, 2})
    for (const int64_t low : {-1, 0, 3})
      for (const int64_t high : {0, 3, 40})
        for (const int64_t window : {1, 2}) {
          const Dimension y{9, 3, stride, 1, 1}, x{37, 5, stride, low, high, 1, window};
          expect_right(images(2, 3, 20, y, x));
          Case depthwise = images(2, 1, 1, y, x);
          depthwise.feature_groups = 19;
          expect_right(depthwise);
        }
  expect_right(images(1, 3, 64, {30, 7, 2, 3, 3}, {31, 7, 2, 3, 3}));
  expect_right(images(1, 2, 5, {3, 2}, {4, 9, 1, 4, 4}));  // a window wider than the input
}

// An element is read once for all places that meet it, and padding is at either end of a row, or at both.
TEST(Convolution, WindowsThatSlide) {
  for (const int64_t taps : {3, 5})
    for (int64_t low = 0; low <= taps / 2; ++low)
      for (int64_t high = 0; high <= taps / 2; ++high)
        for (const int64_t size : {1, 2, 4, 5, 8, 9, 17, 20}) {
          if (size + low + high < taps) continue;
          for (const int64_t channels : {2, 8, 19, 40}) {
            Case c = images(2, 1, 1, {4, 3, 1, 1, 1}, {size, taps, 1, low, high});
            c.feature_groups = channels;
            expect_right(c);
          }
        }
}

Case depthwise(int64_t groups, std::vector<Dimension> spatial) {
  Case c{2, 1, 1, groups, 1, std::move(spatial), {}, {}, {}};
  for (size_t i = 0; i < c.spatial.size() + 2; ++i) c.input_order.push_back(i);
  c.kernel_order = c.output_order = c.input_order;
  return c;
}

TEST(Convolution, LinesOfOneChannel) {
  for (const int64_t size : {7, 31, 33, 56, 130})
    for (const int64_t stride : {1, 2, 3})
      for (const int64_t low : {-2, 0, 1, 3})
        for (const int64_t high : {-1, 0, 2, 40})
          for (const int64_t window : {1, 2})
            expect_right(depthwise(3, {{9, 3, stride, 1, 1}, {size, 3, stride, low, high, 1, window}}));
}

TEST(Convolution, WindowsThatSlideByOneElement) {
  for (const int64_t taps : {3, 5})
    for (const int64_t low : {-1, 0, 1, 2})
      for (const int64_t high : {0, 1, 2})
        for (const int64_t channels : {3, 8, 9, 17, 33, 70})
          for (const int64_t size : {5, 12, 19}) {
            Case c = images(2, 1, 1, {6, taps, 1, low, high}, {size, taps, 1, low, high});
            c.feature_groups = channels;
            expect_right(c);
          }
}

/// A depthwise convolution of NHWC whose rows are of `x`, with its bits by each level.
std::vector<std::pair<std::string, std::vector<float>>> fractions(int64_t channels, Dimension y,
                                                                  Dimension x) {
  Case c = images(2, 1, 1, y, x);
  c.feature_groups = channels;
  Problem problem(c);
  std::mt19937 random(11);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> input(problem.input.values.size()), kernel(problem.kernel.values.size());
  for (float& value : input) value = uniform(random);
  for (float& value : kernel) value = uniform(random);
  std::vector<std::pair<std::string, std::vector<float>>> results;
  for (const auto& [name, level] : levels()) {
    results.emplace_back(name, std::vector<float>(problem.output.values.size(), -1.0F));
    convolution(problem.convolution(input.data(), kernel.data(), results.back().second.data()), level);
  }
  return results;
}

// Sums that depend on the order of their terms: the even places of a window that slides by one are those of
// one that strides by two, which other kernels compute.
TEST(Convolution, SlidingWindowsHaveTheBitsOfThoseThatStride) {
  for (const int64_t taps : {3, 5})
    for (const int64_t low : {-1, 0, 1, 2})
      for (const int64_t high : {0, 1, 2})
        for (const int64_t channels : {3, 8, 17, 33, 64, 70}) {
          const Dimension y{7, taps, 1, 1, 1}, x{23, taps, 1, low, high};
          Dimension apart = x;
          apart.stride = 2;
          const auto sliding = fractions(channels, y, x), striding = fractions(channels, y, apart);
          ASSERT_EQ(sliding.size(), striding.size());
          const auto row = static_cast<size_t>(x.output()), half = static_cast<size_t>(apart.output()),
                     width = static_cast<size_t>(channels);
          for (size_t level = 0; level < sliding.size(); ++level) {
            const std::vector<float>&all = sliding[level].second, &even = striding[level].second;
            size_t different = 0;
            for (size_t place = 0; place < even.size() / width; ++place) {
              const size_t from = (place / half * row + place % half * 2) * width;
              different += std::memcmp(&all[from], &even[place * width], width * sizeof(float)) != 0;
            }
            EXPECT_EQ(different, 0u) << sliding[level].first << ", " << taps << " taps, padded by " << low
                                     << ", " << high << ", " << channels << " channels";
          }
        }
}

/// Whether it is computed along lines.
bool goes_along_lines(const Case& c) {
  Problem problem(c);
  const auto input = bytes_of(problem.input.values, c.operand),
             kernel = bytes_of(problem.kernel.values, c.operand);
  std::vector<std::byte> result(problem.output.values.size() * 4);
  return depthwise_lines(problem.convolution(input.data(), kernel.data(), result.data()),
                         levels().front().second);
}

// However far a window reaches, the lines under it take little memory, or others do it.
TEST(Convolution, LinesUnderWindowsThatReachFar) {
  const int64_t far = 100'000'000;
  const std::pair<bool, Case> cases[] = {
      {true, depthwise(2, {{64, 3, 1, 1, 1}, {64, 3, 1, 1, 1}})},
      {false, depthwise(2, {{4, 2, 1, 1, 0}, {64, 2, 1, far, 0, 1, far}})},
      {false, depthwise(2, {{4, 2, 1, 1, 0}, {64, 2, 1, 0, far, 1, far}})},
      {true, depthwise(2, {{4, 2, 1, 1, 0}, {64, 2, far, 0, 63 * far, 1, far}})},
      {true, depthwise(1, {{256 * 4096, 2, 4096, 0, 0, 1, 4095}})},  // two of 4096 phases
      {true, depthwise(1, {{40 * 17, 5, 17, 3, 40, 1, 9}})},
      {false, depthwise(1, {{5 * 97, 90, 97, 3, 90, 1, 1}, {40 * 97, 90, 97, 3, 90, 1, 1}})},
      {false, depthwise(1, {{2000, 2, 1, 1, 1, 1, 1500}, {64, 2, 1, 1, 0}})},
  };
  for (const auto& [along_lines, c] : cases) {
    EXPECT_EQ(goes_along_lines(c), along_lines) << c.text();
    expect_right(c);
  }
}

TEST(Convolution, LinesOfOneChannelInAnyNumberOfDimensions) {
  expect_right(depthwise(5, {{100, 4, 1, 3, 0}}));
  expect_right(depthwise(2, {{5000, 5, 1, 2, 2}}));  // in pieces
  expect_right(depthwise(2, {{2, 2, 1, 1, 0}, {9000, 7, 2, 3, 3, 1, 3}}));
  expect_right(depthwise(3, {{4, 3, 1, 1, 1}, {6, 2, 2, 1, 1, 1, 2}, {33, 3, 1, 1, 1}}));
  expect_right(depthwise(3, {{4, 3, 2, 2, 1, 2}, {6, 3, 1, -1, 2, 3}, {33, 3, 1, 1, 1}}));  // holes
  expect_right(
      depthwise(3, {{6, 3, 1, 9, 9, 1, 1, true}, {80, 4, 2, 1, 9, 1, 1, true}}));  // lines of padding
  expect_right(depthwise(2, {{40, 9, 7, 4, 4}, {200, 2, 5, 1, 0}}));  // strides beyond the window
  Case transposed = depthwise(4, {{20, 3, 1, 1, 1}, {50, 3, 1, 1, 1}});
  transposed.output_order = {0, 1, 3, 2};
  expect_right(transposed);
}

TEST(Convolution, WindowsOfOnePlace) {
  for (const auto& order : {kNchw, kNhwc})
    for (const ElementType type : {kF32, kBF16, kF64, kS8, kS32, kC64})
      for (const auto& [inputs, outputs] : {std::pair{1, 1}, std::pair{3, 20}, std::pair{70, 33}})
        for (const int64_t groups : {1, 3}) {
          Case c = images(2, inputs, outputs, {13, 1}, {11, 1});
          c.input_order = c.output_order = order;
          c.kernel_order = kOihw;
          c.operand = type;
          c.result = type == kS8 ? kS32 : type;
          c.feature_groups = groups;
          expect_right(c);
          c.feature_groups = 1, c.batch_groups = groups;
          expect_right(c);
        }
  for (const Dimension& x : {Dimension{12, 1, 2}, {12, 1, 1, 1}, {12, 1, 1, 0, -1}, {12, 1, 1, 0, 0, 2}}) {
    Case c = images(2, 5, 20, {19, 1}, x);
    c.input_order = c.output_order = kNchw;
    expect_right(c);
  }
}

TEST(Convolution, AnyNumberOfSpatialDimensions) {
  expect_right({3, 4, 5, 1, 1, {}, {0, 1}, {0, 1}, {0, 1}});
  expect_right({2, 3, 4, 1, 1, {{9, 4, 2, 1, 1}}, {0, 2, 1}, {2, 1, 0}, {0, 2, 1}});
  expect_right({2, 3, 4, 1, 1, {{9, 4, 2, 1, 1}}, {0, 1, 2}, {0, 1, 2}, {1, 2, 0}});
  expect_right({2,
                16,
                4,
                1,
                1,
                {{4, 2}, {5, 3, 1, 1, 1}, {3, 2, 1, 0, 0, 2}},
                {0, 2, 3, 4, 1},
                {2, 3, 4, 1, 0},
                {0, 1, 2, 3, 4}});
}

TEST(Convolution, EmptySizesAndNothingToSum) {
  expect_right(images(0, 2, 3, {4, 2}, {4, 2}));
  expect_right(images(1, 0, 3, {4, 2}, {4, 2}));
  expect_right(images(1, 2, 0, {4, 2}, {4, 2}));
  expect_right(images(1, 2, 3, {0, 2, 1, 2, 2}, {4, 2}));
  expect_right(images(1, 2, 3, {4, 9}, {4, 2}));
  expect_right(images(1, 2, 3, {2, 1, 1, 5, 5}, {4, 2}));
}

TEST(Convolution, AWindowOfTheWholeInput) {
  // As in the gradient of a kernel: few places, many taps.
  expect_right(images(3, 5, 6, {30, 28}, {20, 19}));
  expect_right(images(1, 20, 66, {30, 28}, {20, 19}));
}

TEST(Convolution, TheNumberOfThreadsDoesNotShow) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (Case c : {images(2, 30, 70, {15, 3, 1, 1, 1}, {14, 3, 1, 1, 1}),
                 images(1, 3, 9, {40, 5, 2, 2, 2}, {40, 5, 2, 2, 2})}) {
    Problem problem(c);
    std::vector<float> input(problem.input.values.size()), kernel(problem.kernel.values.size());
    for (float& x : input) x = uniform(random);
    for (float& x : kernel) x = uniform(random);
    for (const auto& [name, level] : levels()) {
      std::vector<float> first, result(problem.output.values.size());
      for (const int threads : {1, 2, 5}) {
        set_thread_count(threads);
        std::fill(result.begin(), result.end(), -1.0f);
        convolution(problem.convolution(input.data(), kernel.data(), result.data()), level);
        if (first.empty()) first = result;
        EXPECT_TRUE(result == first) << threads << " threads on " << name;
      }
      set_thread_count(0);
    }
  }
}

}  // namespace
}  // namespace hlosim
