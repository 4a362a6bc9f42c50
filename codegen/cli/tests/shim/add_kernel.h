// What both plugins share of kernels for AddV2 and AssignVariableOp, and of a graph optimizer that returns graphs unchanged.

static void add(void *kernel, TF_OpKernelContext *context) {
  TF_Status *status = TF_NewStatus();
  TF_Tensor *x = NULL, *y = NULL;
  TF_GetInput(context, 0, &x, status);
  TF_GetInput(context, 1, &y, status);
  int64_t dims[8];
  const int rank = TF_NumDims(x);
  const int64_t count = TF_TensorElementCount(x);
  if (rank > 8 || TF_TensorElementCount(y) != count) {
    TF_SetStatus(status, TF_UNIMPLEMENTED, "tensors of equal shapes only, of rank 8 at most");
    TF_OpKernelContext_Failure(context, status);
  } else {
    for (int i = 0; i < rank; ++i) dims[i] = TF_Dim(x, i);
    TF_Tensor *z = TF_AllocateOutput(context, 0, TF_FLOAT, dims, rank, TF_TensorByteSize(x), status);
    const float *a = TF_TensorData(x), *b = TF_TensorData(y);
    float *c = TF_TensorData(z);
    for (int64_t i = 0; i < count; ++i) c[i] = a[i] + b[i];
    TF_DeleteTensor(z);
  }
  TF_DeleteTensor(x);
  TF_DeleteTensor(y);
  TF_DeleteStatus(status);
}

static void copy_tensor(TF_OpKernelContext *context, TF_Tensor *source, TF_Tensor *target) {
  memcpy(TF_TensorData(target), TF_TensorData(source), TF_TensorByteSize(source));
  TF_DeleteTensor(source);
  TF_DeleteTensor(target);
}

static void register_kernel(const char *op, const char *attribute, void (*compute)(void *, TF_OpKernelContext *)) {
  TF_Status *status = TF_NewStatus();
  TF_KernelBuilder *builder = TF_NewKernelBuilder(op, TYPE, NULL, compute, NULL);
  TF_KernelBuilder_TypeConstraint(builder, attribute, TF_FLOAT, status);
  TF_RegisterKernelBuilder(op, builder, status);
  TF_DeleteStatus(status);
}

static void free_graph(void *data, size_t length) { free(data); }
static void optimize(void *optimizer, const TF_Buffer *graph, const TF_GrapplerItem *item, TF_Buffer *optimized,
                     TF_Status *status) {
  void *copy = malloc(graph->length + 1);
  memcpy(copy, graph->data, graph->length);
  optimized->data = copy;
  optimized->length = graph->length;
  optimized->data_deallocator = free_graph;
}
