//! Skeletons of the kernels and ops of custom_ops.cc, by `sp-gen port`.
//!
//! Kernels without a skeleton:
//!
//! - custom_ops.cc:47 Demo>Shift CPU: the op has no definition in Rust: an op of a plugin has a name in CamelCase
//! - custom_ops.cc:48 NoSuchOp CPU: neither TensorFlow nor these sources define the op: name the source with its `REGISTER_OP` too
//!
//! Ops without a skeleton:
//!
//! - custom_ops.cc:37 Relu: TensorFlow defines this op
//! - custom_ops.cc:38 Demo>Shift: an op of a plugin has a name in CamelCase

use sp_plugin::{Element, Error, Result};
use sp_plugin::kernel::{
    AnyInList, HostIn, In, InList, Kernel, Out, OutList, PartialShape, Text, kernel,
    kernels,
};

/// The ops: move them to the module `ops` of the plugin.
pub mod ops {
    use sp_plugin::Result;
    use sp_plugin::op::{Shape, op};

    /// ScaleRows of custom_ops.cc:2. Its shape function in C++ is `shape_inference::UnchangedShape`.
    #[op(
        ScaleRows(rows: T, factors: T) -> (scaled: T),
        T: {f32, f64, F16} = f32,
        mode: {"CLAMP", "WRAP"} = "CLAMP",
        limit: float = 1.5,
        axes: list(int) >= 1 = [0, 1],
    )]
    pub fn scale_rows(rows: Shape) -> Result<Shape> {
        Ok(rows)
    }

    /// JoinAll of custom_ops.cc:15. Its shape function in C++ is written in place.
    /// In C++ `shape` has the default `{ unknown_rank: true }`, which `op` cannot express.
    #[op(
        JoinAll(parts: N * T, any: Tany) -> (joined: T, counts: N * i64, total: i32),
        N: int >= 2,
        T: {f32, f64, i32, u8, i16, i8, i64, Bf16, u16, F16, u32, u64},
        Tany: list(type) >= 1,
        shape: shape,
        commutative,
        stateful,
        deprecated(99, "use ScaleRows"),
    )]
    pub fn join_all() -> Result<(Shape, Vec<Shape>, Shape)> {
        Ok((Shape::unknown(), Vec::new(), Shape::unknown()))
    }

    /// CountRows of custom_ops.cc:33. Its shape function in C++ is `shape_inference::ScalarShape`.
    #[op(CountRows(rows: f32) -> (count: i64))]
    pub fn count_rows() -> Result<Shape> {
        Ok(Shape::scalar())
    }

    /// Notify of custom_ops.cc:34.
    #[op(Notify(text: string, self: f32, in: f32) -> (), stateful)]
    pub fn notify(text: Shape, #[op("self")] self_: Shape, r#in: Shape) -> Result<()> {
        let _ = (text, self_, r#in);
        Ok(())
    }
}

/// Returns the kernels, in order.
pub fn table() -> Vec<&'static Kernel> {
    kernels![scale_rows, join_all, count_rows, notify]
}

/// ScaleRows: `ScaleRowsOp` in custom_ops.cc:42, custom_ops.cc:43.
#[kernel(ops::ScaleRows, T = [f32, f64])]
pub fn scale_rows<T: Element>(
    rows: In<'_, T>,
    factors: In<'_, T>,
    scaled: Out<'_, T>,
    mode: &str,
    limit: f32,
    axes: &[i64],
) -> Result<()> {
    let _ = (rows, factors, scaled, mode, limit, axes);
    Err(Error::unimplemented("ScaleRows is not ported"))
}

/// JoinAll: `JoinAllOp` in custom_ops.cc:44.
#[kernel(ops::JoinAll, T = [f32])]
pub fn join_all(
    parts: InList<'_, f32>,
    any: AnyInList<'_>,
    joined: Out<'_, f32>,
    counts: OutList<'_, i64>,
    total: Out<'_, i32>,
    shape: &PartialShape,
) -> Result<()> {
    let _ = (parts, any, joined, counts, total, shape);
    Err(Error::unimplemented("JoinAll is not ported"))
}

/// CountRows: `CountRowsOp` in custom_ops.cc:45.
#[kernel(ops::CountRows)]
pub fn count_rows(rows: In<'_, f32>, count: Out<'_, i64>) -> Result<()> {
    let _ = (rows, count);
    Err(Error::unimplemented("CountRows is not ported"))
}

/// Notify: `NotifyOp` in custom_ops.cc:46.
#[kernel(ops::Notify)]
pub fn notify(
    text: HostIn<'_, Text>,
    #[op("self")]
    self_: In<'_, f32>,
    r#in: In<'_, f32>,
) -> Result<()> {
    let _ = (text, self_, r#in);
    Err(Error::unimplemented("Notify is not ported"))
}
