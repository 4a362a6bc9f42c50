// A plugin for TensorFlow 2.9, built with its headers, which works with 2.9 only. It has a device with host memory
// and synchronous streams, kernels for AddV2 and AssignVariableOp, and a graph optimizer that returns graphs
// unchanged and switches TensorFlow's layout optimizer off.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tensorflow/c/experimental/grappler/grappler.h"
#include "tensorflow/c/experimental/stream_executor/stream_executor.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/kernels_experimental.h"

#define TYPE "VENDOR"

// Memory.

static void *allocate_aligned(uint64_t size) { return size < (1ull << 40) ? aligned_alloc(256, (size + 256) / 256 * 256) : NULL; }

static void allocate(const SP_Device *device, uint64_t size, int64_t space, SP_DeviceMemoryBase *memory) {
  memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  memory->opaque = allocate_aligned(size);
  memory->size = size;
}
static void deallocate(const SP_Device *device, SP_DeviceMemoryBase *memory) {
  free(memory->opaque);
  memory->opaque = NULL;
}

#define OPAQUE(memory) ((memory)->opaque)
#include "device.h"

// The platform: one device.

static void count_devices(const SP_Platform *platform, int *count, TF_Status *status) {
  *count = 1;
}
static void create_device(const SP_Platform *platform, SE_CreateDeviceParams *params, TF_Status *status) {
  params->device->struct_size = SP_DEVICE_STRUCT_SIZE;
  params->device->ordinal = params->ordinal;
  params->device->hardware_name = "vendor's own";
}
static void destroy_device(const SP_Platform *platform, SP_Device *device) {}
static void create_device_fns(const SP_Platform *platform, SE_CreateDeviceFnsParams *params, TF_Status *status) {
  params->device_fns->struct_size = SP_DEVICE_FNS_STRUCT_SIZE;
}
static void destroy_device_fns(const SP_Platform *platform, SP_DeviceFns *functions) {}

static const SP_StreamExecutor executor = {
    .struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE,
    EXECUTOR_SLOTS
};
static void create_executor(const SP_Platform *platform, SE_CreateStreamExecutorParams *params, TF_Status *status) {
  *params->stream_executor = executor;
}
static void destroy_executor(const SP_Platform *platform, SP_StreamExecutor *executor) {}

static const SP_TimerFns timer_fns = {
    .struct_size = SP_TIMER_FNS_STRUCT_SIZE,
    .nanoseconds = nanoseconds,
};
static void create_timer_fns(const SP_Platform *platform, SP_TimerFns *functions, TF_Status *status) {
  *functions = timer_fns;
}
static void destroy_timer_fns(const SP_Platform *platform, SP_TimerFns *functions) {}

static const SP_PlatformFns platform_fns = {
    .struct_size = SP_PLATFORM_FNS_STRUCT_SIZE,
    .get_device_count = count_devices,
    .create_device = create_device,
    .destroy_device = destroy_device,
    .create_device_fns = create_device_fns,
    .destroy_device_fns = destroy_device_fns,
    .create_stream_executor = create_executor,
    .destroy_stream_executor = destroy_executor,
    .create_timer_fns = create_timer_fns,
    .destroy_timer_fns = destroy_timer_fns,
};
static const SP_Platform platform = {
    .struct_size = SP_PLATFORM_STRUCT_SIZE,
    .name = TYPE,
    .type = TYPE,
    .force_memory_growth = 1,
};
static void destroy_platform(SP_Platform *platform) {}
static void destroy_platform_fns(SP_PlatformFns *functions) {}

void SE_InitPlugin(SE_PlatformRegistrationParams *params, TF_Status *status) {
  *params->platform = platform;
  *params->platform_fns = platform_fns;
  params->struct_size = SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->destroy_platform = destroy_platform;
  params->destroy_platform_fns = destroy_platform_fns;
}

// Kernels.

#include "add_kernel.h"

static void assign(void *kernel, TF_OpKernelContext *context) {
  TF_Status *status = TF_NewStatus();
  TF_AssignVariable(context, 0, 1, copy_tensor, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(context, status);
  TF_DeleteStatus(status);
}

void TF_InitKernel(void) {
  register_kernel("AddV2", "T", add);
  register_kernel("AssignVariableOp", "dtype", assign);
}

// Graphs.

static const TP_Optimizer optimizer = {
    .struct_size = TP_OPTIMIZER_STRUCT_SIZE,
    .optimize_func = optimize,
};
static const TP_OptimizerConfigs configs = {
    .struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE,
    .layout_optimizer = TF_TriState_Off,
};

void TF_InitGraph(TP_OptimizerRegistrationParams *params, TF_Status *status) {
  params->struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->device_type = TYPE;
  *params->optimizer = optimizer;
  *params->optimizer_configs = configs;
}
