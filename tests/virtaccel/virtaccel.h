/* virtaccel.h: the driver API of a virtual accelerator.
 *
 * The accelerator is a library, libvirtaccel.so: memory that the host cannot access, queues whose work runs on threads of
 * the driver, fences, kernels by name, and failures on request. Plugins are written and tested against it as against the
 * driver of a real device.
 *
 * Every function may be called on any thread, unless its comment states otherwise. A function never faults for a null pointer
 * argument, a handle that was destroyed, or a handle of another kind: it returns a status. Pointers to host memory must be
 * valid; a device address in their place is detected.
 */
#ifndef VIRTACCEL_H
#define VIRTACCEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header: major and minor in 16 bits each. A driver of the same major version and of the same or a
 * later minor version implements all of it. */
#define VA_VERSION_MAJOR 1
#define VA_VERSION_MINOR 3
#define VA_VERSION ((VA_VERSION_MAJOR << 16) | VA_VERSION_MINOR)

#define VA_MAX_DIMS 8
#define VA_NAME_SIZE 32
#define VA_DEFAULT_LIBRARY "libvirtaccel.so"

typedef struct va_device_st* va_device;
typedef struct va_queue_st* va_queue;
typedef struct va_fence_st* va_fence;

/* Status codes. VA_NOT_READY is the answer of a query, and no error. */
typedef enum va_status {
  VA_OK = 0,
  VA_NOT_READY = 1,
  VA_ERROR_INVALID_VALUE = 2,
  VA_ERROR_INVALID_HANDLE = 3,
  VA_ERROR_INVALID_ADDRESS = 4,
  VA_ERROR_OUT_OF_MEMORY = 5,
  VA_ERROR_NO_DEVICE = 6,
  VA_ERROR_UNKNOWN_KERNEL = 7,
  VA_ERROR_LAUNCH_FAILED = 8,
  VA_ERROR_ADDRESS_FAULT = 9,
  VA_ERROR_CANCELLED = 10,
  VA_ERROR_NOT_SUPPORTED = 11,
  VA_ERROR_WRONG_THREAD = 12,
  VA_ERROR_SHUT_DOWN = 13,
  VA_ERROR_INTERNAL = 14
} va_status;

/* The element type of a tensor argument. */
typedef enum va_type {
  VA_F32 = 1,
  VA_F64 = 2,
  VA_I32 = 3,
  VA_I64 = 4
} va_type;

/* The kind of a kernel's argument, which selects the member of the union in va_argument. */
typedef enum va_argument_kind {
  VA_TENSOR = 1,
  VA_INTEGER = 2,
  VA_REAL = 3
} va_argument_kind;

/* Failures that va_inject plans. The environment variable of each is read once, at the first call. */
typedef enum va_fault {
  VA_FAULT_NONE = 0,
  VA_FAULT_ALLOCATION = 1,  /* VIRTACCEL_FAIL_ALLOC: the n-th allocation from now on fails */
  VA_FAULT_LAUNCH = 2,      /* VIRTACCEL_FAIL_LAUNCH: the n-th launch from now on fails when it runs */
  VA_FAULT_HANG = 3,        /* VIRTACCEL_HANG_LAUNCH: the n-th launch from now on never ends */
  VA_FAULT_SLOW_COPY = 4,   /* VIRTACCEL_SLOW_COPY: every copy takes at least n microseconds */
  VA_FAULT_JITTER = 5       /* VIRTACCEL_JITTER: each operation starts up to n microseconds late */
} va_fault;

/* Other environment variables: VIRTACCEL_DEVICES (2; 0: no device), VIRTACCEL_MEMORY (bytes of each device, 1 GiB),
 * VIRTACCEL_VERSION (such as 1.0: the version that the driver claims; later functions return VA_ERROR_NOT_SUPPORTED),
 * VIRTACCEL_SEED (of the random delays). */

/* A device's properties. The caller sets struct_size; the driver writes no byte beyond it. */
typedef struct va_device_info {
  size_t struct_size;
  char name[VA_NAME_SIZE];
  char pci_bus_id[16];
  uint64_t total_memory;
  uint64_t free_memory;
  uint64_t peak_memory;
  uint64_t clock_frequency; /* ticks of va_device_clock per second */
  uint32_t ordinal;
  int32_t numa_node;
} va_device_info;

/* The allocation that contains an address. */
typedef struct va_pointer_info {
  size_t struct_size;
  void* base;
  uint64_t size;
  va_device device;
} va_pointer_info;

/* Copies between the host and a device. The caller sets struct_size; the driver writes no byte beyond it. */
typedef struct va_copy_counts {
  size_t struct_size;
  uint64_t direct;       /* copies from or to memory of va_host_alloc */
  uint64_t direct_bytes;
  uint64_t bounced;      /* copies through a buffer of the driver */
  uint64_t bounced_bytes;
} va_copy_counts;

typedef struct va_queue_options {
  size_t struct_size;
  int32_t priority;
  uint32_t flags; /* 0 */
} va_queue_options;

/* A contiguous tensor in device memory, outermost dimension first. The address may be inside of an allocation. */
typedef struct va_tensor {
  void* address;
  uint64_t dims[VA_MAX_DIMS];
  uint32_t rank;
  va_type type;
} va_tensor;

typedef struct va_argument {
  va_argument_kind kind;
  union {
    va_tensor tensor;
    int64_t integer;
    double real;
  } value;
} va_argument;

typedef void (*va_host_function)(void* user_data);

/* The driver. */

va_status va_driver_version(uint32_t* version);
/* Returns a text for any value; it is valid for the life of the process. */
const char* va_error_string(va_status status);
/* Stops all threads. Queued work is dropped, except host functions, which are called. Every later call returns
 * VA_ERROR_SHUT_DOWN. */
va_status va_shutdown(void);
/* Plans a failure; n counts from 1, and 0 cancels it. VA_FAULT_NONE cancels all. */
va_status va_inject(va_fault fault, uint64_t n);

/* Devices. Opening a device twice gives two handles of one device. */

va_status va_device_count(uint32_t* count);
va_status va_device_open(uint32_t ordinal, va_device* device);
va_status va_device_close(va_device device);
va_status va_device_get_info(va_device device, va_device_info* info);
va_status va_device_clock(va_device device, uint64_t* ticks);
/* Waits for all queues of the device. Returns the first sticky error among them. */
va_status va_device_synchronize(va_device device);

/* Memory. The host cannot access the address: a read or write is a segmentation fault. Addresses are aligned to 4096.
 * Memory may be freed while queued work uses it; that work then fails with VA_ERROR_ADDRESS_FAULT. */

va_status va_alloc(va_device device, uint64_t size, void** address);
va_status va_free(va_device device, void* address);
va_status va_pointer_get_info(const void* address, va_pointer_info* info);
/* Host memory, aligned to 4096, which the host accesses as any other, and from and to which a device copies directly. A copy
 * from or to other host memory is made through a buffer of the driver. Memory that is freed while queued copies use it is
 * freed after them. */
va_status va_host_alloc(uint64_t size, void** memory);
va_status va_host_free(void* memory);
/* Writes the numbers of copies that have run between the host and all devices. Since 1.3. */
va_status va_get_copy_counts(va_copy_counts* counts);

/* Queues. The work of a queue runs in order, that of different queues at the same time. An error of work that runs becomes
 * the sticky error of its queue: every later copy, fill, launch and wait returns it, and those in the queue do not run.
 * Fences and host functions are accepted and run all the same. */

/* options may be null. */
va_status va_queue_create(va_device device, const va_queue_options* options, va_queue* queue);
/* Waits for the queue's work; a launch that hangs is cancelled. */
va_status va_queue_destroy(va_queue queue);
/* Waits for the queue's work. Not from a host function: VA_ERROR_WRONG_THREAD. */
va_status va_queue_synchronize(va_queue queue);
/* Returns VA_OK if all work is complete, VA_NOT_READY if not, or the sticky error. */
va_status va_queue_query(va_queue queue);
/* Writes the sticky error and the name of the operation that failed, and clears the error if `clear` is not 0. Without an
 * error these are VA_OK and "". `operation` may be null if size is 0. Since 1.1. */
va_status va_queue_get_error(va_queue queue, int32_t clear, va_status* error, char* operation, size_t size);
/* Ends a launch that hangs, with VA_ERROR_CANCELLED as sticky error. Since 1.1. */
va_status va_queue_cancel(va_queue queue);

/* Work. Each call returns before the work is done. Host memory must stay valid until then. */

va_status va_copy_to_device(va_queue queue, void* target, const void* host, uint64_t size);
va_status va_copy_to_host(va_queue queue, void* host, const void* source, uint64_t size);
/* Copies within the device of the queue. The ranges may overlap. */
va_status va_copy_within(va_queue queue, void* target, const void* source, uint64_t size);
/* Copies between any two devices. */
va_status va_copy_peer(va_queue queue, void* target, const void* source, uint64_t size);
/* Repeats the lowest pattern_size bytes (1, 2 or 4) of pattern; size must be a multiple. */
va_status va_fill(va_queue queue, void* target, uint32_t pattern, uint32_t pattern_size, uint64_t size);
/* Calls a function on a thread of the driver. It must not wait for a queue or a fence. */
va_status va_launch_host_function(va_queue queue, va_host_function function, void* user_data);
/* Runs a kernel. The arguments are copied. README.md lists the kernels with their arguments. */
va_status va_launch(va_queue queue, const char* kernel, const va_argument* arguments, uint32_t count);
/* Writes the name of a kernel, or VA_ERROR_INVALID_VALUE if index is not below their number. Since 1.1. */
va_status va_kernel_name(uint32_t index, const char** name);

/* Fences. A fence is complete if the work before its last record is; one that was never recorded is complete.
 * It may be destroyed while queued work records it or waits for it; that work runs all the same. */

va_status va_fence_create(va_device device, va_fence* fence);
va_status va_fence_destroy(va_fence fence);
va_status va_fence_record(va_fence fence, va_queue queue);
/* Later work of the queue waits for the fence's last record before this call, on any device. If the recording queue has failed
 * by then, its error becomes that of this queue too. */
va_status va_fence_wait(va_queue queue, va_fence fence);
va_status va_fence_synchronize(va_fence fence);
/* Returns VA_NOT_READY before, and then the error of the queue that recorded the fence, if the work before it has failed. */
va_status va_fence_query(va_fence fence);
/* Writes the nanoseconds between two complete fences. Since 1.2. */
va_status va_fence_elapsed(va_fence start, va_fence end, uint64_t* nanoseconds);
/* Writes the time of va_device_clock at which the work before the last record of a complete fence was complete. Since 1.3. */
va_status va_fence_time(va_fence fence, uint64_t* ticks);

#ifdef __cplusplus
}
#endif

#endif
