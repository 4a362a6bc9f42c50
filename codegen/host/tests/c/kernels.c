// The kernels of the test plugin: AddV2 on equal shapes, Sum over everything, Neg done asynchronously,
// in place if it may be.
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>

#include "tensorflow.h"

#include "calls.h"
#include "queues.h"

#if defined(ASYNC)
typedef struct { const float *a, *b; float *c; int64_t count; } Addition;

static void add_task(void *argument) {
  Addition *it = argument;
  for (int64_t i = 0; i < it->count; ++i) it->c[i] = it->a[i] + it->b[i];
  free(it);
}
#endif

// Defects that only the values of AddV2 show.
static void spoil(float *sums, int64_t count) {
  static int calls;
  ++calls;
#if defined(WRONG_ADD)
  sums[count - 1] += 1;
#endif
#if defined(WRONG_THIRD_ADD)
  if (calls >= 3) sums[0] += 1;
#endif
#if defined(ADD_ENDS)
  if (calls == 2) abort();
#endif
#if defined(ADD_HANGS)
  for (volatile int waits = 1; waits;) {
  }
#endif
}

static void add_all(TF_OpKernelContext *ctx, const float *a, const float *b, float *c, int64_t count,
                    TF_Status *status) {
#if defined(ASYNC) && !defined(KERNEL_EARLY)
  Addition *addition = malloc(sizeof *addition);
  *addition = (Addition){a, b, c, count};
  enqueue_on(TF_GetStream(ctx, status), add_task, addition);
#else
  for (int64_t i = 0; i < count; ++i) c[i] = a[i] + b[i];
  spoil(c, count);
#endif
}

// Waits for the work ahead of a kernel that computes at once.
static void wait_for_inputs(TF_OpKernelContext *ctx, TF_Status *status) {
#if defined(ASYNC)
  drain(TF_GetStream(ctx, status));
#endif
}

static void fail(TF_OpKernelContext *ctx, TF_Code code, const char *message) {
  TF_Status *status = TF_NewStatus();
  TF_SetStatus(status, code, message);
  TF_OpKernelContext_Failure(ctx, status);
  TF_DeleteStatus(status);
}

#if defined(SHARES_STATUS) || defined(OWN_STATUS)
#include <pthread.h>

typedef struct { TF_OpKernelContext *ctx; TF_Status *status; } Getter;

static void *get_input(void *argument) {
  Getter *getter = argument;
  TF_Tensor *input = NULL;
  TF_GetInput(getter->ctx, 1, &input, getter->status);
  TF_DeleteTensor(input);
  return NULL;
}

// Gets both inputs on two threads, with one status or with two.
static void get_inputs(TF_OpKernelContext *ctx, TF_Status *status) {
  TF_Status *own = TF_NewStatus();
#if defined(SHARES_STATUS)
  Getter getter = {ctx, status};
#else
  Getter getter = {ctx, own};
#endif
  pthread_t thread;
  pthread_create(&thread, NULL, get_input, &getter);
  TF_Tensor *input = NULL;
  TF_GetInput(ctx, 0, &input, status);
  TF_DeleteTensor(input);
  pthread_join(thread, NULL);
  TF_DeleteStatus(own);
}
#endif

TF_OpKernelContext *ended_context;

static void add(void *kernel, TF_OpKernelContext *ctx) {
  record_call();
  TF_Status *status = TF_NewStatus();
#if defined(SHARES_STATUS) || defined(OWN_STATUS)
  get_inputs(ctx, status);
#endif
  ended_context = ctx;
  TF_Tensor *x = NULL, *y = NULL;
  TF_GetInput(ctx, 0, &x, status);
  TF_GetInput(ctx, 1, &y, status);
#if defined(NO_SUCH_INPUT)
  TF_Tensor *w = NULL;
  TF_GetInput(ctx, 7, &w, status);
  TF_OpKernelContext_Failure(ctx, status);
#endif
#if defined(NO_SUCH_OUTPUT)
  TF_SetOutput(ctx, 7, x, status);
  TF_OpKernelContext_Failure(ctx, status);
#endif
#if defined(NO_OUTPUT)
  if (x != NULL) return;
#endif
  if (TF_TensorElementCount(x) != TF_TensorElementCount(y)) {
    fail(ctx, TF_INVALID_ARGUMENT, "the shapes differ");
  } else {
    int64_t dims[8];
    int rank = TF_NumDims(x);
    for (int i = 0; i < rank; ++i) dims[i] = TF_Dim(x, i);
    TF_Tensor *z = TF_AllocateOutput(ctx, 0, TF_FLOAT, dims, rank, TF_TensorByteSize(x), status);
    add_all(ctx, TF_TensorData(x), TF_TensorData(y), TF_TensorData(z), TF_TensorElementCount(x), status);
#if !defined(LEAK_TENSOR)
    TF_DeleteTensor(z);
#endif
  }
  TF_DeleteTensor(x);
  TF_DeleteTensor(y);
#if defined(DOUBLE_DELETE)
  TF_DeleteTensor(y);
#endif
  TF_DeleteStatus(status);
}

static void *create_sum(TF_OpKernelConstruction *ctx) {
  TF_Status *status = TF_NewStatus();
  unsigned char keep = 0;
  TF_OpKernelConstruction_GetAttrBool(ctx, "keep_dims", &keep, status);
#if defined(NO_SUCH_ATTR)
  TF_OpKernelConstruction_GetAttrBool(ctx, "no_such", &keep, status);
#endif
#if defined(OTHER_ATTR)
  int32_t number = 0;
  TF_OpKernelConstruction_GetAttrInt32(ctx, "keep_dims", &number, status);
#endif
  if (TF_GetCode(status) != TF_OK) TF_OpKernelConstruction_Failure(ctx, status);
  if (keep) {
    TF_SetStatus(status, TF_UNIMPLEMENTED, "keep_dims is for others");
    TF_OpKernelConstruction_Failure(ctx, status);
  }
  TF_DeleteStatus(status);
  return malloc(1);
}

static void sum(void *kernel, TF_OpKernelContext *ctx) {
  TF_Status *status = TF_NewStatus();
  TF_Tensor *x = NULL, *axes = NULL;
  TF_GetInput(ctx, 0, &x, status);
  TF_GetInput(ctx, 1, &axes, status);
#if SP_MINOR >= 11
  if (!TF_IsHostMemoryInput(ctx, 1, status)) fail(ctx, TF_INVALID_ARGUMENT, "the axes are not in host memory");
#endif
  if (TF_TensorElementCount(axes) != TF_NumDims(x)) {
    fail(ctx, TF_INVALID_ARGUMENT, "all axes");
  } else {
    TF_Tensor *y = TF_AllocateOutput(ctx, 0, TF_FLOAT, NULL, 0, 4, status);
    float total = 0;
    wait_for_inputs(ctx, status);
    for (int64_t i = 0; i < TF_TensorElementCount(x); ++i) total += ((const float *)TF_TensorData(x))[i];
    *(float *)TF_TensorData(y) = total;
    TF_DeleteTensor(y);
  }
  TF_DeleteTensor(x);
  TF_DeleteTensor(axes);
  TF_DeleteStatus(status);
}

#if defined(DONE_LATE)
#include <pthread.h>
#include <unistd.h>

static void *call_later(void *done) {
  usleep(20000);
  TF_RunAsyncOpKernelDoneCallback(done);
  return NULL;
}
#endif

#if SP_MINOR >= 13
static void negate(void *kernel, TF_OpKernelContext *ctx, TF_AsyncOpKernelDoneCallback *done) {
  TF_Status *status = TF_NewStatus();
  const int candidate = 0;
  int forwarded = -1;
  TF_Tensor *x = NULL;
  TF_GetInput(ctx, 0, &x, status);
  int64_t dims[8];
  int rank = TF_NumDims(x);
  int64_t count = TF_TensorElementCount(x);
  for (int i = 0; i < rank; ++i) dims[i] = TF_Dim(x, i);
  const float *from = TF_TensorData(x);
  TF_DeleteTensor(x);
  wait_for_inputs(ctx, status);
  TF_Tensor *y = TF_ForwardInputOrAllocateOutput(ctx, &candidate, 1, 0, dims, rank, &forwarded, status);
  for (int64_t i = 0; i < count; ++i) ((float *)TF_TensorData(y))[i] = -from[i];
  // In place where the input was forwarded, and only then.
  if ((TF_TensorData(y) == from) != (forwarded == 0)) fail(ctx, TF_INTERNAL, "forwarded or not?");
  TF_DeleteTensor(y);
  TF_DeleteStatus(status);
#if defined(DONE_LATE)
  pthread_t thread;
  pthread_create(&thread, NULL, call_later, done);
  pthread_detach(thread);
#elif !defined(DONE_NEVER)
  TF_RunAsyncOpKernelDoneCallback(done);
#endif
#if defined(DONE_TWICE)
  TF_RunAsyncOpKernelDoneCallback(done);
#endif
}
#endif

// Reads a resource variable under its lock.
#if defined(VARIABLES)
static const int inputs[1] = {0};

static void delete_both(TF_OpKernelContext *ctx, TF_Tensor *source, TF_Tensor *target) {
  TF_DeleteTensor(source);
  TF_DeleteTensor(target);
}

static void read_variable(void *kernel, TF_OpKernelContext *ctx) {
  TF_Status *status = TF_NewStatus();
  TF_VariableInputLockHolder *lock = NULL, *second = NULL;
#if VARIABLES == 1
  lock = inputs[0] ? second : NULL;
#else
  TF_MaybeLockVariableInputMutexesInOrder(ctx, 1, 0, inputs, 1, delete_both, &lock, status);
#endif
#if VARIABLES == 2
  TF_MaybeLockVariableInputMutexesInOrder(ctx, 1, 0, inputs, 1, delete_both, &second, status);
#endif
  TF_Tensor *value = NULL;
  TF_GetInputTensorFromVariable(ctx, 0, 1, 0, 0, delete_both, &value, status);
  TF_SetOutput(ctx, 0, value, status);
  TF_DeleteTensor(value);
  TF_ReleaseVariableInputLockHolder(second);
#if VARIABLES != 3
  TF_ReleaseVariableInputLockHolder(lock);
#endif
  TF_DeleteStatus(status);
}
#endif

// Variables by reference: made for a step, assigned to, destroyed.
#if SP_MINOR >= 15 && SP_MINOR <= 18

static TF_StringView name_of(const char *name) {
  TF_StringView view = {name, strlen(name)};
  return view;
}

static void allocate(TF_OpKernelContext *ctx, TF_Tensor *tensor, TF_DataType dtype, const int64_t *dims,
                     int rank, TF_Status *status) {
  TF_AllocatorAttributes attributes = {TF_AllocatorAttributes_SIZE, 0};
  TF_Tensor *fresh = TF_AllocateTemp(ctx, dtype, dims, rank, &attributes, status);
  TF_TensorBitcastFrom(fresh, dtype, tensor, dims, rank, status);
  TF_DeleteTensor(fresh);
}

static void copy(TF_OpKernelContext *ctx, TF_Tensor *from, TF_Tensor *to) {
  memcpy(TF_TensorData(to), TF_TensorData(from), TF_TensorByteSize(from));
  TF_DeleteTensor(from);
  TF_DeleteTensor(to);
}

static void temporary(void *kernel, TF_OpKernelContext *ctx) {
  const int64_t dims[1] = {3};
  TF_StringView name = name_of("step");
  TF_Status *status = TF_NewStatus();
  TF_TemporaryVariable(ctx, TF_FLOAT, dims, 1, &name, allocate, status);
  TF_DeleteStatus(status);
}

static void assign(void *kernel, TF_OpKernelContext *ctx) {
  TF_Status *status = TF_NewStatus();
  TF_AssignRefVariable(ctx, 0, 0, 1, false, true, copy, status);
  TF_DeleteStatus(status);
}

static void destroy(void *kernel, TF_OpKernelContext *ctx) {
  TF_StringView name = name_of("step");
  TF_Status *status = TF_NewStatus();
  TF_DestroyTemporaryVariable(ctx, 0, &name, status);
  TF_DeleteStatus(status);
}
#endif

static void delete_kernel(void *kernel) { free(kernel); }

static void enter(TF_KernelBuilder *builder, const char *name) {
  TF_Status *status = TF_NewStatus();
  TF_KernelBuilder_TypeConstraint(builder, "T", TF_FLOAT, status);
  TF_RegisterKernelBuilder(name, builder, status);
  TF_DeleteStatus(status);
}

#if defined(UNDEFINED)
void TF_NoSuchFunction(void);
#endif

void TF_InitKernel(void) {
#if defined(UNDEFINED)
  TF_NoSuchFunction();
#endif
#if defined(KERNEL_CRASH)
  abort();
#endif
#if defined(NO_COMPUTE)
  enter(TF_NewKernelBuilder("AddV2", "TEST", NULL, NULL, NULL), "TestAdd");
#else
  enter(TF_NewKernelBuilder("AddV2", "TEST", NULL, add, NULL), "TestAdd");
#endif
#if defined(NO_SUCH_OP)
  enter(TF_NewKernelBuilder("TestNoSuchOp", "TEST", NULL, add, NULL), "TestNoSuchOp");
#endif
#if defined(TWICE)
  enter(TF_NewKernelBuilder("AddV2", "TEST", NULL, add, NULL), "TestAddAgain");
#endif
#if defined(OVERLAP)
  /* The kernel before it serves all types. */
  TF_KernelBuilder *overlapping = TF_NewKernelBuilder("AddV2", "TEST", NULL, add, NULL);
  TF_Status *constrained = TF_NewStatus();
  TF_KernelBuilder_TypeConstraint(overlapping, "T", TF_FLOAT, constrained);
  TF_DeleteStatus(constrained);
  enter(overlapping, "TestAddFloat");
#endif
#if defined(WRONG_DEVICE)
  enter(TF_NewKernelBuilder("Mul", "OTHER", NULL, add, NULL), "TestMul");
#endif
#if defined(LEAK_BUILDER)
  TF_NewKernelBuilder("Mul", "TEST", NULL, add, NULL);
#endif
  TF_KernelBuilder *builder = TF_NewKernelBuilder("Sum", "TEST", create_sum, sum, delete_kernel);
  TF_KernelBuilder_HostMemory(builder, "reduction_indices");
#if defined(NO_SUCH_ARGUMENT)
  TF_KernelBuilder_HostMemory(builder, "no_such");
#endif
#if defined(NO_SUCH_CONSTRAINT)
  TF_Status *unknown = TF_NewStatus();
  TF_KernelBuilder_TypeConstraint(builder, "Tno_such", TF_FLOAT, unknown);
  TF_DeleteStatus(unknown);
#endif
  enter(builder, "TestSum");
#if SP_MINOR >= 13
  enter(TF_NewAsyncKernelBuilder("Neg", "TEST", NULL, negate, NULL), "TestNeg");
#endif
#if defined(VARIABLES)
  enter(TF_NewKernelBuilder("ReadVariable", "TEST", NULL, read_variable, NULL), "TestRead");
#endif
#if defined(REFERENCES)
  enter(TF_NewKernelBuilder("TemporaryVariable", "TEST", NULL, temporary, NULL), "TestTemporary");
  enter(TF_NewKernelBuilder("Assign", "TEST", NULL, assign, NULL), "TestAssign");
  enter(TF_NewKernelBuilder("DestroyTemporaryVariable", "TEST", NULL, destroy, NULL), "TestDestroy");
#endif
#if defined(UNKNOWN_FUNCTION)
  // The header lacks it, since its result is a type that no other function has.
  extern void *TF_GetRendezvous(TF_OpKernelContext *ctx);
  TF_GetRendezvous(NULL);
#endif
}
