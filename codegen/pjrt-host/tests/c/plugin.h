/* A small PJRT plugin for tests of sp-pjrt-host: two devices in the memory of the host, and programs of two operations. A macro on the
 * command line plants a defect. */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "pjrt.h"

enum { DEVICES = 2, MEMORIES = 4 };

enum code { INVALID = 3, NOT_FOUND = 5, EXHAUSTED = 8, FAILED = 9, UNIMPLEMENTED = 12, INTERNAL = 13 };

/* An error, behind PJRT_Error. */
struct error {
  int code;
  char* message;
  size_t size;
};

PJRT_Error* fail(int code, const char* message);
PJRT_Error* fail_with(int code, const char* message, size_t size);

/* Checks the struct of arguments: a host that is older has a shorter one. */
#ifdef EXACT_SIZE
#define IS_SIZE_BAD(args, name) ((args)->struct_size != name##_SIZE)
#elif defined(TRUSTS_SIZE)
#define IS_SIZE_BAD(args, name) 0
#else
#define IS_SIZE_BAD(args, name) ((args)->struct_size < name##_SIZE)
#endif
#ifdef REJECTS_EXTENSION
#define IS_EXTENSION_BAD(args) ((args)->extension_start != NULL)
#else
#define IS_EXTENSION_BAD(args) 0
#endif
#define CHECK(args, name)                                                                  \
  if (IS_SIZE_BAD(args, name)) return fail(INVALID, #name " has another struct_size");     \
  if (IS_EXTENSION_BAD(args)) return fail(INVALID, #name " has an extension")

/* A function of the table that checks its arguments and does one thing. */
#define CHECKED(name, type, statement)       \
  static PJRT_Error* name(type* args) {      \
    CHECK(args, type);                       \
    statement;                               \
    return NULL;                             \
  }

/* An event: pending until it is set. */
struct event;
struct event* event_pending(void);
struct event* event_done(void);
void event_set(struct event* event, int code, const char* message, size_t size);
void event_unset(struct event* event); /* for a defect */
struct event* event_retain(struct event* event);
PJRT_Error* event_await(struct event* event);
PJRT_Error* event_error(struct event* event);
void event_release(struct event* event);

/* A device and a memory, behind PJRT_Device, PJRT_DeviceDescription and PJRT_Memory. */
struct memory_table {
  size_t struct_size;
  void* extensions;
  size_t instance_size;
  void *get_user_data, *set_user_data;
};

struct memory {
#ifndef MEMORY_WITHOUT_TABLE
  const struct memory_table* table;
#endif
  struct client* client;
  int id, kind;
  PJRT_Device* devices[1];
};

struct device {
  struct client* client;
  int id;
  _Atomic int64_t in_use, peak;
  struct memory memories[2];
  PJRT_Memory* memory_list[2];
};

struct client {
  struct device devices[DEVICES];
  PJRT_Device* device_list[DEVICES];
  PJRT_DeviceDescription* descriptions[DEVICES];
  PJRT_Memory* memory_list[MEMORIES];
};

/* Bytes on the device, with a count of references. */
struct block {
  atomic_int references;
  struct device* device;
  size_t size;
  char* bytes;
  void (*release)(void*, void*);
  void* release_argument;
};

/* A buffer, behind PJRT_Buffer. */
struct buffer {
  struct device* device;
  struct memory* memory;
  PJRT_Buffer_Type type;
  size_t rank;
  int64_t dims[8];
  int64_t minor_to_major[8];
  size_t size;
  struct block* block;
  struct event* ready;
  atomic_int external;
  struct block* held; /* deleted, and referenced from outside */
  struct event* done_with_host;
  struct buffer* next; /* the buffer before, for a defect */
};

struct block* block_new(struct device* device, size_t size);
void block_release(struct block* block);
size_t element_size(PJRT_Buffer_Type type);
PJRT_Error* buffer_new(struct device* device, struct memory* memory, PJRT_Buffer_Type type, const int64_t* dims, size_t rank,
                       struct buffer** out);
void buffer_delete(struct buffer* buffer);
void buffer_destroy(struct buffer* buffer);

/* A manager of transfers to several buffers. */
enum { TRANSFER_LIMIT = 8 };
struct manager {
  struct device* device;
  size_t count;
  struct buffer* buffers[TRANSFER_LIMIT];
  struct event* ready[TRANSFER_LIMIT];
};

/* An executable: a list of operations on its arguments. */
struct program {
  int arguments, results, donates;
  char operations[4];
  char name[64];
};
struct executable {
  struct program program;
  struct device* device;
  PJRT_Device* devices[1];
  int is_deleted;
  struct buffer* last; /* the result of the last execution, for a defect */
  char fingerprint[32];
};

/* Fills the table of functions of a part of the plugin. */
void fill_core(PJRT_Api* api);
void fill_client(PJRT_Api* api);
void fill_buffers(PJRT_Api* api);
void fill_transfers(PJRT_Api* api);
void fill_programs(PJRT_Api* api);

#endif
