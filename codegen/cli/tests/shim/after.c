// The plugin of before.c with the generated headers, which works with TensorFlow 2.5 to 2.22. It has a device with
// host memory and synchronous streams, kernels for AddV2 and AssignVariableOp, and a graph optimizer that returns
// graphs unchanged and switches TensorFlow's layout optimizer off.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "spgen_grappler.h"
#include "spgen_kernels.h"
#include "spgen_kernels_experimental.h"
#include "spgen_stream_executor.h"
#include "spgen_tf_tensor.h"

#define TYPE "VENDOR"

// Memory.

static void *allocate_aligned(uint64_t size) { return size < (1ull << 40) ? aligned_alloc(256, (size + 256) / 256 * 256) : NULL; }

static void allocate(const SP_Device *device, uint64_t size, int64_t space, SP_DeviceMemoryBase *memory) {
  spgen_set(SP_DeviceMemoryBase, opaque, memory, allocate_aligned(size));
  spgen_set(SP_DeviceMemoryBase, size, memory, size);
}
static void deallocate(const SP_Device *device, SP_DeviceMemoryBase *memory) {
  free(spgen_get(SP_DeviceMemoryBase, opaque, memory));
  spgen_set(SP_DeviceMemoryBase, opaque, memory, NULL);
}

#define OPAQUE(memory) spgen_get(SP_DeviceMemoryBase, opaque, memory)
#include "device.h"

// The platform: one device.

static void count_devices(const SP_Platform *platform, int *count, TF_Status *status) {
  *count = spgen_is_host_accepted() ? 1 : 0;
}
static void create_device(const SP_Platform *platform, SE_CreateDeviceParams *params, TF_Status *status) {
  SP_Device *device = spgen_get(SE_CreateDeviceParams, device, params);
  spgen_set(SP_Device, ordinal, device, spgen_get(SE_CreateDeviceParams, ordinal, params));
  spgen_set(SP_Device, hardware_name, device, "vendor's own");
}
static void destroy_device(const SP_Platform *platform, SP_Device *device) {}
static void create_device_fns(const SP_Platform *platform, SE_CreateDeviceFnsParams *params, TF_Status *status) {}
static void destroy_device_fns(const SP_Platform *platform, SP_DeviceFns *functions) {}

static const SP_StreamExecutor_newest executor = {
    EXECUTOR_SLOTS
};
static void create_executor(const SP_Platform *platform, SE_CreateStreamExecutorParams *params, TF_Status *status) {
  SP_StreamExecutor *table = NULL;
  SPGEN_GET_FIXED(SE_CreateStreamExecutorParams, stream_executor, params, &table);
  spgen_fill_or_decline(SP_StreamExecutor, table, &executor);
}
static void destroy_executor(const SP_Platform *platform, SP_StreamExecutor *executor) {}

static const SP_TimerFns_newest timer_fns = {
    .nanoseconds = nanoseconds,
};
static void create_timer_fns(const SP_Platform *platform, SP_TimerFns *functions, TF_Status *status) {
  spgen_fill_or_decline(SP_TimerFns, functions, &timer_fns);
}
static void destroy_timer_fns(const SP_Platform *platform, SP_TimerFns *functions) {}

static const SP_PlatformFns_newest platform_fns = {
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
static const SP_Platform_newest platform = {
    .name = TYPE,
    .type = TYPE,
    .force_memory_growth = 1,
};
static void destroy_platform(SP_Platform *platform) {}
static void destroy_platform_fns(SP_PlatformFns *functions) {}

void SE_InitPlugin(SE_PlatformRegistrationParams *params, TF_Status *status) {
  if (!spgen_accept_SE_InitPlugin(params, TYPE, TYPE)) return;
  spgen_fill(SP_Platform, spgen_get(SE_PlatformRegistrationParams, platform, params), &platform, status);
  spgen_fill(SP_PlatformFns, spgen_get(SE_PlatformRegistrationParams, platform_fns, params), &platform_fns, status);
  spgen_set(SE_PlatformRegistrationParams, destroy_platform, params, destroy_platform);
  spgen_set(SE_PlatformRegistrationParams, destroy_platform_fns, params, destroy_platform_fns);
}

// Kernels.

#include "add_kernel.h"

static void assign(void *kernel, TF_OpKernelContext *context) {
  TF_Status *status = TF_NewStatus();
  spgen_find(TF_AssignVariable)(context, 0, 1, false, copy_tensor, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(context, status);
  TF_DeleteStatus(status);
}

void TF_InitKernel(void) {
  register_kernel("AddV2", "T", add);
  // Without this function TensorFlow's own kernel is used, which exists from 2.11 on.
  if (spgen_find(TF_AssignVariable) != NULL) register_kernel("AssignVariableOp", "dtype", assign);
}

// Graphs.

static const TP_Optimizer_newest optimizer = {
    .optimize_func = optimize,
};
static const TP_OptimizerConfigs_newest configs = {
    .layout_optimizer = TF_TriState_Off,
};

void TF_InitGraph(TP_OptimizerRegistrationParams *params, TF_Status *status) {
  if (!spgen_accept_TF_InitGraph(params, TYPE)) return;
  spgen_set(TP_OptimizerRegistrationParams, device_type, params, TYPE);
  spgen_fill(TP_Optimizer, spgen_get(TP_OptimizerRegistrationParams, optimizer, params), &optimizer, status);
  spgen_fill(TP_OptimizerConfigs, spgen_get(TP_OptimizerRegistrationParams, optimizer_configs, params), &configs, status);
}
