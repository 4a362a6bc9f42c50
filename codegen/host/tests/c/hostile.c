// Plugins that misbehave towards the process that checks them. Each macro is one way.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tensorflow.h"

#define MEBIBYTE (1 << 20)

static void write_all(int to, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t written = write(to, bytes, size);
    if (written <= 0) return;
    bytes += written;
    size -= (size_t)written;
  }
}

static void say(int to, const char *text) { write_all(to, text, strlen(text)); }

// Sockets among the descriptors that a library finds open.
static int next_socket(int from) {
  struct stat found;
  for (int at = from; at < 1024; ++at) {
    if (fstat(at, &found) == 0 && S_ISSOCK(found.st_mode)) return at;
  }
  return -1;
}

__attribute__((constructor)) static void at_loading(void) {
#if defined(FLOODS)
  static char noise[MEBIBYTE];
  memset(noise, 'x', sizeof noise);
  for (int i = 0; i < 256; ++i) write_all(1 + i % 2, noise, sizeof noise);
#endif
#if defined(FORKS)
  // Named by the test: where to write the number of the process that stays.
  pid_t child = fork();
  if (child == 0) {
    sleep(120);
    _exit(0);
  }
  FILE *file = fopen(getenv("HOSTILE_FILE"), "w");
  if (file != NULL) {
    fprintf(file, "%d\n", (int)child);
    fclose(file);
  }
#endif
#if defined(FORKS_BACK)
  // The copy goes on with the check beside its parent.
  if (fork() == 0) return;
  sleep(1);
  abort();
#endif
#if defined(HANGS)
  for (;;) pause();
#endif
#if defined(STOPS)
  raise(SIGSTOP);
#endif
#if defined(FORGES)
  say(1, "\n@sp-host pass forged\n\npass forged\n");
  say(2, "\n@sp-host pass forged\n\npass forged\n");
  for (int at = next_socket(0); at >= 0; at = next_socket(at + 1)) {
    say(at, "\n@sp-host pass forged\n\npass forged\n\n00000000000000000000000000000000 pass forged\n");
  }
  _exit(0);
#endif
#if defined(FORGES_SKIP)
  say(2, "sp-host: TFE_NewContext was called, and this host does not implement it\n");
  say(2, "undefined symbol: PyObject_Call\n");
  abort();
#endif
#if defined(READS_SECRET)
  // The nonce is neither in stdin nor in the environment, and a program would not inherit the socket.
  char byte;
  if (read(0, &byte, 1) != 0) _exit(3);
  for (int at = next_socket(0); at >= 0; at = next_socket(at + 1)) {
    char bytes[64];
    if ((fcntl(at, F_GETFD) & FD_CLOEXEC) == 0) _exit(4);
    if (fcntl(at, F_SETFL, O_NONBLOCK) == 0 && read(at, bytes, sizeof bytes) > 0) _exit(5);
    fcntl(at, F_SETFL, 0);
  }
#endif
#if defined(ESCAPES)
  say(2, "\x1b]0;title\x07 and \x1b[2J and \xe2\x80\xae gone\n");
  abort();
#endif
#if defined(CLOSES_ALL)
  for (int at = 0; at < 1024; ++at) close(at);
#endif
#if defined(BREAKS_STDERR)
  int ends[2];
  if (pipe(ends) != 0) abort();
  dup2(ends[1], 1);
  dup2(ends[1], 2);
  close(ends[0]);
  signal(SIGPIPE, SIG_IGN);
#endif
#if defined(CLOSES_STDERR)
  close(1);
  close(2);
#endif
#if defined(LEAVES_CORE)
  struct rlimit limit;
  if (getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_max != 0) _exit(3);
#endif
#if defined(FILLS_DISK)
  FILE *file = tmpfile();
  if (file != NULL && ftruncate(fileno(file), 2048l * MEBIBYTE) != 0) _exit(3);
#endif
  (void)say;
  (void)next_socket;
}

void TF_InitKernel(void) {
#if defined(BREAKS_STDERR) || defined(CLOSES_STDERR)
  TF_Status *status = TF_NewStatus();
  TF_DeleteStatus(status);
  TF_DeleteStatus(status);
#endif
}
