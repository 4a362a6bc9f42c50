/* Buffers: from the host, to the host, between devices, and their lifetime. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "plugin.h"

struct block* block_new(struct device* device, size_t size) {
  if (size > (size_t)1 << 40) return NULL;
  struct block* block = calloc(1, sizeof *block);
  block->references = 1;
  block->device = device;
  block->size = size;
  block->bytes = malloc(size + 1);
  int64_t in_use = device->in_use += size;
  if (device->peak < in_use) device->peak = in_use;
  return block;
}

void block_release(struct block* block) {
  if (block == NULL || --block->references > 0) return;
#ifdef DELETE_FREES_LATE
  return;
#endif
  block->device->in_use -= block->size;
  if (block->release != NULL) {
    block->release(block->bytes, block->release_argument);
#ifdef RELEASES_TWICE
    block->release(block->bytes, block->release_argument);
#endif
  } else {
#ifndef VIEW_FREES
    memset(block->bytes, 0x77, block->size);
#endif
    free(block->bytes);
  }
  free(block);
}

size_t element_size(PJRT_Buffer_Type type) {
  static const char sizes[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 2, 8, 16, 1, 1, 1, 1, 1};
  return (unsigned)type < sizeof sizes ? sizes[type] : 0;
}

PJRT_Error* buffer_new(struct device* device, struct memory* memory, PJRT_Buffer_Type type, const int64_t* dims, size_t rank,
                       struct buffer** out) {
  size_t size = element_size(type);
#ifdef TYPE_AS_FLOAT
  if (size == 0) size = 4;
#endif
#ifdef TYPE_ABORTS
  if (size == 0) abort();
#endif
  if (size == 0 || rank > 8) return fail(INVALID, "the element type or rank is not known");
  for (size_t at = 0; at < rank; ++at) {
#ifndef NEGATIVE_ACCEPTED
    if (dims[at] < 0) return fail(INVALID, "a dimension is negative");
#endif
    size *= dims[at] < 0 ? 1 : dims[at];
  }
#ifdef NO_EMPTY
  if (size == 0) return fail(INVALID, "an array without elements");
#endif
  struct buffer* buffer = calloc(1, sizeof *buffer);
  buffer->device = device;
  buffer->memory = memory;
  buffer->type = type;
#ifdef SIGNED_ONLY
  if (type == PJRT_Buffer_Type_U16) buffer->type = PJRT_Buffer_Type_S16;
#endif
  buffer->rank = rank;
  if (rank > 0) memcpy(buffer->dims, dims, rank * sizeof *dims);
  for (size_t at = 0; at < rank; ++at) buffer->minor_to_major[at] = rank - 1 - at;
#ifdef LAYOUT_REPEATS
  if (rank > 1) buffer->minor_to_major[0] = buffer->minor_to_major[1];
#endif
  buffer->size = size;
  buffer->block = block_new(device, size);
  if (buffer->block == NULL) {
    free(buffer);
#ifdef TOO_LARGE_ABORTS
    abort();
#endif
    return fail(EXHAUSTED, "out of memory");
  }
  *out = buffer;
  return NULL;
}

void buffer_delete(struct buffer* buffer) {
  struct block* block = buffer->block;
  buffer->block = NULL;
#ifdef DELETE_IGNORES_REFERENCES
  if (block != NULL) memset(block->bytes, 0x77, block->size);
#endif
  if (buffer->external == 0)
    block_release(block);
  else if (block != NULL)
    buffer->held = block;
  if (buffer->done_with_host != NULL) {
#ifndef ZERO_COPY_NEVER_DONE
    event_set(buffer->done_with_host, 0, "", 0);
#endif
    event_release(buffer->done_with_host);
    buffer->done_with_host = NULL;
  }
}

void buffer_destroy(struct buffer* buffer) {
#ifdef DESTROYS_NEXT
  if (buffer->next != NULL && buffer->next->block != NULL) memset(buffer->next->block->bytes, 0, buffer->next->size);
#endif
  buffer_delete(buffer);
#ifdef EVENT_DIES_WITH_BUFFER
  event_unset(buffer->ready);
#endif
  event_release(buffer->ready);
#if !defined(BUFFER_LEAKS) && !defined(DESTROYS_NEXT)
  free(buffer);
#endif
}

/* Copies an array between memory with strides and memory by rows. */
static void copy_strided(const struct buffer* buffer, char* rows, char* strided, const int64_t* strides, size_t dim, int to_rows) {
  size_t size = element_size(buffer->type);
  if (dim == buffer->rank) {
    to_rows ? memcpy(rows, strided, size) : memcpy(strided, rows, size);
    return;
  }
  size_t row = size;
  for (size_t at = dim + 1; at < buffer->rank; ++at) row *= buffer->dims[at];
  for (int64_t at = 0; at < buffer->dims[dim]; ++at)
    copy_strided(buffer, rows + at * row, strided + at * strides[dim], strides, dim + 1, to_rows);
}

#ifdef READS_LATER
struct late {
  char* to;
  const char* from;
  size_t size;
  struct event* done;
};

static void* copy_later(void* argument) {
  struct late* late = argument;
  usleep(20000);
  memcpy(late->to, late->from, late->size);
#ifdef SETS_LATER
  event_set(late->done, 0, "", 0);
#endif
  return NULL;
}
#endif

static PJRT_Error* from_host(PJRT_Client_BufferFromHostBuffer_Args* args) {
  CHECK(args, PJRT_Client_BufferFromHostBuffer_Args);
  struct memory* memory = (struct memory*)args->memory;
  struct device* device = (struct device*)args->device;
  if (memory != NULL) device = (struct device*)memory->devices[0];
  if (memory == NULL) memory = &device->memories[0];
#ifdef IGNORES_MEMORY
  memory = &device->memories[0];
#endif
#ifdef WRONG_DEVICE
  device = &device->client->devices[1];
#endif
  struct buffer* buffer;
#ifdef ABORTS_ON_ZERO_TYPE
  if (args->type == 0) abort();
#endif
  PJRT_Error* error = buffer_new(device, memory, args->type, args->dims, args->num_dims, &buffer);
  if (error != NULL) return error;
#ifdef SHARED_COPY
  static char shared[1 << 16];
  if (buffer->size > 0 && buffer->size < sizeof shared) {
    memcpy(shared, args->data, buffer->size);
    for (volatile int wait = 0; wait < 20000; ++wait) {
    }
    memcpy(buffer->block->bytes, shared, buffer->size);
  } else
#endif
  if (buffer->size > 0) {
#ifndef IGNORES_STRIDES
    if (args->num_byte_strides > 0) {
      copy_strided(buffer, buffer->block->bytes, (char*)args->data, args->byte_strides, 0, 1);
    } else
#endif
      memcpy(buffer->block->bytes, args->data, buffer->size);
  }
#ifdef ZERO_SIGN
  if (buffer->size == 24) buffer->block->bytes[19] = 0;
#endif
#ifdef SPOILS_LARGE
  if (buffer->size == (4 << 20)) buffer->block->bytes[buffer->size - 1] ^= 1;
#endif
#ifdef DESTROYS_NEXT
  static struct buffer* last;
  buffer->next = last;
  last = buffer;
#endif
  buffer->ready = event_done();
  struct event* done = event_done();
  if (args->host_buffer_semantics >= PJRT_HostBufferSemantics_kImmutableZeroCopy) {
    event_release(done);
    done = event_pending();
    buffer->done_with_host = event_retain(done);
  }
#ifdef READS_LATER
  if (buffer->size > 3) {
    struct late* late = malloc(sizeof *late);
    *late = (struct late){buffer->block->bytes, args->data, buffer->size, done};
    pthread_t thread;
    pthread_create(&thread, NULL, copy_later, late);
    pthread_detach(thread);
  }
#endif
#ifdef NO_DONE_EVENT
  done = NULL;
#endif
  args->done_with_host_buffer = (PJRT_Event*)done;
  args->buffer = (PJRT_Buffer*)buffer;
  return NULL;
}

static PJRT_Error* check_use(struct buffer* buffer) {
#ifdef DELETED_IS_EMPTY
  if (buffer->block == NULL) buffer->block = block_new(buffer->device, buffer->size);
#endif
  if (buffer->block == NULL) return fail(INVALID, "the buffer is deleted");
  return buffer->ready != NULL ? event_error(buffer->ready) : NULL;
}

static PJRT_Error* to_host(PJRT_Buffer_ToHostBuffer_Args* args) {
  CHECK(args, PJRT_Buffer_ToHostBuffer_Args);
  struct buffer* buffer = (struct buffer*)args->src;
  if (args->dst == NULL) {
#ifdef DELETED_IS_EMPTY
    if (buffer->block == NULL) buffer->block = block_new(buffer->device, buffer->size);
#endif
    if (buffer->block == NULL) return fail(INVALID, "the buffer is deleted");
    args->dst_size = buffer->size;
#ifdef SIZE_DOUBLE
    args->dst_size *= 2;
#endif
#ifdef SIZE_QUERY_EVENT
    args->event = (PJRT_Event*)event_done();
#endif
    return NULL;
  }
  PJRT_Error* error = event_await(buffer->ready);
  if (error == NULL) error = check_use(buffer);
  if (error != NULL) return error;
#ifndef SHORT_ACCEPTED
  if (args->dst_size < buffer->size) return fail(INVALID, "dst is too short");
#endif
  int64_t strides[8];
  int64_t stride = element_size(buffer->type);
  for (size_t at = 0; at < buffer->rank; ++at) {
    size_t dim = buffer->rank - 1 - at;
#ifndef IGNORES_HOST_LAYOUT
    if (args->host_layout != NULL) dim = args->host_layout->anonymous.tiled.minor_to_major[at];
#endif
    strides[dim] = stride;
    stride *= buffer->dims[dim];
  }
  if (buffer->size > 0) copy_strided(buffer, buffer->block->bytes, args->dst, strides, 0, 0);
#ifdef WRITES_AFTER_DST
  ((char*)args->dst)[buffer->size] = 0;
#endif
  args->event = (PJRT_Event*)event_done();
  return NULL;
}

static PJRT_Error* raw_to_host(struct buffer* buffer, char* dst, int64_t offset, int64_t size) {
  PJRT_Error* error = check_use(buffer);
  if (error != NULL) return error;
#ifndef RAW_UNCHECKED
  if (offset < 0 || size < 0 || offset + size > (int64_t)buffer->size) return fail(INVALID, "the part ends after the buffer");
#endif
#ifdef RAW_BY_ELEMENTS
  offset -= offset % 4;
#endif
  if (offset + size <= (int64_t)buffer->size) memcpy(dst, buffer->block->bytes + offset, size);
  return NULL;
}

#ifdef HAS_PJRT_Buffer_CopyRawToHost
static PJRT_Error* raw_copy(PJRT_Buffer_CopyRawToHost_Args* args) {
  CHECK(args, PJRT_Buffer_CopyRawToHost_Args);
  PJRT_Error* error = raw_to_host((struct buffer*)args->buffer, args->dst, args->offset, args->transfer_size);
  if (error == NULL) args->event = (PJRT_Event*)event_done();
  return error;
}
#endif

static PJRT_Error* copy_to(struct buffer* source, struct memory* memory, PJRT_Buffer** out) {
#ifndef COPIES_DELETED
  PJRT_Error* use = check_use(source);
  if (use != NULL) return use;
#endif
  struct device* device = (struct device*)memory->devices[0];
#ifdef COPY_STAYS
  device = source->device;
  memory = source->memory;
#endif
  struct buffer* buffer;
  PJRT_Error* error = buffer_new(device, memory, source->type, source->dims, source->rank, &buffer);
  if (error != NULL) return error;
#ifdef COPY_SHARES
  block_release(buffer->block);
  buffer->block = source->block;
#else
  if (source->block != NULL) memcpy(buffer->block->bytes, source->block->bytes, source->size);
#endif
  buffer->ready = event_done();
  *out = (PJRT_Buffer*)buffer;
  return NULL;
}

static PJRT_Error* to_device(PJRT_Buffer_CopyToDevice_Args* args) {
  CHECK(args, PJRT_Buffer_CopyToDevice_Args);
  return copy_to((struct buffer*)args->buffer, &((struct device*)args->dst_device)->memories[0], &args->dst_buffer);
}

static PJRT_Error* to_memory(PJRT_Buffer_CopyToMemory_Args* args) {
  CHECK(args, PJRT_Buffer_CopyToMemory_Args);
  return copy_to((struct buffer*)args->buffer, (struct memory*)args->dst_memory, &args->dst_buffer);
}

CHECKED(destroy, PJRT_Buffer_Destroy_Args, buffer_destroy((struct buffer*)args->buffer))
CHECKED(delete_, PJRT_Buffer_Delete_Args, buffer_delete((struct buffer*)args->buffer))

static PJRT_Error* is_deleted(PJRT_Buffer_IsDeleted_Args* args) {
  CHECK(args, PJRT_Buffer_IsDeleted_Args);
  args->is_deleted = ((struct buffer*)args->buffer)->block == NULL;
#ifdef NEVER_DELETED
  args->is_deleted = false;
#endif
  return NULL;
}

CHECKED(type_of, PJRT_Buffer_ElementType_Args, args->type = ((struct buffer*)args->buffer)->type)

static PJRT_Error* dimensions(PJRT_Buffer_Dimensions_Args* args) {
  CHECK(args, PJRT_Buffer_Dimensions_Args);
  struct buffer* buffer = (struct buffer*)args->buffer;
  args->dims = buffer->dims;
  args->num_dims = buffer->rank;
#ifdef DROPS_ONES
  if (buffer->rank == 1 && buffer->dims[0] == 1) args->num_dims = 0;
#endif
  return NULL;
}

static PJRT_Error* unpadded(PJRT_Buffer_UnpaddedDimensions_Args* args) {
  CHECK(args, PJRT_Buffer_UnpaddedDimensions_Args);
  struct buffer* buffer = (struct buffer*)args->buffer;
  args->unpadded_dims = buffer->dims;
  args->num_dims = buffer->rank;
  return NULL;
}

static PJRT_Error* dynamic(PJRT_Buffer_DynamicDimensionIndices_Args* args) {
  CHECK(args, PJRT_Buffer_DynamicDimensionIndices_Args);
#ifdef DYNAMIC_DIMENSION
  static size_t first[1];
  args->dynamic_dim_indices = first;
  args->num_dynamic_dims = 1;
#else
  args->num_dynamic_dims = 0;
#endif
  return NULL;
}

static PJRT_Error* layout_of(PJRT_Buffer_GetMemoryLayout_Args* args) {
  CHECK(args, PJRT_Buffer_GetMemoryLayout_Args);
  struct buffer* buffer = (struct buffer*)args->buffer;
  args->layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  args->layout.anonymous.tiled.minor_to_major = buffer->minor_to_major;
  args->layout.anonymous.tiled.minor_to_major_size = buffer->rank;
  return NULL;
}

static PJRT_Error* size_on_device(PJRT_Buffer_OnDeviceSizeInBytes_Args* args) {
  CHECK(args, PJRT_Buffer_OnDeviceSizeInBytes_Args);
  args->on_device_size_in_bytes = ((struct buffer*)args->buffer)->size;
#ifdef SIZE_IN_ELEMENTS
  args->on_device_size_in_bytes /= 4;
#endif
  return NULL;
}

CHECKED(device_of, PJRT_Buffer_Device_Args, args->device = (PJRT_Device*)((struct buffer*)args->buffer)->device)
CHECKED(memory_of, PJRT_Buffer_Memory_Args, args->memory = (PJRT_Memory*)((struct buffer*)args->buffer)->memory)
CHECKED(is_on_cpu, PJRT_Buffer_IsOnCpu_Args, args->is_on_cpu = true)

static PJRT_Error* ready_event(PJRT_Buffer_ReadyEvent_Args* args) {
  CHECK(args, PJRT_Buffer_ReadyEvent_Args);
  struct buffer* buffer = (struct buffer*)args->buffer;
#ifdef READY_EVENT_NULL
  return NULL;
#endif
#ifdef READY_EVENT_ONCE
  static struct event* last;
  if (last == buffer->ready) return fail(INVALID, "the event was taken");
  last = buffer->ready;
#endif
#ifdef READY_AT_ONCE
  args->event = (PJRT_Event*)event_done();
#else
  args->event = (PJRT_Event*)event_retain(buffer->ready);
#endif
  return NULL;
}

static PJRT_Error* unsafe_pointer(PJRT_Buffer_UnsafePointer_Args* args) {
  CHECK(args, PJRT_Buffer_UnsafePointer_Args);
  struct buffer* buffer = (struct buffer*)args->buffer;
  if (buffer->block == NULL) return fail(INVALID, "the buffer is deleted");
  args->buffer_pointer = (uintptr_t)buffer->block->bytes;
#ifdef POINTER_OF_HANDLE
  args->buffer_pointer = (uintptr_t)buffer;
#endif
  return NULL;
}

static PJRT_Error* opaque_pointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args* args) {
  CHECK(args, PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args);
  args->device_memory_ptr = ((struct buffer*)args->buffer)->block->bytes;
  return NULL;
}

static PJRT_Error* increase(PJRT_Buffer_IncreaseExternalReferenceCount_Args* args) {
  CHECK(args, PJRT_Buffer_IncreaseExternalReferenceCount_Args);
#ifndef REFERENCES_IGNORED
  ++((struct buffer*)args->buffer)->external;
#endif
  return NULL;
}

static PJRT_Error* decrease(PJRT_Buffer_DecreaseExternalReferenceCount_Args* args) {
  CHECK(args, PJRT_Buffer_DecreaseExternalReferenceCount_Args);
  struct buffer* buffer = (struct buffer*)args->buffer;
#ifndef REFERENCES_BELOW_ZERO
#ifndef REFERENCES_IGNORED
  if (buffer->external == 0) return fail(INVALID, "the buffer has no external reference");
#endif
#endif
  if (--buffer->external == 0) {
    block_release(buffer->held);
    buffer->held = NULL;
  }
  return NULL;
}

void fill_buffers(PJRT_Api* api) {
  api->PJRT_Client_BufferFromHostBuffer = from_host;
  api->PJRT_Buffer_Destroy = destroy;
  api->PJRT_Buffer_ElementType = type_of;
  api->PJRT_Buffer_Dimensions = dimensions;
  api->PJRT_Buffer_UnpaddedDimensions = unpadded;
  api->PJRT_Buffer_DynamicDimensionIndices = dynamic;
  api->PJRT_Buffer_GetMemoryLayout = layout_of;
  api->PJRT_Buffer_OnDeviceSizeInBytes = size_on_device;
  api->PJRT_Buffer_Device = device_of;
  api->PJRT_Buffer_Memory = memory_of;
  api->PJRT_Buffer_Delete = delete_;
  api->PJRT_Buffer_IsDeleted = is_deleted;
  api->PJRT_Buffer_CopyToDevice = to_device;
  api->PJRT_Buffer_CopyToMemory = to_memory;
  api->PJRT_Buffer_ToHostBuffer = to_host;
#ifndef NO_PLACE
  api->PJRT_Buffer_IsOnCpu = is_on_cpu;
#endif
  api->PJRT_Buffer_ReadyEvent = ready_event;
  api->PJRT_Buffer_UnsafePointer = unsafe_pointer;
  api->PJRT_Buffer_IncreaseExternalReferenceCount = increase;
  api->PJRT_Buffer_DecreaseExternalReferenceCount = decrease;
  api->PJRT_Buffer_OpaqueDeviceMemoryDataPointer = opaque_pointer;
#ifdef HAS_PJRT_Buffer_CopyRawToHost
  api->PJRT_Buffer_CopyRawToHost = raw_copy;
#endif
}
