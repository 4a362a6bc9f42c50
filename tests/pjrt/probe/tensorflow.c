// The entry point that TensorFlow calls beside GetPjrtApi, for its next pluggable device.
#define _GNU_SOURCE
#include "probe.h"
#include <dlfcn.h>
#include "tfnpd.h"

#define RECORD() record("tfnpd %s", __func__)

static TFNPD_DeviceEvent* NewDeviceEvent(void)
{
    RECORD();
    return calloc(1, 1);
}

static void DeviceEventAwait(TFNPD_DeviceEvent* event, TF_Status* status)
{
    RECORD();
    (void)event, (void)status;
}

static bool DeviceEventIsReady(TFNPD_DeviceEvent* event)
{
    RECORD();
    (void)event;
    return true;
}

static void DeviceEventAndThen(TFNPD_DeviceEvent* event, void (*callback)(void*), void* argument)
{
    RECORD();
    (void)event;
    callback(argument);
}

static void DeviceEventDelete(TFNPD_DeviceEvent* event)
{
    RECORD();
    free(event);
}

static TFNPD_DeviceAllocator* DeviceAllocatorCreate(int32_t ordinal)
{
    RECORD();
    (void)ordinal;
    return calloc(1, 1);
}

static void* DeviceAllocateRaw(TFNPD_DeviceAllocator* allocator, size_t alignment, size_t size)
{
    RECORD();
    (void)allocator;
    return aligned_alloc(alignment, (size + alignment) / alignment * alignment);
}

static void DeviceDeallocateRaw(TFNPD_DeviceAllocator* allocator, void* memory)
{
    RECORD();
    (void)allocator;
    free(memory);
}

static TF_StringView DeviceAllocatorName(TFNPD_DeviceAllocator* allocator)
{
    RECORD();
    (void)allocator;
    return (TF_StringView){probe_name, strlen(probe_name)};
}

static bool DeviceAllocatorAllocatesOpaqueHandle(TFNPD_DeviceAllocator* allocator)
{
    RECORD();
    (void)allocator;
    return true;
}

static void DeviceAllocatorDelete(TFNPD_DeviceAllocator* allocator)
{
    RECORD();
    free(allocator);
}

static TFNPD_DeviceContext* DeviceContextCreate(int32_t ordinal)
{
    RECORD();
    (void)ordinal;
    return calloc(1, 1);
}

static void DeviceContextDelete(TFNPD_DeviceContext* context)
{
    RECORD();
    free(context);
}

static TFNPD_DeviceEvent* DeviceTensorToHostTensor(TFNPD_DeviceContext* context, const TF_Tensor* source, TF_Tensor* target, TF_Status* status)
{
    RECORD();
    (void)context, (void)source, (void)target, (void)status;
    return calloc(1, 1);
}

static TFNPD_DeviceEvent* HostTensorToDeviceTensor(TFNPD_DeviceContext* context, const TF_Tensor* source, TF_Tensor* target, TF_Status* status)
{
    RECORD();
    (void)context, (void)source, (void)target, (void)status;
    return calloc(1, 1);
}

static TFNPD_DeviceEvent* SameDeviceTensorCopy(TFNPD_DeviceContext* context)
{
    RECORD();
    (void)context;
    return calloc(1, 1);
}

static PJRT_Buffer* SameDevicePjRtBufferCopy(PJRT_Buffer* source, PJRT_Client* client, TF_Status* status)
{
    RECORD();
    (void)client, (void)status;
    return source;
}

// The shape on the device is that of the host. The size of the struct differs between releases, and no field states it.
static void XlaShapeToDeviceShapeRepresentation(XLA_Shape* shape, int32_t type, bool fast, XLA_LayoutPreference preference, XLA_Shape* result, TF_Status* status)
{
    RECORD();
    (void)type, (void)fast, (void)preference, (void)status;
    const char* size = getenv("SP_PROBE_SHAPE_SIZE");
    memcpy(result, shape, size ? strtoul(size, NULL, 10) : sizeof *shape);
}

static int32_t GetDeviceCount(TF_Status* status)
{
    RECORD();
    (void)status;
    return setting_devices;
}

// Finds a function of core. Python opens core's libraries without adding their symbols to the global scope.
static void* find_in_core(const char* name)
{
    static const char* const libraries[] = {"libtensorflow_cc.so.2", "libtensorflow_framework.so.2"};
    for (size_t i = 0; i < 2; i++) {
        void* library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        void* found = library ? dlsym(library, name) : NULL;
        if (found) return found;
    }
    return dlsym(RTLD_DEFAULT, name);
}

// Puts the client into core's registry, if core exports the function.
static void InitPluginInternalDeviceStates(TF_Status* status)
{
    RECORD();
    void (*create)(const char*, TF_Status*, PJRT_NamedValue*, int) = find_in_core("TF_CreateAndSetPjRtCApiClient");
    record("core-exports %s", create ? "TF_CreateAndSetPjRtCApiClient" : "none");
    if (create) create("PROBE", status, NULL, 0);
}

#define SLOT(name) .TFNPD_##name = name

__attribute__((visibility("default"))) const TFNPD_Api* TFNPD_InitPlugin(TFNPD_PluginParams* parameters, TF_Status* status)
{
    static const TFNPD_Api api = {.struct_size = sizeof api, SLOT(NewDeviceEvent), SLOT(DeviceEventAwait), SLOT(DeviceEventIsReady),
        SLOT(DeviceEventAndThen), SLOT(DeviceEventDelete), SLOT(DeviceAllocatorCreate), SLOT(DeviceAllocateRaw),
        SLOT(DeviceDeallocateRaw), SLOT(DeviceAllocatorName), SLOT(DeviceAllocatorAllocatesOpaqueHandle), SLOT(DeviceAllocatorDelete),
        SLOT(DeviceContextCreate), SLOT(DeviceContextDelete), SLOT(DeviceTensorToHostTensor), SLOT(HostTensorToDeviceTensor),
        SLOT(SameDeviceTensorCopy), SLOT(SameDevicePjRtBufferCopy), SLOT(XlaShapeToDeviceShapeRepresentation), SLOT(GetDeviceCount),
        SLOT(InitPluginInternalDeviceStates)};
    (void)status;
    record("tfnpd InitPlugin %zu", parameters->struct_size);
    parameters->device_type = "PROBE";
    const char* compilation_device = getenv("SP_PROBE_COMPILATION_DEVICE");
    const char* on_demand = getenv("SP_PROBE_ON_DEMAND");
    // Core ends the process if the name is not that of a device whose compiler it has.
    parameters->compilation_device_name = compilation_device ? compilation_device : "XLA_CPU_JIT";
    parameters->priority = 220;
    parameters->is_pluggable_device = true;
    parameters->use_pjrt_on_demand_compile = !on_demand || *on_demand != '0';
    return &api;
}
