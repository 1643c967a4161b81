# SPDX-License-Identifier: BSD-3-Clause
# Written by tools/make_python_options.py from the table of methods; do not edit.
"""The options of each method, as types: an editor completes their names, and a type checker finds wrong ones.

Each class makes a plain dict, so that ``Nrc(kernel="naive")`` is ``{"kernel": "naive"}``. The core checks names and values at fit.

>>> import tare
>>> tare.options.Nrc(regressor="ridge", bandwidth=0.5)
{'regressor': 'ridge', 'bandwidth': 0.5}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

__all__ = [
    "BY_METHOD",
    "Auto",
    "Ccl",
    "Cqr",
    "CqrBoost",
    "DeepEnsemble",
    "Dgp",
    "DistributionCalibration",
    "Hnn",
    "Idr",
    "Isr",
    "KernelDensity",
    "Kqr",
    "LstmHnn",
    "LstmNrc",
    "Maqr",
    "McDropout",
    "Mmd",
    "Ngboost",
    "Nrc",
    "NrcBoost",
    "NrcCov",
    "NrcEmbed",
    "NrcRf",
    "NrcRfRp",
    "NrcRp",
    "Oqr",
    "Paic",
    "PureKernel",
    "Qrf",
]


class Common(TypedDict, total=False):
    """Options that every method has."""

    # finite-sample guarantee of coverage, on average over exchangeable rows, by held-out rows: none, split, split:SHARE, cross,
    # cross:FOLDS, loose; auto (the default of method auto) means split:0.05,near from 2,000 rows on and loose from 30 to 1,999
    # (60 for other methods); split,own: the model's own levels as far as the ranks allow; split,near: the model's own levels
    # unless the ranks differ by more than a standard error, which is what the proof then lacks; loose: a model of all rows, whose
    # answers reach at least as far out as a second model's bound, proven with at most twice the misses; local (ranks near the
    # row), conditional:COLUMNS (coverage also for every reweighting of rows by these columns; conditional:groups,
    # conditional:kernel). If there are too few rows for a level, the answer is the model's own quantile, or infinite with
    # ',strict' (split,strict) [none]
    guarantee: str
    # whether quantiles can equal the values that many targets share, for example 0, and are whole numbers if all targets are:
    # yes, no; auto means yes for given predictions and for nrc_boost [auto]
    masses: bool | str
    # range of possible targets: LOW,HIGH, either of which may be empty ('0,' means never negative); none; auto detects 0 for
    # counts and amounts and 0 and 1 for shares if enough targets show it [auto]
    bounds: str
    # confidence bands of the quantiles and effective_n, from 12 fits on random halves of the rows: on, off; auto (the default of
    # 'tare fit' and Python) means on from 100 to 10,000 rows unless the method is slow or the budget is quick. There are no bands
    # if many targets share a value that the method's quantiles never take [off]
    bands: str


class Network(TypedDict, total=False):
    """Options of the training of a network."""

    # units of each hidden layer [20,20]
    hidden: float | Sequence[float] | str
    # leaky_relu (0.2 below zero), relu, silu, tanh or sigmoid [leaky_relu]
    activation: str
    # step size of Adam [0.01]
    learning_rate: float
    # rows of a minibatch [64]
    batch: float
    # passes over the rows, at most [1000]
    epochs: float
    # epochs without a better validation loss after which training stops [20]
    patience: float
    # share of the weights, times learning_rate, that each step takes away [0]
    weight_decay: float
    # share of the rows that decide when to stop [0.15]
    validation: float
    # paper: try learning rates 0.01, 0.005, 0.001 and batches 10, 64, 128 on the validation rows; one that is given stays [none]
    grid: str


class PointModel(Network, total=False):
    """Options of the point models that `regressor` names."""

    # strength of the shrinkage, for standardised columns and the mean squared error; auto: by generalised cross-validation [auto]
    penalty: float | str
    # number of trees [100]
    trees: float
    # splits from the root to a leaf, at most [10]
    depth: float | str
    # weight that a leaf must hold, in rows of average weight [1]
    min_leaf: float
    # rows drawn for each tree, with replacement, as a share of all [1]
    rows: float
    # share of the columns that each split may choose from [1]
    columns: float
    # number of trees, at most [2000]
    rounds: float
    # units of one more layer before the output, to calibrate on; 0: none [0]
    embed: float
    # share of the hidden units that are left out at random in training [0]
    dropout: float
    # number of time steps that a row contains, oldest first; auto: 5 if the number of columns is a multiple of 5, else 1 [auto]
    window: float | str
    # cells of each layer [40,40]
    units: float | Sequence[float] | str


class Auto(Common, total=False):
    """Options of 'auto': the default: SNQ on several cross-fitted centers and scales, and the average of them with the smallest loss on
    left-out rows."""

    # how much time to spend on accuracy: quick, default, best [default]
    budget: Literal["quick", "default", "best"]
    # how long the fit may take, such as 30s, 2m or 1h, in place of a budget: the largest budget that is done by then. The answers
    # are those of that budget [none]
    time: float | str
    # number of folds of cross-fitting, 2 to 50; auto: set by the budget [auto]
    folds: float | str
    # number of rows to learn from, 100 or more: where there are more, some at random, of a series the last ones; auto: 200,000,
    # all with the budget best [auto]
    most_rows: float | str
    # number of times that all is trained, with other folds and seeds, 1 to 20; answers are the mean; auto: set by the budget
    # [auto]
    rounds: float | str
    # training steps of a network; auto: set by the budget [auto]
    steps: float | str
    # number of such models that the caller averages; each then trains less [1]
    ensemble: float
    # kernel of the distance: naive, epanechnikov, triangular, tricube, gaussian, laplace, knn [gaussian]
    kernel: Literal["naive", "epanechnikov", "triangular", "tricube", "gaussian", "laplace", "knn"]
    # restrict the kernel to columns on which the distribution of the residual depends: yes, no [no]
    screen: bool | Literal["yes", "no"]


class Nrc(PointModel, Common, total=False):
    """Options of 'nrc': SNQ on the residuals of a network or a given prediction; the kernel uses all features."""

    # point model f: mlp, lstm, gp, forest, extra_trees, boosting, ridge, zero [mlp]
    regressor: Literal["mlp", "lstm", "gp", "forest", "extra_trees", "boosting", "ridge", "zero"]
    # how the features of the kernel are reduced: none, projection, correlation, embedding [none]
    reducer: Literal["none", "projection", "correlation", "embedding"]
    # number of features after the reducer [4]
    dims: float
    # scaling of the kernel's features: standard, none [standard]
    scale: Literal["standard", "none"]
    # kernel of the distance: naive, epanechnikov, triangular, tricube, gaussian, laplace, knn [gaussian]
    kernel: Literal["naive", "epanechnikov", "triangular", "tricube", "gaussian", "laplace", "knn"]
    # bandwidth of the kernel: auto (leave-one-out), rate, rate:C, a number, or infinite [auto]
    bandwidth: float | str
    # rows that calibrate: a share, cross, time, or time:SHARE [0.3]
    split: float | str
    # number of folds of split=cross [5]
    folds: float | str
    # rows to use if no calibration row is within the bandwidth: nearest, or marginal (all rows) [nearest]
    fallback: str
    # number of rows of fallback=nearest [20]
    min_support: float
    # center and log spread of the given distribution as features of the kernel: none, also, only; auto means also if a spread is
    # given and no columns are named [auto]
    features_of_input: str
    # restrict the kernel to columns on which the distribution of the residual depends: yes, no [no]
    screen: bool | Literal["yes", "no"]
    # which rank of a window gives the quantile of a level: expected (its expected level is the requested level) or paper
    # (Algorithm 1: too narrow for small windows) [expected]
    ranks: str
    # engine that evaluates SNQ: brute, dense, line, tree; auto selects the fastest [auto]
    index: str


class NrcRf(Nrc, total=False):
    """Options of 'nrc_rf': as nrc, with a random forest."""


class NrcRp(Nrc, total=False):
    """Options of 'nrc_rp': as nrc; the kernel uses a random projection to a few features."""


class NrcCov(Nrc, total=False):
    """Options of 'nrc_cov': as nrc; the kernel uses the few features that correlate most with the target."""


class NrcEmbed(Nrc, total=False):
    """Options of 'nrc_embed': as nrc; the kernel uses the last hidden layer of the network, which is small."""


class NrcRfRp(Nrc, total=False):
    """Options of 'nrc_rf_rp': as nrc_rp, with a random forest."""


class PureKernel(Nrc, total=False):
    """Options of 'pure_kernel': SNQ on the target itself, without a point model."""


class LstmNrc(Nrc, total=False):
    """Options of 'lstm_nrc': for series: SNQ on the residuals of an LSTM on windows; the kernel uses a projection."""


class NrcBoost(PointModel, Common, total=False):
    """Options of 'nrc_boost': as nrc, after boosted trees have standardised the residuals by their center and size; the kernel has one
    feature."""

    # point model f: mlp, lstm, gp, forest, extra_trees, boosting, ridge, zero [boosting]
    regressor: Literal["mlp", "lstm", "gp", "forest", "extra_trees", "boosting", "ridge", "zero"]
    # rows that calibrate: a share, or cross [cross]
    split: float | str
    # number of folds of split=cross [5]
    folds: float | str


class Hnn(Network, Common, total=False):
    """Options of 'hnn': a network with a mean and an sd head, by Gaussian likelihood."""

    # share of the hidden units that are left out at random in training [0]
    dropout: float
    # least sd, as a share of the target's own [0.001]
    sd_floor: float
    # weight of a row's likelihood is its predicted variance to this power; 0: plain likelihood [0]
    beta: float
    # after training, train on from the best weights at this share of the learning rate; 0: do not [0.1]
    refine: float


class McDropout(Network, Common, total=False):
    """Options of 'mc_dropout': as hnn, with dropout in training and in 100 passes at prediction."""

    # share of the hidden units that are left out at random; grid=paper tries 0.01, 0.05, 0.1 [0.01]
    dropout: float
    # evaluations per answer, each with a different random set of units left out [100]
    passes: float
    # least sd, as a share of the target's own [0.001]
    sd_floor: float
    # weight of a row's likelihood is its predicted variance to this power; 0: plain likelihood [0]
    beta: float
    # after training, train on from the best weights at this share of the learning rate; 0: do not [0.1]
    refine: float


class DeepEnsemble(Network, Common, total=False):
    """Options of 'deep_ensemble': 5 networks as in hnn; their disagreement is part of the variance."""

    # number of networks [5]
    members: float
    # step of adversarial examples, as a share of each column's range; 0: none [0]
    adversarial: float
    # share of the hidden units that are left out at random in training [0]
    dropout: float
    # least sd, as a share of the target's own [0.001]
    sd_floor: float
    # weight of a row's likelihood is its predicted variance to this power; 0: plain likelihood [0]
    beta: float
    # after training, train on from the best weights at this share of the learning rate; 0: do not [0.1]
    refine: float


class Mmd(Network, Common, total=False):
    """Options of 'mmd': as hnn, then trained further so that draws from its predicted distributions resemble the set of all targets."""

    # bandwidths of the kernels of the discrepancy, in standard deviations of the target [0.25,0.5,1,2,4]
    bandwidths: float | Sequence[float] | str
    # step size of Adam in the second phase; grid=paper tries 0.01, 0.005, 0.001 [0.001]
    mmd_learning_rate: float
    # rows of a minibatch in the second phase, at least 128 [128]
    mmd_batch: float
    # share of the hidden units that are left out at random in training [0]
    dropout: float
    # least sd, as a share of the target's own [0.001]
    sd_floor: float
    # weight of a row's likelihood is its predicted variance to this power; 0: plain likelihood [0]
    beta: float
    # after training, train on from the best weights at this share of the learning rate; 0: do not [0.1]
    refine: float


class Isr(Network, Common, total=False):
    """Options of 'isr': as hnn, with levels corrected by their coverage on held-out rows."""

    # rows that recalibrate: a share, time, or time:SHARE [0.3]
    split: float | str
    # share of the hidden units that are left out at random in training [0]
    dropout: float
    # least sd, as a share of the target's own [0.001]
    sd_floor: float
    # weight of a row's likelihood is its predicted variance to this power; 0: plain likelihood [0]
    beta: float
    # after training, train on from the best weights at this share of the learning rate; 0: do not [0.1]
    refine: float


class LstmHnn(Common, total=False):
    """Options of 'lstm_hnn': for series: mean and sd heads on an LSTM that reads a window of steps."""

    # number of time steps that a row contains, oldest first; auto: the window of the series, else 5 if the number of columns is a
    # multiple of 5, else 1 [auto]
    window: float | str
    # cells of each layer [40,40]
    units: float | Sequence[float] | str
    # share of the hidden units that are left out at random in training [0]
    dropout: float
    # least sd, as a share of the target's own [0.001]
    sd_floor: float
    # weight of a row's likelihood is its predicted variance to this power; 0: plain likelihood [0]
    beta: float
    # after training, train on from the best weights at this share of the learning rate; 0: do not [0.1]
    refine: float
    # step size of Adam [0.005]
    learning_rate: float
    # rows of a minibatch [64]
    batch: float
    # passes over the rows, at most [1000]
    epochs: float
    # epochs without a better validation loss after which training stops [20]
    patience: float
    # share of the weights, times learning_rate, that each step takes away [0]
    weight_decay: float
    # share of the rows that decide when to stop [0.15]
    validation: float
    # paper: try learning rates 0.01, 0.005, 0.001 and batches 10, 64, 128 on the validation rows; one that is given stays [none]
    grid: str


class CqrBoost(Common, total=False):
    """Options of 'cqr_boost': conformalized quantile regression on boosted trees."""

    # trees of a member, at most [1000]
    rounds: float
    # share of each tree that is added [0.2]
    learning_rate: float
    # splits from the root to a leaf, at most; auto: columns + 1, but at most 4 [auto]
    depth: float | str
    # weight that a leaf must hold, in rows of average weight [20]
    min_leaf: float
    # share of the rows that each tree sees [0.3]
    rows: float
    # rows of evidence against moving a leaf's quantile; more for outer levels [5]
    shrink: float
    # boosters that are averaged; each holds out another part of the rows [5]
    members: float
    # rounds without progress on held-out rows before a member stops [30]
    patience: float
    # rows that calibrate: a share, time, or time:SHARE [0.3]
    split: float | str


class Cqr(Network, Common, total=False):
    """Options of 'cqr': a network trained with pinball loss for all levels, corrected by a conformal step on held-out rows."""

    # rows that calibrate: a share, time, or time:SHARE [0.3]
    split: float | str
    # levels at which each row of a minibatch is judged; even [8]
    levels: float


class Oqr(Network, Common, total=False):
    """Options of 'oqr': as cqr, with a network trained so that coverage does not depend on the length of the interval."""

    # rows that calibrate: a share, time, or time:SHARE [0.3]
    split: float | str
    # weight of the correlation between length and coverage; grid=paper tries 0.01, 0.1 and 0.5 unless a value is given [0.01]
    penalty: float | str
    # levels at which each row of a minibatch is judged; even [8]
    levels: float


class Maqr(Network, Common, total=False):
    """Options of 'maqr': a network, and a second network for the local quantiles of its residuals."""

    # bandwidth of the Gaussian kernel of the local quantiles: auto, or a positive number [auto]
    bandwidth: float | str
    # levels at which each row of a minibatch is judged; even [8]
    levels: float


class Ccl(Network, Common, total=False):
    """Options of 'ccl': a network trained to be calibrated on average and sharp."""

    # weight w of the length of intervals, from 0 to 1; calibration has the weight 1 - w; grid=paper tries 0, 0.1, 0.2 and 0.4
    # unless a value is given [0.1]
    sharpness: float
    # levels at which each row of a minibatch is judged; even [8]
    levels: float


class Qrf(Common, total=False):
    """Options of 'qrf': quantile regression forest: quantiles of the training targets, weighted by how often their rows share a leaf
    with the query."""

    # number of trees [200]
    trees: float
    # different rows of a tree's draw that a leaf must hold [5]
    min_leaf: float
    # share of the columns that each split may choose from [0.33]
    columns: float
    # rows drawn for each tree, with replacement, as a share of all [1]
    rows: float
    # training rows that a leaf keeps: drawn, all [drawn]
    leaf_rows: Literal["drawn", "all"]


class Ngboost(Common, total=False):
    """Options of 'ngboost': natural gradient boosting: trees for the mean and the sd of a normal or lognormal distribution, by the log
    score."""

    # family of the target's distributions: normal, lognormal [normal]
    distribution: Literal["normal", "lognormal"]
    # trees for the mean, and as many for the sd, at most [500]
    rounds: float
    # share of each step that is taken [0.01]
    learning_rate: float
    # splits from the root to a leaf, at most [3]
    depth: float | str
    # weight that a leaf must hold, in rows of average weight [1]
    min_leaf: float
    # share of the rows that each round learns from [1]
    rows: float
    # share of the rows left out to choose the number of rounds; 0: all rounds [0]
    validation: float
    # rounds without progress on the rows left out before training stops [50]
    patience: float


class Idr(PointModel, Common, total=False):
    """Options of 'idr': isotonic distributional regression (EasyUQ): of all distributions that grow with a prediction, those with the
    lowest CRPS on the calibration rows; exact up to the option knots."""

    # point model f: mlp, lstm, gp, forest, extra_trees, boosting, ridge, zero [boosting]
    regressor: Literal["mlp", "lstm", "gp", "forest", "extra_trees", "boosting", "ridge", "zero"]
    # rows that calibrate: a share, cross, time, or time:SHARE [cross]
    split: float | str
    # number of folds of split=cross [5]
    folds: float | str
    # different predictions, and different targets, that are kept; of more, neighbours are joined [10000]
    knots: float


class Dgp(Common, total=False):
    """Options of 'dgp': deep Gaussian process of two layers, variational, with noise between the layers."""

    # outputs of the hidden layer [10]
    width: float
    # inducing points of each layer; fewer where there are fewer rows [128]
    inducing: float
    # draws of the noise between the layers for each row of a minibatch, combined by importance weights; 1: the plain bound, under
    # which that noise has no effect [8]
    draws: float
    # number of normal distributions in the mixture that is the answer [64]
    samples: float
    # step size of Adam [0.01]
    learning_rate: float
    # rows of a minibatch [64]
    batch: float
    # passes over the rows, at most [1000]
    epochs: float
    # epochs without a better validation loss after which training stops [20]
    patience: float
    # share of the weights, times learning_rate, that each step takes away [0]
    weight_decay: float
    # share of the rows that decide when to stop [0.15]
    validation: float
    # paper: try learning rates 0.01, 0.005, 0.001 and batches 10, 64, 128 on the validation rows; one that is given stays [none]
    grid: str


class KernelDensity(Common, total=False):
    """Options of 'kernel_density': conformal prediction sets by kernel density in each cell of a partition; levels tau and 1 - tau are
    the ends of a set."""

    # rows that are ranked: a share, time, or time:SHARE [0.5]
    split: float | str
    # number of cells of the features' space, a power of 2; auto: the shortest intervals on the training rows [auto]
    cells: float | str
    # least number of training rows in a cell [40]
    min_cell: float
    # bandwidth of the density in units of the rule for a normal distribution in each cell; auto: the shortest intervals on the
    # training rows [auto]
    bandwidth: float | str


class Paic(Network, Common, total=False):
    """Options of 'paic': a network on (x, r) that predicts a normal distribution in which the target is at level r, for a random r; the
    answer is the mean distribution over r."""

    # share of |F(y) - r| in the loss; the rest is the negative log-likelihood. Near 1: calibrated at each x, and wide [0.5]
    alpha: float
    # values of r over which an answer is averaged [32]
    forecasts: float
    # share of the hidden units that are left out at random in training [0]
    dropout: float
    # least sd, as a share of the target's own [0.001]
    sd_floor: float
    # after training, train on from the best weights at this share of the learning rate; 0: do not [0.1]
    refine: float


class Kqr(Common, total=False):
    """Options of 'kqr': kernel quantile regression with a Gaussian kernel: pinball loss and a penalty, solved in its dual at 15
    levels."""

    # weight of |g|^2 / 2 beside the mean loss; auto: of 0.01, 0.001, 0.0001 and 0.00001 by cross-validation [auto]
    penalty: float | str
    # width of the kernel in medians of the distance between rows; auto: of 0.25, 0.5, 1 and 2 by cross-validation [auto]
    kernel_width: float | str
    # of more rows, a random sample of this many is learned from [2000]
    most_rows: float | str
    # relative duality gap at which a level is solved [0.001]
    gap: float


class DistributionCalibration(Network, Common, total=False):
    """Options of 'distribution_calibration': as hnn, with each predicted distribution corrected by a map that depends on its mean and
    sd, learned on held-out rows (GP-Beta)."""

    # rows that recalibrate: a share, time, or time:SHARE [0.3]
    split: float | str
    # inducing points of the link; fewer where there are fewer rows [32]
    inducing: float
    # step size of Adam for the link [0.01]
    link_learning_rate: float
    # rows of a minibatch for the link [128]
    link_batch: float
    # share of the hidden units that are left out at random in training [0]
    dropout: float
    # least sd, as a share of the target's own [0.001]
    sd_floor: float
    # weight of a row's likelihood is its predicted variance to this power; 0: plain likelihood [0]
    beta: float
    # after training, train on from the best weights at this share of the learning rate; 0: do not [0.1]
    refine: float


BY_METHOD: dict[str, type] = {
    "auto": Auto,
    "nrc": Nrc,
    "nrc_rf": NrcRf,
    "nrc_rp": NrcRp,
    "nrc_cov": NrcCov,
    "nrc_embed": NrcEmbed,
    "nrc_rf_rp": NrcRfRp,
    "pure_kernel": PureKernel,
    "lstm_nrc": LstmNrc,
    "nrc_boost": NrcBoost,
    "hnn": Hnn,
    "mc_dropout": McDropout,
    "deep_ensemble": DeepEnsemble,
    "mmd": Mmd,
    "isr": Isr,
    "lstm_hnn": LstmHnn,
    "cqr_boost": CqrBoost,
    "cqr": Cqr,
    "oqr": Oqr,
    "maqr": Maqr,
    "ccl": Ccl,
    "qrf": Qrf,
    "ngboost": Ngboost,
    "idr": Idr,
    "dgp": Dgp,
    "kernel_density": KernelDensity,
    "paic": Paic,
    "kqr": Kqr,
    "distribution_calibration": DistributionCalibration,
}
