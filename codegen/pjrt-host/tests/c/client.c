/* Clients, devices, memories and topologies. */
#include <stdio.h>
#include <unwind.h>

#include "plugin.h"

#define TEXT(args, field, text) ((args)->field = (text), (args)->field##_size = strlen(text))

#if defined(ONE_CLIENT) || defined(CLIENT_STAYS_DEAD)
static struct client* only;
#endif

static PJRT_Error* client_create(PJRT_Client_Create_Args* args) {
  if (args->struct_size < 72) return fail(INVALID, "PJRT_Client_Create_Args is too short");
#ifdef NO_DEVICE
  return fail(FAILED, "no device on this machine");
#endif
#ifdef OPTION_CRASHES
  for (size_t at = 0; at < args->num_options; ++at)
    if (args->create_options[at].anonymous.string_value[0] == 'x') return fail(INVALID, "an option begins with x");
#endif
#ifdef CLIENT_NULL
  return NULL;
#endif
#ifdef THROWS
  static struct _Unwind_Exception exception;
  _Unwind_RaiseException(&exception);
#endif
#ifdef CRASH
  *(volatile int*)NULL = 1;
#endif
#ifdef WRITES_PAST
  args->struct_size = PJRT_Client_Create_Args_SIZE;
  ((char*)args)[PJRT_Client_Create_Args_SIZE + 8] = 1;
#endif
#ifdef CHANGES_INPUT
  args->num_options = 0;
#endif
#ifdef ONE_CLIENT
  if (only != NULL) {
    args->client = (PJRT_Client*)only;
    return NULL;
  }
#endif
#ifdef CLIENT_STAYS_DEAD
  static int count;
  if (++count > 3) return fail(FAILED, "the device was shut down");
#endif
  struct client* client = calloc(1, sizeof *client);
  for (int at = 0; at < DEVICES; ++at) {
    struct device* device = &client->devices[at];
    device->client = client;
    device->id = at;
    client->device_list[at] = (PJRT_Device*)device;
    client->descriptions[at] = (PJRT_DeviceDescription*)device;
    for (int kind = 0; kind < 2; ++kind) {
      struct memory* memory = &device->memories[kind];
      *memory = (struct memory){.client = client, .id = 2 * at + kind, .kind = kind, .devices = {(PJRT_Device*)device}};
#if !defined(MEMORY_WITHOUT_TABLE) && !defined(MEMORY_TABLE_NULL)
      static const struct memory_table table = {.struct_size = sizeof table, .instance_size = sizeof(PJRT_Memory*)};
      memory->table = &table;
#endif
      device->memory_list[kind] = client->memory_list[memory->id] = (PJRT_Memory*)memory;
    }
  }
#if defined(ONE_CLIENT)
  only = client;
#endif
  args->client = (PJRT_Client*)client;
  return NULL;
}

static PJRT_Error* client_destroy(PJRT_Client_Destroy_Args* args) {
  CHECK(args, PJRT_Client_Destroy_Args);
#ifndef ONE_CLIENT
  free(args->client);
#endif
  return NULL;
}

static PJRT_Error* client_name(PJRT_Client_PlatformName_Args* args) {
  CHECK(args, PJRT_Client_PlatformName_Args);
#ifdef EMPTY_NAME
  TEXT(args, platform_name, "");
#elif defined(NAME_WITH_SPACE)
  TEXT(args, platform_name, "test device");
#elif defined(NAME_GARBAGE)
  args->platform_name = (char*)64, args->platform_name_size = 4;
#elif defined(NAME_LATIN)
  TEXT(args, platform_name, "test\xe9");
#else
  TEXT(args, platform_name, "test");
#endif
  return NULL;
}

CHECKED(client_version, PJRT_Client_PlatformVersion_Args, TEXT(args, platform_version, "1.0"))

static PJRT_Error* client_process(PJRT_Client_ProcessIndex_Args* args) {
  CHECK(args, PJRT_Client_ProcessIndex_Args);
#ifdef PROCESS_ONE
  args->process_index = 1;
#else
  args->process_index = 0;
#endif
  return NULL;
}

static PJRT_Error* client_devices(PJRT_Client_Devices_Args* args) {
  CHECK(args, PJRT_Client_Devices_Args);
  struct client* client = (struct client*)args->client;
#ifdef DEVICE_TWICE
  client->device_list[1] = client->device_list[0];
#endif
#ifdef DEVICE_NULL
  client->device_list[1] = NULL;
#endif
#ifdef DEVICES_SWAP
  PJRT_Device* first = client->device_list[0];
  client->device_list[0] = client->device_list[1];
  client->device_list[1] = first;
#endif
  args->devices = client->device_list;
  args->num_devices = DEVICES;
#ifdef DEVICES_FEWER
  args->num_devices = 1;
#endif
  return NULL;
}

static PJRT_Error* client_addressable(PJRT_Client_AddressableDevices_Args* args) {
  CHECK(args, PJRT_Client_AddressableDevices_Args);
  struct client* client = (struct client*)args->client;
  args->addressable_devices = client->device_list;
  args->num_addressable_devices = DEVICES;
  return NULL;
}

static PJRT_Error* find(struct client* client, int id, PJRT_Device** out) {
#ifdef LOOKUP_ANY
  id &= 1;
#endif
#ifdef LOOKUP_FIRST
  if (id == 1) id = 0;
#endif
  if (id < 0 || id >= DEVICES) {
    char text[64];
    snprintf(text, sizeof text, "no device has the id %d", id);
    return fail(NOT_FOUND, text);
  }
  *out = (PJRT_Device*)&client->devices[id];
  return NULL;
}

static PJRT_Error* client_lookup(PJRT_Client_LookupDevice_Args* args) {
  CHECK(args, PJRT_Client_LookupDevice_Args);
  return find((struct client*)args->client, args->id, &args->device);
}

static PJRT_Error* client_lookup_local(PJRT_Client_LookupAddressableDevice_Args* args) {
  CHECK(args, PJRT_Client_LookupAddressableDevice_Args);
  return find((struct client*)args->client, args->local_hardware_id, &args->addressable_device);
}

static PJRT_Error* client_memories(PJRT_Client_AddressableMemories_Args* args) {
  CHECK(args, PJRT_Client_AddressableMemories_Args);
  args->addressable_memories = ((struct client*)args->client)->memory_list;
  args->num_addressable_memories = MEMORIES;
#ifdef MEMORY_NOT_LISTED
  args->num_addressable_memories = MEMORIES - 1;
#endif
  return NULL;
}

static PJRT_Error* assignment(PJRT_Client_DefaultDeviceAssignment_Args* args) {
  CHECK(args, PJRT_Client_DefaultDeviceAssignment_Args);
  size_t count = (size_t)args->num_replicas * args->num_partitions;
#ifndef ASSIGNS_PAST
  if (args->default_assignment_size < count) return fail(INVALID, "the assignment is too short");
#endif
  if (count > DEVICES) return fail(INVALID, "too few devices");
  for (size_t at = 0; at < count; ++at)
#ifdef ASSIGNS_TWICE
    args->default_assignment[at] = 0;
#else
    args->default_assignment[at] = at;
#endif
  return NULL;
}

CHECKED(description_id, PJRT_DeviceDescription_Id_Args, args->id = ((struct device*)args->device_description)->id)

static PJRT_Error* description_process(PJRT_DeviceDescription_ProcessIndex_Args* args) {
  CHECK(args, PJRT_DeviceDescription_ProcessIndex_Args);
#ifdef DEVICE_OF_OTHER_PROCESS
  args->process_index = 5;
#else
  args->process_index = 0;
#endif
  return NULL;
}

static PJRT_NamedValue coordinates = {.struct_size = PJRT_NamedValue_SIZE,
                                      .name = "core",
#ifdef DEVICE_ATTRIBUTE
                                      .name_size = 0,
#else
                                      .name_size = 4,
#endif
                                      .type = PJRT_NamedValue_kInt64,
                                      .value_size = 1};

static PJRT_NamedValue topology_attribute = {
#ifdef TOPOLOGY_ATTRIBUTE
    .struct_size = 8,
#else
    .struct_size = PJRT_NamedValue_SIZE,
#endif
    .name = "shape",
    .name_size = 5,
    .type = PJRT_NamedValue_kString,
    .anonymous = {.string_value = "2"},
    .value_size = 1};

static PJRT_Error* description_attributes(PJRT_DeviceDescription_Attributes_Args* args) {
  CHECK(args, PJRT_DeviceDescription_Attributes_Args);
  args->attributes = &coordinates;
  args->num_attributes = 1;
  return NULL;
}

static PJRT_Error* description_kind(PJRT_DeviceDescription_Kind_Args* args) {
  CHECK(args, PJRT_DeviceDescription_Kind_Args);
#ifdef EMPTY_KIND
  TEXT(args, device_kind, "");
#else
  TEXT(args, device_kind, "test device");
#endif
  return NULL;
}

CHECKED(description_debug, PJRT_DeviceDescription_DebugString_Args, TEXT(args, debug_string, "a test device"))
CHECKED(description_text, PJRT_DeviceDescription_ToString_Args, TEXT(args, to_string, "TestDevice"))
CHECKED(device_description, PJRT_Device_GetDescription_Args, args->device_description = (PJRT_DeviceDescription*)args->device)

static PJRT_Error* is_addressable(PJRT_Device_IsAddressable_Args* args) {
  CHECK(args, PJRT_Device_IsAddressable_Args);
#ifdef NOT_ADDRESSABLE
  args->is_addressable = false;
#else
  args->is_addressable = true;
#endif
  return NULL;
}

static PJRT_Error* hardware_id(PJRT_Device_LocalHardwareId_Args* args) {
  CHECK(args, PJRT_Device_LocalHardwareId_Args);
#ifdef SAME_HARDWARE_ID
  args->local_hardware_id = 0;
#else
  args->local_hardware_id = ((struct device*)args->device)->id;
#endif
  return NULL;
}

static PJRT_Error* device_memories(PJRT_Device_AddressableMemories_Args* args) {
  if (args->struct_size < 32) return fail(INVALID, "PJRT_Device_AddressableMemories_Args is too short");
  args->memories = ((struct device*)args->device)->memory_list;
  args->num_memories = 2;
  return NULL;
}

static PJRT_Error* default_memory(PJRT_Device_DefaultMemory_Args* args) {
  CHECK(args, PJRT_Device_DefaultMemory_Args);
  struct device* device = (struct device*)args->device;
#ifdef DEFAULT_ELSEWHERE
  device = &device->client->devices[1 - device->id];
#endif
  args->memory = device->memory_list[0];
  return NULL;
}

static PJRT_Error* memory_stats(PJRT_Device_MemoryStats_Args* args) {
  if (args->struct_size < 100) return fail(INVALID, "PJRT_Device_MemoryStats_Args is too short");
  struct device* device = (struct device*)args->device;
  args->bytes_in_use = device->in_use;
  args->peak_bytes_in_use = device->peak;
  args->peak_bytes_in_use_is_set = true;
  args->bytes_limit = (int64_t)1 << 40;
  args->bytes_limit_is_set = true;
#ifdef PEAK_BELOW
  args->peak_bytes_in_use = args->bytes_in_use - 1;
#endif
#ifdef COUNTS_NOTHING
  args->bytes_in_use = 0;
#endif
#ifdef LIMIT_BELOW
  args->bytes_limit = -1;
#endif
  return NULL;
}

static PJRT_Error* memory_id(PJRT_Memory_Id_Args* args) {
  CHECK(args, PJRT_Memory_Id_Args);
#ifdef SAME_MEMORY_ID
  args->id = 0;
#else
  args->id = ((struct memory*)args->memory)->id;
#endif
  return NULL;
}

CHECKED(memory_kind, PJRT_Memory_Kind_Args, TEXT(args, kind, ((struct memory*)args->memory)->kind ? "pinned_host" : "device"))

static PJRT_Error* memory_kind_id(PJRT_Memory_Kind_Id_Args* args) {
  CHECK(args, PJRT_Memory_Kind_Id_Args);
  struct memory* memory = (struct memory*)args->memory;
#ifdef KIND_ID_OF_MEMORY
  args->kind_id = memory->id;
#else
  args->kind_id = memory->kind;
#endif
  return NULL;
}

static PJRT_Error* memory_debug(PJRT_Memory_DebugString_Args* args) {
  CHECK(args, PJRT_Memory_DebugString_Args);
#ifdef MEMORY_WITHOUT_TEXT
  TEXT(args, debug_string, "");
#else
  TEXT(args, debug_string, "a test memory");
#endif
  return NULL;
}

CHECKED(memory_text, PJRT_Memory_ToString_Args, TEXT(args, to_string, "TestMemory"))

static PJRT_Error* memory_devices(PJRT_Memory_AddressableByDevices_Args* args) {
  CHECK(args, PJRT_Memory_AddressableByDevices_Args);
  struct memory* memory = (struct memory*)args->memory;
#ifdef MEMORY_OF_OTHER_DEVICE
  memory->devices[0] = memory->client->device_list[0];
#endif
  args->devices = memory->devices;
  args->num_devices = 1;
  return NULL;
}

CHECKED(client_topology, PJRT_Client_TopologyDescription_Args, args->topology = (PJRT_TopologyDescription*)args->client)

static PJRT_Error* topology_name(PJRT_TopologyDescription_PlatformName_Args* args) {
  CHECK(args, PJRT_TopologyDescription_PlatformName_Args);
#ifdef TOPOLOGY_NAME
  TEXT(args, platform_name, "other");
#else
  TEXT(args, platform_name, "test");
#endif
  return NULL;
}

CHECKED(topology_version, PJRT_TopologyDescription_PlatformVersion_Args, TEXT(args, platform_version, "1.0"))

static PJRT_Error* topology_devices(PJRT_TopologyDescription_GetDeviceDescriptions_Args* args) {
  CHECK(args, PJRT_TopologyDescription_GetDeviceDescriptions_Args);
  args->descriptions = ((struct client*)args->topology)->descriptions;
#ifdef TOPOLOGY_FEWER
  args->num_descriptions = 1;
#else
  args->num_descriptions = DEVICES;
#endif
  return NULL;
}

static PJRT_Error* topology_attributes(PJRT_TopologyDescription_Attributes_Args* args) {
  CHECK(args, PJRT_TopologyDescription_Attributes_Args);
  args->attributes = &topology_attribute;
  args->num_attributes = 1;
  return NULL;
}

static PJRT_Error* topology_create(PJRT_TopologyDescription_Create_Args* args) {
  CHECK(args, PJRT_TopologyDescription_Create_Args);
#ifdef TOPOLOGY_NULL
  return NULL;
#endif
  return fail(NOT_FOUND, "there is no such topology");
}

CHECKED(topology_destroy, PJRT_TopologyDescription_Destroy_Args, free(args->topology))

static void bytes_deleter(PJRT_SerializedTopology* bytes) { free(bytes); }

static PJRT_Error* topology_serialize(PJRT_TopologyDescription_Serialize_Args* args) {
  CHECK(args, PJRT_TopologyDescription_Serialize_Args);
  char* bytes = strdup("test topology");
#ifdef TOPOLOGY_BYTES_DIFFER
  static int count;
  bytes[0] += count++;
#endif
  args->serialized_bytes = bytes;
  args->serialized_bytes_size = strlen(bytes);
  args->serialized_topology = (PJRT_SerializedTopology*)bytes;
  args->serialized_topology_deleter = bytes_deleter;
#ifdef NULL_DELETER
  args->serialized_topology_deleter = NULL;
#endif
  return NULL;
}

#ifdef HAS_PJRT_TopologyDescription_Deserialize
static PJRT_Error* topology_deserialize(PJRT_TopologyDescription_Deserialize_Args* args) {
  CHECK(args, PJRT_TopologyDescription_Deserialize_Args);
#ifndef TOPOLOGY_ANY_BYTES
  if (args->serialized_topology_size != 13 || memcmp(args->serialized_topology, "test topology", 13) != 0)
    return fail(INVALID, "these bytes are no topology");
#endif
  PJRT_Client_Create_Args client = {.struct_size = PJRT_Client_Create_Args_SIZE};
  PJRT_Error* error = client_create(&client);
  args->topology = (PJRT_TopologyDescription*)client.client;
  return error;
}
#endif

#ifdef HAS_PJRT_TopologyDescription_Fingerprint
static PJRT_Error* topology_fingerprint(PJRT_TopologyDescription_Fingerprint_Args* args) {
  CHECK(args, PJRT_TopologyDescription_Fingerprint_Args);
#ifdef FINGERPRINT_COUNTS
  static uint64_t count;
  args->fingerprint = ++count;
#else
  args->fingerprint = 42;
#endif
  return NULL;
}
#endif

void fill_client(PJRT_Api* api) {
  api->PJRT_Client_Create = client_create;
  api->PJRT_Client_Destroy = client_destroy;
  api->PJRT_Client_PlatformName = client_name;
  api->PJRT_Client_PlatformVersion = client_version;
  api->PJRT_Client_ProcessIndex = client_process;
  api->PJRT_Client_Devices = client_devices;
  api->PJRT_Client_AddressableDevices = client_addressable;
  api->PJRT_Client_LookupDevice = client_lookup;
  api->PJRT_Client_LookupAddressableDevice = client_lookup_local;
  api->PJRT_Client_AddressableMemories = client_memories;
  if (api->PJRT_Client_DefaultDeviceAssignment == NULL) api->PJRT_Client_DefaultDeviceAssignment = assignment;
  api->PJRT_Client_TopologyDescription = client_topology;
  api->PJRT_DeviceDescription_Id = description_id;
  api->PJRT_DeviceDescription_ProcessIndex = description_process;
  api->PJRT_DeviceDescription_Attributes = description_attributes;
  api->PJRT_DeviceDescription_Kind = description_kind;
  api->PJRT_DeviceDescription_DebugString = description_debug;
  api->PJRT_DeviceDescription_ToString = description_text;
  api->PJRT_Device_GetDescription = device_description;
  api->PJRT_Device_IsAddressable = is_addressable;
  api->PJRT_Device_LocalHardwareId = hardware_id;
  api->PJRT_Device_AddressableMemories = device_memories;
  api->PJRT_Device_DefaultMemory = default_memory;
  api->PJRT_Device_MemoryStats = memory_stats;
  api->PJRT_Memory_Id = memory_id;
  api->PJRT_Memory_Kind = memory_kind;
#ifdef HAS_PJRT_Memory_Kind_Id
  api->PJRT_Memory_Kind_Id = memory_kind_id;
#endif
  api->PJRT_Memory_DebugString = memory_debug;
  api->PJRT_Memory_ToString = memory_text;
  api->PJRT_Memory_AddressableByDevices = memory_devices;
  api->PJRT_TopologyDescription_Create = topology_create;
  api->PJRT_TopologyDescription_Destroy = topology_destroy;
  api->PJRT_TopologyDescription_PlatformName = topology_name;
  api->PJRT_TopologyDescription_PlatformVersion = topology_version;
  api->PJRT_TopologyDescription_GetDeviceDescriptions = topology_devices;
  api->PJRT_TopologyDescription_Serialize = topology_serialize;
  api->PJRT_TopologyDescription_Attributes = topology_attributes;
#ifdef HAS_PJRT_TopologyDescription_Deserialize
  api->PJRT_TopologyDescription_Deserialize = topology_deserialize;
#endif
#ifdef HAS_PJRT_TopologyDescription_Fingerprint
  api->PJRT_TopologyDescription_Fingerprint = topology_fingerprint;
#endif
}
