// A host that breaks the contract: the macro selects how. It uses the plugin's device without TensorFlow.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow.h"

// A status is its code.
TF_Status *TF_NewStatus(void) { return calloc(1, sizeof(int)); }
void TF_DeleteStatus(TF_Status *status) { free(status); }
void TF_SetStatus(TF_Status *status, TF_Code code, const char *message) { *(int *)status = (int)code; }
TF_Code TF_GetCode(const TF_Status *status) { return (TF_Code) * (const int *)status; }
const char *TF_Message(const TF_Status *status) { return "a message"; }

// The plugin defines an op when it is loaded.
TF_OpDefinitionBuilder *TF_NewOpDefinitionBuilder(const char *name) { return NULL; }
void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder *op, const char *text) {}
void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder *op, const char *text) {}
void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder *op, const char *text) {}
void TF_OpDefinitionBuilderSetShapeInferenceFunction(TF_OpDefinitionBuilder *op,
                                                     void (*shape)(TF_ShapeInferenceContext *, TF_Status *)) {}
void TF_RegisterOpDefinition(TF_OpDefinitionBuilder *op, TF_Status *status) {}

// Kernels: the host keeps that of AddV2, and passes it tensors of three numbers.
typedef struct { void *data; int64_t count; } Tensor;
typedef struct { Tensor inputs[2], output; SP_Stream stream; } Context;
static void (*add)(void *, TF_OpKernelContext *);

TF_KernelBuilder *TF_NewKernelBuilder(const char *op, const char *device,
                                      void *(*create)(TF_OpKernelConstruction *),
                                      void (*compute)(void *, TF_OpKernelContext *), void (*delete)(void *)) {
  if (strcmp(op, "AddV2") == 0) add = compute;
  return calloc(1, 1);
}
#if SP_MINOR >= 13
TF_KernelBuilder *TF_NewAsyncKernelBuilder(const char *op, const char *device,
                                           void *(*create)(TF_OpKernelConstruction *),
                                           void (*compute)(void *, TF_OpKernelContext *,
                                                           TF_AsyncOpKernelDoneCallback *),
                                           void (*delete)(void *)) {
  return calloc(1, 1);
}
#endif
void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder *builder, const char *name, const TF_DataType type,
                                     TF_Status *status) {}
void TF_KernelBuilder_HostMemory(TF_KernelBuilder *builder, const char *name) {}
void TF_RegisterKernelBuilder(const char *name, TF_KernelBuilder *builder, TF_Status *status) { free(builder); }
int TF_NumInputs(TF_OpKernelContext *ctx) { return 2; }
int TF_NumOutputs(TF_OpKernelContext *ctx) { return 1; }
SP_Stream TF_GetStream(TF_OpKernelContext *ctx, TF_Status *status) { return ((Context *)ctx)->stream; }
static TF_Tensor *copy_of(Tensor tensor) {
  Tensor *copy = malloc(sizeof tensor);
  *copy = tensor;
  return (TF_Tensor *)copy;
}
void TF_GetInput(TF_OpKernelContext *ctx, int index, TF_Tensor **tensor, TF_Status *status) {
#if defined(SHARES_STATUS) || defined(OWN_STATUS)
  // The first two calls, on two threads, wait for each other.
  static atomic_int calls;
  if (atomic_fetch_add(&calls, 1) < 2) {
    while (atomic_load(&calls) < 2) sched_yield();
  }
#endif
  *tensor = copy_of(((Context *)ctx)->inputs[index]);
}
TF_Tensor *TF_AllocateOutput(TF_OpKernelContext *ctx, int index, TF_DataType type, const int64_t *dims, int rank,
                             size_t size, TF_Status *status) {
  return copy_of(((Context *)ctx)->output);
}
void TF_DeleteTensor(TF_Tensor *tensor) { free(tensor); }
TF_DataType TF_TensorType(const TF_Tensor *tensor) { return TF_FLOAT; }
int TF_NumDims(const TF_Tensor *tensor) { return 1; }
int64_t TF_Dim(const TF_Tensor *tensor, int index) { return ((const Tensor *)tensor)->count; }
int64_t TF_TensorElementCount(const TF_Tensor *tensor) { return ((const Tensor *)tensor)->count; }
size_t TF_TensorByteSize(const TF_Tensor *tensor) { return 4 * (size_t)((const Tensor *)tensor)->count; }
void *TF_TensorData(const TF_Tensor *tensor) { return ((const Tensor *)tensor)->data; }

static SP_Platform platform = {SP_Platform_SIZE};
static SP_PlatformFns functions = {SP_PlatformFns_SIZE};
static SP_Device device = {SP_Device_SIZE};
static SP_StreamExecutor table = {SP_StreamExecutor_SIZE};
static TF_Status *status;

static void start(const char *path) {
  void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(3);
  }
  void (*init)(SE_PlatformRegistrationParams *, TF_Status *);
  *(void **)&init = dlsym(library, "SE_InitPlugin");
  SE_PlatformRegistrationParams params = {SE_PlatformRegistrationParams_SIZE};
#if defined(OTHER_RELEASE)
  params.struct_size += 8;
#endif
  params.platform = &platform;
  params.platform_fns = &functions;
  status = TF_NewStatus();
  init(&params, status);
  SE_CreateDeviceParams create = {SE_CreateDeviceParams_SIZE};
  create.device = &device;
  functions.create_device(&platform, &create, status);
  SE_CreateStreamExecutorParams executor = {SE_CreateStreamExecutorParams_SIZE};
  executor.stream_executor = &table;
  functions.create_stream_executor(&platform, &executor, status);
  void (*init_kernels)(void);
  *(void **)&init_kernels = dlsym(library, "TF_InitKernel");
  init_kernels();
}

// Runs the kernel of AddV2 on the first two parts of a block of 256 bytes; the third is its output.
static void run_kernel(SP_Stream stream, char *block) {
  Context context = {{{block, 3}, {block + 64, 3}}, {block + 128, 3}, stream};
  add(NULL, (TF_OpKernelContext *)&context);
}

// A call of a slot that does not return before the stream is destroyed.
static atomic_int is_called, is_destroyed;

static void wait_until_destroyed(void *argument, TF_Status *status) {
  atomic_store(&is_called, 1);
  while (!atomic_load(&is_destroyed)) sched_yield();
}

static void *call_back(void *stream) {
  table.host_callback(&device, stream, wait_until_destroyed, NULL);
  return NULL;
}

static void destroy_in_use(void) {
  SP_Stream stream;
  pthread_t thread;
  table.create_stream(&device, &stream, status);
  pthread_create(&thread, NULL, call_back, stream);
  while (!atomic_load(&is_called)) sched_yield();
  table.destroy_stream(&device, stream);
  atomic_store(&is_destroyed, 1);
  pthread_join(thread, NULL);
}

int main(int count, char **arguments) {
  start(arguments[1]);
  SP_Stream one, other;
  SP_Event event;
  table.create_stream(&device, &one, status);
  table.create_stream(&device, &other, status);
  table.create_event(&device, &event, status);
  SP_DeviceMemoryBase block = {SP_DeviceMemoryBase_SIZE};
  table.allocate(&device, 256, 0, &block);
  char *host = table.host_memory_allocate(&device, 256);
  memset(host, 1, 256);
  uint64_t size = 256;
#if defined(LONG_COPY_OF_HOST)
  size = 257;
#endif
  table.memcpy_htod(&device, one, &block, host, size, status);
#if defined(FREES_EARLY)
  table.host_memory_deallocate(&device, host);
  host = table.host_memory_allocate(&device, 256);
#endif
#if defined(BY_EVENT)
  table.record_event(&device, one, event, status);
  table.wait_for_event(&device, other, event, status);
#elif defined(BY_WAIT)
  table.block_host_until_done(&device, one, status);
#elif defined(BY_POLL)
  table.record_event(&device, one, event, status);
  while (table.get_event_status(&device, event) != SE_EVENT_COMPLETE) {
  }
#elif !defined(UNORDERED)
  table.create_stream_dependency(&device, other, one, status);
#endif
#if defined(DESTROYS_IN_USE)
  destroy_in_use();
#endif
#if defined(RUNS_KERNEL) || defined(SHARES_STATUS) || defined(OWN_STATUS)
  // Behind the copy to the block, and ahead of that from it.
  run_kernel(other, block.opaque);
#elif defined(KERNEL_READS_EARLY)
  SP_Stream third;
  table.create_stream(&device, &third, status);
  run_kernel(third, block.opaque);
  table.create_stream_dependency(&device, other, third, status);
  table.destroy_stream(&device, third);
#elif defined(KERNEL_WRITES_LATE)
  // The dependency orders what is ahead of it only.
  run_kernel(one, block.opaque);
#endif
  table.memcpy_dtoh(&device, other, host, &block, 256, status);
  table.synchronize_all_activity(&device, status);
#if defined(FREES_BLOCK_TWICE)
  SP_DeviceMemoryBase copy = block;
  table.deallocate(&device, &copy);
#endif
#if defined(STALE_EVENT)
  table.destroy_event(&device, event);
  table.get_event_status(&device, event);
#else
  table.destroy_event(&device, event);
#endif
#if defined(STALE_COPY)
  SP_DeviceMemoryBase freed = block;
  table.deallocate(&device, &block);
  table.sync_memcpy_dtoh(&device, host, &freed, 8, status);
#elif !defined(LEAVES_BLOCK)
  table.deallocate(&device, &block);
#endif
  table.host_memory_deallocate(&device, host);
#if !defined(LEAVES_STREAM)
  table.destroy_stream(&device, one);
#endif
  table.destroy_stream(&device, other);
  functions.destroy_device(&platform, &device);
  puts("done");
  return 0;
}
