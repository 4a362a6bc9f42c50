/* The table, errors, events and the plugin's attributes. */
#include <pthread.h>
#include <stdio.h>

#include "plugin.h"

static char static_message[256];

PJRT_Error* fail_with(int code, const char* message, size_t size) {
  struct error* error = malloc(sizeof *error);
  error->code = code;
  error->size = size;
#ifdef STATIC_ERROR
  snprintf(static_message, sizeof static_message, "%.*s", (int)size, message);
  error->message = static_message;
#else
  (void)static_message;
  error->message = malloc(size + 1);
  memcpy(error->message, message, size);
#endif
  return (PJRT_Error*)error;
}

PJRT_Error* fail(int code, const char* message) {
#ifdef UNKNOWN_CODE
  code = 99;
#endif
  return fail_with(code, message, strlen(message));
}

static void error_destroy(PJRT_Error_Destroy_Args* args) {
  struct error* error = (struct error*)args->error;
#ifndef NULL_ERROR_CRASHES
  if (error == NULL) return;
#endif
#ifdef STATIC_ERROR
  memset(error->message, 'x', error->size);
#elif !defined(ERROR_LEAKS)
  free(error->message);
#endif
  error->code = 0;
  free(error);
}

static void error_message(PJRT_Error_Message_Args* args) {
  struct error* error = (struct error*)args->error;
  args->message = error->message;
#ifdef NULL_MESSAGE
  args->message = NULL;
#endif
#ifdef EMPTY_MESSAGE
  error->size = 0;
#endif
  args->message_size = error->size;
}

static PJRT_Error* error_code(PJRT_Error_GetCode_Args* args) {
  CHECK(args, PJRT_Error_GetCode_Args);
  args->code = ((struct error*)args->error)->code;
#ifdef CODE_ONCE
  ((struct error*)args->error)->code = 2;
#endif
  return NULL;
}

#ifdef HAS_PJRT_Error_ForEachPayload
static PJRT_Error* error_payloads(PJRT_Error_ForEachPayload_Args* args) {
  CHECK(args, PJRT_Error_ForEachPayload_Args);
#ifdef PAYLOAD_ONCE
  static int count;
  if (count++ > 0) return NULL;
#endif
  args->visitor("key", 3, "value", 5, args->user_arg);
  return NULL;
}
#endif

struct event {
  pthread_mutex_t lock;
  pthread_cond_t is_set;
  int references, ready, code;
  char message[256];
  size_t size;
  struct callback {
    PJRT_Event_OnReadyCallback function;
    void* argument;
  } callbacks[64];
  size_t count;
};

struct event* event_pending(void) {
  struct event* event = calloc(1, sizeof *event);
  pthread_mutex_init(&event->lock, NULL);
  pthread_cond_init(&event->is_set, NULL);
  event->references = 1;
  return event;
}

static PJRT_Error* own_error(struct event* event) {
#ifdef EVENT_FORGETS_ERROR
  return NULL;
#endif
  return event->code ? fail_with(event->code, event->message, event->size) : NULL;
}

void event_set(struct event* event, int code, const char* message, size_t size) {
  pthread_mutex_lock(&event->lock);
  event->code = code;
  event->size = size < sizeof event->message ? size : sizeof event->message;
  memcpy(event->message, message, event->size);
  event->ready = 1;
  size_t count = event->count;
  pthread_cond_broadcast(&event->is_set);
  pthread_mutex_unlock(&event->lock);
  for (size_t at = 0; at < count; ++at) {
    PJRT_Error* error = own_error(event);
#ifdef CALLBACK_WITHOUT_ERROR
    error = NULL;
#endif
    event->callbacks[at].function(error, event->callbacks[at].argument);
  }
}

void event_unset(struct event* event) { event->ready = 0; }

struct event* event_done(void) {
  struct event* event = event_pending();
  event_set(event, 0, "", 0);
  return event;
}

struct event* event_retain(struct event* event) {
  pthread_mutex_lock(&event->lock);
  ++event->references;
  pthread_mutex_unlock(&event->lock);
  return event;
}

void event_release(struct event* event) {
  if (event == NULL) return;
  pthread_mutex_lock(&event->lock);
  int left = --event->references;
  pthread_mutex_unlock(&event->lock);
#ifdef EVENT_LEAKS
  return;
#endif
  if (left == 0) free(event);
}

PJRT_Error* event_await(struct event* event) {
  pthread_mutex_lock(&event->lock);
#ifndef AWAIT_RETURNS_EARLY
  while (!event->ready) pthread_cond_wait(&event->is_set, &event->lock);
#endif
  pthread_mutex_unlock(&event->lock);
  return own_error(event);
}

PJRT_Error* event_error(struct event* event) { return own_error(event); }

CHECKED(ready_destroy, PJRT_Event_Destroy_Args, event_release((struct event*)args->event))

static PJRT_Error* is_ready(PJRT_Event_IsReady_Args* args) {
  CHECK(args, PJRT_Event_IsReady_Args);
  struct event* event = (struct event*)args->event;
  pthread_mutex_lock(&event->lock);
  args->is_ready = event->ready;
  pthread_mutex_unlock(&event->lock);
#ifdef NEVER_READY
  args->is_ready = false;
#endif
#ifdef BOOL_OF_TWO
  *(char*)&args->is_ready = 2;
#endif
  return NULL;
}

static PJRT_Error* ready_error(PJRT_Event_Error_Args* args) {
  CHECK(args, PJRT_Event_Error_Args);
  return event_error((struct event*)args->event);
}

static PJRT_Error* await(PJRT_Event_Await_Args* args) {
  CHECK(args, PJRT_Event_Await_Args);
  return event_await((struct event*)args->event);
}

static PJRT_Error* on_ready(PJRT_Event_OnReady_Args* args) {
  CHECK(args, PJRT_Event_OnReady_Args);
  struct event* event = (struct event*)args->event;
#ifdef CALLBACK_NEVER
  return NULL;
#endif
  pthread_mutex_lock(&event->lock);
  int is_set = event->ready;
#ifdef CALLBACK_EARLY
  is_set = 1;
#endif
  if (!is_set) event->callbacks[event->count++] = (struct callback){args->callback, args->user_arg};
  pthread_mutex_unlock(&event->lock);
  if (is_set) args->callback(own_error(event), args->user_arg);
#ifdef CALLBACK_TWICE
  if (is_set) args->callback(own_error(event), args->user_arg);
#endif
  return NULL;
}

#ifdef HAS_PJRT_Event_Create
static PJRT_Error* event_create(PJRT_Event_Create_Args* args) {
  CHECK(args, PJRT_Event_Create_Args);
#ifdef EVENT_SET_AT_ONCE
  args->event = (PJRT_Event*)event_done();
#else
  args->event = (PJRT_Event*)event_pending();
#endif
  return NULL;
}

static PJRT_Error* host_set(PJRT_Event_Set_Args* args) {
  CHECK(args, PJRT_Event_Set_Args);
  event_set((struct event*)args->event, args->error_code, args->error_message, args->error_message_size);
  return NULL;
}
#endif

static const int64_t current[] = {1, 8, 0}, minimum[] = {
#ifdef MINIMUM_ABOVE
    2, 0, 0
#else
    0, 9, 0
#endif
};

static PJRT_NamedValue attributes[3];

static PJRT_NamedValue named(const char* name, PJRT_NamedValue_Type type, size_t size) {
  PJRT_NamedValue value = {.struct_size = PJRT_NamedValue_SIZE, .name = name, .name_size = strlen(name), .type = type};
  value.value_size = size;
  return value;
}

static PJRT_Error* plugin_attributes(PJRT_Plugin_Attributes_Args* args) {
  /* Before 0.72 the header's size ended before num_attributes. */
  if (args->struct_size < 24) return fail(INVALID, "PJRT_Plugin_Attributes_Args is too short");
#ifdef TWO_NUMBERS
  size_t numbers = 2;
#else
  size_t numbers = 3;
#endif
  attributes[0] = named("xla_version", PJRT_NamedValue_kInt64, 1);
  attributes[0].anonymous.int64_value = 2;
  attributes[1] = named("stablehlo_current_version", PJRT_NamedValue_kInt64List, numbers);
  attributes[1].anonymous.int64_array_value = current;
  attributes[2] = named("stablehlo_minimum_version", PJRT_NamedValue_kInt64List, 3);
  attributes[2].anonymous.int64_array_value = minimum;
#ifdef ATTRIBUTE_TWICE
  attributes[2].name = attributes[1].name;
  attributes[2].name_size = attributes[1].name_size;
#endif
#ifdef ATTRIBUTE_TYPE
  attributes[0].type = 77;
#endif
#ifdef SCALAR_SIZE
  attributes[0].value_size = 8;
#endif
#ifdef ATTRIBUTE_GARBAGE
  attributes[1].anonymous.int64_array_value = (const int64_t*)8;
#endif
#ifdef ATTRIBUTES_CHANGE
  ++attributes[0].struct_size, --attributes[0].struct_size;
  static int64_t count;
  attributes[0].anonymous.int64_value = ++count;
#endif
  args->attributes = attributes;
  args->num_attributes = 3;
  return NULL;
}

static PJRT_Api api;

static PJRT_Error* initialize(PJRT_Plugin_Initialize_Args* args) {
  CHECK(args, PJRT_Plugin_Initialize_Args);
#ifdef INIT_FAILS
  return fail(INTERNAL, "no driver");
#endif
#ifdef INIT_CHANGES
  api.PJRT_Client_Compile = NULL;
#endif
#ifdef HANGS
  for (;;) {
  }
#endif
#ifdef EXITS
  exit(0);
#endif
  return NULL;
}

void fill_core(PJRT_Api* out) {
  out->PJRT_Error_Destroy = error_destroy;
  out->PJRT_Error_Message = error_message;
  out->PJRT_Error_GetCode = error_code;
#ifdef HAS_PJRT_Error_ForEachPayload
  out->PJRT_Error_ForEachPayload = error_payloads;
#endif
  out->PJRT_Plugin_Initialize = initialize;
#ifndef NO_ATTRIBUTES
  out->PJRT_Plugin_Attributes = plugin_attributes;
#endif
  out->PJRT_Event_Destroy = ready_destroy;
  out->PJRT_Event_IsReady = is_ready;
  out->PJRT_Event_Error = ready_error;
  out->PJRT_Event_Await = await;
  out->PJRT_Event_OnReady = on_ready;
#ifdef HAS_PJRT_Event_Create
  out->PJRT_Event_Create = event_create;
  out->PJRT_Event_Set = host_set;
#endif
#ifdef DATA_SLOT
  out->PJRT_Client_DefaultDeviceAssignment = (void*)&api;
#endif
}

#ifdef NO_PROGRAMS
static PJRT_Error* unimplemented(void* args) { return fail(UNIMPLEMENTED, "programs are not implemented"); }

static void fill_unimplemented(PJRT_Api* out) {
  void** slot = (void**)&out->PJRT_Error_Destroy;
  for (; (char*)slot < (char*)out + PJRT_Api_SIZE; ++slot)
    if (*slot == NULL) *slot = (void*)unimplemented;
}
#endif

static PJRT_Extension_Base extension = {
    PJRT_Extension_Base_SIZE, PJRT_Extension_Type_Profiler,
#ifdef CHAIN_CYCLE
    &extension
#else
    NULL
#endif
};
static PJRT_Extension_Base first = {PJRT_Extension_Base_SIZE,
#ifdef EXTENSION_TWICE
                                    PJRT_Extension_Type_Profiler,
#else
                                    PJRT_Extension_Type_Stream,
#endif
                                    &extension};

__attribute__((visibility("default"))) const PJRT_Api*
#ifdef NO_ENTRY
GetOtherApi
#else
GetPjrtApi
#endif
    (void) {
#ifdef NULL_TABLE
  return NULL;
#endif
#ifdef NEW_TABLE
  PJRT_Api* table = calloc(1, sizeof *table);
#else
  PJRT_Api* table = &api;
#endif
#ifdef GARBAGE_TABLE
  return (const PJRT_Api*)24;
#endif
  table->struct_size = PJRT_Api_SIZE;
#ifdef SHORT_TABLE
  table->struct_size = PJRT_Api_SIZE - 8;
#endif
#ifdef EXTENSION_SHORT
  extension.struct_size = 8;
#endif
  table->extension_start = &first;
  table->pjrt_api_version.struct_size = PJRT_Api_Version_SIZE;
  table->pjrt_api_version.major_version = PJRT_API_MAJOR;
  table->pjrt_api_version.minor_version = PJRT_API_MINOR;
#ifdef MAJOR_ONE
  table->pjrt_api_version.major_version = 1;
#endif
#ifdef MINOR_ONE
  table->pjrt_api_version.minor_version = 1;
#endif
  fill_core(table);
  fill_client(table);
  fill_buffers(table);
  fill_transfers(table);
  fill_programs(table);
#ifdef NO_PROGRAMS
  fill_unimplemented(table);
#endif
#ifdef NULL_COMPILE
  table->PJRT_Client_Compile = NULL;
#endif
#ifdef MINOR_40
  table->struct_size = offsetof(PJRT_Api, PJRT_Executable_GetCompiledMemoryStats);
  table->pjrt_api_version.minor_version = 40;
#endif
  return table;
}
