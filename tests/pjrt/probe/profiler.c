// The extension of the profiler, whose profile is empty. jaxlib before 0.10 ends in a trace if a plugin has none.
#include "probe.h"

#define PROFILE(name) static PLUGIN_Profiler_Error* profiler_##name(PLUGIN_Profiler_##name##_Args* arguments)

static void destroy_error(PLUGIN_Profiler_Error_Destroy_Args* arguments)
{
    (void)arguments;
}

static void error_message(PLUGIN_Profiler_Error_Message_Args* arguments)
{
    SET_TEXT(message, message_size, "the probe's profiler has no errors");
}

static PLUGIN_Profiler_Error* error_code(PLUGIN_Profiler_Error_GetCode_Args* arguments)
{
    (void)arguments;
    return NULL;
}

PROFILE(Create)
{
    record("profiler create");
    arguments->profiler = (PLUGIN_Profiler*)new_event();
    return NULL;
}

PROFILE(Destroy)
{
    free(arguments->profiler);
    return NULL;
}

PROFILE(Start)
{
    (void)arguments;
    return NULL;
}

PROFILE(Stop)
{
    (void)arguments;
    return NULL;
}

PROFILE(CollectData)
{
    arguments->buffer_size_in_bytes = 0;
    return NULL;
}

size_t extend_Profiler(void* body)
{
    static const PLUGIN_Profiler_Api api = {.struct_size = __builtin_offsetof(PLUGIN_Profiler_Api, consume), .error_destroy = destroy_error,
        .error_message = error_message, .error_get_code = error_code, .create = profiler_Create, .destroy = profiler_Destroy,
        .start = profiler_Start, .stop = profiler_Stop, .collect_data = profiler_CollectData};
    struct {
        const PLUGIN_Profiler_Api* api;
        int64_t context;
    } members = {&api, 0};
    memcpy(body, &members, sizeof members);
    return sizeof members;
}
