// SPDX-License-Identifier: BSD-3-Clause
#include "model/gaussian/gaussian_ensemble.h"

#include <optional>
#include <string>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "base/stages.h"
#include "io/tensor_store.h"

namespace tare {
GaussianEnsemble::GaussianEnsemble(std::vector<GaussianNetwork> members)
    : members_(std::move(members)) {}

Gaussians GaussianEnsemble::predict(MatrixView x, const Execution& how) const {
  MixtureMoments moments(x.rows(), members_[0].scaling().target().scale);
  for (const GaussianNetwork& member : members_) {
    const Gaussians part = member.predict(x, how);
    for (std::size_t i = 0; i < x.rows(); ++i) moments.add(i, part.mean[i], part.sd[i]);
  }
  return moments.result();
}

void GaussianEnsemble::save(const TensorWriter& out) const {
  out.value("members", members_.size());
  for (std::size_t k = 0; k < members_.size(); ++k)
    members_[k].save(out.part("member" + std::to_string(k)));
}

GaussianEnsemble GaussianEnsemble::load(const TensorReader& in) {
  const std::size_t count = in.count("members", kMaxMembers);
  if (count == 0) fail(ErrorCode::kCorruptFile, "the model file's ensemble has no members");
  std::vector<GaussianNetwork> members;
  for (std::size_t k = 0; k < count; ++k) {
    members.push_back(GaussianNetwork::load(in.part("member" + std::to_string(k))));
    if (members[k].features() != members[0].features()) {
      fail(ErrorCode::kCorruptFile, "members of the model file's ensemble have {} and {} features",
           members[0].features(), members[k].features());
    }
  }
  return GaussianEnsemble(std::move(members));
}

GaussianEnsemble fit_gaussian_ensemble(const RegressionData& data, const EnsembleOptions& options,
                                       Seed seed, const Execution& how) {
  ParallelProgress progress(how, "ensemble", options.members);
  std::vector<std::optional<GaussianNetwork>> trained(options.members);
  parallel_for(how, options.members, [&](std::size_t k) {
    trained[k] = fit_gaussian_network(data, options.network, split(seed, k), progress.of(k));
  });
  std::vector<GaussianNetwork> members;
  for (auto& member : trained) members.push_back(*std::move(member));
  return GaussianEnsemble(std::move(members));
}

}  // namespace tare
