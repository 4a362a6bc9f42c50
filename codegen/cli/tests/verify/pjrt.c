/* A PJRT plugin without a device: every function that needs one returns the same error. The table is that of version 0.90. */
#include <stddef.h>
#include <string.h>

enum { SLOTS = 128, ERROR_DESTROY = 0, ERROR_MESSAGE, ERROR_CODE, INITIALIZE, ATTRIBUTES };

struct version {
  size_t size;
  void* extension;
  int major, minor;
};

static struct {
  size_t size;
  void* extension;
  struct version version;
  void* (*slots[SLOTS])(void*);
} table;

static int error;

static void* fails(void* arguments) { return &error; }

static void* succeeds(void* arguments) { return NULL; }

static void* message(void* arguments) {
  char** fields = arguments;
  fields[3] = "no device";
  ((size_t*)arguments)[4] = 9;
  return NULL;
}

static void* code(void* arguments) {
  ((int*)arguments)[6] = 9;
  return NULL;
}

void* GetPjrtApi(void) {
  table.size = sizeof table;
  table.version = (struct version){sizeof(struct version), NULL, 0, 90};
  for (int at = 0; at < SLOTS; ++at) table.slots[at] = fails;
  table.slots[ERROR_DESTROY] = succeeds;
  table.slots[ERROR_MESSAGE] = message;
  table.slots[ERROR_CODE] = code;
  table.slots[INITIALIZE] = succeeds;
  table.slots[ATTRIBUTES] = succeeds;
#ifdef MAJOR
  table.version.major = MAJOR;
#endif
  return &table;
}
