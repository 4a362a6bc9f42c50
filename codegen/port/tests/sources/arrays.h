// The header of arrays.cc, whose macro registers a kernel for three types.
constexpr char kSelu[] = "Selu";
#define REGISTER_UNARY(D, N, T) \
  REGISTER_KERNEL_BUILDER(Name(N).Device(DEVICE_##D).TypeConstraint<T>("T"), UnaryOp<D##Device, T>)
#define REGISTER_UNARY3(D, N, T, ...) \
  REGISTER_UNARY(D, N, T);            \
  REGISTER_UNARY2(D, N, __VA_ARGS__)
#define REGISTER_UNARY2(D, N, T, U) \
  REGISTER_UNARY(D, N, T);          \
  REGISTER_UNARY(D, N, U)
