/* The bare echo that a guest's stdio is held against: what comes on stdin goes to stdout, and nothing else.
 *
 * Both are the same end of a Unix socket pair. Ends when the other end is closed. */
#include <errno.h>
#include <stdlib.h>

#include <unistd.h>

int main(void) {
  static char buffer[65536];
  for (;;) {
    const ssize_t got = read(STDIN_FILENO, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) return EXIT_SUCCESS;
    if (got < 0) return EXIT_FAILURE;
    for (ssize_t sent = 0; sent < got;) {
      const ssize_t n = write(STDOUT_FILENO, buffer + sent, (size_t)(got - sent));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return EXIT_FAILURE;
      sent += n;
    }
  }
}
