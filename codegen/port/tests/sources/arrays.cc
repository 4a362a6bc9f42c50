// An invented source: kernels of TensorFlow's ops, in each form that sp-port reads. No compiler reads it.
#include "arrays.h"

namespace demo {

typedef Eigen::ThreadPoolDevice CPUDevice;
using Half = Eigen::half;

#if 0
REGISTER_KERNEL_BUILDER(Name("Elu").Device(DEVICE_CPU), NeverRead);
#endif

// A macro for each type of a list.
#define REGISTER_LEAKY_RELU(type)                                         \
  REGISTER_KERNEL_BUILDER(                                                \
      Name("LeakyRelu").Device(DEVICE_CPU).TypeConstraint<type>("T"),     \
      LeakyReluOp<CPUDevice, type>);
TF_CALL_FLOAT_TYPES(REGISTER_LEAKY_RELU)
#undef REGISTER_LEAKY_RELU

// A macro that calls a macro, with a device that is pasted, and an argument in host memory.
#define REGISTER_SUM_OF(D, type, index)                       \
  REGISTER_KERNEL_BUILDER(Name("Sum")                         \
                              .Device(DEVICE_##D)             \
                              .TypeConstraint<type>("T")      \
                              .TypeConstraint<index>("Tidx")  \
                              .HostMemory("reduction_indices"), \
                          SumOp<D##Device, type, index, Sum<type>>)
#define REGISTER_SUM(type)              \
  REGISTER_SUM_OF(GPU, type, int32);    \
  REGISTER_SUM_OF(GPU, type, ::int64_t)
REGISTER_SUM(float);
REGISTER_SUM(double);
REGISTER_SUM_OF(CPU, float, int32);

// A macro of a header.
REGISTER_UNARY3(GPU, "Sign", float, Half, std::complex<float>);

// A list of types, a label and a priority.
REGISTER_KERNEL_BUILDER(Name("MatMul")
                            .Device(DEVICE_GPU)
                            .TypeConstraint("T", {DT_FLOAT, DT_BFLOAT16})
                            .Label("eigen")
                            .Priority(2),
                        MatMulOp);

// Integers in host memory, a list of tensors, and strings.
REGISTER_KERNEL_BUILDER(Name("ConcatV2")
                            .Device(DEVICE_GPU)
                            .TypeConstraint<int32>("T")
                            .HostMemory("values")
                            .HostMemory("axis")
                            .HostMemory("output"),
                        ConcatOp<CPUDevice, int32>);
REGISTER_KERNEL_BUILDER(Name("ConcatV2")
                            .Device(DEVICE_GPU)
                            .TypeConstraint<float>("T")
                            .HostMemory("axis"),
                        ConcatOp<GPUDevice, float>);
REGISTER_KERNEL_BUILDER(Name("Identity").Device(DEVICE_CPU).TypeConstraint<tstring>("T"), IdentityOp);
REGISTER_KERNEL_BUILDER(Name("Identity").Device(DEVICE_CPU).TypeConstraint<Variant>("T"), IdentityOp);
REGISTER_KERNEL_BUILDER(Name("Identity").Device(DEVICE_CPU).TypeConstraint<bool>("T"), IdentityOp);

// References, resources, and attributes of each type.
REGISTER_KERNEL_BUILDER(Name("Assign").Device(DEVICE_GPU).TypeConstraint<float>("T"), AssignOp);
REGISTER_KERNEL_BUILDER(Name("AssignVariableOp").Device(DEVICE_GPU).HostMemory("resource"), AssignVariableOp);
REGISTER_KERNEL_BUILDER(Name("Conv2D").Device(DEVICE_GPU).TypeConstraint<float>("T"), Conv2DOp<GPUDevice, float>);

// The types are no product: two functions.
REGISTER_KERNEL_BUILDER(Name("Cast").Device(DEVICE_GPU).TypeConstraint<float>("SrcT").TypeConstraint<Half>("DstT"), CastOp);
REGISTER_KERNEL_BUILDER(Name("Cast").Device(DEVICE_GPU).TypeConstraint<Half>("SrcT").TypeConstraint<float>("DstT"), CastOp);

class BarrierOp : public AsyncOpKernel {
 public:
  explicit BarrierOp(OpKernelConstruction* context) : AsyncOpKernel(context) {}
};
constexpr char kRecv[] = "CollectiveReduce";
REGISTER_KERNEL_BUILDER(Name(kRecv).Device(DEVICE_GPU), BarrierOp);

// A constant of the header.
REGISTER_KERNEL_BUILDER(Name(kSelu).Device(DEVICE_CPU).TypeConstraint<float>("T"), SeluOp<CPUDevice, float>);

}  // namespace demo
