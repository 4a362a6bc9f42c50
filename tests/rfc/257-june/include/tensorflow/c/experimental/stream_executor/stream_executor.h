// What the text of RFC 257 of June 2020 declares, retyped: names, types and order. It uses types that it does not declare:
// SE_DeviceDescription, SE_Platform, and SE_DeviceMemoryBase, also under the name TF_DeviceMemoryBase.
//
// SE_: set by plugin
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/tf_status.h"

#define TF_BOOL unsigned char
#define TF_OFFSET_OF_END(TYPE, MEMBER) (offsetof(TYPE, MEMBER) + sizeof(((TYPE*)0)->MEMBER))

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SE_Stream_st* SE_Stream;
typedef struct SE_Event_st* SE_Event;
typedef struct SE_Timer_st* SE_Timer;
typedef TF_Status* (*TF_StatusCallbackFn)(void*);

typedef struct SE_DeviceMemoryBase SE_DeviceMemoryBase;
typedef struct SE_DeviceDescription SE_DeviceDescription;
typedef struct SE_Platform SE_Platform;

typedef struct SE_PlatformId {
  size_t struct_size;
  void* id;
} SE_PlatformId;
#define SE_PLATFORMID_STRUCT_SIZE TF_OFFSET_OF_END(SE_PlatformId, id)

typedef struct SE_TimerFns {
  size_t struct_size;
  uint64_t (*nanoseconds)(SE_Timer timer);
  uint64_t (*microseconds)(SE_Timer timer);
} SE_TimerFns;
#define SE_TIMERFNS_STRUCT_SIZE TF_OFFSET_OF_END(SE_TimerFns, microseconds)

typedef struct SE_AllocatorStats {
  size_t struct_size;
  int64_t num_allocs;
  int64_t bytes_in_use;
  int64_t peak_bytes_in_use;
  int64_t largest_alloc_size;
  int8_t has_bytes_limit;
  int64_t bytes_limit;
  int64_t bytes_reserved;
  int64_t peak_bytes_reserved;
  int8_t has_bytes_reservable_limit;
  int64_t bytes_reservable_limit;
  int64_t largest_free_block_bytes;
} SE_AllocatorStats;
#define SE_ALLOCATORSTATS_STRUCT_SIZE TF_OFFSET_OF_END(SE_AllocatorStats, largest_free_block_bytes)

typedef enum SE_EventStatus {
  SE_EVENT_UNKNOWN,
  SE_EVENT_ERROR,
  SE_EVENT_PENDING,
  SE_EVENT_COMPLETE,
} SE_EventStatus;

typedef struct SE_Options {
  size_t struct_size;
  int32_t ordinal;
} SE_Options;
#define SE_OPTIONS_STRUCT_SIZE TF_OFFSET_OF_END(SE_Options, ordinal)

typedef struct SE_Device {
  size_t struct_size;
  const char* name;
  size_t name_len;
  void* device_handle;
  void* data;
} SE_Device;
#define SE_DEVICE_STRUCT_SIZE TF_OFFSET_OF_END(SE_Device, data)

typedef struct SE_StreamExecutor {
  size_t struct_size;
  SE_DeviceMemoryBase* (*allocate)(SE_Device* se, uint64_t size, int64_t memory_space);
  void (*deallocate)(SE_Device* se, SE_DeviceMemoryBase* memory);
  TF_BOOL (*get_allocator_stats)(SE_Device* executor, SE_AllocatorStats* stats);
  TF_BOOL (*device_memory_usage)(SE_Device* executor, int64_t* free, int64_t* total);
  void (*create_stream)(SE_Device* executor, SE_Stream* stream, TF_Status* status);
  void (*destroy_stream)(SE_Device* executor, SE_Stream stream);
  TF_BOOL (*create_stream_dependency)(SE_Device* executor, SE_Stream dependent, SE_Stream other);
  void (*get_status)(SE_Device* executor, SE_Stream stream, TF_Status* status);
  void (*create_event)(SE_Device* executor, SE_Event* event, TF_Status* status);
  void (*destroy_event)(SE_Device* executor, SE_Event event, TF_Status* status);
  SE_EventStatus (*poll_for_event_status)(SE_Device* executor, SE_Event event);
  void (*record_event)(SE_Device* executor, SE_Stream stream, SE_Event event, TF_Status* status);
  void (*wait_for_event)(SE_Device* executor, SE_Stream stream, SE_Event event, TF_Status* status);
  void (*create_timer)(SE_Device* executor, SE_Timer* timer, TF_Status* status);
  void (*destroy_timer)(SE_Device* executor, SE_Timer timer);
  TF_BOOL (*start_timer)(SE_Device* executor, SE_Stream stream, SE_Timer timer);
  TF_BOOL (*stop_timer)(SE_Device* executor, SE_Stream stream, SE_Timer timer);
  TF_BOOL (*memcpy_to_host)(SE_Device* executor, SE_Stream stream, void* host_dst, const SE_DeviceMemoryBase* device_src, uint64_t size);
  TF_BOOL (*memcpy_from_host)(SE_Device* executor, SE_Stream stream, SE_DeviceMemoryBase* device_dst, const void* host_src, uint64_t size);
  void (*block_host_until_done)(SE_Device* executor, SE_Stream stream, TF_Status* status);
  TF_BOOL (*synchronize_all_activity)(SE_Device* executor);
  void (*fill_device_description)(SE_Device* executor, SE_DeviceDescription* description, TF_Status* status);
  TF_BOOL (*host_callback)(SE_Device* executor, SE_Stream* stream, TF_StatusCallbackFn callback_fn, void* ctx);
} SE_StreamExecutor;
#define SE_STREAMEXECUTOR_STRUCT_SIZE TF_OFFSET_OF_END(SE_StreamExecutor, host_callback)

SE_Platform* SE_NewPlatform(SE_PlatformId* id, int32_t visible_device_count, SE_Device* (*create_device)(SE_Options* options, TF_Status* status),
                            void (*destroy_device)(SE_Device* device), SE_StreamExecutor* (*create_stream_executor)(TF_Status* status),
                            void (*destroy_stream_executor)(SE_StreamExecutor* stream_executor));
void SE_RegisterPlatform(const char* name, size_t name_len, SE_Platform* platform, TF_Status* status);

#ifdef __cplusplus
}
#endif
