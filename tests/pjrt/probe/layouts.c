// The extension of layouts, without which jaxlib 0.4.33 ends. Every layout of the probe is major-to-minor.
#include "probe.h"

struct PJRT_Layouts_MemoryLayout {
    char text[64];
};

// Hosts parse a serialized layout as text, which has the minor dimension first: {1,0}.
static PJRT_Layouts_MemoryLayout* new_layout(size_t rank)
{
    PJRT_Layouts_MemoryLayout* layout = calloc(1, sizeof *layout);
    char* end = stpcpy(layout->text, "{");
    for (size_t i = rank; i-- > 0;) end += sprintf(end, i ? "%zu," : "%zu", i);
    strcpy(end, "}");
    return layout;
}

PJRT_Error* extend_Layouts_PJRT_Layouts_MemoryLayout_Destroy(PJRT_Layouts_MemoryLayout_Destroy_Args* arguments)
{
    free(arguments->layout);
    return NULL;
}

static void forget_serialized(PJRT_Layouts_SerializedLayout* serialized)
{
    (void)serialized;
}

PJRT_Error* extend_Layouts_PJRT_Layouts_MemoryLayout_Serialize(PJRT_Layouts_MemoryLayout_Serialize_Args* arguments)
{
    arguments->serialized_bytes = arguments->layout->text;
    arguments->serialized_bytes_size = strlen(arguments->layout->text);
    arguments->serialized_layout = (PJRT_Layouts_SerializedLayout*)arguments->layout;
    arguments->serialized_layout_deleter = forget_serialized;
    return NULL;
}

PJRT_Error* extend_Layouts_PJRT_Layouts_PJRT_Client_GetDefaultLayout(PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args* arguments)
{
    arguments->layout = new_layout(arguments->num_dims);
    return NULL;
}

PJRT_Error* extend_Layouts_PJRT_Layouts_PJRT_Topology_GetDefaultLayout(PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args* arguments)
{
    arguments->layout = new_layout(arguments->num_dims);
    return NULL;
}

PJRT_Error* extend_Layouts_PJRT_Layouts_PJRT_Buffer_MemoryLayout(PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args* arguments)
{
    arguments->layout = new_layout(arguments->buffer->shape.rank);
    return NULL;
}
