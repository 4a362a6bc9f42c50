//! Shape inference: the C functions that a plugin's shape function calls.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::Mutex;

use super::argument::{Arg, CStringArgument, Out};
use super::failure::{CallError, StatusResult, invalid};
use super::functions::functions;
use crate::dtype::DType;
use crate::lock;
use crate::objects::{self, HostObject, ObjectKind, Owner};

/// Dimensions, -1 for an unknown one; `None` for an unknown rank.
pub(crate) type TensorShape = Option<Vec<i64>>;

const UNKNOWN: i64 = -1;

/// The object behind `TF_ShapeInferenceContext*`.
pub(crate) struct ShapeInference {
    inputs: Vec<TensorShape>,
    outputs: Mutex<Vec<Output>>,
    types: BTreeMap<String, DType>,
    first_only: bool,
}

/// The shape of an output.
#[derive(Clone, Default)]
struct Output {
    shape: TensorShape,
    is_set: bool,
}

/// The object behind `TF_ShapeHandle*`.
pub(super) struct ShapeHandle(Mutex<TensorShape>);

/// The object behind `TF_DimensionHandle*`.
pub(super) struct DimensionHandle(Mutex<i64>);

impl HostObject for ShapeInference {
    const KIND: ObjectKind = ObjectKind::ShapeInference;
}

impl HostObject for ShapeHandle {
    const KIND: ObjectKind = ObjectKind::Shape;
}

impl HostObject for DimensionHandle {
    const KIND: ObjectKind = ObjectKind::Dimension;
}

impl ShapeHandle {
    fn shape(&self) -> TensorShape {
        lock(&self.0).clone()
    }

    /// Stores a shape in the plugin's handle.
    fn set(&self, shape: TensorShape) -> Result<(), CallError> {
        *lock(&self.0) = shape;
        Ok(())
    }
}

impl ShapeInference {
    /// Returns the inference for inputs of these shapes. `types` are the values of the op's type attributes.
    pub fn new(
        inputs: Vec<TensorShape>,
        outputs: usize,
        types: BTreeMap<String, DType>,
        first_only: bool,
    ) -> Self {
        Self {
            inputs,
            outputs: Mutex::new(vec![Output::default(); outputs]),
            types,
            first_only,
        }
    }

    pub fn outputs(&self) -> Vec<TensorShape> {
        let outputs = lock(&self.outputs);
        outputs.iter().map(|it| it.shape.clone()).collect()
    }

    /// Returns the position of an input or output, or `None` if the release rejects the index.
    fn index(&self, index: c_int) -> Option<usize> {
        let index = usize::try_from(index).ok();
        index.filter(|index| *index == 0 || !self.first_only)
    }
}

fn new_shape_handle(shape: TensorShape) -> *mut ShapeHandle {
    objects::create(ShapeHandle(Mutex::new(shape)), Owner::Plugin)
}

/// Returns the shape if its rank satisfies `fits`.
fn with_rank(
    shape: TensorShape,
    rank: i64,
    fits: impl Fn(i64) -> bool,
    word: &str,
) -> StatusResult<TensorShape> {
    match shape {
        Some(dims) if fits(dims.len() as i64) => Ok(Some(dims)),
        Some(dims) => Err(invalid(format!(
            "Shape must be {word} rank {rank} but is rank {}",
            dims.len()
        ))),
        None if word == "exactly" => Ok(Some(vec![UNKNOWN; rank.max(0) as usize])),
        None => Ok(None),
    }
}

/// Stores the shape of `handle` in `result` if its rank satisfies `fits`.
fn set_with_rank(
    call: &str,
    (ctx, handle, result): (&Ctx, &Arg<ShapeHandle>, &Arg<ShapeHandle>),
    rank: i64,
    fits: impl Fn(i64) -> bool,
    word: &str,
) -> Result<(), CallError> {
    let (_, handle, result) = (ctx.live(call)?, handle.live(call)?, result.live(call)?);
    result.set(with_rank(handle.shape(), rank, fits, word)?)
}

/// Returns the index of a dimension. A negative one counts from the end.
fn dimension_index(at: i64, rank: usize) -> Option<usize> {
    let at = if at < 0 { at + rank as i64 } else { at };
    usize::try_from(at).ok().filter(|at| *at <= rank)
}

fn subshape(shape: TensorShape, start: i64, end: i64) -> StatusResult<TensorShape> {
    let Some(dims) = shape else { return Ok(None) };
    // Ends beyond the rank are cut, as the largest number stands for "to the end".
    let (start, end) = (start, end.min(dims.len() as i64));
    match (
        dimension_index(start, dims.len()),
        dimension_index(end, dims.len()),
    ) {
        (Some(start), Some(end)) if start <= end => Ok(Some(dims[start..end].to_vec())),
        _ => Err(invalid(format!(
            "no subshape {start}..{end} of rank {}",
            dims.len()
        ))),
    }
}

type Ctx = Arg<ShapeInference>;

functions! {
    fn TF_NewShapeHandle() -> *mut ShapeHandle {
        new_shape_handle(None)
    }

    fn TF_DeleteShapeHandle(handle: Arg<ShapeHandle>) {
        drop(handle.take(CALL));
    }

    fn TF_NewDimensionHandle() -> *mut DimensionHandle {
        objects::create(DimensionHandle(Mutex::new(UNKNOWN)), Owner::Plugin)
    }

    fn TF_DeleteDimensionHandle(handle: Arg<DimensionHandle>) {
        drop(handle.take(CALL));
    }

    fn TF_DimensionHandleValueKnown(handle: Arg<DimensionHandle>) -> c_int {
        handle.get(CALL).map_or(0, |dim| c_int::from(*lock(&dim.0) != UNKNOWN))
    }

    fn TF_DimensionHandleValue(handle: Arg<DimensionHandle>) -> i64 {
        handle.get(CALL).map_or(UNKNOWN, |dim| *lock(&dim.0))
    }

    fn TF_ShapeInferenceContextNumInputs(ctx: Ctx) -> i64 {
        ctx.get(CALL).map_or(0, |ctx| ctx.inputs.len() as i64)
    }

    fn TF_ShapeInferenceContextScalar(ctx: Ctx) -> *mut ShapeHandle {
        ctx.get(CALL).map_or(std::ptr::null_mut(), |_| new_shape_handle(Some(vec![])))
    }

    fn TF_ShapeInferenceContextVectorFromSize(ctx: Ctx, size: usize) -> *mut ShapeHandle {
        ctx.get(CALL).map_or(std::ptr::null_mut(), |_| new_shape_handle(Some(vec![size as i64])))
    }

    fn TF_ShapeInferenceContextRankKnown(ctx: Ctx, handle: Arg<ShapeHandle>) -> c_int {
        let (Some(_), Some(handle)) = (ctx.get(CALL), handle.get(CALL)) else { return 0 };
        c_int::from(handle.shape().is_some())
    }

    fn TF_ShapeInferenceContextRank(ctx: Ctx, handle: Arg<ShapeHandle>) -> i64 {
        let (Some(_), Some(handle)) = (ctx.get(CALL), handle.get(CALL)) else { return UNKNOWN };
        handle.shape().map_or(UNKNOWN, |dims| dims.len() as i64)
    }

    fn TF_ShapeInferenceContextGetInput(ctx: Ctx, index: c_int, handle: Arg<ShapeHandle>; status) {
        let (ctx, handle) = (ctx.live(CALL)?, handle.live(CALL)?);
        let found = ctx.index(index).and_then(|at| ctx.inputs.get(at)).cloned();
        handle.set(found.ok_or_else(|| invalid(format!("there is no input {index}")))?)
    }

    fn TF_ShapeInferenceContextSetOutput(ctx: Ctx, index: c_int, handle: Arg<ShapeHandle>; status) {
        let (ctx, handle) = (ctx.live(CALL)?, handle.live(CALL)?);
        let mut outputs = lock(&ctx.outputs);
        let output = ctx.index(index).and_then(|at| outputs.get_mut(at));
        let output = output.ok_or_else(|| invalid(format!("there is no output {index}")))?;
        if output.is_set {
            objects::record_fault(format!("{CALL} sets output {index} twice"));
        }
        *output = Output { shape: handle.shape(), is_set: true };
        Ok(())
    }

    fn TF_ShapeInferenceContextSetUnknownShape(ctx: Ctx; status) {
        lock(&ctx.live(CALL)?.outputs).fill(Output::default());
        Ok(())
    }

    fn TF_ShapeInferenceContextWithRank(
        ctx: Ctx, handle: Arg<ShapeHandle>, rank: i64, result: Arg<ShapeHandle>; status
    ) {
        set_with_rank(CALL, (&ctx, &handle, &result), rank, |found| found == rank, "exactly")
    }

    fn TF_ShapeInferenceContextWithRankAtLeast(
        ctx: Ctx, handle: Arg<ShapeHandle>, rank: i64, result: Arg<ShapeHandle>; status
    ) {
        set_with_rank(CALL, (&ctx, &handle, &result), rank, |found| found >= rank, "at least")
    }

    fn TF_ShapeInferenceContextWithRankAtMost(
        ctx: Ctx, handle: Arg<ShapeHandle>, rank: i64, result: Arg<ShapeHandle>; status
    ) {
        set_with_rank(CALL, (&ctx, &handle, &result), rank, |found| found <= rank, "at most")
    }

    fn TF_ShapeInferenceContextDim(ctx: Ctx, handle: Arg<ShapeHandle>, at: i64, result: Arg<DimensionHandle>) {
        let (Some(_), Some(handle)) = (ctx.get(CALL), handle.get(CALL)) else { return };
        let Some(result) = result.get(CALL) else { return };
        let shape = handle.shape();
        let dim = shape.and_then(|dims| dims.get(dimension_index(at, dims.len())?).copied());
        *lock(&result.0) = dim.unwrap_or(UNKNOWN);
    }

    fn TF_ShapeInferenceContextSubshape(
        ctx: Ctx, handle: Arg<ShapeHandle>, start: i64, end: i64, result: Arg<ShapeHandle>; status
    ) {
        let (_, handle, result) = (ctx.live(CALL)?, handle.live(CALL)?, result.live(CALL)?);
        result.set(subshape(handle.shape(), start, end)?)
    }

    fn TF_ShapeInferenceContextConcatenateShapes(
        ctx: Ctx, first: Arg<ShapeHandle>, second: Arg<ShapeHandle>, result: Arg<ShapeHandle>; status
    ) {
        let (_, first, second) = (ctx.live(CALL)?, first.live(CALL)?, second.live(CALL)?);
        let both = first.shape().zip(second.shape());
        result.live(CALL)?.set(both.map(|(first, second)| [first, second].concat()))
    }

    fn TF_ShapeInferenceContext_GetAttrType(ctx: Ctx, name: CStringArgument, out: Out<u32>; status) {
        let (ctx, name) = (ctx.live(CALL)?, name.string());
        let dtype = ctx.types.get(&name).ok_or_else(|| invalid(format!("there is no attribute {name}")))?;
        out.set(dtype.0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_rank_rejects_other_ranks() {
        let known = || Some(vec![2, 3]);
        let expected = Ok(known());
        assert_eq!(with_rank(known(), 2, |rank| rank == 2, "exactly"), expected);
        assert!(with_rank(known(), 3, |rank| rank == 3, "exactly").is_err());
        assert_eq!(
            with_rank(None, 2, |rank| rank == 2, "exactly"),
            Ok(Some(vec![-1, -1]))
        );
        assert_eq!(with_rank(None, 2, |rank| rank >= 2, "at least"), Ok(None));
    }

    #[test]
    fn subshape_counts_from_end() {
        let shape = || Some(vec![2, 3, 5]);
        assert_eq!(subshape(shape(), 1, i64::MAX), Ok(Some(vec![3, 5])));
        assert_eq!(subshape(shape(), -2, -1), Ok(Some(vec![3])));
        assert!(subshape(shape(), 2, 1).is_err());
        assert_eq!(subshape(None, 2, 1), Ok(None));
    }
}
