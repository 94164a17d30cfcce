// Random modules with everything that hands values on: tuples, loops, branches, calls, fusions, updates in
// place, copies between memory spaces, donated parameters.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

namespace hlosim::test {

class RandomDataflow {
 public:
  explicit RandomDataflow(uint32_t seed) : random_(seed) {}

  std::string text() {
    const int parameters = 1 + below(4), steps = 3 + below(25);
    for (int i = 0; i < parameters; ++i) {
      sizes_.push_back(1 + below(4));
      arrays_.push_back(add(fmt::format("{} parameter({})", shape(sizes_.back()), i)));
    }
    for (int i = 0; i < steps; ++i) step();
    std::string root;
    const int outputs = 1 + below(3);
    std::vector<std::string> shapes;
    for (int i = 0; i < outputs; ++i) {
      const int at =
          static_cast<int>(arrays_.size()) - 1 - below(std::min<int>(4, static_cast<int>(arrays_.size())));
      root += (i > 0 ? ", " : "") + arrays_[static_cast<size_t>(at)];
      shapes.push_back(shape(sizes_[static_cast<size_t>(at)]));
    }
    std::string all;
    for (const std::string& s : shapes) all += (all.empty() ? "" : ", ") + s;
    const bool donates = below(3) == 0 && shapes[0] == shape(sizes_[0]);
    return fmt::format("HloModule m{}{}\n{}ENTRY e {{\n{}  ROOT r = ({}) tuple({})\n}}\n",
                       below(2) == 0 ? ", is_scheduled=true" : "",
                       donates ? ", input_output_alias={ {0}: (0, {}, may-alias) }" : "", computations_,
                       body_, all, root);
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  static std::string shape(int size) { return fmt::format("f32[{},8]{{1,0}}", 8 * size); }

  std::string add(const std::string& right) {
    const std::string name = fmt::format("v{}", next_++);
    body_ += fmt::format("  {} = {}\n", name, right);
    return name;
  }
  void add_array(int size, const std::string& right) {
    arrays_.push_back(add(shape(size) + " " + right));
    sizes_.push_back(size);
  }

  void step() {
    const auto at = static_cast<size_t>(below(static_cast<int>(arrays_.size())));
    const std::string x = arrays_[at];
    const int size = sizes_[at];
    const std::string s = shape(size);
    std::string y = x;
    for (size_t i = 0; i < arrays_.size(); ++i)
      if (sizes_[i] == size && below(2) == 0) y = arrays_[i];
    const std::string id = fmt::format("sub{}", next_++);
    switch (below(11)) {
      case 0:
        return add_array(size, fmt::format("negate({})", x));
      case 1:
        return add_array(size, fmt::format("add({}, {})", x, y));
      case 2:
        return add_array(size, fmt::format("copy({})", x));
      case 3: {
        const int other = 1 + below(4);
        const std::string zero = add("f32[] constant(0)");
        return add_array(other, fmt::format("broadcast({}), dimensions={{}}", zero));
      }
      case 4: {
        const std::string update = add(fmt::format("f32[1,8]{{1,0}} slice({}), slice={{[0:1], [0:8]}}", x));
        const std::string zero = add("s32[] constant(0)");
        const std::string kept = below(2) == 0 ? add(s + " copy(" + x + ")") : x;
        return add_array(size, fmt::format("dynamic-update-slice({}, {}, {}, {})", kept, update, zero, zero));
      }
      case 5: {
        computations_ += fmt::format(
            "{} {{\n  {}p = {} parameter(0)\n  {}n = {} negate({}p)\n  ROOT {}r = {} add({}p, {}n)\n}}\n", id,
            id, s, id, s, id, id, s, id, id);
        const char* how[] = {"call({}), to_apply={}", "fusion({}), kind=kLoop, calls={}"};
        return add_array(size, fmt::format(fmt::runtime(how[below(2)]), x, id));
      }
      case 6: {
        const std::string tuple = add(fmt::format("({}, {}) tuple({}, {})", s, s, x, y));
        return add_array(size, fmt::format("get-tuple-element({}), index={}", tuple, below(2)));
      }
      case 7: {
        const std::string zero = add("s32[] constant(0)");
        const std::string start = add(fmt::format("(s32[], {}, {}) tuple({}, {}, {})", s, s, zero, x, y));
        computations_ += loop(id, s, below(2) == 0);
        const std::string state =
            add(fmt::format("(s32[], {}, {}) while({}), condition={}c, body={}b", s, s, start, id, id));
        return add_array(size, fmt::format("get-tuple-element({}), index={}", state, 1 + below(2)));
      }
      case 8: {
        const std::string which = add("pred[] constant(true)");
        computations_ += fmt::format("{}t {{\n  {}tp = {} parameter(0)\n  ROOT {}tr = {} negate({}tp)\n}}\n",
                                     id, id, s, id, s, id);
        computations_ += fmt::format("{}f {{\n  ROOT {}fp = {} parameter(0)\n}}\n", id, id, s);
        return add_array(
            size, fmt::format("conditional({}, {}, {}), true_computation={}t, false_computation={}f", which,
                              x, y, id, id));
      }
      case 9: {
        const std::string fast = fmt::format("f32[{},8]{{1,0:S(1)}}", 8 * size);
        const std::string start = add(fmt::format("({}, {}, u32[]) copy-start({})", fast, s, x));
        const std::string done = add(fmt::format("{} copy-done({})", fast, start));
        return add_array(size, fmt::format("negate({})", done));
      }
      default:
        return add_array(size, fmt::format("bitcast({})", x));
    }
  }

  static std::string loop(const std::string& id, const std::string& s, bool swaps) {
    const std::string state = fmt::format("(s32[], {}, {})", s, s);
    return fmt::format(
        "{0}b {{\n  {0}bp = {1} parameter(0)\n  {0}bi = s32[] get-tuple-element({0}bp), index=0\n"
        "  {0}bx = {2} get-tuple-element({0}bp), index=1\n  {0}by = {2} get-tuple-element({0}bp), index=2\n"
        "  {0}bo = s32[] constant(1)\n  {0}bj = s32[] add({0}bi, {0}bo)\n  {0}bn = {2} negate({0}bx)\n"
        "  ROOT {0}br = {1} tuple({0}bj, {3}, {0}bn)\n}}\n"
        "{0}c {{\n  {0}cp = {1} parameter(0)\n  {0}ci = s32[] get-tuple-element({0}cp), index=0\n"
        "  {0}cn = s32[] constant(3)\n  ROOT {0}cr = pred[] compare({0}ci, {0}cn), direction=LT\n}}\n",
        id, state, s, swaps ? id + "by" : id + "bx");
  }

  std::mt19937 random_;
  int next_ = 0;
  std::string body_, computations_;
  std::vector<std::string> arrays_;
  std::vector<int> sizes_;
};

}  // namespace hlosim::test
