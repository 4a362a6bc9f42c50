// Every construct that TensorFlow's headers have, once. Sides: DP_ is filled by the plugin, DC_ by core.
#ifndef DEMO_H_
#define DEMO_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEMO_OFFSET_OF_END(TYPE, MEMBER) (offsetof(TYPE, MEMBER) + sizeof(((TYPE*)0)->MEMBER))
#define DEMO_STRUCT_SIZE(S, last) offsetof(S, last) + sizeof(((S*)0)->last)
#define DEMO_DEFINE_STRUCT_TRAITS(S, last) \
  typedef struct S S;                      \
  enum { S##_STRUCT_SIZE = DEMO_STRUCT_SIZE(S, last) }

#define DEMO_MAJOR 1
#define DEMO_MINOR (DEMO_MAJOR + 0x1f)
#define DEMO_NAME "demo"
#define DEMO_Bool unsigned char

#ifdef __cplusplus
extern "C" {
#endif

// --- handles, aliases, enums ---
typedef struct Demo_Host Demo_Host;
struct Demo_Tagged;
typedef struct Demo_Queue_st* Demo_Queue;
typedef Demo_Queue Demo_Lane;
typedef unsigned char Demo_Byte;
typedef Demo_Byte Demo_Flag;
typedef enum Demo_Code { DEMO_OK = 0, DEMO_FINE = 0, DEMO_LATE = 7, DEMO_NEGATIVE = -1 } Demo_Code;
enum { Demo_Capacity = sizeof(void*) * 3 };
#define DEMO_SUCCESS DEMO_OK
const int kDemoLimit = DEMO_MAJOR + 4;

// --- callbacks, nested and plain ---
typedef void (*Demo_Done)(void* const arg, Demo_Host* const host);
typedef Demo_Host* Demo_Run(struct DC_Run_Args* args);

// --- the four spellings of a size ---
typedef struct DP_Device {
  size_t struct_size;
  void* ext;  // free-form data set by plugin
  int32_t ordinal;

  // [Optional]
  // Name for printing.
  const char* name;
  DEMO_Bool ready;
#define ODD_DEVICE_SIZE DEMO_OFFSET_OF_END(DP_Device, ready)
} DP_Device;

typedef struct {
  size_t struct_size;
  /*** QUEUE CALLBACKS ***/
  void (*create_queue)(const DP_Device* device, Demo_Queue* queue);
  void (*destroy_queue)(const DP_Device* device, Demo_Queue queue);
  bool (*visit)(void (*each)(int32_t index, bool last), double scale,
                float bias);  // out, set by plugin
} DP_Fns;
const size_t DP_FNS_STRUCT_SIZE = DEMO_OFFSET_OF_END(DP_Fns, visit);

struct DC_Run_Args {
  size_t struct_size;
  DP_Device* device;       // in/out
  const char* const* names;
  size_t num_names;
  int64_t dims[2][4];
  union {
    const char* text;
    int64_t number;
    struct {
      char tag;
      bool flag;
    } pair;
  };
  union {
    float real;
    Demo_Flag flags[3];
  } value;
  Demo_Code code;  // out
};
DEMO_DEFINE_STRUCT_TRAITS(DC_Run_Args, code);

#define SLOT(fn_type) fn_type* fn_type
typedef struct DP_Api {
  size_t struct_size;
  Demo_Done done;
  SLOT(Demo_Run);
} DP_Api;
enum { DP_Api_STRUCT_SIZE = DEMO_STRUCT_SIZE(DP_Api, Demo_Run) };
#undef SLOT

// --- functions ---
void Demo_Init(DP_Api* api);

// Places the next host into *host, and its ownership is passed to the caller.
extern bool Demo_NextHost(Demo_Lane lane, Demo_Host** host);
extern Demo_Host* Demo_NewHost(intptr_t stream, uintptr_t address);
extern void Demo_DeleteHost(Demo_Host* host);
extern void Demo_Touch(struct Demo_Tagged* tagged, void (*then)(void*), void* arg);
static inline int Demo_Twice(int x) { return 2 * x; }

#ifdef __cplusplus
}
#endif

#endif  // DEMO_H_
