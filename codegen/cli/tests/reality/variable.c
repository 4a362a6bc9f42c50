// A kernel that assigns to a variable, as a vendor writes it: against the headers of one release.
#include <string.h>

#include "tensorflow/c/kernels.h"
#include "tensorflow/c/kernels_experimental.h"

static void copy(TF_OpKernelContext *ctx, TF_Tensor *source, TF_Tensor *target) {
  memcpy(TF_TensorData(target), TF_TensorData(source), TF_TensorByteSize(source));
  TF_DeleteTensor(source);
  TF_DeleteTensor(target);
}

static void assign(void *kernel, TF_OpKernelContext *ctx) {
  TF_Status *status = TF_NewStatus();
#if BUILT < 10
  TF_AssignVariable(ctx, 0, 1, copy, status);
#else
  TF_AssignVariable(ctx, 0, 1, true, copy, status);
#endif
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

void register_more(void) {
  TF_Status *status = TF_NewStatus();
  TF_KernelBuilder *builder = TF_NewKernelBuilder("AssignVariableOp", "VENDOR", NULL, assign, NULL);
  TF_KernelBuilder_TypeConstraint(builder, "dtype", TF_FLOAT, status);
  TF_RegisterKernelBuilder("VendorAssign", builder, status);
  TF_DeleteStatus(status);
}
