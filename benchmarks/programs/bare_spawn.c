/* The bare loop that tare-spawner is held against: posix_spawn and waitid of /bin/true, and nothing else.
 *
 * A line on stdin asks for one spawn; the answer is its nanoseconds, from just before posix_spawn until
 * waitid has reaped. As in tare-spawner, the child leads its own process group, has default signals and an
 * empty mask, inherits the environment, and its three streams are a /dev/null that was opened once. */
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int main(void) {
  char program[] = "/bin/true";
  char* const arguments[] = {program, NULL};
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t all;
  sigset_t none;
  sigfillset(&all);
  sigemptyset(&none);
  if (null < 0 || posix_spawn_file_actions_init(&actions) != 0 || posix_spawnattr_init(&attributes) != 0)
    return EXIT_FAILURE;
  for (int stream = 0; stream < 3; ++stream) {
    if (posix_spawn_file_actions_adddup2(&actions, null, stream) != 0) return EXIT_FAILURE;
  }
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);

  char line[64];
  while (fgets(line, sizeof line, stdin) != NULL) {
    pid_t pid = -1;
    siginfo_t info;
    const int64_t start = now();
    if (posix_spawn(&pid, program, &actions, &attributes, arguments, environ) != 0) return EXIT_FAILURE;
    if (waitid(P_PID, (id_t)pid, &info, WEXITED) != 0) return EXIT_FAILURE;
    const int64_t end = now();
    if (info.si_code != CLD_EXITED || info.si_status != 0) return EXIT_FAILURE;
    printf("%lld\n", (long long)(end - start));
    if (fflush(stdout) != 0) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
