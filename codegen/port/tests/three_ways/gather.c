#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spgen_kernels.h"
#include "spgen_tf_tensor.h"

enum { MAX_RANK = 16 };

static void *create_gather(TF_OpKernelConstruction *construction) {
  TF_Status *status = TF_NewStatus();
  unsigned char *validate_indices = calloc(1, 1);
  TF_OpKernelConstruction_GetAttrBool(construction, "validate_indices", validate_indices, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelConstruction_Failure(construction, status);
  TF_DeleteStatus(status);
  return validate_indices;
}

static void delete_gather(void *validate_indices) { free(validate_indices); }

static void copy_rows(TF_OpKernelContext *context, const TF_Tensor *params, const TF_Tensor *indices, bool validate_indices,
                      TF_Status *status) {
  const int params_rank = TF_NumDims(params), indices_rank = TF_NumDims(indices);
  if (params_rank < 1 || params_rank + indices_rank > MAX_RANK) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT, params_rank < 1 ? "params has no rows" : "the result has too many dimensions");
    return;
  }
  int64_t dims[MAX_RANK], width = 1;
  int rank = 0;
  for (int axis = 0; axis < indices_rank; ++axis) dims[rank++] = TF_Dim(indices, axis);
  for (int axis = 1; axis < params_rank; ++axis) width *= dims[rank++] = TF_Dim(params, axis);
  const int64_t rows = TF_Dim(params, 0), count = TF_TensorElementCount(indices);
  const size_t row_bytes = (size_t)width * sizeof(float);
  TF_Tensor *output = TF_AllocateOutput(context, 0, TF_FLOAT, dims, rank, (size_t)count * row_bytes, status);
  if (TF_GetCode(status) != TF_OK) return;
  const float *from = TF_TensorData(params);
  const int32_t *values = TF_TensorData(indices);
  float *to = TF_TensorData(output);
  for (int64_t position = 0; position < count; ++position, to += width) {
    const int64_t row = values[position];
    if (row >= 0 && row < rows) {
      memcpy(to, from + row * width, row_bytes);
    } else if (validate_indices) {
      char message[128];
      snprintf(message, sizeof message, "indices[%lld] = %lld is not in [0, %lld)", (long long)position, (long long)row,
               (long long)rows);
      TF_SetStatus(status, TF_INVALID_ARGUMENT, message);
      break;
    } else {
      memset(to, 0, row_bytes);
    }
  }
  TF_DeleteTensor(output);
}

static void compute_gather(void *validate_indices, TF_OpKernelContext *context) {
  TF_Status *status = TF_NewStatus();
  TF_Tensor *params = NULL, *indices = NULL;
  TF_GetInput(context, 0, &params, status);
  if (TF_GetCode(status) == TF_OK) TF_GetInput(context, 1, &indices, status);
  if (TF_GetCode(status) == TF_OK) copy_rows(context, params, indices, *(unsigned char *)validate_indices, status);
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(context, status);
  if (params != NULL) TF_DeleteTensor(params);
  if (indices != NULL) TF_DeleteTensor(indices);
  TF_DeleteStatus(status);
}

void TF_InitKernel(void) {
  TF_Status *status = TF_NewStatus();
  TF_KernelBuilder *builder = TF_NewKernelBuilder("Gather", TYPE, create_gather, compute_gather, delete_gather);
  TF_KernelBuilder_TypeConstraint(builder, "Tparams", TF_FLOAT, status);
  TF_KernelBuilder_TypeConstraint(builder, "Tindices", TF_INT32, status);
  TF_RegisterKernelBuilder("Gather", builder, status);
  TF_DeleteStatus(status);
}
