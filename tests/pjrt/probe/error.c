// Errors, events and what belongs to the plugin itself.
#include "probe.h"

static void destroy_error(PJRT_Error* error_)
{
    free(error_);
}

static void table_destroy(PJRT_Error* error_)
{
    record("vtable PJRT_Error.destroy");
    destroy_error(error_);
}

static void table_message(const PJRT_Error* error_, const char** message, size_t* size)
{
    record("vtable PJRT_Error.message");
    *message = ((const error*)error_)->message;
    *size = strlen(*message);
}

static PJRT_Error_Code table_code(const PJRT_Error* error_)
{
    record("vtable PJRT_Error.get_code");
    return ((const error*)error_)->code;
}

static void table_payloads(const PJRT_Error* error_, PJRT_Error_PayloadVisitor visitor, void* argument)
{
    record("vtable PJRT_Error.for_each_payload");
    (void)error_, (void)visitor, (void)argument;
}

static const PJRT_Error_FunctionTable error_table = {sizeof error_table, sizeof(error), NULL, table_destroy, table_message, table_code, table_payloads};

PJRT_Error* new_error(PJRT_Error_Code code, const char* message)
{
    error* result = calloc(1, sizeof *result);
    result->base.vtable = setting_vtables ? &error_table : setting_no_vtable;
    result->code = code;
    snprintf(result->message, sizeof result->message, "%s", message);
    return &result->base;
}

IMPLEMENT(PJRT_Error_Destroy)
{
    destroy_error(arguments->error);
    return NULL;
}

IMPLEMENT(PJRT_Error_Message)
{
    arguments->message = ((const error*)arguments->error)->message;
    arguments->message_size = strlen(arguments->message);
    return NULL;
}

IMPLEMENT(PJRT_Error_GetCode)
{
    arguments->code = ((const error*)arguments->error)->code;
    return NULL;
}

IMPLEMENT(PJRT_Error_ForEachPayload)
{
    (void)arguments;
    return NULL;
}

IMPLEMENT(PJRT_Plugin_Initialize)
{
    (void)arguments;
    return NULL;
}

IMPLEMENT(PJRT_Plugin_Attributes)
{
    static int64_t version[3];
    static const PJRT_NamedValue attribute = {
        sizeof attribute, NULL, "stablehlo_current_version", 25, 2 /* int64 list */, {.int64_array_value = version}, 3};
    arguments->num_attributes = 0;
    if (!setting_stablehlo) return NULL;
    if (sscanf(setting_stablehlo, "%ld.%ld.%ld", &version[0], &version[1], &version[2]) != 3) abort();
    arguments->attributes = &attribute;
    arguments->num_attributes = 1;
    return NULL;
}

// --- Events: an operation of the probe is complete when its call returns ---

struct event {
    bool ready;
};

PJRT_Event* new_event(void)
{
    struct event* event = calloc(1, sizeof *event);
    event->ready = true;
    return (PJRT_Event*)event;
}

IMPLEMENT(PJRT_Event_Destroy)
{
    free(arguments->event);
    return NULL;
}

IMPLEMENT(PJRT_Event_IsReady)
{
    arguments->is_ready = ((struct event*)arguments->event)->ready;
    return NULL;
}

IMPLEMENT(PJRT_Event_Error)
{
    (void)arguments;
    return NULL;
}

IMPLEMENT(PJRT_Event_Await)
{
    (void)arguments;
    return NULL;
}

IMPLEMENT(PJRT_Event_OnReady)
{
    arguments->callback(NULL, arguments->user_arg);
    return NULL;
}

IMPLEMENT(PJRT_Event_Create)
{
    arguments->event = new_event();
    return NULL;
}

IMPLEMENT(PJRT_Event_Set)
{
    ((struct event*)arguments->event)->ready = true;
    return NULL;
}

IMPLEMENT(PJRT_ExecuteContext_Create)
{
    arguments->context = calloc(1, 1);
    return NULL;
}

IMPLEMENT(PJRT_ExecuteContext_Destroy)
{
    free(arguments->context);
    return NULL;
}
