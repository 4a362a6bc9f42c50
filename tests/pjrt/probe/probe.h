// A PJRT plugin that records the calls of its host. `declarations.py` writes `pjrt.h` and `slots.h`.
//
// Settings are environment variables, which are read when the host asks for the table:
//   SP_PROBE_LOG         the file to append records to
//   SP_PROBE_NULL        slots that are null: A,B
//   SP_PROBE_FAIL        slots that fail, with an error code: A:13,B:12
//   SP_PROBE_MAJOR, SP_PROBE_MINOR the version of the table
//   SP_PROBE_SLOTS       the number of slots; a page without access follows the last one
//   SP_PROBE_STRUCT_SIZE the struct_size of the table, if it is not that of its slots
//   SP_PROBE_EXTENSIONS  types of extensions in the chain: 4,5
//   SP_PROBE_FILL        0: members of extensions that are no functions are null
//   SP_PROBE_ATTRIBUTES  attributes of the plugin: stablehlo=1.2.3
//   SP_PROBE_VTABLES     0: errors and memories have no table of functions, but a pointer whose first use is recorded
//   SP_PROBE_DEVICES     the number of devices
//   SP_PROBE_PROGRAM     the file to write the last program to
//   SP_PROBE_SHAPE_SIZE  the size of the host's XLA_Shape
//   SP_PROBE_COMPILATION_DEVICE, SP_PROBE_ON_DEMAND what the next pluggable device of TensorFlow states: XLA_CPU_JIT and 1
#ifndef PROBE_H_
#define PROBE_H_
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pjrt.h"

// The implementation of a slot.
#define IMPLEMENT(name) PJRT_Error* implement_##name(name##_Args* arguments)
// Sets a text and its size.
#define SET_TEXT(field, size_field, value) ((arguments)->field = (value), (arguments)->size_field = strlen(value))
// True if the caller's struct has the field.
#define HAS(arguments, field) \
    ((arguments)->struct_size >= __builtin_offsetof(__typeof__(*(arguments)), field) + sizeof((arguments)->field))
static const char probe_name[] = "probe", probe_version[] = "probe 1";

typedef struct error {
    PJRT_Error base;
    PJRT_Error_Code code;
    char message[200];
} error;

enum { MAX_DEVICES = 16, MEMORIES_PER_DEVICE = 2, MAX_DIMS = 8, MAX_OUTPUTS = 32 };

struct PJRT_DeviceDescription {
    int32_t id;
    char text[32];
};

struct PJRT_Device {
    struct PJRT_DeviceDescription description;
    PJRT_Memory* memories[MEMORIES_PER_DEVICE];
};

typedef struct memory {
    PJRT_Memory base;
    int32_t id;
    int32_t kind_id;
    const char* kind;
    PJRT_Device* device;
    char text[32];
} memory;

struct PJRT_TopologyDescription {
    PJRT_DeviceDescription* descriptions[MAX_DEVICES];
};

struct PJRT_Client {
    PJRT_TopologyDescription topology;
    size_t device_count;
    PJRT_Device devices[MAX_DEVICES];
    PJRT_Device* device_list[MAX_DEVICES];
    memory memories[MAX_DEVICES * MEMORIES_PER_DEVICE];
    PJRT_Memory* memory_list[MAX_DEVICES * MEMORIES_PER_DEVICE];
};

typedef struct shape {
    PJRT_Buffer_Type type;
    size_t rank;
    int64_t dims[MAX_DIMS];
} shape;

struct PJRT_Buffer {
    shape shape;
    PJRT_Memory* memory;
    void* data;
    size_t size;
    bool deleted;
    int64_t minor_to_major[MAX_DIMS];
    void (*on_delete)(void* data, void* argument);
    void* on_delete_argument;
};

extern size_t setting_devices;
extern bool setting_vtables;
extern const void* setting_no_vtable;
extern const char* setting_stablehlo;

void record(const char* format, ...) __attribute__((format(printf, 1, 2)));
PJRT_Error* new_error(PJRT_Error_Code code, const char* message);
PJRT_Event* new_event(void);
PJRT_Client* the_client(void);
PJRT_Buffer* new_buffer(const shape* shape, PJRT_Memory* memory);
#endif
