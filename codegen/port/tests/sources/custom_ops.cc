// An invented source: ops of its own, and their kernels.
REGISTER_OP("ScaleRows")
    .Input("rows: T")
    .Input("factors: T")
    .Output("scaled: T")
    .Attr("T: {half, float, double} = DT_FLOAT")
    .Attr("mode: {'CLAMP', 'WRAP'} = 'CLAMP'")
    .Attr("limit: float = 1.5")
    .Attr("axes: list(int) >= 1 = [0, 1]")
    .SetShapeFn(shape_inference::UnchangedShape)
    .Doc(R"doc(
Multiplies each row "by (a) factor)".
)doc");

REGISTER_OP("JoinAll")
    .Input("parts: N * T")
    .Input("any: Tany")
    .Output("joined: T")
    .Output("counts: N * int64")
    .Output("total: int32")
    .Attr("N: int >= 2")
    .Attr("T: realnumbertype")
    .Attr("Tany: list(type) >= 1")
    .Attr("shape: shape = { unknown_rank: true }")
    .SetIsStateful()
    .SetIsCommutative()
    .Deprecated(99, "use ScaleRows")
    .SetShapeFn([](InferenceContext* context) {
      context->set_output(0, context->UnknownShape());
      return OkStatus();
    });

REGISTER_OP("CountRows").Input("rows: float").Output("count: int64").SetShapeFn(shape_inference::ScalarShape);
REGISTER_OP("Notify").Input("text: string").Input("self: float").Input("in: float").SetIsStateful();

// TensorFlow has this op, and a plugin's op has a name in CamelCase.
REGISTER_OP("Relu").Input("features: T").Output("activations: T").Attr("T: realnumbertype");
REGISTER_OP("Demo>Shift").Input("x: float").Output("y: float");

#define REGISTER_ROWS(type) \
  REGISTER_KERNEL_BUILDER(Name("ScaleRows").Device(DEVICE_CPU).TypeConstraint<type>("T"), ScaleRowsOp<type>)
REGISTER_ROWS(float);
REGISTER_ROWS(double);
REGISTER_KERNEL_BUILDER(Name("JoinAll").Device(DEVICE_CPU).TypeConstraint<float>("T"), JoinAllOp);
REGISTER_KERNEL_BUILDER(Name("CountRows").Device(DEVICE_CPU), CountRowsOp);
REGISTER_KERNEL_BUILDER(Name("Notify").Device(DEVICE_CPU), NotifyOp);
REGISTER_KERNEL_BUILDER(Name("Demo>Shift").Device(DEVICE_CPU), ShiftOp);
REGISTER_KERNEL_BUILDER(Name("NoSuchOp").Device(DEVICE_CPU), NoSuchOp);
