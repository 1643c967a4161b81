/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes chosen calls of the C library fail. Loaded with LD_PRELOAD; TARE_FAULT_FILE names a file of
 * sizeof(struct fault_control) bytes that says which calls, and in which the calls are counted. The
 * file is shared memory: a driver changes it while the program runs, and reads the counts even if
 * the program was killed.
 *
 * Only calls of the program itself fail: from the start of main() on (so neither the dynamic loader
 * nor static constructors), and not in programs that it starts. Calls that the C library makes
 * inside itself (write under printf) are not seen.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

static struct fault_control* volatile control;
static __thread int inside __attribute__((tls_model("initial-exec"))); /* the shim's own calls */

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

#define REAL(name) ((__typeof__(&name))real(&saved_##name, #name))
#define SAVED(name) static void* saved_##name

static void* real(void** saved, const char* name) {
  void* found = __atomic_load_n(saved, __ATOMIC_RELAXED);
  if (found == NULL) {
    ++inside; /* dlsym may allocate */
    found = dlsym(RTLD_NEXT, name);
    --inside;
    __atomic_store_n(saved, found, __ATOMIC_RELAXED);
  }
  return found;
}

static void show_stack(void) {
  ++inside;
  void* frames[40];
  const int count = backtrace(frames, 40);
  backtrace_symbols_fd(frames, count, STDERR_FILENO);
  --inside;
}

/* Counts a call; true where it is one that must fail. */
static int strikes(enum fault_kind kind) {
  struct fault_control* const now = control;
  if (now == NULL || inside) return 0;
  const uint64_t number = __atomic_add_fetch(&now->counts[kind], 1, __ATOMIC_RELAXED);
  if (__atomic_load_n(&now->kind, __ATOMIC_ACQUIRE) != (uint64_t)kind) return 0;
  if (now->at == 0 || number < now->at) return 0;
  uint64_t past = number - now->at;
  if (now->period > 0) past %= now->period;
  if (now->span > 0 && past >= now->span) return 0;
  __atomic_add_fetch(&now->injected, 1, __ATOMIC_RELAXED);
  if (now->traced) show_stack();
  return 1;
}

static int64_t value(void) {
  struct fault_control* const now = control;
  return now == NULL ? 0 : now->value;
}

/* A number from 1 to most, which depends on the seed and on how many calls have failed. */
static size_t part_of(size_t most) {
  if (value() == kShort || most < 2) return most < 1 ? most : 1;
  uint64_t mixed = (control->seed + control->injected) * UINT64_C(0x9e3779b97f4a7c15);
  mixed = (mixed ^ (mixed >> 31)) * UINT64_C(0xbf58476d1ce4e5b9);
  return 1 + (size_t)((mixed ^ (mixed >> 29)) % most);
}

/* -1 with the errno of the control file; 0 where the call shall be cut short instead. */
static int refused(void) {
  if (value() <= 0) return 0;
  errno = (int)value();
  return -1;
}

/* --- Memory ---------------------------------------------------------------------------------- */

/* Where the C library lies. What it allocates for itself does not fail: it would end the process,
 * for example where it cannot note the destructor of a thread's object. */
static uintptr_t library_first, library_last;

static int find_library(struct dl_phdr_info* object, size_t size, void* inside_of) {
  (void)size;
  uintptr_t first = UINTPTR_MAX, last = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_LOAD) continue;
    const uintptr_t start = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
    if (start < first) first = start;
    if (start + object->dlpi_phdr[i].p_memsz > last) last = start + object->dlpi_phdr[i].p_memsz;
  }
  if ((uintptr_t)inside_of < first || (uintptr_t)inside_of >= last) return 0;
  library_first = first;
  library_last = last;
  return 1;
}

static int lacks_memory(const void* caller) {
  const uintptr_t place = (uintptr_t)caller;
  if (place >= library_first && place < library_last) return 0;
  return strikes(kAlloc);
}

void* malloc(size_t size) {
  if (lacks_memory(__builtin_return_address(0))) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  if (lacks_memory(__builtin_return_address(0))) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_calloc(count, size);
}

void* realloc(void* old, size_t size) {
  if (lacks_memory(__builtin_return_address(0))) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_realloc(old, size);
}

void* memalign(size_t alignment, size_t size) {
  if (lacks_memory(__builtin_return_address(0))) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  if (lacks_memory(__builtin_return_address(0))) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** result, size_t alignment, size_t size) {
  if (lacks_memory(__builtin_return_address(0))) return ENOMEM;
  void* const found = __libc_memalign(alignment, size);
  if (found == NULL) return ENOMEM;
  *result = found;
  return 0;
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  SAVED(mmap);
  if (strikes(kMap) && refused()) return MAP_FAILED;
  return REAL(mmap)(address, size, protection, flags, file, offset);
}

void* mmap64(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  return mmap(address, size, protection, flags, file, offset);
}

/* --- Files ----------------------------------------------------------------------------------- */

static int mode_of(int flags, va_list more) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, int) : 0;
}

int open(const char* path, int flags, ...) {
  SAVED(open);
  va_list more;
  va_start(more, flags);
  const int mode = mode_of(flags, more);
  va_end(more);
  if (strikes(kOpen) && refused()) return -1;
  return REAL(open)(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = mode_of(flags, more);
  va_end(more);
  return open(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  SAVED(openat);
  va_list more;
  va_start(more, flags);
  const int mode = mode_of(flags, more);
  va_end(more);
  if (strikes(kOpen) && refused()) return -1;
  return REAL(openat)(folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = mode_of(flags, more);
  va_end(more);
  return openat(folder, path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
  SAVED(fopen);
  if (strikes(kOpen) && refused()) return NULL;
  return REAL(fopen)(path, mode);
}

FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }

int dup(int file) {
  SAVED(dup);
  if (strikes(kOpen) && refused()) return -1;
  return REAL(dup)(file);
}

int pipe2(int ends[2], int flags) {
  SAVED(pipe2);
  if (strikes(kOpen) && refused()) return -1;
  return REAL(pipe2)(ends, flags);
}

ssize_t read(int file, void* to, size_t count) {
  SAVED(read);
  if (strikes(kRead)) {
    if (refused()) return -1;
    count = part_of(count);
  }
  return REAL(read)(file, to, count);
}

ssize_t write(int file, const void* from, size_t count) {
  SAVED(write);
  if (strikes(kWrite)) {
    if (refused()) return -1;
    count = part_of(count);
  }
  return REAL(write)(file, from, count);
}

ssize_t pwrite(int file, const void* from, size_t count, off_t offset) {
  SAVED(pwrite);
  if (strikes(kWrite)) {
    if (refused()) return -1;
    count = part_of(count);
  }
  return REAL(pwrite)(file, from, count, offset);
}

ssize_t pwrite64(int file, const void* from, size_t count, off_t offset) {
  return pwrite(file, from, count, offset);
}

int fsync(int file) {
  SAVED(fsync);
  if (strikes(kSync) && refused()) return -1;
  return REAL(fsync)(file);
}

int fdatasync(int file) {
  SAVED(fdatasync);
  if (strikes(kSync) && refused()) return -1;
  return REAL(fdatasync)(file);
}

int link(const char* from, const char* to) {
  SAVED(link);
  if (strikes(kLink) && refused()) return -1;
  return REAL(link)(from, to);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  SAVED(linkat);
  if (strikes(kLink) && refused()) return -1;
  return REAL(linkat)(from_folder, from, to_folder, to, flags);
}

int rename(const char* from, const char* to) {
  SAVED(rename);
  if (strikes(kRename) && refused()) return -1;
  return REAL(rename)(from, to);
}

/* The file is closed in any case, as Linux does it. */
int close(int file) {
  SAVED(close);
  const int struck = strikes(kClose);
  const int result = REAL(close)(file);
  return struck && refused() ? -1 : result;
}

/* --- The network ----------------------------------------------------------------------------- */

ssize_t recv(int socket, void* to, size_t count, int flags) {
  SAVED(recv);
  if (strikes(kReceive)) {
    if (refused()) return -1;
    count = part_of(count);
  }
  return REAL(recv)(socket, to, count, flags);
}

static void cut(struct msghdr* message, struct iovec* first) {
  size_t k = 0;
  while (k < message->msg_iovlen && message->msg_iov[k].iov_len == 0) ++k;
  if (k == message->msg_iovlen) return;
  *first = message->msg_iov[k];
  first->iov_len = part_of(first->iov_len);
  message->msg_iov = first;
  message->msg_iovlen = 1;
}

ssize_t recvmsg(int socket, struct msghdr* message, int flags) {
  SAVED(recvmsg);
  if (!strikes(kReceive)) return REAL(recvmsg)(socket, message, flags);
  if (refused()) return -1;
  struct iovec first;
  struct msghdr shorter = *message;
  cut(&shorter, &first);
  return REAL(recvmsg)(socket, &shorter, flags);
}

ssize_t send(int socket, const void* from, size_t count, int flags) {
  SAVED(send);
  if (strikes(kSend)) {
    if (refused()) return -1;
    count = part_of(count);
  }
  return REAL(send)(socket, from, count, flags);
}

ssize_t sendmsg(int socket, const struct msghdr* message, int flags) {
  SAVED(sendmsg);
  if (!strikes(kSend)) return REAL(sendmsg)(socket, message, flags);
  if (refused()) return -1;
  struct iovec first;
  struct msghdr shorter = *message;
  cut(&shorter, &first);
  return REAL(sendmsg)(socket, &shorter, flags);
}

/* ECONNABORTED is about a connection, which is then gone; other errors leave it waiting. */
static int refuse_connection(int taken) {
  if (value() == ECONNABORTED && taken >= 0) {
    ++inside;
    close(taken);
    --inside;
  }
  return refused();
}

int accept(int socket, struct sockaddr* address, socklen_t* size) {
  SAVED(accept);
  const int struck = strikes(kAccept);
  if (struck && value() != ECONNABORTED && refused()) return -1;
  const int taken = REAL(accept)(socket, address, size);
  return struck && taken >= 0 ? refuse_connection(taken) : taken;
}

int accept4(int socket, struct sockaddr* address, socklen_t* size, int flags) {
  SAVED(accept4);
  const int struck = strikes(kAccept);
  if (struck && value() != ECONNABORTED && refused()) return -1;
  const int taken = REAL(accept4)(socket, address, size, flags);
  return struck && taken >= 0 ? refuse_connection(taken) : taken;
}

int epoll_wait(int set, struct epoll_event* events, int most, int milliseconds) {
  SAVED(epoll_wait);
  if (strikes(kWait) && refused()) return -1;
  return REAL(epoll_wait)(set, events, most, milliseconds);
}

int poll(struct pollfd* files, nfds_t count, int milliseconds) {
  SAVED(poll);
  if (strikes(kWait) && refused()) return -1;
  return REAL(poll)(files, count, milliseconds);
}

/* --- Threads and clocks ---------------------------------------------------------------------- */

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  SAVED(pthread_create);
  if (strikes(kThread) && value() > 0) return (int)value();
  return REAL(pthread_create)(thread, attributes, start, argument);
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  SAVED(clock_gettime);
  const int result = REAL(clock_gettime)(clock, time);
  const int is_real = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if ((is_real || clock == CLOCK_MONOTONIC) && strikes(is_real ? kRealTime : kSteadyTime)) {
    time->tv_sec += (time_t)value();
  }
  return result;
}

/* --- The start ------------------------------------------------------------------------------- */

void fault_use(struct fault_control* used) { control = used; }

static int (*real_main)(int, char**, char**);

/* Faults begin here. Programs that this one starts are left alone. */
static int main_with_faults(int argc, char** argv, char** environment) {
  const char* const path = getenv("TARE_FAULT_FILE");
  if (path != NULL) {
    const int file = open(path, O_RDWR | O_CLOEXEC);
    void* const memory = file < 0 ? MAP_FAILED
                                  : mmap(NULL, sizeof(struct fault_control), PROT_READ | PROT_WRITE,
                                         MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
      fprintf(stderr, "%s: no control file\n", path);
      return 99;
    }
    close(file);
    unsetenv("LD_PRELOAD");
    unsetenv("TARE_FAULT_FILE");
    struct fault_control* const shared = memory;
    void* frame;
    if (shared->traced) backtrace(&frame, 1); /* its first call allocates */
    control = shared;
  }
  return real_main(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void* stack_end);

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void* stack_end) {
  SAVED(__libc_start_main);
  real_main = main;
  dl_iterate_phdr(find_library, (void*)REAL(__libc_start_main));
  return REAL(__libc_start_main)(main_with_faults, argc, argv, init, fini, loader_fini, stack_end);
}
