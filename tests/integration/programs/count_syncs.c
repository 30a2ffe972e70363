/* Preloaded into a registry: notes each file that it has the disk write, one path a line, in the file that
 * TARE_TEST_SYNCS names. A sync is noted once it is done. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void note(int fd) {
  const char* log_path = getenv("TARE_TEST_SYNCS");
  if (log_path == NULL) return;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  char line[PATH_MAX + 1];
  ssize_t length = readlink(link, line, PATH_MAX);
  if (length < 0) length = 0;
  line[length++] = '\n';
  const int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0 || write(log, line, (size_t)length) != length) abort();
  close(log);
}

int fsync(int fd) {
  const long result = syscall(SYS_fsync, fd);
  if (result == 0) note(fd);
  return (int)result;
}

int fdatasync(int fd) {
  const long result = syscall(SYS_fdatasync, fd);
  if (result == 0) note(fd);
  return (int)result;
}
