// Five kernels as an author writes them in C, for comparison. The device is that of the plugin DEVICE_PLUGIN, of type
// DEVICE_TYPE. It needs no header. RELU etc. are the names of the ops: in one process with the other plugin they are
// those of other ops with the same arguments.
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct TF_Tensor TF_Tensor;
typedef struct TF_Status TF_Status;
typedef struct TF_OpKernelContext TF_OpKernelContext;
typedef struct TF_OpKernelConstruction TF_OpKernelConstruction;
typedef struct TF_KernelBuilder TF_KernelBuilder;

extern TF_Status *TF_NewStatus(void);
extern void TF_DeleteStatus(TF_Status *);
extern int TF_GetCode(const TF_Status *);
extern void TF_SetStatus(TF_Status *, int, const char *);
extern void TF_GetInput(TF_OpKernelContext *, int, TF_Tensor **, TF_Status *);
extern TF_Tensor *TF_AllocateOutput(TF_OpKernelContext *, int, int, const int64_t *, int, size_t, TF_Status *);
extern void TF_OpKernelContext_Failure(TF_OpKernelContext *, TF_Status *);
extern int TF_NumDims(const TF_Tensor *);
extern int64_t TF_Dim(const TF_Tensor *, int);
extern void *TF_TensorData(const TF_Tensor *);
extern void TF_DeleteTensor(TF_Tensor *);
extern TF_KernelBuilder *TF_NewKernelBuilder(const char *, const char *, void *(*)(TF_OpKernelConstruction *),
                                             void (*)(void *, TF_OpKernelContext *), void (*)(void *));
extern void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder *, const char *, int, TF_Status *);
extern void TF_KernelBuilder_HostMemory(TF_KernelBuilder *, const char *);
extern void TF_RegisterKernelBuilder(const char *, TF_KernelBuilder *, TF_Status *);

enum { OK = 0, INVALID_ARGUMENT = 3, FLOAT = 1, INT32 = 3, MAX_RANK = 8 };

#if !defined(RELU)
#define RELU "Relu"
#define NEG "Neg"
#define ADD "AddV2"
#define MAT_MUL "MatMul"
#define SUM "Sum"
#endif

typedef struct {
  TF_Tensor *tensor;
  int64_t dims[MAX_RANK];
  int64_t count;
  int rank;
  void *data;
} Input;

static int fail(TF_OpKernelContext *context, TF_Status *status, const char *message) {
  if (message != NULL) TF_SetStatus(status, INVALID_ARGUMENT, message);
  TF_OpKernelContext_Failure(context, status);
  return 0;
}

static int get(TF_OpKernelContext *context, int index, Input *input, TF_Status *status) {
  TF_GetInput(context, index, &input->tensor, status);
  if (TF_GetCode(status) != OK) return fail(context, status, NULL);
  input->rank = TF_NumDims(input->tensor);
  if (input->rank > MAX_RANK) return fail(context, status, "rank above 8");
  input->count = 1;
  for (int i = 0; i < input->rank; ++i) input->count *= input->dims[i] = TF_Dim(input->tensor, i);
  input->data = TF_TensorData(input->tensor);
  return 1;
}

static TF_Tensor *allocate(TF_OpKernelContext *context, const int64_t *dims, int rank, size_t count, TF_Status *status) {
  TF_Tensor *output = TF_AllocateOutput(context, 0, FLOAT, dims, rank, count * sizeof(float), status);
  if (TF_GetCode(status) == OK) return output;
  fail(context, status, NULL);
  return NULL;
}

static void map(TF_OpKernelContext *context, float (*f)(float)) {
  TF_Status *status = TF_NewStatus();
  Input x = {0};
  TF_Tensor *output = NULL;
  if (get(context, 0, &x, status)) output = allocate(context, x.dims, x.rank, x.count, status);
  if (output != NULL) {
    const float *from = x.data;
    float *to = TF_TensorData(output);
    for (int64_t i = 0; i < x.count; ++i) to[i] = f(from[i]);
  }
  TF_DeleteTensor(output);
  TF_DeleteTensor(x.tensor);
  TF_DeleteStatus(status);
}

static float positive(float x) { return x > 0 ? x : 0; }
static float negative(float x) { return -x; }

static void relu(void *kernel, TF_OpKernelContext *context) {
  (void)kernel;
  map(context, positive);
}

static void neg(void *kernel, TF_OpKernelContext *context) {
  (void)kernel;
  map(context, negative);
}

static void add(void *kernel, TF_OpKernelContext *context) {
  (void)kernel;
  TF_Status *status = TF_NewStatus();
  Input x = {0}, y = {0};
  TF_Tensor *output = NULL;
  if (get(context, 0, &x, status) && get(context, 1, &y, status)) {
    if (x.rank != y.rank || memcmp(x.dims, y.dims, sizeof x.dims) != 0) {
      fail(context, status, "the shapes differ");
    } else {
      output = allocate(context, x.dims, x.rank, x.count, status);
    }
  }
  if (output != NULL) {
    const float *left = x.data, *right = y.data;
    float *to = TF_TensorData(output);
    for (int64_t i = 0; i < x.count; ++i) to[i] = left[i] + right[i];
  }
  TF_DeleteTensor(output);
  TF_DeleteTensor(x.tensor);
  TF_DeleteTensor(y.tensor);
  TF_DeleteStatus(status);
}

static void mat_mul(void *kernel, TF_OpKernelContext *context) {
  (void)kernel;
  TF_Status *status = TF_NewStatus();
  Input a = {0}, b = {0};
  TF_Tensor *output = NULL;
  if (get(context, 0, &a, status) && get(context, 1, &b, status)) {
    if (a.rank != 2 || b.rank != 2 || a.dims[1] != b.dims[0]) {
      fail(context, status, "the shapes do not match");
    } else {
      const int64_t dims[2] = {a.dims[0], b.dims[1]};
      output = allocate(context, dims, 2, dims[0] * dims[1], status);
    }
  }
  if (output != NULL) {
    const float *left = a.data, *right = b.data;
    float *to = TF_TensorData(output);
    for (int64_t i = 0; i < a.dims[0]; ++i) {
      for (int64_t j = 0; j < b.dims[1]; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < a.dims[1]; ++k) sum += left[i * a.dims[1] + k] * right[k * b.dims[1] + j];
        to[i * b.dims[1] + j] = sum;
      }
    }
  }
  TF_DeleteTensor(output);
  TF_DeleteTensor(a.tensor);
  TF_DeleteTensor(b.tensor);
  TF_DeleteStatus(status);
}

// Sums vectors along their only axis.
static void sum(void *kernel, TF_OpKernelContext *context) {
  (void)kernel;
  TF_Status *status = TF_NewStatus();
  Input x = {0}, axes = {0};
  TF_Tensor *output = NULL;
  if (get(context, 0, &x, status) && get(context, 1, &axes, status)) {
    if (x.rank != 1 || axes.count != 1 || *(const int32_t *)axes.data != 0) {
      fail(context, status, "not a vector, or not its axis");
    } else {
      output = allocate(context, NULL, 0, 1, status);
    }
  }
  if (output != NULL) {
    const float *from = x.data;
    float total = 0;
    for (int64_t i = 0; i < x.count; ++i) total += from[i];
    *(float *)TF_TensorData(output) = total;
  }
  TF_DeleteTensor(output);
  TF_DeleteTensor(x.tensor);
  TF_DeleteTensor(axes.tensor);
  TF_DeleteStatus(status);
}

static void add_kernel(const char *op, void (*compute)(void *, TF_OpKernelContext *), const char *host) {
  TF_Status *status = TF_NewStatus();
  TF_KernelBuilder *builder = TF_NewKernelBuilder(op, DEVICE_TYPE, NULL, compute, NULL);
  TF_KernelBuilder_TypeConstraint(builder, "T", FLOAT, status);
  if (host != NULL) {
    TF_KernelBuilder_TypeConstraint(builder, "Tidx", INT32, status);
    TF_KernelBuilder_HostMemory(builder, host);
  }
  TF_RegisterKernelBuilder(op, builder, status);
  TF_DeleteStatus(status);
}

void TF_InitKernel(void) {
  add_kernel(RELU, relu, NULL);
  add_kernel(NEG, neg, NULL);
  add_kernel(ADD, add, NULL);
#if defined(MAT_MUL)
  add_kernel(MAT_MUL, mat_mul, NULL);
#endif
  add_kernel(SUM, sum, "reduction_indices");
}

#if defined(DEVICE_PLUGIN)
void SE_InitPlugin(void *parameters, TF_Status *status) {
  void *library = dlopen(DEVICE_PLUGIN, RTLD_NOW);
  void (*init)(void *, TF_Status *);
  *(void **)&init = dlsym(library, "SE_InitPlugin");
  init(parameters, status);
}
#endif
