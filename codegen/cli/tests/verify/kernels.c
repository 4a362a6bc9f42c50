// A plugin whose kernels are lines of a table; a macro adds lines that TensorFlow can never run. It needs no header.
#include <stddef.h>
#include <stdlib.h>

typedef void *Create(void *construction);
typedef void Compute(void *kernel, void *context);
typedef void ComputeAsync(void *kernel, void *context, void *done);
typedef void Delete(void *kernel);

extern void *TF_NewStatus(void);
extern void TF_DeleteStatus(void *status);
extern void *TF_NewKernelBuilder(const char *op, const char *device, Create *, Compute *, Delete *);
extern void TF_KernelBuilder_TypeConstraint(void *builder, const char *attribute, int type, void *status);
extern void TF_KernelBuilder_HostMemory(void *builder, const char *argument);
extern void TF_KernelBuilder_Priority(void *builder, int priority);
extern void TF_RegisterKernelBuilder(const char *name, void *builder, void *status);

enum { FLOAT = 1, DOUBLE = 2, INT32 = 3, BOOL = 10, BFLOAT16 = 14 };

static void compute(void *kernel, void *context) {
  (void)kernel;
  (void)context;
}

static void add(const char *op, const char *attribute, int type, const char *host, int priority) {
  void *status = TF_NewStatus();
  void *builder = TF_NewKernelBuilder(op, "DEMO", NULL, compute, NULL);
  if (attribute != NULL) TF_KernelBuilder_TypeConstraint(builder, attribute, type, status);
  if (host != NULL) TF_KernelBuilder_HostMemory(builder, host);
  TF_KernelBuilder_Priority(builder, priority);
  TF_RegisterKernelBuilder(op, builder, status);
  TF_DeleteStatus(status);
}

void TF_InitKernel(void) {
#if !defined(NO_KERNELS)
  add("Relu", "T", FLOAT, NULL, 0);
  add("Relu", "T", DOUBLE, NULL, 0);
  add("Relu", "T", FLOAT, NULL, 2);
  add("Sum", "T", FLOAT, "reduction_indices", 0);
#endif
#if defined(NEVER_RUN)
  add("Relu7", NULL, 0, NULL, 0);
  add("Relu", "T", BOOL, NULL, 0);
  add("Sum", "Tx", INT32, NULL, 0);
  add("Mean", NULL, 0, "axis", 0);
  add("Mean", "T", FLOAT, NULL, 0);
  add("TopKV2", "index_type", INT32, NULL, 0);
  add("MatMul", "transpose_a", BOOL, NULL, 0);
#endif
#if defined(CRASHES)
  abort();
#endif
}

#if defined(LACKS)
// As `plugin!` of sp-plugin exports it.
size_t sp_plugin_settings(char *buffer, size_t size) {
  const char text[] = "compare=off\nlacking=Cast: TF_\x1b is absent\nlacking=Abs: TF_\x1b is absent\n";
  for (size_t n = 0; n < size && n < sizeof text; ++n) buffer[n] = text[n];
  return sizeof text;
}
#endif
