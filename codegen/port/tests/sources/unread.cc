// An invented source: registrations that cannot be read.
template <typename T>
void Register() {
  static auto kernel = REGISTER_KERNEL_BUILDER(Name("Abs").Device(DEVICE_CPU).TypeConstraint<T>("T"), AbsOp<T>);
}
REGISTER_KERNEL_BUILDER(Name(OpName()).Device(DEVICE_CPU), NamedOp);
REGISTER_KERNEL_BUILDER(Name("Neg").Device(DEVICE_CPU).TypeConstraint("T", kTypes), NegOp);
REGISTER_KERNEL_BUILDER(Name("Neg").Device(DEVICE_CPU).Priority(kHigh), NegOp);
REGISTER_KERNEL_BUILDER(Name("Neg").Device(DEVICE_CPU));
#define REGISTER_NEG(T) REGISTER_KERNEL_BUILDER(Name("Neg").Device(DEVICE_CPU).TypeConstraint<T>("T"), NegOp<T>);
TF_CALL_TYPES_OF_ANOTHER_FILE(REGISTER_NEG)
#define NEVER_CALLED(T) REGISTER_NEG(T)
REGISTER6(UnaryOp, CPU, "Abs", functor::abs, float);
REGISTER_OP("Demo").Attr(DemoAttribute());
REGISTER_OP("Demo").Input("x: T");
REGISTER_KERNEL_BUILDER(Name("Inv").Device(DEVICE_CPU).TypeConstraint<string>("T"), InvOp);
const char* text = "an unterminated string
REGISTER_KERNEL_BUILDER(Name("Inv").Device(DEVICE_CPU).TypeConstraint<float>("T"), InvOp
