/* A PJRT plugin without a device: it creates no client, and implements little else. The table is that of version 0.90. */
#include <stddef.h>
#include <string.h>

enum { SLOTS = 128, ERROR_DESTROY = 0, ERROR_MESSAGE, ERROR_CODE, INITIALIZE, ATTRIBUTES, CLIENT_CREATE = 10 };

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

/* Errors with the codes of UNIMPLEMENTED and FAILED_PRECONDITION. */
static int absent = 12, no_device = 9;

static void* is_absent(void* arguments) { return &absent; }

static void* create(void* arguments) { return &no_device; }

static void* succeeds(void* arguments) { return NULL; }

static void* message(void* arguments) {
  char** fields = arguments;
  fields[3] = "no device";
  ((size_t*)arguments)[4] = 9;
  return NULL;
}

static void* code(void* arguments) {
  ((int*)arguments)[6] = *((int**)arguments)[2];
  return NULL;
}

void* GetPjrtApi(void) {
  table.size = sizeof table;
  table.version = (struct version){sizeof(struct version), NULL, 0, 90};
  for (int at = 0; at < SLOTS; ++at) table.slots[at] = is_absent;
  table.slots[ERROR_DESTROY] = succeeds;
  table.slots[ERROR_MESSAGE] = message;
  table.slots[ERROR_CODE] = code;
  table.slots[INITIALIZE] = succeeds;
  table.slots[ATTRIBUTES] = succeeds;
  table.slots[CLIENT_CREATE] = create;
#ifdef MAJOR
  table.version.major = MAJOR;
#endif
  return &table;
}
