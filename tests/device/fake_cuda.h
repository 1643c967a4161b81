/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What a test tells the library in place of libtare_cuda, and what it counts. */
enum FakeCudaMode {
  kFakeWorks,
  kFakeIsLost,       /* answers and losses fail */
  kFakeHasNoMemory,  /* rows cannot be uploaded */
  kFakeLeavesSomeOut /* every third query and loss is not answered */
};

typedef struct FakeCuda {
  int mode; /* FakeCudaMode */
  int uploads;
  int held; /* rows that have not been released */
  int answers;
  int losses;
} FakeCuda;

typedef FakeCuda* (*FakeCudaState)(void);
