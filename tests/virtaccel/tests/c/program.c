/* A program over the driver: trains one step of a dense layer on the device and checks the numbers, then the errors. */

#include "virtaccel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                \
  do {                                                                  \
    if (!(condition)) {                                                 \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);   \
      exit(1);                                                          \
    }                                                                   \
  } while (0)

#define OK(call)                                                                                \
  do {                                                                                          \
    va_status status_ = (call);                                                                 \
    if (status_ != VA_OK) {                                                                     \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, va_error_string(status_));  \
      exit(1);                                                                                  \
    }                                                                                           \
  } while (0)

static va_argument tensor(void* address, va_type type, uint32_t rank, uint64_t d0, uint64_t d1) {
  va_argument argument;
  memset(&argument, 0, sizeof argument);
  argument.kind = VA_TENSOR;
  argument.value.tensor.address = address;
  argument.value.tensor.type = type;
  argument.value.tensor.rank = rank;
  argument.value.tensor.dims[0] = d0;
  argument.value.tensor.dims[1] = d1;
  return argument;
}

static va_argument integer(int64_t value) {
  va_argument argument;
  memset(&argument, 0, sizeof argument);
  argument.kind = VA_INTEGER;
  argument.value.integer = value;
  return argument;
}

static va_argument real(double value) {
  va_argument argument;
  memset(&argument, 0, sizeof argument);
  argument.kind = VA_REAL;
  argument.value.real = value;
  return argument;
}

static void increment(void* data) { ++*(int*)data; }

static void train_one_step(va_device device, va_queue queue) {
  /* x: 2 x 3, w: 3 x 2, labels 1 and 0. */
  const float x[6] = {1, 2, 3, 4, 5, 6};
  float w[6] = {0};
  const int32_t labels[2] = {1, 0};
  float loss[2], updated[6];
  char *block;
  int calls = 0;
  /* Several tensors in one allocation, as TensorFlow's allocator has them. */
  OK(va_alloc(device, 4096, (void**)&block));
  void *dx = block, *dw = block + 256, *dlabels = block + 512, *dlogits = block + 768, *dloss = block + 1024,
       *dgradient = block + 1280, *ddw = block + 1536;

  OK(va_copy_to_device(queue, dx, x, sizeof x));
  OK(va_copy_to_device(queue, dw, w, sizeof w));
  OK(va_copy_to_device(queue, dlabels, labels, sizeof labels));
  va_argument product[] = {tensor(dx, VA_F32, 2, 2, 3), tensor(dw, VA_F32, 2, 3, 2), tensor(dlogits, VA_F32, 2, 2, 2),
                           integer(0), integer(0)};
  OK(va_launch(queue, "matmul", product, 5));
  va_argument entropy[] = {tensor(dlogits, VA_F32, 2, 2, 2), tensor(dlabels, VA_I32, 1, 2, 0),
                           tensor(dloss, VA_F32, 1, 2, 0), tensor(dgradient, VA_F32, 2, 2, 2)};
  OK(va_launch(queue, "sparse_softmax_cross_entropy", entropy, 4));
  va_argument gradient[] = {tensor(dx, VA_F32, 2, 2, 3), tensor(dgradient, VA_F32, 2, 2, 2), tensor(ddw, VA_F32, 2, 3, 2),
                            integer(1), integer(0)};
  OK(va_launch(queue, "matmul", gradient, 5));
  va_argument sgd[] = {tensor(dw, VA_F32, 2, 3, 2), tensor(ddw, VA_F32, 2, 3, 2), real(0.5)};
  OK(va_launch(queue, "sgd", sgd, 3));
  OK(va_launch_host_function(queue, increment, &calls));
  OK(va_copy_to_host(queue, loss, dloss, sizeof loss));
  OK(va_copy_to_host(queue, updated, dw, sizeof updated));
  OK(va_queue_synchronize(queue));

  CHECK(calls == 1);
  CHECK(fabsf(loss[0] - logf(2)) < 1e-6f && fabsf(loss[1] - logf(2)) < 1e-6f);
  /* gradient = softmax - onehot = {{.5, -.5}, {-.5, .5}}; dw = x' * gradient = {{-1.5, 1.5}, ...} for all three rows. */
  for (int row = 0; row < 3; ++row) {
    CHECK(fabsf(updated[2 * row] - 0.75f) < 1e-6f && fabsf(updated[2 * row + 1] + 0.75f) < 1e-6f);
  }
  OK(va_free(device, block));
}

static void reject_bad_arguments(va_device device, va_queue queue) {
  void* address;
  va_fence fence;
  float number;
  CHECK(va_driver_version(NULL) == VA_ERROR_INVALID_VALUE);
  CHECK(va_device_open(99, &device) == VA_ERROR_NO_DEVICE);
  CHECK(va_alloc(device, 0, &address) == VA_ERROR_INVALID_VALUE);
  CHECK(va_alloc(device, 16, NULL) == VA_ERROR_INVALID_VALUE);
  CHECK(va_alloc(NULL, 16, &address) == VA_ERROR_INVALID_HANDLE);
  /* A handle of another kind, a destroyed one, and a number that was never a handle. */
  CHECK(va_alloc((va_device)queue, 16, &address) == VA_ERROR_INVALID_HANDLE);
  CHECK(va_queue_synchronize((va_queue)device) == VA_ERROR_INVALID_HANDLE);
  CHECK(va_queue_synchronize((va_queue)(uintptr_t)0xdeadbeef) == VA_ERROR_INVALID_HANDLE);
  OK(va_fence_create(device, &fence));
  OK(va_fence_destroy(fence));
  CHECK(va_fence_query(fence) == VA_ERROR_INVALID_HANDLE);
  CHECK(va_fence_destroy(fence) == VA_ERROR_INVALID_HANDLE);

  OK(va_alloc(device, 64, &address));
  CHECK(va_copy_to_device(queue, (char*)address + 62, &number, 4) == VA_ERROR_INVALID_ADDRESS);
  CHECK(va_copy_to_device(queue, &number, &number, 4) == VA_ERROR_INVALID_ADDRESS);
  CHECK(va_copy_to_host(queue, address, address, 4) == VA_ERROR_INVALID_ADDRESS);
  CHECK(va_copy_to_host(queue, NULL, address, 4) == VA_ERROR_INVALID_VALUE);
  CHECK(va_fill(queue, address, 0, 3, 6) == VA_ERROR_INVALID_VALUE);
  CHECK(va_launch(queue, NULL, NULL, 0) == VA_ERROR_INVALID_VALUE);
  CHECK(va_launch(queue, "no_such_kernel", NULL, 0) == VA_ERROR_UNKNOWN_KERNEL);
  CHECK(va_launch(queue, "add", NULL, 3) == VA_ERROR_INVALID_VALUE);
  va_argument wrong[] = {tensor(address, VA_F32, 9, 1, 1), tensor(address, VA_F32, 1, 1, 0)};
  CHECK(va_launch(queue, "relu", wrong, 2) == VA_ERROR_INVALID_VALUE);
  wrong[0] = tensor((char*)address + 2, VA_F32, 1, 1, 0);
  CHECK(va_launch(queue, "relu", wrong, 2) == VA_ERROR_INVALID_ADDRESS);
  CHECK(va_launch_host_function(queue, NULL, NULL) == VA_ERROR_INVALID_VALUE);
  CHECK(va_free(device, (char*)address + 4) == VA_ERROR_INVALID_ADDRESS);
  OK(va_free(device, address));
  CHECK(va_free(device, address) == VA_ERROR_INVALID_ADDRESS);
  CHECK(strcmp(va_error_string((va_status)12345), "unknown status") == 0);
}

static void read_only_what_the_caller_has(va_device device) {
  /* A program that was compiled with a shorter struct. */
  struct {
    va_device_info info;
    char guard[8];
  } buffer;
  memset(&buffer, 0x5a, sizeof buffer);
  buffer.info.struct_size = offsetof(va_device_info, free_memory);
  OK(va_device_get_info(device, &buffer.info));
  CHECK(strcmp(buffer.info.name, "Virtual Accelerator") == 0);
  CHECK(buffer.info.total_memory > 0);
  CHECK(buffer.info.free_memory == 0x5a5a5a5a5a5a5a5aull);
  buffer.info.struct_size = 4;
  CHECK(va_device_get_info(device, &buffer.info) == VA_ERROR_INVALID_VALUE);
}

int main(void) {
  uint32_t version, count;
  va_device device, other;
  va_queue queue;
  va_queue_options options = {sizeof options, 1, 0};
  OK(va_driver_version(&version));
  CHECK(version == VA_VERSION);
  OK(va_device_count(&count));
  CHECK(count == 2);
  OK(va_device_open(0, &device));
  OK(va_device_open(1, &other));
  OK(va_queue_create(device, &options, &queue));
  train_one_step(device, queue);
  reject_bad_arguments(device, queue);
  read_only_what_the_caller_has(device);
  OK(va_queue_destroy(queue));
  OK(va_device_close(other));
  OK(va_shutdown());
  CHECK(va_driver_version(&version) == VA_ERROR_SHUT_DOWN);
  puts("ok");
  return 0;
}
