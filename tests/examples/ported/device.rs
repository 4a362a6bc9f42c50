//! Skeletons of the kernels and ops of arrays.cc, arrays.h, by `sp-gen port`.
//!
//! Kernels without a skeleton:
//!
//! - arrays.cc:34 Sum CPU T=float Tidx=int32: for `CPU`: the skeleton is that of `GPU`

use sp_plugin::{Bf16, Bool, Complex64, Element, Error, F16, Result};
use sp_plugin::kernel::{
    AnyIn, AnyInList, AnyOut, BytesIn, BytesInList, BytesOut, Context, HostIn, HostInt32,
    HostOut, In, Integer, Kernel, Out, RefOut, ResourceHandle, Text, Variable, kernel,
    kernels,
};
use sp_plugin::kernel::marker::Variant;
use sp_cpu::CpuDevice;

/// Returns the kernels, in order.
pub fn table() -> Vec<&'static Kernel> {
    kernels![
        leaky_relu, sum, sign, mat_mul, concat_v2, concat_v2_2, identity, identity_2,
        identity_3, assign, assign_variable_op, conv2d, cast, cast_2, collective_reduce,
        selu
    ]
}

/// LeakyRelu: `LeakyReluOp` in arrays.cc:18.
#[kernel(LeakyRelu, T = [f32, f64, Bf16, F16])]
pub fn leaky_relu<T: Element>(
    features: In<'_, T>,
    activations: Out<'_, T>,
    alpha: f32,
) -> Result<()> {
    let _ = (features, activations, alpha);
    Err(Error::unimplemented("LeakyRelu is not ported"))
}

/// Sum: `SumOp` in arrays.cc:32, arrays.cc:33.
#[kernel(Sum, T = [f32, f64], Tidx = [i32, i64], device = CpuDevice)]
pub fn sum<T: Element>(
    input: In<'_, T, CpuDevice>,
    reduction_indices: HostIn<'_, Integer>,
    output: Out<'_, T, CpuDevice>,
    keep_dims: bool,
    #[context]
    context: &Context<'_, CpuDevice>,
) -> Result<()> {
    let _ = (input, reduction_indices, output, keep_dims, context);
    Err(Error::unimplemented("Sum is not ported"))
}

/// Sign: `UnaryOp` in arrays.cc:37.
#[kernel(Sign, T = [f32, Complex64, F16], device = CpuDevice)]
pub fn sign<T: Element>(
    x: In<'_, T, CpuDevice>,
    y: Out<'_, T, CpuDevice>,
    #[context]
    context: &Context<'_, CpuDevice>,
) -> Result<()> {
    let _ = (x, y, context);
    Err(Error::unimplemented("Sign is not ported"))
}

/// MatMul: `MatMulOp` in arrays.cc:40.
#[kernel(MatMul, T = [f32, Bf16], device = CpuDevice, priority = 2, label = "eigen")]
pub fn mat_mul<T: Element>(
    a: In<'_, T, CpuDevice>,
    b: In<'_, T, CpuDevice>,
    product: Out<'_, T, CpuDevice>,
    transpose_a: bool,
    transpose_b: bool,
    grad_a: bool,
    grad_b: bool,
    #[context]
    context: &Context<'_, CpuDevice>,
) -> Result<()> {
    let _ = (a, b, product, transpose_a, transpose_b, grad_a, grad_b, context);
    Err(Error::unimplemented("MatMul is not ported"))
}

/// ConcatV2: `ConcatOp` in arrays.cc:48.
#[kernel(ConcatV2, T = [i32], device = CpuDevice)]
pub fn concat_v2(
    values: BytesInList<'_, HostInt32>,
    axis: HostIn<'_, Integer>,
    output: HostOut<'_, i32>,
    #[context]
    context: &Context<'_, CpuDevice>,
) -> Result<()> {
    let _ = (values, axis, output, context);
    Err(Error::unimplemented("ConcatV2 is not ported"))
}

/// ConcatV2: `ConcatOp` in arrays.cc:55.
#[kernel(ConcatV2, T = [f32], device = CpuDevice)]
pub fn concat_v2_2(
    values: AnyInList<'_>,
    axis: HostIn<'_, Integer>,
    output: Out<'_, f32, CpuDevice>,
    #[context]
    context: &Context<'_, CpuDevice>,
) -> Result<()> {
    let _ = (values, axis, output, context);
    Err(Error::unimplemented("ConcatV2 is not ported"))
}

/// Identity: `IdentityOp` in arrays.cc:62.
#[kernel(Identity, T = [Bool])]
pub fn identity(input: In<'_, Bool>, output: Out<'_, Bool>) -> Result<()> {
    let _ = (input, output);
    Err(Error::unimplemented("Identity is not ported"))
}

/// Identity: `IdentityOp` in arrays.cc:60.
#[kernel(Identity, T: any = [Text])]
pub fn identity_2(input: HostIn<'_, Text>, output: HostOut<'_, Text>) -> Result<()> {
    let _ = (input, output);
    Err(Error::unimplemented("Identity is not ported"))
}

/// Identity: `IdentityOp` in arrays.cc:61.
#[kernel(Identity, T: any = [Variant])]
pub fn identity_3(input: AnyIn<'_>, output: AnyOut<'_>) -> Result<()> {
    let _ = (input, output);
    Err(Error::unimplemented("Identity is not ported"))
}

/// Assign: `AssignOp` in arrays.cc:65.
#[kernel(Assign, T = [f32], device = CpuDevice)]
pub fn assign(
    r#ref: Variable<'_, f32, CpuDevice>,
    value: In<'_, f32, CpuDevice>,
    output_ref: RefOut<'_, f32, CpuDevice>,
    validate_shape: bool,
    use_locking: bool,
    #[context]
    context: &Context<'_, CpuDevice>,
) -> Result<()> {
    let _ = (r#ref, value, output_ref, validate_shape, use_locking, context);
    Err(Error::unimplemented("Assign is not ported"))
}

/// AssignVariableOp: `AssignVariableOp` in arrays.cc:66.
#[kernel(AssignVariableOp, device = CpuDevice)]
pub fn assign_variable_op(
    resource: ResourceHandle<'_>,
    value: BytesIn<'_, CpuDevice>,
    validate_shape: bool,
    #[context]
    context: &Context<'_, CpuDevice>,
) -> Result<()> {
    let _ = (resource, value, validate_shape, context);
    Err(Error::unimplemented("AssignVariableOp is not ported"))
}

/// Conv2D: `Conv2DOp` in arrays.cc:67.
#[kernel(Conv2D, T = [f32], device = CpuDevice)]
pub fn conv2d(
    input: In<'_, f32, CpuDevice>,
    filter: In<'_, f32, CpuDevice>,
    output: Out<'_, f32, CpuDevice>,
    strides: &[i64],
    use_cudnn_on_gpu: bool,
    padding: &str,
    explicit_paddings: &[i64],
    data_format: &str,
    dilations: &[i64],
    #[context]
    context: &Context<'_, CpuDevice>,
) -> Result<()> {
    let _ = (
        input,
        filter,
        output,
        strides,
        use_cudnn_on_gpu,
        padding,
        explicit_paddings,
        data_format,
        dilations,
        context,
    );
    Err(Error::unimplemented("Conv2D is not ported"))
}

/// Cast: `CastOp` in arrays.cc:70.
#[kernel(Cast, SrcT = [f32], DstT = [F16], device = CpuDevice)]
pub fn cast(
    x: In<'_, f32, CpuDevice>,
    y: Out<'_, F16, CpuDevice>,
    #[op("Truncate")]
    truncate: bool,
    #[context]
    context: &Context<'_, CpuDevice>,
) -> Result<()> {
    let _ = (x, y, truncate, context);
    Err(Error::unimplemented("Cast is not ported"))
}

/// Cast: `CastOp` in arrays.cc:71.
#[kernel(Cast, SrcT = [F16], DstT = [f32], device = CpuDevice)]
pub fn cast_2(
    x: In<'_, F16, CpuDevice>,
    y: Out<'_, f32, CpuDevice>,
    #[op("Truncate")]
    truncate: bool,
    #[context]
    context: &Context<'_, CpuDevice>,
) -> Result<()> {
    let _ = (x, y, truncate, context);
    Err(Error::unimplemented("Cast is not ported"))
}

/// CollectiveReduce: `BarrierOp` in arrays.cc:78.
#[kernel(CollectiveReduce, device = CpuDevice, asynchronous)]
pub fn collective_reduce(
    input: BytesIn<'_, CpuDevice>,
    data: BytesOut<'_, CpuDevice>,
    group_size: i64,
    group_key: i64,
    instance_key: i64,
    merge_op: &str,
    final_op: &str,
    subdiv_offsets: &[i64],
    wait_for: &[i64],
    communication_hint: &str,
    timeout_seconds: f32,
    #[context]
    context: &Context<'_, CpuDevice>,
) -> Result<()> {
    let _ = (
        input,
        data,
        group_size,
        group_key,
        instance_key,
        merge_op,
        final_op,
        subdiv_offsets,
        wait_for,
        communication_hint,
        timeout_seconds,
        context,
    );
    Err(Error::unimplemented("CollectiveReduce is not ported"))
}

/// Selu: `SeluOp` in arrays.cc:81.
#[kernel(Selu, T = [f32])]
pub fn selu(features: In<'_, f32>, activations: Out<'_, f32>) -> Result<()> {
    let _ = (features, activations);
    Err(Error::unimplemented("Selu is not ported"))
}
