// The plugin in the file PLUGIN, with a kernel of Relu that is preferred to its own and whose first element is wrong.
// The memory of its device is that of the host.
#include <dlfcn.h>
#include <string.h>

#include "tensorflow/c/experimental/stream_executor/stream_executor.h"
#include "tensorflow/c/kernels.h"

static void *find(const char *name) {
  static void *plugin;
  if (plugin == NULL) plugin = dlopen(PLUGIN, RTLD_LAZY | RTLD_LOCAL);
  return dlsym(plugin, name);
}

void SE_InitPlugin(SE_PlatformRegistrationParams *params, TF_Status *status) {
  void (*init)(SE_PlatformRegistrationParams *, TF_Status *);
  *(void **)&init = find("SE_InitPlugin");
  init(params, status);
}

static void relu(void *kernel, TF_OpKernelContext *ctx) {
  TF_Status *status = TF_NewStatus();
  TF_Tensor *x = NULL;
  TF_GetInput(ctx, 0, &x, status);
  int64_t dims[8];
  int rank = TF_NumDims(x);
  for (int i = 0; i < rank; ++i) dims[i] = TF_Dim(x, i);
  TF_Tensor *y = TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, rank, TF_TensorByteSize(x), status);
  const float *from = TF_TensorData(x);
  float *to = TF_TensorData(y);
  for (int64_t i = 0; i < TF_TensorElementCount(x); ++i) to[i] = from[i] > 0 ? from[i] : 0;
  to[0] += 1;
  TF_DeleteTensor(x);
  TF_DeleteTensor(y);
  TF_DeleteStatus(status);
}

void TF_InitKernel(void) {
  void (*init)(void);
  *(void **)&init = find("TF_InitKernel");
  init();
  TF_Status *status = TF_NewStatus();
  TF_KernelBuilder *builder = TF_NewKernelBuilder("Relu", "MYACCEL", NULL, relu, NULL);
  TF_KernelBuilder_TypeConstraint(builder, "T", TF_FLOAT, status);
  // Those of the plugin that are preferred to others have 1000.
  TF_KernelBuilder_Priority(builder, 2000);
  TF_RegisterKernelBuilder("WrongRelu", builder, status);
  TF_DeleteStatus(status);
}
