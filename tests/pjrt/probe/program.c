// Programs. The probe reads none: the test states the types of the results before a compilation, and an execution gives zeros.
#include "probe.h"

typedef struct executable {
    int references;
    size_t parameter_count, output_count, replica_count, partition_count, device_count, dim_count;
    shape outputs[MAX_OUTPUTS];
    PJRT_Buffer_Type types[MAX_OUTPUTS];
    int64_t dims[MAX_OUTPUTS * MAX_DIMS];
    size_t dim_sizes[MAX_OUTPUTS];
    PJRT_Device* devices[MAX_DEVICES];
    PJRT_LogicalDeviceIds logical_ids[MAX_DEVICES];
    char assignment[200];
    size_t assignment_size;
    bool deleted;
    size_t code_size;
    char* code;
    char format[16];
    char description[4096];
} executable;

static char next_description[4096] = "1 1 0 - 0";

// States the next program: replicas, partitions, devices (0,1), the assignment of devices in hexadecimal, the number of
// parameters, and each result as TYPE:DIM,DIM.
__attribute__((visibility("default"))) void probe_describe_program(const char* description)
{
    snprintf(next_description, sizeof next_description, "%s", description);
}

static void add_output(executable* e, char* text)
{
    shape* shape = &e->outputs[e->output_count];
    shape->type = strtoul(text, &text, 10);
    while (*text && text[1]) {
        int64_t dim = strtoll(text + 1, &text, 10);
        shape->dims[shape->rank++] = e->dims[e->dim_count++] = dim;
    }
    e->types[e->output_count] = shape->type;
    e->dim_sizes[e->output_count++] = shape->rank;
}

static void add_devices(executable* e, char* list)
{
    for (char* at = list; *at; at += *at == ',') {
        e->logical_ids[e->device_count] = (PJRT_LogicalDeviceIds){e->device_count / e->partition_count, e->device_count % e->partition_count};
        e->devices[e->device_count++] = the_client()->device_list[strtoul(at, &at, 10)];
    }
}

static void add_assignment(executable* e, const char* hex)
{
    unsigned byte;
    for (; e->assignment_size < sizeof e->assignment && sscanf(hex, "%2x", &byte) == 1; hex += 2) e->assignment[e->assignment_size++] = byte;
}

static executable* new_executable(const char* description, const char* code, size_t code_size)
{
    executable* e = calloc(1, sizeof *e);
    char text[4096], *rest = NULL;
    snprintf(e->description, sizeof e->description, "%s", description);
    snprintf(text, sizeof text, "%s", description);
    e->references = 1;
    e->replica_count = atoi(strtok_r(text, " ", &rest));
    e->partition_count = atoi(strtok_r(NULL, " ", &rest));
    add_devices(e, strtok_r(NULL, " ", &rest));
    add_assignment(e, strtok_r(NULL, " ", &rest));
    e->parameter_count = atoi(strtok_r(NULL, " ", &rest));
    for (char* output; (output = strtok_r(NULL, " ", &rest)) && e->output_count < MAX_OUTPUTS;) add_output(e, output);
    e->code = malloc(code_size + 1);
    memcpy(e->code, code, e->code_size = code_size);
    strcpy(e->format, "mlir");
    return e;
}

// Writes a program to the file that SP_PROBE_PROGRAM names.
static void write_program(const PJRT_Program* program)
{
    const char* path = getenv("SP_PROBE_PROGRAM");
    FILE* file = path ? fopen(path, "wb") : NULL;
    if (!file) return;
    fwrite(program->code, 1, program->code_size, file);
    fclose(file);
}

// Records the format of a program and the version in its producer's name.
static void record_program(const PJRT_Program* program)
{
    write_program(program);
    char producer[64] = "none";
    for (size_t i = 0; i + 12 < program->code_size && i < 4096; i++) {
        if (memcmp(program->code + i, "StableHLO_v", 11) != 0) continue;
        snprintf(producer, sizeof producer, "%.*s", (int)strnlen(program->code + i + 11, 20), program->code + i + 11);
        break;
    }
    record("program %.*s %s", (int)program->format_size, program->format, producer);
}

IMPLEMENT(PJRT_Client_Compile)
{
    record_program(arguments->program);
    executable* e = new_executable(next_description, arguments->program->code, arguments->program->code_size);
    snprintf(e->format, sizeof e->format, "%.*s", (int)arguments->program->format_size, arguments->program->format);
    arguments->executable = (PJRT_LoadedExecutable*)e;
    return NULL;
}

IMPLEMENT(PJRT_Compile)
{
    record_program(arguments->program);
    arguments->executable = (PJRT_Executable*)new_executable(next_description, arguments->program->code, arguments->program->code_size);
    return NULL;
}

IMPLEMENT(PJRT_Client_Load)
{
    executable* e = (executable*)arguments->executable;
    e->references++;
    arguments->loaded_executable = (PJRT_LoadedExecutable*)e;
    return NULL;
}

static void release(executable* e)
{
    if (--e->references) return;
    free(e->code);
    free(e);
}

IMPLEMENT(PJRT_Executable_Destroy)
{
    release((executable*)arguments->executable);
    return NULL;
}

IMPLEMENT(PJRT_LoadedExecutable_Destroy)
{
    release((executable*)arguments->executable);
    return NULL;
}

IMPLEMENT(PJRT_LoadedExecutable_GetExecutable)
{
    ((executable*)arguments->loaded_executable)->references++;
    arguments->executable = (PJRT_Executable*)arguments->loaded_executable;
    return NULL;
}

IMPLEMENT(PJRT_LoadedExecutable_Delete)
{
    ((executable*)arguments->executable)->deleted = true;
    return NULL;
}

IMPLEMENT(PJRT_LoadedExecutable_IsDeleted)
{
    arguments->is_deleted = ((executable*)arguments->executable)->deleted;
    return NULL;
}

IMPLEMENT(PJRT_LoadedExecutable_AddressableDevices)
{
    executable* e = (executable*)arguments->executable;
    arguments->addressable_devices = e->devices;
    arguments->num_addressable_devices = e->device_count;
    return NULL;
}

IMPLEMENT(PJRT_LoadedExecutable_AddressableDeviceLogicalIds)
{
    executable* e = (executable*)arguments->executable;
    arguments->addressable_device_logical_ids = e->logical_ids;
    arguments->num_addressable_device_logical_ids = e->device_count;
    return NULL;
}

static void forget_assignment(PJRT_DeviceAssignmentSerialized* assignment)
{
    (void)assignment;
}

IMPLEMENT(PJRT_LoadedExecutable_GetDeviceAssignment)
{
    executable* e = (executable*)arguments->executable;
    arguments->serialized_bytes = e->assignment;
    arguments->serialized_bytes_size = e->assignment_size;
    arguments->serialized_device_assignment = (PJRT_DeviceAssignmentSerialized*)e;
    arguments->serialized_device_assignment_deleter = forget_assignment;
    return NULL;
}

IMPLEMENT(PJRT_LoadedExecutable_Execute)
{
    executable* e = (executable*)arguments->executable;
    record("options %zu devices %zu arguments %zu events %d launch %d", arguments->options->struct_size, arguments->num_devices,
           arguments->num_args, arguments->device_complete_events != NULL, arguments->options->launch_id);
    for (size_t device = 0; device < arguments->num_devices; device++) {
        PJRT_Device* target = arguments->execute_device ? arguments->execute_device : e->devices[device];
        for (size_t i = 0; i < e->output_count; i++) arguments->output_lists[device][i] = new_buffer(&e->outputs[i], target->memories[0]);
        if (arguments->device_complete_events) arguments->device_complete_events[device] = new_event();
    }
    return NULL;
}

IMPLEMENT(PJRT_LoadedExecutable_Fingerprint)
{
    arguments->executable_fingerprint = "probe";
    arguments->executable_fingerprint_size = 5;
    return NULL;
}

// --- What an executable states ---

IMPLEMENT(PJRT_Executable_Fingerprint)
{
    arguments->executable_fingerprint = "probe";
    arguments->executable_fingerprint_size = 5;
    return NULL;
}

IMPLEMENT(PJRT_Executable_Name)
{
    arguments->executable_name = "program";
    arguments->executable_name_size = 7;
    return NULL;
}

IMPLEMENT(PJRT_Executable_NumReplicas)
{
    arguments->num_replicas = ((executable*)arguments->executable)->replica_count;
    return NULL;
}

IMPLEMENT(PJRT_Executable_NumPartitions)
{
    arguments->num_partitions = ((executable*)arguments->executable)->partition_count;
    return NULL;
}

IMPLEMENT(PJRT_Executable_NumOutputs)
{
    arguments->num_outputs = ((executable*)arguments->executable)->output_count;
    return NULL;
}

IMPLEMENT(PJRT_Executable_SizeOfGeneratedCodeInBytes)
{
    arguments->size_in_bytes = 0;
    return NULL;
}

IMPLEMENT(PJRT_Executable_GetCostAnalysis)
{
    static const PJRT_NamedValue property = {sizeof property, NULL, "flops", 5, 3 /* float */, {.float_value = 1}, 1};
    arguments->properties = &property;
    arguments->num_properties = 1;
    return NULL;
}

static const char* kinds[64];
static size_t kind_sizes[64];

static void fill_kinds(void)
{
    for (size_t i = 0; i < 64; i++) {
        kinds[i] = "device";
        kind_sizes[i] = 6;
    }
}

IMPLEMENT(PJRT_Executable_OutputMemoryKinds)
{
    fill_kinds();
    arguments->num_outputs = ((executable*)arguments->executable)->output_count;
    arguments->memory_kinds = kinds;
    arguments->memory_kind_sizes = kind_sizes;
    return NULL;
}

IMPLEMENT(PJRT_Executable_ParameterMemoryKinds)
{
    fill_kinds();
    arguments->num_parameters = ((executable*)arguments->executable)->parameter_count;
    arguments->memory_kinds = kinds;
    arguments->memory_kind_sizes = kind_sizes;
    return NULL;
}

IMPLEMENT(PJRT_Executable_OutputElementTypes)
{
    executable* e = (executable*)arguments->executable;
    arguments->output_types = e->types;
    arguments->num_output_types = e->output_count;
    return NULL;
}

IMPLEMENT(PJRT_Executable_OutputDimensions)
{
    executable* e = (executable*)arguments->executable;
    arguments->num_outputs = e->output_count;
    arguments->dims = e->dims;
    arguments->dim_sizes = e->dim_sizes;
    return NULL;
}

IMPLEMENT(PJRT_Executable_OptimizedProgram)
{
    executable* e = (executable*)arguments->executable;
    PJRT_Program* program = arguments->program;
    program->format = e->format;
    program->format_size = strlen(e->format);
    if (program->code && program->code_size >= e->code_size) memcpy(program->code, e->code, e->code_size);
    program->code_size = e->code_size;
    return NULL;
}

IMPLEMENT(PJRT_Executable_GetCompiledMemoryStats)
{
    size_t start = __builtin_offsetof(PJRT_Executable_GetCompiledMemoryStats_Args, generated_code_size_in_bytes);
    memset((char*)arguments + start, 0, arguments->struct_size - start);
    return NULL;
}

// A serialized executable is its description, a zero and the program.
static void free_serialized(PJRT_SerializedExecutable* serialized)
{
    free(serialized);
}

IMPLEMENT(PJRT_Executable_Serialize)
{
    const executable* e = (const executable*)arguments->executable;
    size_t length = strlen(e->description) + 1;
    char* bytes = malloc(length + e->code_size);
    memcpy(bytes, e->description, length);
    memcpy(bytes + length, e->code, e->code_size);
    arguments->serialized_bytes = bytes;
    arguments->serialized_bytes_size = length + e->code_size;
    arguments->serialized_executable = (PJRT_SerializedExecutable*)bytes;
    arguments->serialized_executable_deleter = free_serialized;
    return NULL;
}

IMPLEMENT(PJRT_Executable_DeserializeAndLoad)
{
    const char* bytes = arguments->serialized_executable;
    size_t length = strnlen(bytes, arguments->serialized_executable_size) + 1;
    if (length > arguments->serialized_executable_size) return new_error(PJRT_Error_Code_INVALID_ARGUMENT, "no executable of the probe");
    executable* e = new_executable(bytes, bytes + length, arguments->serialized_executable_size - length);
    arguments->loaded_executable = (PJRT_LoadedExecutable*)e;
    return NULL;
}
