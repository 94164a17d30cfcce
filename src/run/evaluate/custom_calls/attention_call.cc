// Calls of attention kernels that say what they compute: `attention_mask` in their backend config, as modules
// made by workloads/step.h have it. Queries (already scaled), keys and values are [batch, heads, sequence,
// size]; operands before them are tables of blocks, s32 positions of the queries come last.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "array/convert_array.h"
#include "evaluate/custom_calls/custom_call_evaluations.h"
#include "ops/custom_calls/custom_call_targets.h"
#include "ops/infer.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr std::string_view kMask = "attention_mask";

/// The number behind `key` in the config; 0: none.
double config_number(std::string_view config, std::string_view key) {
  const size_t at = config.find(key);
  if (at == std::string_view::npos) return 0;
  config.remove_prefix(at + key.size());
  const size_t digits = std::min(config.find_first_of("0123456789"), config.size());
  double number = 0;
  std::from_chars(config.data() + digits, config.data() + config.size(), number);
  return number;
}

/// The letters behind `key`.
std::string_view config_word(std::string_view config, std::string_view key) {
  const size_t at = config.find(key);
  if (at == std::string_view::npos) return {};
  config.remove_prefix(at + key.size());
  config.remove_prefix(std::min(config.find_first_not_of(": \\"), config.size()));
  if (!config.starts_with('"')) return {};
  return config.substr(1, config.find('"', 1) - 1);
}

enum class Pass : uint8_t { kForward, kGradients, kGradientsOfQueries };

struct AttentionCall {
  Pass pass = Pass::kForward;
  int64_t batch = 0, heads = 0, kv_heads = 0, queries = 0, keys = 0, size = 0, value_size = 0;
  int64_t window = 0;  // 0: none
  double soft_cap = 0;
  int64_t position_stride = 1;
  std::vector<size_t> floats;  // operands
  size_t positions = 0;
  bool with_queries = false;  // the gradients of queries as well, in parts
  bool turned[3] = {};        // queries, keys, values: the sequence is the last dimension

  int64_t q_at(int64_t b, int64_t h, int64_t i) const { return (b * heads + h) * queries + i; }
  int64_t k_at(int64_t b, int64_t h, int64_t j) const {
    return (b * kv_heads + h / (heads / kv_heads)) * keys + j;
  }
};

bool is_number_array(ShapeRef shape) { return shape->is_array() && shape->is_static(); }

/// Shapes of results, leaf by leaf, against what the pass makes.
bool fits(const AttentionCall& call, const std::vector<ShapeRef>& operands,
          const std::vector<ShapeRef>& results) {
  const auto count = [&](size_t i) { return results[i]->element_count(); };
  const int64_t rows = call.batch * call.heads * call.queries,
                columns = call.batch * call.kv_heads * call.keys;
  if (call.pass == Pass::kForward)
    return results.size() == 3 && count(0) == rows * call.value_size &&
           count(1) % std::max<int64_t>(rows, 1) == 0 && count(2) == count(1);
  if (call.floats.size() != 6 || operands[call.floats[4]]->element_count() != rows * call.value_size)
    return false;
  for (const size_t i : {call.floats[3], call.floats[5]})
    if (operands[i]->rank() != 4 || operands[i]->dim(3) != call.queries) return false;
  if (call.pass == Pass::kGradientsOfQueries) return results.size() == 1 && count(0) == rows * call.size;
  const size_t first = call.with_queries ? 1 : 0;
  return results.size() == first + 2 && count(first) == columns * call.size &&
         count(first + 1) == columns * call.value_size &&
         (first == 0 || (results[0]->rank() == 5 && results[0]->dim(1) > 0 &&
                         count(0) == rows * call.size * results[0]->dim(1)));
}

std::optional<AttentionCall> read_call(const OpContext& op) {
  const std::vector<ShapeRef> operands = operand_leaves_of(op), results = leaves_of(op.shape());
  AttentionCall call;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!is_number_array(operands[i])) return std::nullopt;
    if (is_float(operands[i]->element_type)) call.floats.push_back(i);
    if (operands[i]->element_type == ElementType::kS32) call.positions = i;
  }
  for (const ShapeRef result : results)
    if (!is_number_array(result) || !is_float(result->element_type)) return std::nullopt;
  if (call.floats.size() < 3 || call.positions == 0) return std::nullopt;
  const ShapeRef q = operands[call.floats[0]], k = operands[call.floats[1]], v = operands[call.floats[2]];
  const ShapeRef positions = operands[call.positions];
  if (q->rank() != 4 || k->rank() != 4 || v->rank() != 4 || positions->rank() != 2) return std::nullopt;
  const std::string_view config = op.text(AttrKey::kBackendConfig);
  for (const char letter : config_word(config, "\"sequence_minor\""))
    if (const size_t i = std::string_view("qkv").find(letter); i < 3) call.turned[i] = true;
  const auto sequence = [&](ShapeRef array, size_t i) { return array->dim(call.turned[i] ? 3 : 2); };
  const auto size = [&](ShapeRef array, size_t i) { return array->dim(call.turned[i] ? 2 : 3); };
  call.batch = q->dim(0), call.heads = q->dim(1), call.queries = sequence(q, 0), call.size = size(q, 0);
  call.kv_heads = k->dim(1), call.keys = sequence(k, 1), call.value_size = size(v, 2);
  if (k->dim(0) != call.batch || v->dim(0) != call.batch || v->dim(1) != call.kv_heads ||
      sequence(v, 2) != call.keys || size(k, 1) != call.size || call.kv_heads == 0 ||
      call.heads % call.kv_heads != 0)
    return std::nullopt;
  call.window = static_cast<int64_t>(config_number(config, "\"window\""));
  call.soft_cap = config_number(config, "\"soft_cap\"");
  if (call.floats.size() > 3) call.pass = results.size() == 1 ? Pass::kGradientsOfQueries : Pass::kGradients;
  call.with_queries = call.pass == Pass::kGradients && results.size() == 3;
  call.position_stride = call.pass == Pass::kForward ? positions->dim(1) : 1;
  if (positions->dim(call.pass == Pass::kForward ? 0 : 1) != call.queries) return std::nullopt;
  return fits(call, operands, results) ? std::optional(call) : std::nullopt;
}

/// Operands as f64, and the scores that they make.
class AttentionValues {
 public:
  AttentionValues(const AttentionCall& shape, Invocation& call) : shape_(shape) {
    for (const size_t i : shape.floats) {
      const Array& array = call.operand(i);
      const int64_t count = array.shape->element_count();
      buffers_.push_back(
          converted(call.device().pool(), array.data, array.shape->element_type, ElementType::kF64, count));
    }
    const int64_t sizes[] = {shape.size, shape.size, shape.value_size};
    for (size_t i = 0; i < 3; ++i)
      if (shape.turned[i])
        turn_back(call.device().pool(), buffers_[i], shape.batch * (i == 0 ? shape.heads : shape.kv_heads),
                  sizes[i], i == 0 ? shape.queries : shape.keys);
    const auto* places = call.in<int32_t>(shape.positions);
    for (int64_t i = 0; i < shape.queries; ++i) positions_.push_back(places[i * shape.position_stride]);
  }
  const double* operand(size_t i) const { return reinterpret_cast<const double*>(buffers_[i].data()); }
  bool sees(int64_t i, int64_t j) const {
    const int64_t place = positions_[static_cast<size_t>(i)];
    return j <= place && (shape_.window == 0 || j > place - shape_.window);
  }
  /// Of two rows; `slope`: what the soft cap leaves of a change.
  double score(int64_t q_row, int64_t k_row, double* slope = nullptr) const {
    const double sum =
        product(operand(0) + q_row * shape_.size, operand(1) + k_row * shape_.size, shape_.size);
    if (slope) *slope = 1;
    if (shape_.soft_cap <= 0) return sum;
    const double bent = std::tanh(sum / shape_.soft_cap);
    if (slope) *slope = 1 - bent * bent;
    return bent * shape_.soft_cap;
  }
  static double product(const double* a, const double* b, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
    return sum;
  }

 private:
  /// [rows, size, sequence] becomes [rows, sequence, size].
  static void turn_back(MemoryPool& pool, Buffer& buffer, int64_t rows, int64_t size, int64_t length) {
    Buffer made = pool.allocate(rows * size * length * 8);
    const auto* from = reinterpret_cast<const double*>(buffer.data());
    auto* to = reinterpret_cast<double*>(made.data());
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t d = 0; d < size; ++d)
        for (int64_t i = 0; i < length; ++i)
          to[(r * length + i) * size + d] = from[(r * size + d) * length + i];
    buffer = made;
  }

  const AttentionCall& shape_;
  std::vector<Buffer> buffers_;
  std::vector<int64_t> positions_;
};

void give(Invocation& call, size_t i, const std::vector<double>& values) {
  MemoryPool& pool = call.device().pool();
  Buffer data = pool.allocate(static_cast<int64_t>(values.size()) * 8);
  std::copy(values.begin(), values.end(), reinterpret_cast<double*>(data.data()));
  const ElementType type = call.result(i).shape->element_type;
  Array array;
  array.data = converted(pool, data, ElementType::kF64, type, static_cast<int64_t>(values.size()));
  call.set_result(std::move(array), i);
}

/// One row of scores to its softmax: the largest score and the sum are handed back.
void forward(const AttentionCall& shape, Invocation& call) {
  const AttentionValues values(shape, call);
  const int64_t rows = shape.batch * shape.heads * shape.queries;
  const int64_t lanes = call.result(1).shape->element_count() / std::max<int64_t>(rows, 1);
  std::vector<double> out(static_cast<size_t>(rows * shape.value_size));
  std::vector<double> sums(static_cast<size_t>(rows * lanes)), highest(sums.size());
  parallel_for(rows, 1, [&](int64_t begin, int64_t end) {
    std::vector<double> scores(static_cast<size_t>(shape.keys));
    for (int64_t row = begin; row < end; ++row) {
      const int64_t i = row % shape.queries, h = row / shape.queries % shape.heads;
      const int64_t first = shape.k_at(row / shape.queries / shape.heads, h, 0);
      double most = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int64_t j = 0; j < shape.keys; ++j) {
        scores[static_cast<size_t>(j)] = values.sees(i, j) ? values.score(row, first + j) : -1e30;
        most = std::max(most, scores[static_cast<size_t>(j)]);
      }
      double* to = out.data() + row * shape.value_size;
      for (int64_t j = 0; j < shape.keys; ++j) {
        const double share = std::exp(scores[static_cast<size_t>(j)] - most);
        sum += share;
        const double* value = values.operand(2) + (first + j) * shape.value_size;
        for (int64_t d = 0; share > 0 && d < shape.value_size; ++d) to[d] += share * value[d];
      }
      for (int64_t d = 0; d < shape.value_size; ++d) to[d] /= sum;
      std::fill_n(sums.begin() + row * lanes, lanes, most + std::log(sum));
      std::fill_n(highest.begin() + row * lanes, lanes, most);
    }
  });
  give(call, 0, out), give(call, 1, sums), give(call, 2, highest);
}

struct AttentionGradients {
  std::vector<double> queries, keys, values;  // queries: [batch, parts, heads, sequence, size]
};

/// All queries of one head against its keys; `parts` parts of the gradient of queries by blocks of keys.
void head_gradients(const AttentionCall& shape, const AttentionValues& values, int64_t b, int64_t h,
                    int64_t parts, int64_t sums_stride, AttentionGradients& made) {
  for (int64_t i = 0; i < shape.queries; ++i) {
    const int64_t row = shape.q_at(b, h, i);
    const int64_t of_row = ((b * shape.heads + h) * sums_stride) * shape.queries + i;
    const double* given = values.operand(4) + row * shape.value_size;
    for (int64_t j = 0; j < shape.keys; ++j) {
      if (!values.sees(i, j)) continue;
      const int64_t column = shape.k_at(b, h, j), part = j * parts / shape.keys;
      double slope = 1;
      const double share = std::exp(values.score(row, column, &slope) - values.operand(3)[of_row]);
      const double* value = values.operand(2) + column * shape.value_size;
      const double back =
          AttentionValues::product(given, value, shape.value_size) - values.operand(5)[of_row];
      const double of_score = share * back * slope;
      double* dq =
          made.queries.data() + (((b * parts + part) * shape.heads + h) * shape.queries + i) * shape.size;
      for (int64_t d = 0; d < shape.size; ++d) {
        dq[d] += of_score * values.operand(1)[column * shape.size + d];
        made.keys[static_cast<size_t>(column * shape.size + d)] +=
            of_score * values.operand(0)[row * shape.size + d];
      }
      for (int64_t d = 0; d < shape.value_size; ++d)
        made.values[static_cast<size_t>(column * shape.value_size + d)] += share * given[d];
    }
  }
}

void backward(const AttentionCall& shape, Invocation& call) {
  const AttentionValues values(shape, call);
  const int64_t parts = shape.with_queries ? call.result(0).shape->dim(1) : 1;
  const int64_t sums_stride = call.operand(shape.floats[3]).shape->dim(2);
  const int64_t columns = shape.batch * shape.kv_heads * shape.keys;
  AttentionGradients made;
  made.queries.resize(static_cast<size_t>(shape.batch * parts * shape.heads * shape.queries * shape.size));
  made.keys.resize(static_cast<size_t>(columns * shape.size));
  made.values.resize(static_cast<size_t>(columns * shape.value_size));
  for (int64_t b = 0; b < shape.batch; ++b)
    for (int64_t h = 0; h < shape.heads; ++h) head_gradients(shape, values, b, h, parts, sums_stride, made);
  if (shape.pass == Pass::kGradientsOfQueries) return give(call, 0, made.queries);
  if (shape.with_queries) give(call, 0, made.queries);
  give(call, shape.with_queries ? 1 : 0, made.keys);
  give(call, shape.with_queries ? 2 : 1, made.values);
}

}  // namespace

bool is_stated_attention(const OpContext& op) {
  return custom_call_target(op) == "tpu_custom_call" && op.has(AttrKey::kBackendConfig) &&
         op.text(AttrKey::kBackendConfig).find(kMask) != std::string_view::npos;
}

Evaluation evaluate_attention_call(EvaluateContext& op) {
  const std::optional<AttentionCall> call = read_call(op);
  if (!call) return op.unsupported("attention whose operands and results don't go together");
  if (call->pass == Pass::kForward) return [shape = *call](Invocation& one) { forward(shape, one); };
  return [shape = *call](Invocation& one) { backward(shape, one); };
}

}  // namespace hlosim
