/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TARE_TESTS_FAULTS_SHIM_H
#define TARE_TESTS_FAULTS_SHIM_H

#include <stdint.h>

/* The calls that can fail; the same order as KINDS in faults.py. */
enum fault_kind {
  kNone,
  kAlloc,
  kOpen,
  kRead,
  kWrite,
  kSync,
  kLink,
  kRename,
  kClose,
  kMap,
  kReceive,
  kSend,
  kAccept,
  kWait,
  kThread,
  kRealTime,
  kSteadyTime,
  kFaultKinds
};

struct fault_control {
  uint64_t kind;                /* the calls to fail */
  uint64_t at;                  /* the first of them, from 1; 0: none */
  uint64_t span;                /* how many in a row; 0: all from there on */
  uint64_t period;              /* 0: once; otherwise again after so many calls */
  int64_t value;                /* an errno; kShort, kPart; for clocks, seconds to add */
  uint64_t seed;                /* of kPart */
  uint64_t traced;              /* 1: the stack of each failing call goes to standard error */
  uint64_t injected;            /* how many have failed */
  uint64_t counts[kFaultKinds]; /* how many calls there were */
};

enum { kShort = -1, kPart = -2 }; /* one byte; a random part */

/* For a program with the shim linked in: faults begin here. NULL ends them. */
void fault_use(struct fault_control* control);

#endif
