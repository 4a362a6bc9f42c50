// Plugins for the tests of the command: a macro is a way to misbehave. They need no header.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void at_loading(void) {
#if defined(FORKS)
  pid_t child = fork();
  if (child == 0) {
    sleep(300);
    _exit(0);
  }
  FILE *file = fopen(getenv("HOSTILE_FILE"), "a");
  if (file != NULL) {
    fprintf(file, "%d\n%d\n", (int)getpid(), (int)child);
    fclose(file);
  }
#endif
#if defined(HANGS)
  for (;;) pause();
#endif
#if defined(FLOODS)
  char noise[4096];
  memset(noise, 'x', sizeof noise);
  for (int i = 0; i < 4096; ++i) {
    if (write(1, noise, sizeof noise) < 0) break;
  }
#endif
#if defined(ESCAPES)
  fprintf(stderr, "\x1b]0;title\x07\x1b[2Jgone\n");
  abort();
#endif
#if defined(MARKS_FILE)
  FILE *file = fopen(getenv("HOSTILE_FILE"), "a");
  if (file != NULL) fclose(file);
#endif
}

#if defined(ESCAPES)
// The test puts an escape in place of the two letters Q.
__attribute__((weak)) int TF_QQ31mRed(void);
int use_weak(void) { return TF_QQ31mRed ? TF_QQ31mRed() : 0; }
#endif

#if !defined(NO_ENTRY_POINT)
void TF_InitKernel(void) {}
#endif
