// The client, its devices, their memories and the topology.
#include "probe.h"

static const char* const memory_kinds[MEMORIES_PER_DEVICE] = {"device", "pinned_host"};
static PJRT_Client client;

static void* get_user_data(PJRT_Memory* memory_, const void* key)
{
    record("vtable PJRT_Memory.get_user_data");
    (void)memory_, (void)key;
    return NULL;
}

static void set_user_data(PJRT_Memory* memory_, const void* key, void* data, void (*destructor)(void*))
{
    record("vtable PJRT_Memory.set_user_data");
    (void)memory_, (void)key, (void)data, (void)destructor;
}

static const PJRT_Memory_FunctionTable memory_table = {sizeof memory_table, NULL, sizeof(memory), get_user_data, set_user_data};

static void add_memory(PJRT_Device* device, size_t kind)
{
    int32_t id = device->description.id * MEMORIES_PER_DEVICE + kind;
    memory* added = &client.memories[id];
    *added = (memory){{setting_vtables ? &memory_table : setting_no_vtable}, id, kind, memory_kinds[kind], device, ""};
    snprintf(added->text, sizeof added->text, "probe memory %d", id);
    device->memories[kind] = client.memory_list[id] = &added->base;
}

PJRT_Client* the_client(void)
{
    if (client.device_count) return &client;
    client.device_count = setting_devices;
    for (size_t i = 0; i < client.device_count; i++) {
        PJRT_Device* device = client.device_list[i] = &client.devices[i];
        device->description.id = i;
        snprintf(device->description.text, sizeof device->description.text, "probe:%zu", i);
        client.topology.descriptions[i] = &device->description;
        for (size_t kind = 0; kind < MEMORIES_PER_DEVICE; kind++) add_memory(device, kind);
    }
    return &client;
}

IMPLEMENT(PJRT_Client_Create)
{
    arguments->client = the_client();
    return NULL;
}

IMPLEMENT(PJRT_Client_Destroy)
{
    (void)arguments;
    return NULL;
}

IMPLEMENT(PJRT_Client_PlatformName)
{
    SET_TEXT(platform_name, platform_name_size, probe_name);
    return NULL;
}

IMPLEMENT(PJRT_Client_PlatformVersion)
{
    SET_TEXT(platform_version, platform_version_size, probe_version);
    return NULL;
}

IMPLEMENT(PJRT_Client_ProcessIndex)
{
    arguments->process_index = 0;
    return NULL;
}

IMPLEMENT(PJRT_Client_Devices)
{
    arguments->devices = client.device_list;
    arguments->num_devices = client.device_count;
    return NULL;
}

IMPLEMENT(PJRT_Client_AddressableDevices)
{
    arguments->addressable_devices = client.device_list;
    arguments->num_addressable_devices = client.device_count;
    return NULL;
}

static PJRT_Error* find_device(int32_t id, PJRT_Device** device)
{
    if (id < 0 || (size_t)id >= client.device_count) return new_error(PJRT_Error_Code_INVALID_ARGUMENT, "the probe has no such device");
    *device = client.device_list[id];
    return NULL;
}

IMPLEMENT(PJRT_Client_LookupDevice)
{
    return find_device(arguments->id, &arguments->device);
}

IMPLEMENT(PJRT_Client_LookupAddressableDevice)
{
    return find_device(arguments->local_hardware_id, &arguments->addressable_device);
}

IMPLEMENT(PJRT_Client_AddressableMemories)
{
    arguments->addressable_memories = client.memory_list;
    arguments->num_addressable_memories = client.device_count * MEMORIES_PER_DEVICE;
    return NULL;
}

IMPLEMENT(PJRT_Client_DefaultDeviceAssignment)
{
    int count = arguments->num_replicas * arguments->num_partitions;
    if ((size_t)count > arguments->default_assignment_size) return new_error(PJRT_Error_Code_INVALID_ARGUMENT, "the array is too short");
    for (int i = 0; i < count; i++) arguments->default_assignment[i] = i % (int)client.device_count;
    return NULL;
}

IMPLEMENT(PJRT_Client_UpdateGlobalProcessInfo)
{
    (void)arguments;
    return NULL;
}

IMPLEMENT(PJRT_Client_DmaMap)
{
    (void)arguments;
    return NULL;
}

IMPLEMENT(PJRT_Client_DmaUnmap)
{
    (void)arguments;
    return NULL;
}

// --- Devices ---

IMPLEMENT(PJRT_DeviceDescription_Id)
{
    arguments->id = arguments->device_description->id;
    return NULL;
}

IMPLEMENT(PJRT_DeviceDescription_ProcessIndex)
{
    arguments->process_index = 0;
    return NULL;
}

IMPLEMENT(PJRT_DeviceDescription_Attributes)
{
    static const PJRT_NamedValue attribute = {sizeof attribute, NULL, "probe_attribute", 15, 1 /* int64 */, {.int64_value = 7}, 1};
    arguments->attributes = &attribute;
    arguments->num_attributes = 1;
    return NULL;
}

IMPLEMENT(PJRT_DeviceDescription_Kind)
{
    SET_TEXT(device_kind, device_kind_size, "probe device");
    return NULL;
}

IMPLEMENT(PJRT_DeviceDescription_DebugString)
{
    SET_TEXT(debug_string, debug_string_size, arguments->device_description->text);
    return NULL;
}

IMPLEMENT(PJRT_DeviceDescription_ToString)
{
    SET_TEXT(to_string, to_string_size, arguments->device_description->text);
    return NULL;
}

IMPLEMENT(PJRT_Device_GetDescription)
{
    arguments->device_description = &arguments->device->description;
    return NULL;
}

IMPLEMENT(PJRT_Device_IsAddressable)
{
    arguments->is_addressable = true;
    return NULL;
}

IMPLEMENT(PJRT_Device_LocalHardwareId)
{
    arguments->local_hardware_id = arguments->device->description.id;
    return NULL;
}

IMPLEMENT(PJRT_Device_AddressableMemories)
{
    arguments->memories = arguments->device->memories;
    arguments->num_memories = MEMORIES_PER_DEVICE;
    return NULL;
}

IMPLEMENT(PJRT_Device_DefaultMemory)
{
    arguments->memory = arguments->device->memories[0];
    return NULL;
}

IMPLEMENT(PJRT_Device_MemoryStats)
{
    size_t start = __builtin_offsetof(PJRT_Device_MemoryStats_Args, bytes_in_use);
    memset((char*)arguments + start, 0, arguments->struct_size - start);
    arguments->bytes_in_use = 1;
    return NULL;
}

IMPLEMENT(PJRT_Device_ClearMemoryStats)
{
    (void)arguments;
    return NULL;
}

static void forget_attributes(PJRT_Device_Attributes* attributes)
{
    (void)attributes;
}

IMPLEMENT(PJRT_Device_GetAttributes)
{
    arguments->attributes = NULL;
    arguments->num_attributes = 0;
    arguments->device_attributes = (PJRT_Device_Attributes*)arguments->device;
    arguments->attributes_deleter = forget_attributes;
    return NULL;
}

// --- Memories ---

IMPLEMENT(PJRT_Memory_Id)
{
    arguments->id = ((memory*)arguments->memory)->id;
    return NULL;
}

IMPLEMENT(PJRT_Memory_Kind)
{
    SET_TEXT(kind, kind_size, ((memory*)arguments->memory)->kind);
    return NULL;
}

IMPLEMENT(PJRT_Memory_Kind_Id)
{
    arguments->kind_id = ((memory*)arguments->memory)->kind_id;
    return NULL;
}

IMPLEMENT(PJRT_Memory_DebugString)
{
    SET_TEXT(debug_string, debug_string_size, ((memory*)arguments->memory)->text);
    return NULL;
}

IMPLEMENT(PJRT_Memory_ToString)
{
    SET_TEXT(to_string, to_string_size, ((memory*)arguments->memory)->text);
    return NULL;
}

IMPLEMENT(PJRT_Memory_AddressableByDevices)
{
    arguments->devices = &client.device_list[((memory*)arguments->memory)->device->description.id];
    arguments->num_devices = 1;
    return NULL;
}
