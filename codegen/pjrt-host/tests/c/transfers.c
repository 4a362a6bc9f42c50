/* Asynchronous transfers from the host. */
#include "plugin.h"

#ifdef HAS_PJRT_Client_CreateBuffersForAsyncHostToDevice
static PJRT_Error* create(PJRT_Client_CreateBuffersForAsyncHostToDevice_Args* args) {
  CHECK(args, PJRT_Client_CreateBuffersForAsyncHostToDevice_Args);
  if (args->num_shape_specs > TRANSFER_LIMIT) return fail(INVALID, "too many buffers");
  struct memory* memory = (struct memory*)args->memory;
  struct manager* manager = calloc(1, sizeof *manager);
  manager->device = (struct device*)memory->devices[0];
  manager->count = args->num_shape_specs;
  for (size_t at = 0; at < manager->count; ++at) {
    const PJRT_ShapeSpec* spec = &args->shape_specs[at];
    PJRT_Error* error = buffer_new(manager->device, memory, spec->element_type, spec->dims, spec->num_dims, &manager->buffers[at]);
    if (error != NULL) return error;
    manager->ready[at] = event_pending();
    manager->buffers[at]->ready = event_retain(manager->ready[at]);
  }
  args->transfer_manager = (PJRT_AsyncHostToDeviceTransferManager*)manager;
  return NULL;
}

static PJRT_Error* destroy(PJRT_AsyncHostToDeviceTransferManager_Destroy_Args* args) {
  CHECK(args, PJRT_AsyncHostToDeviceTransferManager_Destroy_Args);
  struct manager* manager = (struct manager*)args->transfer_manager;
#ifdef MANAGER_OWNS_BUFFERS
  for (size_t at = 0; at < manager->count; ++at) memset(manager->buffers[at]->block->bytes, 0x77, manager->buffers[at]->size);
#endif
  for (size_t at = 0; at < manager->count; ++at) event_release(manager->ready[at]);
  free(manager);
  return NULL;
}

static PJRT_Error* transfer(struct manager* manager, size_t index, const void* data, int64_t offset, int64_t size, int is_last) {
  if (index >= manager->count) return fail(INVALID, "there is no such buffer");
  struct buffer* buffer = manager->buffers[index];
  if (offset < 0 || size < 0 || offset + size > (int64_t)buffer->size) return fail(INVALID, "the part ends after the buffer");
#ifdef TRANSFER_IGNORES_OFFSET
  offset = 0;
#endif
  memcpy(buffer->block->bytes + offset, data, size);
#ifdef READY_AT_FIRST_TRANSFER
  is_last = 1;
  if (offset + size == (int64_t)buffer->size && offset > 0) return NULL;
#endif
  if (is_last) event_set(manager->ready[index], 0, "", 0);
  return NULL;
}

static PJRT_Error* transfer_data(PJRT_AsyncHostToDeviceTransferManager_TransferData_Args* args) {
  CHECK(args, PJRT_AsyncHostToDeviceTransferManager_TransferData_Args);
  args->done_with_h2d_transfer = (PJRT_Event*)event_done();
  return transfer((struct manager*)args->transfer_manager, args->buffer_index, args->data, args->offset, args->transfer_size,
                  args->is_last_transfer);
}

#ifdef HAS_PJRT_AsyncHostToDeviceTransferManager_TransferLiteral
static PJRT_Error* transfer_literal(PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args* args) {
  CHECK(args, PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args);
  struct manager* manager = (struct manager*)args->transfer_manager;
  int64_t size = element_size(args->shape_element_type);
  for (size_t at = 0; at < args->shape_num_dims; ++at) size *= args->shape_dims[at];
#ifdef LITERAL_SHORT
  size -= 4;
#endif
  args->done_with_h2d_transfer = (PJRT_Event*)event_done();
  return transfer(manager, args->buffer_index, args->data, 0, size, 1);
}
#endif

static PJRT_Error* retrieve(PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args* args) {
  CHECK(args, PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args);
  struct manager* manager = (struct manager*)args->transfer_manager;
  if ((size_t)args->buffer_index >= manager->count) return fail(INVALID, "there is no such buffer");
  args->buffer_out = (PJRT_Buffer*)manager->buffers[args->buffer_index];
  return NULL;
}

static PJRT_Error* device_of(PJRT_AsyncHostToDeviceTransferManager_Device_Args* args) {
  CHECK(args, PJRT_AsyncHostToDeviceTransferManager_Device_Args);
  args->device_out = (PJRT_Device*)((struct manager*)args->transfer_manager)->device;
  return NULL;
}

static PJRT_Error* count(PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args* args) {
  CHECK(args, PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args);
  args->buffer_count = ((struct manager*)args->transfer_manager)->count;
#ifdef COUNTS_ONE_BUFFER
  args->buffer_count = 1;
#endif
  return NULL;
}

static PJRT_Error* size_of(PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args* args) {
  CHECK(args, PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args);
  struct manager* manager = (struct manager*)args->transfer_manager;
#ifdef INDEX_UNCHECKED
  if ((size_t)args->buffer_index >= manager->count) return NULL;
#endif
  if ((size_t)args->buffer_index >= manager->count) return fail(INVALID, "there is no such buffer");
  args->buffer_size = manager->buffers[args->buffer_index]->size;
  return NULL;
}

static PJRT_Error* set_error(PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args* args) {
  CHECK(args, PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args);
  struct manager* manager = (struct manager*)args->transfer_manager;
#ifdef TRANSFER_ERROR_LOST
  event_set(manager->ready[args->buffer_index], 0, "", 0);
#else
  event_set(manager->ready[args->buffer_index], args->error_code, args->error_message, args->error_message_size);
#endif
  return NULL;
}
#endif

void fill_transfers(PJRT_Api* api) {
#ifdef HAS_PJRT_Client_CreateBuffersForAsyncHostToDevice
  api->PJRT_Client_CreateBuffersForAsyncHostToDevice = create;
  api->PJRT_AsyncHostToDeviceTransferManager_Destroy = destroy;
  api->PJRT_AsyncHostToDeviceTransferManager_TransferData = transfer_data;
  api->PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer = retrieve;
  api->PJRT_AsyncHostToDeviceTransferManager_Device = device_of;
  api->PJRT_AsyncHostToDeviceTransferManager_BufferCount = count;
  api->PJRT_AsyncHostToDeviceTransferManager_BufferSize = size_of;
  api->PJRT_AsyncHostToDeviceTransferManager_SetBufferError = set_error;
#ifdef HAS_PJRT_AsyncHostToDeviceTransferManager_TransferLiteral
  api->PJRT_AsyncHostToDeviceTransferManager_TransferLiteral = transfer_literal;
#endif
#endif
  (void)api;
}
