/*
 * Loaded before libfaketime. While one of libfaketime's own waits blocks, the clock of the thread is the real one, for signal handlers
 * as well. Postgres looks at the clock in such a handler (SIGALRM) to see which of its timeouts is due, so statement_timeout and
 * lock_timeout came early where the clock was set back, and never where it was set forward. A time limit of these waits is a duration,
 * which needs no shift: they go straight to the kernel. So do the clocks that are not shifted, which EXPLAIN ANALYZE reads for each row.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Bytes of a signal set as the kernel knows it. */
#define SIGNAL_SET_BYTES 8

int epoll_pwait(int epfd, struct epoll_event *events, int count, int timeout, const sigset_t *mask) {
  return syscall(SYS_epoll_pwait, epfd, events, count, timeout, mask, SIGNAL_SET_BYTES);
}

int epoll_wait(int epfd, struct epoll_event *events, int count, int timeout) {
  return epoll_pwait(epfd, events, count, timeout, NULL);
}

int poll(struct pollfd *fds, nfds_t count, int timeout) {
  struct timespec limit = {timeout / 1000, timeout % 1000 * 1000000L};
  return syscall(SYS_ppoll, fds, count, timeout < 0 ? NULL : &limit, NULL, SIGNAL_SET_BYTES);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*shifted)(clockid_t, struct timespec *);
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return syscall(SYS_clock_gettime, clock, now);
  if (shifted == NULL) shifted = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  return shifted(clock, now);
}
