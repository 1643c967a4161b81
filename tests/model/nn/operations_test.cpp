// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/graph/operations.h"

#include <array>
#include <cmath>
#include <limits>

#include "model/nn/gradient_check.h"
#include "model/nn/kernels/factor.h"
#include "tare/base/error.h"

namespace tare::nn {
namespace {

// Sizes around the tiles of the product kernel (6 rows, 8 or 16 columns), and single rows and
// columns.
const std::vector<std::array<std::size_t, 3>> kProductShapes = {
    {1, 1, 1}, {1, 5, 1}, {7, 1, 1}, {1, 3, 9}, {6, 4, 16}, {5, 3, 21}, {13, 8, 7}, {3, 17, 2}};

TEST(GradientOf, Products) {
  for (const auto& [m, k, n] : kProductShapes) {
    check_gradient({{m, k}, {k, n}}, [](const Inputs& in) { return matmul(in[0], in[1]); });
    check_gradient({{k, m}, {k, n}}, [](const Inputs& in) { return matmul_tn(in[0], in[1]); });
    check_gradient({{m, k}, {n, k}}, [](const Inputs& in) { return matmul_nt(in[0], in[1]); });
    check_gradient({{m, k}, {k, n}, {1, n}},
                   [](const Inputs& in) { return affine(in[0], in[1], in[2]); });
    check_gradient({{m, k}, {k, n}, {m, 3}, {3, n}, {1, n}},
                   [](const Inputs& in) { return affine(in[0], in[1], in[2], in[3], in[4]); });
  }
}

TEST(GradientOf, OneOperandUsedTwice) {
  check_gradient({{4, 4}}, [](const Inputs& in) { return matmul(in[0], in[0]); });
  check_gradient({{3, 5}}, [](const Inputs& in) { return matmul_nt(in[0], in[0]) * 0.5; });
  check_gradient({{3, 5}}, [](const Inputs& in) { return in[0] * in[0] + in[0]; });
}

TEST(GradientOf, ElementwiseFunctions) {
  // Random inputs are further than a step from the kinks at 0.
  for (const Unary f :
       {Unary::kLeakyRelu, Unary::kRelu, Unary::kSilu, Unary::kTanh, Unary::kSigmoid,
        Unary::kSoftplus, Unary::kExp, Unary::kSquare, Unary::kAbs}) {
    SCOPED_TRACE(static_cast<int>(f));
    for (const ShapeOf shape : {ShapeOf{1, 1}, ShapeOf{3, 4}, ShapeOf{5, 7}}) {
      check_gradient({shape}, [&](const Inputs& in) { return unary(f, in[0]); });
    }
  }
  for (const Unary f : {Unary::kLog, Unary::kSqrt}) {
    check_gradient(
        {{3, 4}}, [&](const Inputs& in) { return unary(f, in[0]); }, 0.5, 3.0);
  }
}

TEST(GradientOf, BinaryFunctionsWithEveryKindOfRepetition) {
  const std::vector<std::array<ShapeOf, 2>> shapes = {
      {{{3, 4}, {3, 4}}}, {{{3, 4}, {1, 4}}}, {{{3, 4}, {3, 1}}}, {{{3, 4}, {1, 1}}},
      {{{1, 4}, {3, 4}}}, {{{3, 1}, {1, 4}}}, {{{1, 1}, {2, 5}}}, {{{1, 1}, {1, 1}}}};
  for (const auto& [a, b] : shapes) {
    for (const Binary f :
         {Binary::kAdd, Binary::kSubtract, Binary::kMultiply, Binary::kDivide, Binary::kMaximum}) {
      check_gradient(
          {a, b}, [&](const Inputs& in) { return binary(f, in[0], in[1]); }, 0.5, 3.0);
    }
  }
}

TEST(GradientOf, ArithmeticWithNumbers) {
  check_gradient(
      {{2, 3}},
      [](const Inputs& in) {
        return (in[0] + 1.0) * (2.0 - in[0]) / (3.0 + in[0]) + 2.0 / in[0] - in[0] / 4.0 +
               3.0 * in[0] - 1.0;
      },
      0.5, 3.0);
}

TEST(GradientOf, SumsAndShapes) {
  for (const ShapeOf shape : {ShapeOf{1, 1}, ShapeOf{1, 9}, ShapeOf{6, 1}, ShapeOf{5, 11}}) {
    check_gradient({shape}, [](const Inputs& in) { return sum(in[0]); });
    check_gradient({shape}, [](const Inputs& in) { return mean(square(in[0])); });
    check_gradient({shape}, [](const Inputs& in) { return row_sums(in[0]); });
    check_gradient({shape}, [](const Inputs& in) { return col_sums(in[0]); });
    check_gradient({shape}, [](const Inputs& in) { return transposed(in[0]); });
  }
  check_gradient({{3, 2}, {3, 1}, {3, 4}},
                 [](const Inputs& in) { return concat_cols<double>(in); });
  check_gradient({{2, 3}, {1, 3}, {4, 3}},
                 [](const Inputs& in) { return concat_rows<double>(in); });
  check_gradient({{4, 7}}, [](const Inputs& in) { return slice_cols(in[0], 2, 3); });
  check_gradient({{7, 4}}, [](const Inputs& in) { return slice_rows(in[0], 6, 1); });
}

/// a a' + n I
Var<double> positive(Var<double> a) {
  const Var<double> unit = a.graph().input(a.rows(), a.rows());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    unit.value()[i * (a.rows() + 1)] = static_cast<double>(a.rows());
  }
  return matmul_nt(a, a) + unit;
}

// 12 rows are one block of the factorisation.
const std::vector<std::size_t> kTriangles = {1, 2, 5, 12, 13, 26};

TEST(GradientOf, CholeskyAndLogDeterminant) {
  for (const std::size_t n : kTriangles) {
    check_gradient({{n, n}}, [](const Inputs& in) { return cholesky(positive(in[0])); });
    check_gradient({{n, n}},
                   [](const Inputs& in) { return log_determinant(cholesky(positive(in[0]))); });
  }
}

TEST(GradientOf, CholeskyByTheLowerTriangleItself) {
  check_gradient({{4, 4}}, [](const Inputs& in) {
    const Var<double> unit = in[0].graph().input(4, 4);
    for (std::size_t i = 0; i < 4; ++i) unit.value()[i * 5] = 20.0;
    return cholesky(in[0] + unit);
  });
}

TEST(GradientOf, TriangularSolves) {
  for (const std::size_t n : kTriangles) {
    for (const std::size_t cols : {1U, 3U, 17U}) {
      check_gradient({{n, n}, {n, cols}}, [](const Inputs& in) {
        return solve_lower(cholesky(positive(in[0])), in[1]);
      });
      check_gradient({{n, n}, {n, cols}}, [](const Inputs& in) {
        return solve_lower_transposed(cholesky(positive(in[0])), in[1]);
      });
    }
  }
}

TEST(GradientOf, GaussianKernel) {
  for (const auto& [m, k, n] : kProductShapes) {
    check_gradient({{m, k}, {n, k}},
                   [](const Inputs& in) { return gaussian_kernel(in[0], in[1]); });
  }
  check_gradient({{6, 3}}, [](const Inputs& in) { return gaussian_kernel(in[0], in[0]); });
}

TEST(GradientOf, SquaredLengths) {
  for (const std::size_t n : {1U, 5U, 24U, 25U, 50U}) {  // 24 rows are one band of the triangle
    for (const std::size_t cols : {1U, 3U, 17U}) {
      // Small inputs, so that sums of 50 squares of sums of 50 products leave the differences
      // digits.
      check_gradient(
          {{n, n}, {n, cols}}, [](const Inputs& in) { return squared_lengths(in[0], in[1]); }, -0.5,
          0.5);
    }
  }
}

TEST(SquaredLengths, AreThoseOfTheLowerTriangleAlone) {
  Rng rng(Seed{9});
  Graph<double> graph({});
  const Var<double> l = graph.input(50, 50);
  const Var<double> a = graph.input(50, 7);
  for (double& value : l.value()) value = rng.normal();  // above the diagonal too
  for (double& value : a.value()) value = rng.normal();
  const Var<double> lengths = squared_lengths(l, a);
  graph.forward();
  for (std::size_t j = 0; j < 7; ++j) {
    double expected = 0.0;
    for (std::size_t i = 0; i < 50; ++i) {
      double image = 0.0;
      for (std::size_t k = i; k < 50; ++k) image += l.value()[k * 50 + i] * a.value()[k * 7 + j];
      expected += image * image;
    }
    EXPECT_NEAR(lengths.value()[j], expected, 1e-12 * expected);  // sums of 1275 products
  }
}

TEST(GaussianKernel, KnowsSmallDistancesBetweenLargeNumbers) {
  Graph<float> graph({});
  const Var<float> a = graph.input(1, 2);
  const Var<float> b = graph.input(2, 2);
  std::ranges::copy(std::array{1000.0F, 2000.0F}, a.value().begin());
  std::ranges::copy(std::array{1000.0F, 2000.0F, 1000.125F, 2000.0F}, b.value().begin());
  const Var<float> kernel = gaussian_kernel(a, b);
  graph.forward();
  EXPECT_EQ(kernel.value()[0], 1.0F);
  EXPECT_NEAR(kernel.value()[1], std::exp(-0.0078125), 1.2e-7);  // two units in the last place
}

TEST(GradientOf, LstmCell) {
  for (const ShapeOf shape : {ShapeOf{1, 1}, ShapeOf{3, 5}, ShapeOf{2, 9}}) {
    check_gradient({{shape.rows, 4 * shape.cols}, shape},
                   [](const Inputs& in) { return lstm_cell(in[0], in[1]); });
  }
}

TEST(GradientOf, LossesAreOrdinaryExpressions) {
  // Gaussian likelihood of a mean and a softplus sd with a floor; pinball loss at several levels.
  check_gradient({{6, 2}, {6, 1}}, [](const Inputs& in) {
    const Var<double> sd = softplus(slice_cols(in[0], 1, 1)) + 1e-3;
    return mean(log(sd) + square((in[1] - slice_cols(in[0], 0, 1)) / sd) * 0.5);
  });
  check_gradient({{6, 3}, {6, 1}}, [](const Inputs& in) {
    const Var<double> tau = in[0].graph().input(1, 3);
    for (std::size_t j = 0; j < 3; ++j) tau.value()[j] = 0.25 * static_cast<double>(j + 1);
    const Var<double> miss = in[1] - in[0];
    return mean(maximum(tau * miss, (tau - 1.0) * miss));
  });
}

TEST(GradientOf, DropoutIsItsMask) {
  Graph<double> graph({});
  Rng rng(Seed{3});
  const Var<double> x = graph.variable(50, 41);
  std::ranges::fill(x.value(), 3.0);
  const Var<double> dropped = dropout(x, 0.25, rng);
  const Var<double> loss = sum(dropped);
  graph.forward();
  graph.backward(loss);
  double kept = 0.0;
  for (std::size_t i = 0; i < x.value().size(); ++i) {
    kept += x.gradient()[i] > 0.0 ? 1.0 / 2050.0 : 0.0;
    EXPECT_DOUBLE_EQ(dropped.value()[i], 3.0 * x.gradient()[i]);
    EXPECT_TRUE(x.gradient()[i] == 0.0 || std::abs(x.gradient()[i] - 4.0 / 3.0) < 1e-15);
  }
  EXPECT_NEAR(kept, 0.75, 0.04);  // four standard errors
  const std::vector<double> first(dropped.value().begin(), dropped.value().end());
  graph.forward();
  EXPECT_NE(first, std::vector<double>(dropped.value().begin(), dropped.value().end()));
}

TEST(Cholesky, IsTheFactorAndHelpsItselfWithJitter) {
  Graph<double> graph({});
  const Var<double> a = graph.input(30, 30);
  const Var<double> l = cholesky(a);
  const Var<double> back = matmul_nt(l, l);
  std::ranges::fill(a.value(), 2.0);  // of rank 1
  graph.forward();
  for (const double value : back.value()) EXPECT_NEAR(value, 2.0, 1e-4);
  a.value()[0] = std::numeric_limits<double>::quiet_NaN();
  try {
    graph.forward();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadData);
  }
}

TEST(Kernels, FloatAgreesWithDouble) {
  Rng rng(Seed{5});
  for (const auto& [m, k, n] : kProductShapes) {
    std::vector<float> a(m * k), b(k * n), c(m * n, 0.5F);
    for (float& value : a) value = static_cast<float>(rng.uniform(-1.0, 1.0));
    for (float& value : b) value = static_cast<float>(rng.uniform(-1.0, 1.0));
    accumulate_product(Product<float>{m, n, k, a.data(), k, 1, b.data(), n, c.data(), n});
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double expected = 0.5;
        for (std::size_t q = 0; q < k; ++q)
          expected += static_cast<double>(a[i * k + q]) * b[q * n + j];
        EXPECT_NEAR(c[i * n + j], expected, 1e-6 * static_cast<double>(k));
      }
    }
  }
}

TEST(Kernels, FloatFunctionsAreAccurateAtEveryLength) {
  std::vector<float> x(1003), y(1003);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = -87.0F + 0.174F * static_cast<float>(i);
  for (const std::size_t count : {1U, 7U, 1003U}) {
    apply_unary(Unary::kExp, x.data(), y.data(), count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_NEAR(y[i] / std::exp(static_cast<double>(x[i])), 1.0, 2.4e-7) << x[i];
    }
    apply_unary(Unary::kTanh, x.data(), y.data(), count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_NEAR(y[i], std::tanh(x[i]), 2e-7);
    apply_unary(Unary::kSigmoid, x.data(), y.data(), count);
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_NEAR(y[i], 1.0 / (1.0 + std::exp(-static_cast<double>(x[i]))), 2e-7);
  }
}

TEST(Kernels, NotANumberIsNotSwallowed) {
  const float bad = std::numeric_limits<float>::quiet_NaN();
  for (const Unary f :
       {Unary::kLeakyRelu, Unary::kRelu, Unary::kSilu, Unary::kTanh, Unary::kSigmoid,
        Unary::kSoftplus, Unary::kExp, Unary::kLog, Unary::kSquare, Unary::kSqrt, Unary::kAbs}) {
    float out = 0.0F;
    apply_unary(f, &bad, &out, 1);
    EXPECT_TRUE(std::isnan(out)) << static_cast<int>(f);
  }
}

}  // namespace
}  // namespace tare::nn
