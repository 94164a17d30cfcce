// A run drawn for people: characters in columns of time, or an SVG picture.
#include <algorithm>
#include <map>

#include "report/trace/trace.h"
#include "text/escape.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

/// Of each column of one track: the part of its time that is busy, and that is spent waiting.
struct TimelineColumn {
  double busy = 0, waiting = 0;
};

std::vector<TimelineColumn> columns_of(const Trace& trace, uint32_t track, size_t width) {
  std::vector<TimelineColumn> columns(width);
  const double column = static_cast<double>(trace.makespan.count()) / static_cast<double>(width);
  Picoseconds covered{-1};  // inner slices lie in what is counted already
  for (const TraceSlice& slice : trace.slices) {
    if (slice.track != track || (slice.end <= covered && !slice.waiting)) continue;
    const double start = static_cast<double>(slice.start.count()) / column,
                 end = static_cast<double>(slice.end.count()) / column;
    for (auto at = static_cast<size_t>(start); at < width && static_cast<double>(at) < end; ++at) {
      const auto left = static_cast<double>(at);
      const double part = (std::min(end, left + 1) - std::max(start, left)) * slice.share();
      if (slice.end > covered) columns[at].busy += part;
      if (slice.waiting) columns[at].waiting += part;
    }
    covered = std::max(covered, slice.end);
  }
  return columns;
}

char mark(const TimelineColumn& column) {
  if (column.waiting >= 0.5) return 'w';
  const double busy = column.busy - column.waiting;
  if (busy >= 0.95) return '#';
  if (busy >= 0.5) return '+';
  return column.busy > 0 ? '.' : ' ';
}

/// What a counter shows at most in each column.
std::vector<int64_t> levels_of(const Trace& trace, const TraceCounter& counter, size_t width) {
  std::vector<int64_t> levels(width);
  for (size_t i = 0; i < counter.points.size(); ++i) {
    const Picoseconds start = counter.points[i].time;
    const Picoseconds end = i + 1 < counter.points.size() ? counter.points[i + 1].time : trace.makespan;
    const double column =
        static_cast<double>(std::max<int64_t>(1, trace.makespan.count())) / static_cast<double>(width);
    const size_t first =
        std::min(width - 1, static_cast<size_t>(static_cast<double>(start.count()) / column));
    for (size_t at = first;
         at < width && (at == first || static_cast<double>(at) * column < static_cast<double>(end.count()));
         ++at)
      levels[at] = std::max(levels[at], counter.points[i].value.count());
  }
  return levels;
}

}  // namespace

std::string timeline_text(const Trace& trace, size_t width) {
  std::string out;
  const TextBuilder print{out};
  if (trace.makespan.count() == 0) return "Timeline: nothing takes time\n";
  width = static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(width), trace.makespan.count()));
  print("Timeline of {} in {} columns of {}: # busy, + half of the time, . less, w waiting\n",
        to_text(trace.makespan), width, to_text(trace.makespan / static_cast<int64_t>(width)));
  size_t longest = 0;
  for (const std::string& track : trace.tracks) longest = std::max(longest, track.size());
  for (const TraceCounter& counter : trace.counters) longest = std::max(longest, counter.name.size());
  for (uint32_t track = 0; track < trace.tracks.size(); ++track) {
    std::string row;
    for (const TimelineColumn& column : columns_of(trace, track, width)) row += mark(column);
    print("  {:<{}} |{}|\n", trace.tracks[track], longest, row);
  }
  for (const TraceCounter& counter : trace.counters) {
    const int64_t peak = peak_of(counter.points).count();
    std::string row;
    for (const int64_t level : levels_of(trace, counter, width))
      row += level == 0
                 ? ' '
                 : static_cast<char>('0' + std::min<int64_t>(9, level * 10 / std::max<int64_t>(peak, 1)));
    print("  {:<{}} |{}| tenths of {}, mean {}\n", counter.name, longest, row, to_text(Bytes(peak)),
          to_text(mean_of(counter.points, trace.makespan)));
  }
  return out;
}

namespace {

constexpr double kLeft = 120, kWide = 1000, kRow = 22, kBar = 16, kTop = 40;

std::string_view colour(const Trace& trace, const TraceSlice& slice) {
  if (slice.waiting) return "#d9d9d9";
  static constexpr std::pair<std::string_view, std::string_view> kColours[] = {
      {"matmul", "#4e79a7"},     {"vector", "#59a14f"}, {"data movement", "#f28e2b"},
      {"collective", "#b07aa1"}, {"host", "#9c755f"},   {"custom call", "#edc948"},
      {"control", "#bab0ac"}};
  const std::string_view category = trace.instructions[static_cast<size_t>(slice.instruction)].category;
  for (const auto& [name, value] : kColours)
    if (name == category) return value;
  return "#76b7b2";
}

class Picture {
 public:
  explicit Picture(const Trace& trace)
      : trace_(trace), scale_(kWide / static_cast<double>(std::max<int64_t>(1, trace.makespan.count()))) {}

  std::string draw() {
    const auto rows = static_cast<double>(trace_.tracks.size() + trace_.counters.size());
    print_(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" "
        "font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        kLeft + kWide + 20, kTop + rows * kRow + 24);
    print_("<text x=\"{}\" y=\"16\" font-size=\"13\">{}: {}</text>\n", kLeft, markup_escaped(trace_.name),
           to_text(trace_.makespan));
    legend();
    for (size_t track = 0; track < trace_.tracks.size(); ++track) row(track, trace_.tracks[track]);
    slices();
    for (size_t i = 0; i < trace_.counters.size(); ++i) counter(i);
    axis(kTop + rows * kRow);
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  double x(Picoseconds time) const { return kLeft + static_cast<double>(time.count()) * scale_; }
  static double y(size_t row) { return kTop + static_cast<double>(row) * kRow; }

  void row(size_t at, std::string_view name) {
    print_("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kLeft - 8, y(at) + 12,
           markup_escaped(name));
    print_("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"#eeeeee\"/>\n", kLeft, kLeft + kWide,
           y(at) + kBar + 3);
  }

  void legend() {
    std::map<std::string_view, std::string_view> used;
    for (const TraceSlice& slice : trace_.slices)
      used[slice.waiting ? "waiting" : trace_.instructions[static_cast<size_t>(slice.instruction)].category] =
          colour(trace_, slice);
    double at = kLeft;
    for (const auto& [name, value] : used) {
      print_(
          "<rect x=\"{:.0f}\" y=\"24\" width=\"10\" height=\"10\" fill=\"{}\"/><text x=\"{:.0f}\" "
          "y=\"33\">{}</text>\n",
          at, value, at + 14, name);
      at += 30 + 7 * static_cast<double>(name.size());
    }
  }

  /// Slices narrower than half a pixel are drawn together.
  void slices() {
    double drawn = -1;
    uint32_t track = UINT32_MAX;
    for (const TraceSlice& slice : trace_.slices) {
      const double left = x(slice.start), right = x(slice.end);
      if (slice.track != track) drawn = -1, track = slice.track;
      if (right - left < 0.5 && right < drawn) continue;
      const double wide = std::max(0.5, right - left);
      drawn = left + wide;
      // A loop's rest is as high as busy.
      const double high = slice.share() < 1 ? std::max(1.0, kBar * slice.share()) : kBar;
      print_(
          "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{:.4g}\" fill=\"{}\" stroke=\"white\" "
          "stroke-width=\"0.3\"><title>{}: {}</title></rect>\n",
          left, y(slice.track) + kBar - high, wide, high, colour(trace_, slice),
          markup_escaped(slice_name(trace_, slice)), to_text(slice.end - slice.start));
      const std::string name = slice_name(trace_, slice);
      if (wide > 6.5 * static_cast<double>(name.size()) + 6)
        print_("<text x=\"{:.2f}\" y=\"{}\" fill=\"{}\">{}</text>\n", left + 3, y(slice.track) + 12,
               slice.waiting ? "black" : "white", markup_escaped(name));
    }
  }

  void counter(size_t i) {
    const TraceCounter& counter = trace_.counters[i];
    const size_t at = trace_.tracks.size() + i;
    row(at, counter.name);
    const auto peak = static_cast<double>(std::max<int64_t>(1, peak_of(counter.points).count()));
    print_("<path fill=\"#e15759\" fill-opacity=\"0.5\" d=\"M{} {}", kLeft, y(at) + kBar);
    for (size_t point = 0; point < counter.points.size(); ++point) {
      const Picoseconds end =
          point + 1 < counter.points.size() ? counter.points[point + 1].time : trace_.makespan;
      const double height =
          y(at) + kBar * (1 - static_cast<double>(counter.points[point].value.count()) / peak);
      print_(" L{:.2f} {:.2f} L{:.2f} {:.2f}", x(counter.points[point].time), height, x(end), height);
    }
    print_(" L{} {} Z\"><title>{} at most</title></path>\n", kLeft + kWide, y(at) + kBar,
           to_text(peak_of(counter.points)));
    print_("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kLeft + kWide - 3, y(at) + 12,
           to_text(peak_of(counter.points)));
  }

  void axis(double top) {
    for (int tick = 0; tick <= 5; ++tick) {
      const double at = kLeft + kWide * tick / 5;
      print_("<line x1=\"{0}\" x2=\"{0}\" y1=\"{1}\" y2=\"{2}\" stroke=\"#999999\" stroke-width=\"0.5\"/>\n",
             at, kTop, top);
      print_("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", at, top + 14,
             tick == 5 ? "end" : "middle", to_text(trace_.makespan * tick / 5));
    }
  }

  const Trace& trace_;
  double scale_;
  std::string out_;
  TextBuilder print_{out_};
};

}  // namespace

std::string timeline_svg(const Trace& trace) { return Picture(trace).draw(); }

}  // namespace hlosim
