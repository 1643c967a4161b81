// SPDX-License-Identifier: BSD-3-Clause
#include "peers/windows.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <nanoflann.hpp>
#include <numeric>
#include <utility>

#include "base/fail.h"

namespace tare::peers {
namespace {

/// What nanoflann wants to know about a set of points.
struct Points {
  const Data* data;
  std::size_t kdtree_get_point_count() const { return data->z.rows(); }
  double kdtree_get_pt(std::uint32_t row, std::size_t feature) const {
    return data->z.values()[row * data->z.cols() + feature];
  }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};

/// nanoflann's advice: the plain sum for few features, the unrolled one with more.
template <int kDims>
using Distance = std::conditional_t<(kDims <= 4), nanoflann::L2_Simple_Adaptor<double, Points>,
                                    nanoflann::L2_Adaptor<double, Points>>;

template <int kDims>
struct Tree {
  using Index = nanoflann::KDTreeSingleIndexAdaptor<Distance<kDims>, Points, kDims, std::uint32_t>;

  Tree(const Data& data, std::size_t leaf_rows)
      : points{&data}, index(kDims, points, nanoflann::KDTreeSingleIndexAdaptorParams(leaf_rows)) {}

  void search(std::span<const double> query, double radius, std::vector<double>& residuals) {
    // Its ball is open and tare's is closed.
    const double limit = std::nextafter(radius * radius, std::numeric_limits<double>::infinity());
    found.clear();
    index.radiusSearch(query.data(), limit, found, nanoflann::SearchParams(32, 0.0F, false));
    residuals.resize(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) residuals[i] = points.data->u[found[i].first];
  }

  Points points;
  Index index;
  std::vector<std::pair<std::uint32_t, double>> found;
};

template <int kDims>
WindowSearch tree_windows(const Data& data, std::size_t leaf_rows) {
  // shared_ptr because std::function copies, and nanoflann's tree cannot be copied.
  auto tree = std::make_shared<Tree<kDims>>(data, leaf_rows);
  return [tree](std::span<const double> query, double radius, std::vector<double>& residuals) {
    tree->search(query, radius, residuals);
  };
}

}  // namespace

WindowSearch nanoflann_windows(const Data& data, std::size_t leaf_rows) {
  switch (data.z.cols()) {
    case 1:
      return tree_windows<1>(data, leaf_rows);
    case 2:
      return tree_windows<2>(data, leaf_rows);
    case 4:
      return tree_windows<4>(data, leaf_rows);
    case 8:
      return tree_windows<8>(data, leaf_rows);
    case 16:
      return tree_windows<16>(data, leaf_rows);
    default:
      fail(ErrorCode::kInvalidArgument, "nanoflann is not compiled in for {} features",
           data.z.cols());
  }
}

WindowSearch sorted_line_windows(const Data& data) {
  std::vector<std::pair<double, double>> line(data.z.rows());
  for (std::size_t i = 0; i < line.size(); ++i) line[i] = {data.z(i, 0), data.u[i]};
  std::sort(line.begin(), line.end());
  std::vector<double> z(line.size());
  std::vector<double> u(line.size());
  for (std::size_t i = 0; i < line.size(); ++i) std::tie(z[i], u[i]) = line[i];
  return [z = std::move(z), u = std::move(u)](std::span<const double> query, double radius,
                                              std::vector<double>& residuals) {
    const auto outside = [&](double value) {
      return (value - query[0]) * (value - query[0]) > radius * radius;
    };
    const auto middle = std::lower_bound(z.begin(), z.end(), query[0]);
    const auto first = std::partition_point(z.begin(), middle, outside);
    const auto last = std::partition_point(middle, z.end(), std::not_fn(outside));
    residuals.assign(u.begin() + (first - z.begin()), u.begin() + (last - z.begin()));
  };
}

void pick_by_sorting(std::vector<double>& residuals, std::span<const Level> levels,
                     std::span<double> out) {
  std::sort(residuals.begin(), residuals.end());
  for (std::size_t j = 0; j < levels.size(); ++j)
    out[j] = residuals[static_cast<std::size_t>(levels[j].rank(residuals.size())) - 1];
}

void pick_by_nth_element(std::vector<double>& residuals, std::span<const Level> levels,
                         std::span<double> out) {
  auto rest = residuals.begin();
  for (std::size_t j = 0; j < levels.size(); ++j) {
    const auto rank = static_cast<std::ptrdiff_t>(levels[j].rank(residuals.size()));
    const auto place = residuals.begin() + rank - 1;
    if (place >= rest) {
      std::nth_element(rest, place, residuals.end());
      rest = place + 1;
    }
    out[j] = *place;
  }
}

}  // namespace tare::peers
