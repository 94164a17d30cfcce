// Convolutions of f32 against oneDNN, in turns.
//
//   convolution_bench [threads] [filter]
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#ifdef HLOSIM_BENCH_DNNL
#include <dnnl.hpp>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

#include "convolution/convolution.h"
#include "interleaved.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

struct Image {
  int64_t batch, size, inputs, outputs, window, stride;
  bool depthwise = false;

  int64_t output_size() const { return (size + 2 * (window / 2) - window) / stride + 1; }
  std::string text() const {
    return std::to_string(batch) + "x" + std::to_string(size) + "x" + std::to_string(size) + "x" +
           std::to_string(inputs) + "-" + std::to_string(outputs) + " " + std::to_string(window) + "x" +
           std::to_string(window) + (stride > 1 ? "/" + std::to_string(stride) : "") +
           (depthwise ? " depthwise" : "");
  }
};

std::vector<float> values(int64_t count) {
  std::vector<float> list(static_cast<size_t>(count));
  for (size_t i = 0; i < list.size(); ++i)
    list[i] = static_cast<float>((i * 2654435761u >> 16) & 255) / 128 - 1;
  return list;
}

/// NHWC with HWIO, or NCHW with OIHW.
void ours(const Image& image, bool nhwc, const float* input, const float* kernel, float* result) {
  const int64_t size = image.size, out = image.output_size(), window = image.window;
  const int64_t inputs = image.depthwise ? 1 : image.inputs, outputs = image.depthwise ? 1 : image.outputs;
  const int64_t all_in = image.inputs, all_out = image.outputs;
  std::vector<ConvolutionSpatial> spatial(2);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t in_row = i == 0 ? size : 1, out_row = i == 0 ? out : 1, window_row = i == 0 ? window : 1;
    spatial[i] = {.input = size,
                  .kernel = window,
                  .output = out,
                  .stride = image.stride,
                  .padding_low = window / 2,
                  .input_stride = nhwc ? in_row * all_in : in_row,
                  .kernel_stride = nhwc ? window_row * inputs * all_out : window_row,
                  .output_stride = nhwc ? out_row * all_out : out_row};
  }
  const int64_t in_feature = nhwc ? 1 : size * size, out_feature = nhwc ? 1 : out * out;
  const int64_t kernel_in = nhwc ? all_out : window * window,
                kernel_out = nhwc ? 1 : inputs * window * window;
  convolution({.input = input,
               .kernel = kernel,
               .result = result,
               .input_type = ElementType::kF32,
               .kernel_type = ElementType::kF32,
               .result_type = ElementType::kF32,
               .batch = image.batch,
               .input_batch_stride = size * size * all_in,
               .output_batch_stride = out * out * all_out,
               .groups = image.depthwise ? all_in : 1,
               .input_group_stride = inputs * in_feature,
               .kernel_group_stride = outputs * kernel_out,
               .output_group_stride = outputs * out_feature,
               .input_features = inputs,
               .output_features = outputs,
               .input_feature_stride = in_feature,
               .output_feature_stride = out_feature,
               .kernel_input_feature_stride = kernel_in,
               .kernel_output_feature_stride = kernel_out,
               .spatial = spatial});
}

#ifdef HLOSIM_BENCH_DNNL
/// oneDNN on plain arrays; what it has to rearrange for that, weights included, is a part of the time, as it
/// is of ours.
class Peer {
 public:
  Peer(const Image& image, bool nhwc, float* input, float* kernel, float* result)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using tag = dnnl::memory::format_tag;
    using dnnl::memory;
    const int64_t out = image.output_size();
    const memory::dims in_dims{image.batch, image.inputs, image.size, image.size},
        out_dims{image.batch, image.outputs, out, out};
    memory::dims kernel_dims{image.outputs, image.inputs, image.window, image.window};
    if (image.depthwise) kernel_dims = {image.inputs, 1, 1, image.window, image.window};
    const auto f32 = memory::data_type::f32;
    const tag kernel_tag =
        image.depthwise ? (nhwc ? tag::hwigo : tag::goihw) : (nhwc ? tag::hwio : tag::oihw);
    const memory::desc in(in_dims, f32, nhwc ? tag::nhwc : tag::nchw),
        plain_kernel(kernel_dims, f32, kernel_tag), plain_out(out_dims, f32, nhwc ? tag::nhwc : tag::nchw),
        any_kernel(kernel_dims, f32, tag::any), any_in(in_dims, f32, tag::any),
        any_out(out_dims, f32, tag::any);
    const memory::dims strides{image.stride, image.stride}, pad{image.window / 2, image.window / 2};
    const dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_inference,
                                               dnnl::algorithm::convolution_direct, nhwc ? in : any_in,
                                               any_kernel, nhwc ? plain_out : any_out, strides, pad, pad);
    const dnnl::convolution_forward::primitive_desc primitive(desc, engine_);
    in_ = memory(in, engine_, input), kernel_ = memory(plain_kernel, engine_, kernel),
    out_ = memory(plain_out, engine_, result);
    own_in_ = primitive.src_desc() == in ? in_ : memory(primitive.src_desc(), engine_);
    own_kernel_ = memory(primitive.weights_desc(), engine_);
    own_out_ = primitive.dst_desc() == plain_out ? out_ : memory(primitive.dst_desc(), engine_);
    convolution_ = dnnl::convolution_forward(primitive);
    if (own_in_ != in_) move_in_ = dnnl::reorder(in_, own_in_);
    move_kernel_ = dnnl::reorder(kernel_, own_kernel_);
    if (own_out_ != out_) move_out_ = dnnl::reorder(own_out_, out_);
    name_ = primitive.impl_info_str();
  }
  void run() {
    if (own_in_ != in_) move_in_.execute(stream_, in_, own_in_);
    move_kernel_.execute(stream_, kernel_, own_kernel_);
    convolution_.execute(
        stream_, {{DNNL_ARG_SRC, own_in_}, {DNNL_ARG_WEIGHTS, own_kernel_}, {DNNL_ARG_DST, own_out_}});
    if (own_out_ != out_) move_out_.execute(stream_, own_out_, out_);
    stream_.wait();
  }
  std::string name() const { return "oneDNN " + name_; }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::memory in_, kernel_, out_, own_in_, own_kernel_, own_out_;
  dnnl::convolution_forward convolution_;
  dnnl::reorder move_in_, move_kernel_, move_out_;
  std::string name_;
};
#endif

void compare(const Image& image, bool nhwc, const std::string& filter) {
  const std::string title = std::string(nhwc ? "nhwc " : "nchw ") + image.text();
  if (title.find(filter) == std::string::npos) return;
  const int64_t out = image.output_size(), inputs = image.depthwise ? 1 : image.inputs;
  auto input = values(image.batch * image.size * image.size * image.inputs);
  auto kernel = values(image.window * image.window * inputs * image.outputs);
  auto result = values(image.batch * out * out * image.outputs);
  const double work =
      2.0 * static_cast<double>(result.size()) * static_cast<double>(image.window * image.window * inputs);
  Interleaved runs(title, work);
  runs.add("ours", [&] { ours(image, nhwc, input.data(), kernel.data(), result.data()); });
#ifdef HLOSIM_BENCH_DNNL
  Peer peer(image, nhwc, input.data(), kernel.data(), result.data());
  runs.add(peer.name(), [&] { peer.run(); });
#endif
  runs.report(thread_count() == 1);
}

}  // namespace
}  // namespace hlosim

int main(int count, char** arguments) {
  const int threads = count > 1 ? std::atoi(arguments[1]) : 1;
  const std::string filter = count > 2 ? arguments[2] : "";
  hlosim::set_thread_count(threads);
#ifdef _OPENMP
  omp_set_num_threads(threads);
#endif
#ifndef HLOSIM_BENCH_DNNL
  std::printf("oneDNN (libdnnl-dev) is not installed: no comparison with it\n");
#endif
  const hlosim::Image images[] = {
      {1, 56, 64, 64, 3, 1},         {8, 28, 128, 128, 3, 1},     {1, 7, 512, 512, 3, 1},
      {1, 224, 3, 64, 7, 2},         {4, 56, 64, 256, 1, 1},      {4, 56, 128, 128, 3, 1, true},
      {1, 14, 128, 128, 3, 1, true}, {4, 56, 24, 24, 5, 1, true}, {8, 7, 512, 512, 1, 1},
  };
  for (const hlosim::Image& image : images)
    for (const bool nhwc : {true, false}) hlosim::compare(image, nhwc, filter);
}
