// SPDX-License-Identifier: BSD-3-Clause
#include "math/normal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "infinity.h"

namespace tare {
namespace {

struct Pair {
  double argument;
  double value;
};

// The references below were computed with 60 digits or more (mpmath) for exactly these doubles.
void expect_relative(double got, double want, double tolerance, double at) {
  EXPECT_LE(std::fabs(got - want), tolerance * std::fabs(want)) << "at " << at << ": " << got;
}

TEST(NormalCdf, AgreesWithHighPrecision) {
  const Pair cases[] = {
      {-37.5, 4.6053530095819548438e-308}, {-30.25, 2.6086402857412604963e-201},
      {-20.1, 3.6896808637213895544e-90},  {-10.3, 3.5230650789264125919e-25},
      {-5.7, 5.9903714010635281878e-9},    {-3.3, 0.0004834241423837775071},
      {-1.1, 0.13566606094638265582},      {-0.1, 0.46017216272297101633},
      {0.3, 0.61791142218895263307},       {1.7, 0.95543453724145695634},
      {4.2, 0.99998665425098409367},       {8.1, 0.9999999999999997252},
  };
  // Five units in the last place: erfc's own error plus the correction's.
  for (const Pair& c : cases) expect_relative(normal_cdf(c.argument), c.value, 1.1e-15, c.argument);
}

TEST(NormalCdf, ReachesZeroAndOneAtTheEnds) {
  EXPECT_EQ(normal_cdf(-kInf), 0.0);
  EXPECT_EQ(normal_cdf(kInf), 1.0);
  EXPECT_EQ(normal_cdf(0.0), 0.5);
  EXPECT_TRUE(std::isnan(normal_cdf(std::nan(""))));
}

TEST(NormalQuantile, AgreesWithHighPrecision) {
  const Pair cases[] = {
      {1e-300, -37.047096299361199237},      {1e-100, -21.273453560965324294},
      {1e-20, -9.2623400897984075796},       {1e-10, -6.3613409024040561991},
      {0.001, -3.0902323061678135354},       {0.01, -2.3263478740408410931},
      {0.05, -1.644853626951472688},         {0.24, -0.70630256284008748445},
      {0.25, -0.6744897501960817432},        {0.26, -0.64334540539291693737},
      {0.3, -0.52440051270804081597},        {0.45, -0.12566134685507400616},
      {0.499999, -2.5066282745665593779e-6},
  };
  for (const Pair& c : cases) {
    expect_relative(normal_quantile(c.argument), c.value, 1e-15, c.argument);
  }
}

TEST(NormalQuantile, InvertsTheCdfAcrossAllMagnitudes) {
  for (double p = 1e-305; p < 0.5; p *= 1.7) {
    const double x = normal_quantile(p);
    // One unit in the last place of x moves the tail by about x^2 units; three of them are allowed.
    expect_relative(normal_cdf(x), p, 3e-16 * (3.0 + 3.0 * x * x), p);
  }
}

TEST(NormalQuantile, IsOddAndRises) {
  double last = -kInf;
  for (int i = 1; i < 4096; ++i) {
    const double p = i / 4096.0;
    const double x = normal_quantile(p);
    EXPECT_GT(x, last) << p;
    EXPECT_EQ(x, -normal_quantile(1.0 - p)) << p;
    last = x;
  }
}

template <class Quantile>
void expect_ends(const Quantile& quantile) {
  EXPECT_EQ(quantile(0.0), -kInf);
  EXPECT_EQ(quantile(1.0), kInf);
  EXPECT_EQ(quantile(0.5), 0.0);
  EXPECT_TRUE(std::isnan(quantile(-0.1)));
  EXPECT_TRUE(std::isnan(quantile(1.1)));
  EXPECT_TRUE(std::isnan(quantile(std::nan(""))));
  EXPECT_TRUE(std::isfinite(quantile(std::numeric_limits<double>::denorm_min())));
}

TEST(Quantiles, TreatTheEndsAsDocumented) {
  expect_ends(normal_quantile);
  expect_ends(student_t3_quantile);
}

TEST(NormalQuantile, KeepsFourDigitsForSubnormalLevels) {
  EXPECT_NEAR(normal_quantile(2.8854283600687843084e-316), -38.0, 1e-3);
}

TEST(StudentT3Cdf, AgreesWithHighPrecision) {
  const Pair cases[] = {
      {-1e6, 1.102657790839614531e-18},   {-100.0, 1.1022609615924555587e-6},
      {-12.3, 0.00057874413814731025851}, {-3.5, 0.019740518809641399973},
      {-3.4, 0.021230661752947816497},    {-2.0, 0.069662984279421588424},
      {-0.7, 0.26716349915238182652},     {-0.001, 0.499632447484730469},
      {0.5, 0.67427601757592450278},      {1.3, 0.8577662456360513068},
      {4.7, 0.9908895644456143509},
  };
  // Up to a factor of seven is lost to cancellation where the series gives way to the closed form.
  for (const Pair& c : cases)
    expect_relative(student_t3_cdf(c.argument), c.value, 2e-15, c.argument);
  EXPECT_EQ(student_t3_cdf(-kInf), 0.0);
  EXPECT_EQ(student_t3_cdf(kInf), 1.0);
  EXPECT_TRUE(std::isnan(student_t3_cdf(std::nan(""))));
}

TEST(StudentT3Quantile, AgreesWithHighPrecision) {
  const Pair cases[] = {
      {1e-300, -1.0331108360446529009e+100}, {1e-12, -10331.108244292486204},
      {0.001, -10.214531852407386477},       {0.01, -4.5407028585681335202},
      {0.1, -1.6377443536962100513},         {0.24, -0.80441234545044474856},
      {0.26, -0.72666198737944466566},       {0.4, -0.27667066233268984701},
      {0.4999, -0.00027206990911047338186},
  };
  for (const Pair& c : cases) {
    expect_relative(student_t3_quantile(c.argument), c.value, 1e-14, c.argument);
  }
}

TEST(StudentT3Quantile, InvertsTheCdfAcrossAllMagnitudes) {
  for (double p = 1e-305; p < 0.5; p *= 1.7) {
    expect_relative(student_t3_cdf(student_t3_quantile(p)), p, 1e-14, p);
  }
}

// The density is the slope of the cdf: a central difference of step h errs by h^2/6 times the third
// derivative (at most 1 here) plus rounding over h.
TEST(Densities, AreTheSlopesOfTheCdfs) {
  constexpr double kStep = 1e-4;
  for (double x = -6.0; x <= 6.0; x += 0.25) {
    const double normal = (normal_cdf(x + kStep) - normal_cdf(x - kStep)) / (2 * kStep);
    const double t3 = (student_t3_cdf(x + kStep) - student_t3_cdf(x - kStep)) / (2 * kStep);
    EXPECT_NEAR(normal_pdf(x), normal, 5e-9) << x;
    EXPECT_NEAR(student_t3_pdf(x), t3, 5e-9) << x;
  }
}

}  // namespace
}  // namespace tare
