// The topology of the client's devices.
#include "probe.h"

IMPLEMENT(PJRT_Client_TopologyDescription)
{
    arguments->topology = &the_client()->topology;
    return NULL;
}

IMPLEMENT(PJRT_TopologyDescription_Create)
{
    arguments->topology = &the_client()->topology;
    return NULL;
}

IMPLEMENT(PJRT_TopologyDescription_Destroy)
{
    (void)arguments;
    return NULL;
}

IMPLEMENT(PJRT_TopologyDescription_PlatformName)
{
    SET_TEXT(platform_name, platform_name_size, probe_name);
    return NULL;
}

IMPLEMENT(PJRT_TopologyDescription_PlatformVersion)
{
    SET_TEXT(platform_version, platform_version_size, probe_version);
    return NULL;
}

IMPLEMENT(PJRT_TopologyDescription_GetDeviceDescriptions)
{
    arguments->descriptions = the_client()->topology.descriptions;
    arguments->num_descriptions = the_client()->device_count;
    return NULL;
}

IMPLEMENT(PJRT_TopologyDescription_Attributes)
{
    arguments->attributes = NULL;
    arguments->num_attributes = 0;
    return NULL;
}

static void forget_topology(PJRT_SerializedTopology* topology)
{
    (void)topology;
}

IMPLEMENT(PJRT_TopologyDescription_Serialize)
{
    SET_TEXT(serialized_bytes, serialized_bytes_size, "probe topology");
    arguments->serialized_topology = (PJRT_SerializedTopology*)&the_client()->topology;
    arguments->serialized_topology_deleter = forget_topology;
    return NULL;
}

IMPLEMENT(PJRT_TopologyDescription_Deserialize)
{
    arguments->topology = &the_client()->topology;
    return NULL;
}

IMPLEMENT(PJRT_TopologyDescription_Fingerprint)
{
    arguments->fingerprint = 1;
    return NULL;
}

IMPLEMENT(PJRT_TopologyDescription_GetMemorySpaceKindIds)
{
    static const int32_t ids[MEMORIES_PER_DEVICE] = {0, 1};
    arguments->memory_space_kind_ids = ids;
    arguments->num_memory_space_kind_ids = MEMORIES_PER_DEVICE;
    return NULL;
}
