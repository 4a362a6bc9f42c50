#define _GNU_SOURCE
/* Programs: StableHLO's text with additions and multiplications of 2 by 3 floats, and their executables. */
#include <stdio.h>

#include "plugin.h"

enum { ELEMENTS = 6 };
static const int64_t shape[2] = {2, 3};

#define TEXT(args, field, text) ((args)->field = (text), (args)->field##_size = strlen(text))

/* Reads a program in bytecode, which has one addition: the name of its op is in a list of texts. */
static int parse_bytecode(const char* code, size_t size, struct program* program) {
#ifdef TEXT_ONLY
  return 0;
#endif
  if (size < 100 || memcmp(code, "ML\xefR", 4) != 0 || memmem(code, size, "add_v1", 6) == NULL) return 0;
  *program = (struct program){.arguments = 1, .results = 1, .operations = "+", .name = "bytecode"};
#ifdef BYTECODE_MULTIPLIES
  program->operations[0] = '*';
#endif
  return 1;
}

/* Reads a program. Returns 0 if the text is none. */
static int parse(const char* code, size_t size, struct program* program) {
  char text[2048];
  if (parse_bytecode(code, size, program)) return 1;
  if (size == 0 || size >= sizeof text) return 0;
  memcpy(text, code, size);
  text[size] = 0;
  int is_whole = strncmp(text, "module @", 8) == 0 && strstr(text, "return") != NULL && strchr(text, '}') != NULL;
#ifdef ACCEPTS_HALF
  is_whole = 1;
#endif
  if (!is_whole) return 0;
  memset(program, 0, sizeof *program);
  sscanf(text, "module @%63[a-z_]", program->name);
  program->arguments = strstr(text, "%arg1:") != NULL ? 2 : 1;
  program->donates = strstr(text, "tf.aliasing_output") != NULL;
  for (const char* at = text; (at = strstr(at, "stablehlo.")) != NULL; at += 10)
    if (program->results < 4) program->operations[program->results++] = strncmp(at + 10, "add", 3) == 0 ? '+' : '*';
  return 1;
}

/* Reads num_replicas of a CompileOptionsProto as the host writes it. Returns 0 if the bytes are none. */
static int replicas(const char* options, size_t size) {
  if (size < 16 || (unsigned char)options[0] != 0x1a) return 0;
  return options[14];
}

static PJRT_Error* load(struct device* device, const struct program* program, struct executable** out) {
  struct executable* executable = calloc(1, sizeof *executable);
  executable->program = *program;
  executable->device = device;
  executable->devices[0] = (PJRT_Device*)device;
#ifdef FINGERPRINT_OF_ADDRESS
  snprintf(executable->fingerprint, sizeof executable->fingerprint, "%p", (void*)executable);
#else
  snprintf(executable->fingerprint, sizeof executable->fingerprint, "%d.%d.%.4s", program->arguments, program->results, program->operations);
#endif
  *out = executable;
  return NULL;
}

static PJRT_Error* compile(PJRT_Client_Compile_Args* args) {
  CHECK(args, PJRT_Client_Compile_Args);
#ifdef NO_COMPILER
  return fail(INTERNAL, "the compiler is not found");
#endif
  const PJRT_Program* source = args->program;
  struct program program = {.arguments = 1, .results = 1, .operations = "+", .name = "any"};
#ifndef ANY_FORMAT
  if (source->format_size != 4 || memcmp(source->format, "mlir", 4) != 0) {
#ifdef HLO_ABORTS
    if (source->format_size == 3) abort();
#endif
    return fail(UNIMPLEMENTED, "the format is not known");
  }
#endif
#ifdef GARBAGE_ABORTS
  if (!parse(source->code, source->code_size, &program)) abort();
#endif
  if (!parse(source->code, source->code_size, &program)) return fail(INVALID, "the text is no program");
#ifndef OPTIONS_UNCHECKED
  int count = replicas(args->compile_options, args->compile_options_size);
  if (count == 0) return fail(INVALID, "the compile options cannot be read");
#ifndef REPLICAS_UNCHECKED
  if (count > DEVICES) return fail(INVALID, "more replicas than devices");
#endif
#endif
  struct executable* executable;
  PJRT_Error* error = load(&((struct client*)args->client)->devices[0], &program, &executable);
  args->executable = (PJRT_LoadedExecutable*)executable;
  return error;
}

static PJRT_Error* name(PJRT_Executable_Name_Args* args) {
  CHECK(args, PJRT_Executable_Name_Args);
  TEXT(args, executable_name, ((struct executable*)args->executable)->program.name);
#ifdef NO_EXECUTABLE_NAME
  args->executable_name_size = 0;
#endif
  return NULL;
}

CHECKED(num_replicas, PJRT_Executable_NumReplicas_Args, args->num_replicas = 1)

static PJRT_Error* num_partitions(PJRT_Executable_NumPartitions_Args* args) {
  CHECK(args, PJRT_Executable_NumPartitions_Args);
#ifdef NO_PARTITION
  args->num_partitions = 0;
#else
  args->num_partitions = 1;
#endif
  return NULL;
}

CHECKED(num_outputs, PJRT_Executable_NumOutputs_Args, args->num_outputs = ((struct executable*)args->executable)->program.results)

static PJRT_Error* code_size(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args* args) {
  CHECK(args, PJRT_Executable_SizeOfGeneratedCodeInBytes_Args);
  args->size_in_bytes = sizeof(struct executable);
#ifdef CODE_SIZE_NEGATIVE
  args->size_in_bytes = -77;
#endif
  return NULL;
}

static PJRT_Buffer_Type types[4] = {PJRT_Buffer_Type_F32, PJRT_Buffer_Type_F32, PJRT_Buffer_Type_F32, PJRT_Buffer_Type_F32};

static PJRT_Error* output_types(PJRT_Executable_OutputElementTypes_Args* args) {
  CHECK(args, PJRT_Executable_OutputElementTypes_Args);
  args->output_types = types;
  args->num_output_types = ((struct executable*)args->executable)->program.results;
  return NULL;
}

static const int64_t dims[8] = {2, 3, 2, 3, 2, 3, 2, 3};
static const size_t ranks[4] = {
#ifdef RANKS_OF_ONE
    1, 1, 1, 1
#else
    2, 2, 2, 2
#endif
};

static PJRT_Error* output_dims(PJRT_Executable_OutputDimensions_Args* args) {
  CHECK(args, PJRT_Executable_OutputDimensions_Args);
  args->num_outputs = ((struct executable*)args->executable)->program.results;
  args->dims = dims;
  args->dim_sizes = ranks;
  return NULL;
}

#ifdef KIND_UNKNOWN
static const char* kinds[4] = {"devics", "devics", "devics", "devics"};
#else
static const char* kinds[4] = {"device", "device", "device", "device"};
#endif
static const size_t kind_sizes[4] = {6, 6, 6, 6};

static PJRT_Error* output_kinds(PJRT_Executable_OutputMemoryKinds_Args* args) {
  CHECK(args, PJRT_Executable_OutputMemoryKinds_Args);
  args->num_outputs = ((struct executable*)args->executable)->program.results;
  args->memory_kinds = kinds;
  args->memory_kind_sizes = kind_sizes;
  return NULL;
}

static PJRT_Error* fingerprint(PJRT_Executable_Fingerprint_Args* args) {
  CHECK(args, PJRT_Executable_Fingerprint_Args);
  TEXT(args, executable_fingerprint, ((struct executable*)args->executable)->fingerprint);
  return NULL;
}

static PJRT_NamedValue costs[] = {{.struct_size = PJRT_NamedValue_SIZE,
                                   .name = "flops",
                                   .name_size = 5,
                                   .type = PJRT_NamedValue_kFloat,
                                   .anonymous = {.float_value = 6},
#ifdef COST_SIZE
                                   .value_size = 4
#else
                                   .value_size = 1
#endif
}};

static PJRT_Error* cost_analysis(PJRT_Executable_GetCostAnalysis_Args* args) {
  CHECK(args, PJRT_Executable_GetCostAnalysis_Args);
  args->properties = costs;
  args->num_properties = 1;
  return NULL;
}

static PJRT_Error* compiled_stats(PJRT_Executable_GetCompiledMemoryStats_Args* args) {
  if (args->struct_size < 64) return fail(INVALID, "PJRT_Executable_GetCompiledMemoryStats_Args is too short");
  struct program* program = &((struct executable*)args->executable)->program;
  args->argument_size_in_bytes = program->arguments * 24;
  args->output_size_in_bytes = program->results * 24;
#ifdef OUTPUT_NOT_COUNTED
  args->output_size_in_bytes = 0;
#endif
  return NULL;
}

static PJRT_Error* optimized(PJRT_Executable_OptimizedProgram_Args* args) {
  CHECK(args, PJRT_Executable_OptimizedProgram_Args);
  struct program* program = &((struct executable*)args->executable)->program;
  args->program->format = "test";
  args->program->format_size = 4;
  if (args->program->code == NULL) {
    args->program->code_size = sizeof *program;
#ifdef PROGRAM_SIZE_SHORT
    args->program->code_size -= 8;
#endif
    return NULL;
  }
  memcpy(args->program->code, program, sizeof *program);
  return NULL;
}

static void executable_deleter(PJRT_SerializedExecutable* bytes) { free(bytes); }

static PJRT_Error* serialize(PJRT_Executable_Serialize_Args* args) {
  CHECK(args, PJRT_Executable_Serialize_Args);
  struct program* bytes = malloc(sizeof *bytes);
  *bytes = ((struct executable*)args->executable)->program;
#ifdef SERIALIZES_OTHER
  bytes->operations[0] = '*';
#endif
  args->serialized_bytes = (const char*)bytes;
  args->serialized_bytes_size = sizeof *bytes;
  args->serialized_executable = (PJRT_SerializedExecutable*)bytes;
  args->serialized_executable_deleter = executable_deleter;
  return NULL;
}

static PJRT_Error* deserialize(PJRT_Executable_DeserializeAndLoad_Args* args) {
  if (args->struct_size < 48) return fail(INVALID, "PJRT_Executable_DeserializeAndLoad_Args is too short");
  struct program program = {.arguments = 1, .results = 1, .operations = "+"};
#ifdef ANY_EXECUTABLE
  if (args->serialized_executable_size >= sizeof program) memcpy(&program, args->serialized_executable, sizeof program);
#else
  if (args->serialized_executable_size != sizeof program) return fail(INVALID, "these bytes are no executable");
  memcpy(&program, args->serialized_executable, sizeof program);
#endif
  struct executable* executable;
  PJRT_Error* error = load(&((struct client*)args->client)->devices[0], &program, &executable);
  args->loaded_executable = (PJRT_LoadedExecutable*)executable;
  return error;
}

#ifdef HAS_PJRT_Executable_GetCompileOptions
static void options_deleter(PJRT_SerializedCompileOptions* options) { free(options); }

static PJRT_Error* compile_options(PJRT_Executable_GetCompileOptions_Args* args) {
  CHECK(args, PJRT_Executable_GetCompileOptions_Args);
  static const char one[] = "\x1a\x0f\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x20\x01\x28\x01";
  char* bytes = malloc(sizeof one);
  memcpy(bytes, one, sizeof one);
  args->serialized_bytes = bytes;
  args->serialized_bytes_size = sizeof one - 1;
#ifdef OPTIONS_EMPTY
  args->serialized_bytes_size = 0;
#endif
  args->serialized_compile_options = (PJRT_SerializedCompileOptions*)bytes;
  args->serialized_compile_options_deleter = options_deleter;
  return NULL;
}
#endif

#ifdef HAS_PJRT_LoadedExecutable_GetDeviceAssignment
static void assignment_deleter(PJRT_DeviceAssignmentSerialized* assignment) { free(assignment); }

static PJRT_Error* device_assignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args* args) {
  CHECK(args, PJRT_LoadedExecutable_GetDeviceAssignment_Args);
  /* One replica and one partition, on the device of the last byte. */
  char one[] = {8, 1, 16, 1, 26, 3, 10, 1, 0};
  one[sizeof one - 1] = (char)((struct executable*)args->executable)->device->id;
  char* bytes = malloc(sizeof one);
  memcpy(bytes, one, sizeof one);
  args->serialized_bytes = bytes;
  args->serialized_bytes_size = sizeof one;
  args->serialized_device_assignment = (PJRT_DeviceAssignmentSerialized*)bytes;
  args->serialized_device_assignment_deleter = assignment_deleter;
  return NULL;
}
#endif

CHECKED(destroy_executable, PJRT_Executable_Destroy_Args, free(args->executable))

static PJRT_Error* get_executable(PJRT_LoadedExecutable_GetExecutable_Args* args) {
  CHECK(args, PJRT_LoadedExecutable_GetExecutable_Args);
  struct executable* copy = malloc(sizeof *copy);
  *copy = *(struct executable*)args->loaded_executable;
  args->executable = (PJRT_Executable*)copy;
  return NULL;
}

static PJRT_Error* destroy(PJRT_LoadedExecutable_Destroy_Args* args) {
  CHECK(args, PJRT_LoadedExecutable_Destroy_Args);
#ifdef RESULT_OF_EXECUTABLE
  struct buffer* last = ((struct executable*)args->executable)->last;
  if (last != NULL && last->block != NULL) memset(last->block->bytes, 0, 24);
#endif
  free(args->executable);
  return NULL;
}

CHECKED(delete_, PJRT_LoadedExecutable_Delete_Args, ((struct executable*)args->executable)->is_deleted = 1)

static PJRT_Error* is_deleted(PJRT_LoadedExecutable_IsDeleted_Args* args) {
  CHECK(args, PJRT_LoadedExecutable_IsDeleted_Args);
  args->is_deleted = ((struct executable*)args->executable)->is_deleted;
#ifdef EXECUTABLE_NEVER_DELETED
  args->is_deleted = false;
#endif
  return NULL;
}

static PJRT_Error* devices(PJRT_LoadedExecutable_AddressableDevices_Args* args) {
  CHECK(args, PJRT_LoadedExecutable_AddressableDevices_Args);
  args->addressable_devices = ((struct executable*)args->executable)->devices;
  args->num_addressable_devices = 1;
#ifdef EXECUTABLE_WITHOUT_DEVICE
  args->num_addressable_devices = 0;
#endif
  return NULL;
}

static void compute(char operation, const float* x, const float* y, float* result) {
  for (int at = 0; at < ELEMENTS; ++at) result[at] = operation == '+' ? x[at] + y[at] : x[at] * y[at];
}

#ifdef SHARED_RESULT
static float shared[ELEMENTS];
#endif

static PJRT_Error* execute(PJRT_LoadedExecutable_Execute_Args* args) {
  CHECK(args, PJRT_LoadedExecutable_Execute_Args);
  struct executable* executable = (struct executable*)args->executable;
  struct program* program = &executable->program;
  if (executable->is_deleted) {
#ifdef DELETED_EXECUTABLE_ABORTS
    abort();
#endif
    return fail(INVALID, "the executable is deleted");
  }
#ifndef ARGUMENTS_UNCHECKED
  if (args->num_args != (size_t)program->arguments) return fail(INVALID, "another number of arguments");
#endif
  struct buffer* in[2];
  for (size_t at = 0; at < args->num_args && at < 2; ++at) {
    in[at] = (struct buffer*)args->argument_lists[0][at];
    if (in[at]->block == NULL) return fail(INVALID, "an argument is deleted");
#ifndef SHAPES_UNCHECKED
    if (in[at]->size != 24 || in[at]->rank != 2) return fail(INVALID, "an argument has another shape");
#endif
  }
  for (int at = 0; at < program->results; ++at) {
    struct buffer* out;
    PJRT_Error* error = buffer_new(executable->device, &executable->device->memories[0], PJRT_Buffer_Type_F32, shape, 2, &out);
    if (error != NULL) return error;
    const float *x = (float*)in[0]->block->bytes, *y = (float*)in[program->arguments - 1]->block->bytes;
#ifdef SHARED_RESULT
    compute(program->operations[at], x, y, shared);
    for (volatile int wait = 0; wait < 20000; ++wait) {
    }
    memcpy(out->block->bytes, shared, sizeof shared);
#else
    compute(program->operations[at], x, y, (float*)out->block->bytes);
#endif
#ifdef ROUNDS_LARGE
    if (((float*)out->block->bytes)[0] > 100) ((float*)out->block->bytes)[0] = 100;
#endif
    out->ready = event_done();
    int to = at;
#ifdef RESULTS_REVERSED
    to = program->results - 1 - at;
#endif
    args->output_lists[0][to] = (PJRT_Buffer*)out;
#ifdef RESULT_LEAKS
    out->held = block_new(executable->device, 64);
#endif
#ifdef RESULT_OF_EXECUTABLE
    executable->last = out;
#endif
#ifdef DONATION_SPOILS
    if (program->donates) memset(out->block->bytes, 0, 24);
#endif
  }
#ifdef DELETES_ARGUMENTS
  buffer_delete(in[0]);
#endif
  if (program->donates) buffer_delete(in[0]);
  if (args->device_complete_events != NULL) args->device_complete_events[0] = (PJRT_Event*)event_done();
#ifdef NO_COMPLETE_EVENT
  if (args->device_complete_events != NULL) args->device_complete_events[0] = NULL;
#endif
  return NULL;
}

#ifdef EXIT_CRASHES
__attribute__((destructor)) static void at_exit(void) { abort(); }
#endif

void fill_programs(PJRT_Api* api) {
#ifdef NO_PROGRAMS
  return;
#endif
  api->PJRT_Client_Compile = compile;
  api->PJRT_Executable_Destroy = destroy_executable;
  api->PJRT_Executable_Name = name;
  api->PJRT_Executable_NumReplicas = num_replicas;
  api->PJRT_Executable_NumPartitions = num_partitions;
  api->PJRT_Executable_NumOutputs = num_outputs;
  api->PJRT_Executable_SizeOfGeneratedCodeInBytes = code_size;
  api->PJRT_Executable_OutputElementTypes = output_types;
  api->PJRT_Executable_OutputDimensions = output_dims;
  api->PJRT_Executable_OutputMemoryKinds = output_kinds;
  api->PJRT_Executable_Fingerprint = fingerprint;
  api->PJRT_Executable_GetCostAnalysis = cost_analysis;
  api->PJRT_Executable_GetCompiledMemoryStats = compiled_stats;
  api->PJRT_Executable_OptimizedProgram = optimized;
  api->PJRT_Executable_Serialize = serialize;
  api->PJRT_Executable_DeserializeAndLoad = deserialize;
#ifdef HAS_PJRT_Executable_GetCompileOptions
  api->PJRT_Executable_GetCompileOptions = compile_options;
#endif
#ifdef HAS_PJRT_LoadedExecutable_GetDeviceAssignment
  api->PJRT_LoadedExecutable_GetDeviceAssignment = device_assignment;
#endif
  api->PJRT_LoadedExecutable_GetExecutable = get_executable;
  api->PJRT_LoadedExecutable_Destroy = destroy;
  api->PJRT_LoadedExecutable_Delete = delete_;
  api->PJRT_LoadedExecutable_IsDeleted = is_deleted;
  api->PJRT_LoadedExecutable_AddressableDevices = devices;
  api->PJRT_LoadedExecutable_Execute = execute;
}
