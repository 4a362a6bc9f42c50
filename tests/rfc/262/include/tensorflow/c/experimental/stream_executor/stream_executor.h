// What the examples of RFC 262 define and call, as declarations: names and types. It declares nothing
// itself; where an example gives no types, the member is left out.
//
// SP_: set by plugin
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SP_Stream_st* SP_Stream;
typedef struct SE_Options SE_Options;
typedef struct SE_PlatformRegistrationParams SE_PlatformRegistrationParams;
typedef struct TF_OpKernelContext TF_OpKernelContext;
typedef struct SP_Device SP_Device;

typedef struct SP_StreamExecutor {
  void (*create_stream)(SP_Device* device, SP_Stream* stream, TF_Status* status);
} SP_StreamExecutor;

typedef struct SP_Platform {
  const char* name;
  size_t name_len;
  const char* type;
  size_t type_len;
  void (*create_device)(SP_Device* device, SE_Options* options, TF_Status* status);
  void (*create_stream_executor)(SP_StreamExecutor* se, TF_Status* status);
} SP_Platform;

void SE_InitializePlugin(SE_PlatformRegistrationParams* params, TF_Status* status);
SP_Stream TF_GetStream(TF_OpKernelContext* context);

#ifdef __cplusplus
}
#endif
