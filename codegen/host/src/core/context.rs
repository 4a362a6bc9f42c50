//! `TF_OpKernelContext`: one run of a kernel.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::argument::Arg;
use super::construction::StringView;
use super::failure::{CallError, StatusResult};
use super::functions::functions;
use super::tensor::View;
use crate::StatusCode;
use crate::dtype::DType;
use crate::executor::{Executor, StreamHandle};
use crate::objects::{self, HostObject, ObjectKind};
use crate::quirks::Quirks;
use crate::status_object::StatusObject;

/// One argument of an op, as the kernel's registration places it.
#[derive(Debug, Clone)]
pub(crate) struct ArgumentPlacement {
    pub name: String,
    pub dtype: DType,
    pub on_host: bool,
}

/// The object behind `TF_OpKernelContext*`.
pub(crate) struct KernelContext {
    pub node: String,
    pub device: String,
    pub executor: Arc<Executor>,
    pub stream: StreamHandle,
    pub quirks: Quirks,
    pub inputs: Vec<ArgumentPlacement>,
    pub outputs: Vec<ArgumentPlacement>,
    state: Mutex<KernelState>,
    deferred: AtomicI64,
}

/// State that changes while the kernel runs.
pub(crate) struct KernelState {
    /// An input is `None` after it was forwarded.
    pub input_views: Vec<Option<View>>,
    pub output_views: Vec<Option<View>>,
    pub failure: Option<(StatusCode, String)>,
}

impl HostObject for KernelContext {
    const KIND: ObjectKind = ObjectKind::Context;
}

impl KernelContext {
    pub fn new(
        (node, device): (String, String),
        (executor, stream): (Arc<Executor>, StreamHandle),
        quirks: Quirks,
        (inputs, outputs): (Vec<ArgumentPlacement>, Vec<ArgumentPlacement>),
        input_views: Vec<View>,
    ) -> Self {
        let output_views = vec![None; outputs.len()];
        let input_views = input_views.into_iter().map(Some).collect();
        let state = Mutex::new(KernelState {
            input_views,
            output_views,
            failure: None,
        });
        Self {
            node,
            device,
            executor,
            stream,
            quirks,
            inputs,
            outputs,
            state,
            deferred: AtomicI64::new(0),
        }
    }

    pub fn state(&self) -> MutexGuard<'_, KernelState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of deferred operations that have not finished.
    pub fn deferred(&self) -> i64 {
        self.deferred.load(Ordering::Acquire)
    }

    /// Checks the index of an input or output as TensorFlow does.
    pub fn index(argument: &str, index: c_int, len: usize) -> StatusResult<usize> {
        let checked = usize::try_from(index).ok().filter(|at| *at < len);
        let wrong = || format!("{argument} index out of range");
        checked.ok_or_else(|| (StatusCode::OUT_OF_RANGE, wrong()))
    }

    /// Makes an error of a call the failure of the kernel, as TensorFlow does. The status of the call stays as it is then.
    pub(super) fn fail_on_error(&self, result: StatusResult<()>) -> Result<(), CallError> {
        result.map_err(|failure| {
            self.state().failure.get_or_insert(failure);
            CallError::Recorded
        })
    }
}

pub(super) type Ctx = Arg<KernelContext>;

fn placement<'a>(
    call: &str,
    index: c_int,
    arguments: &'a [ArgumentPlacement],
) -> Option<&'a ArgumentPlacement> {
    let found = usize::try_from(index).ok().and_then(|at| arguments.get(at));
    if found.is_none() {
        objects::record_fault(format!(
            "{call} was asked for {index} of {}",
            arguments.len()
        ));
    }
    found
}

functions! {
    fn TF_NumInputs(ctx: Ctx) -> c_int {
        ctx.get(CALL).map_or(0, |ctx| ctx.inputs.len() as c_int)
    }

    fn TF_NumOutputs(ctx: Ctx) -> c_int {
        ctx.get(CALL).map_or(0, |ctx| ctx.outputs.len() as c_int)
    }

    fn TF_InputDatatype(ctx: Ctx, index: c_int) -> u32 {
        ctx.get(CALL).and_then(|ctx| placement(CALL, index, &ctx.inputs)).map_or(0, |it| it.dtype.0)
    }

    fn TF_ExpectedOutputDataType(ctx: Ctx, index: c_int) -> u32 {
        ctx.get(CALL).and_then(|ctx| placement(CALL, index, &ctx.outputs)).map_or(0, |it| it.dtype.0)
    }

    fn TF_IsHostMemoryInput(ctx: Ctx, index: c_int; status) -> bool {
        let found = ctx.get(CALL).and_then(|ctx| placement(CALL, index, &ctx.inputs));
        Ok(found.is_some_and(|it| it.on_host))
    }

    fn TF_IsHostMemoryOutput(ctx: Ctx, index: c_int; status) -> bool {
        let found = ctx.get(CALL).and_then(|ctx| placement(CALL, index, &ctx.outputs));
        Ok(found.is_some_and(|it| it.on_host))
    }

    fn TF_GetStream(ctx: Ctx; status) -> *mut c_void {
        Ok(ctx.live(CALL)?.stream.0)
    }

    fn TF_OpKernelContext_Failure(ctx: Ctx, status: Arg<StatusObject>) {
        if let (Some(ctx), Some(status)) = (ctx.get(CALL), status.get(CALL)) {
            ctx.state().failure.get_or_insert(status.get());
        }
    }

    fn TF_StepId(ctx: Ctx) -> i64 {
        ctx.get(CALL).map_or(0, |_| 1)
    }

    fn TF_GetStepId(ctx: Ctx) -> i64 {
        ctx.get(CALL).map_or(0, |_| 1)
    }

    fn TF_GetFrameId(ctx: Ctx) -> u64 {
        ctx.get(CALL).map_or(0, |_| 0)
    }

    fn TF_GetIterId(ctx: Ctx) -> i64 {
        ctx.get(CALL).map_or(0, |_| 0)
    }

    fn TF_GetDeviceId(ctx: Ctx) -> c_int {
        ctx.get(CALL).map_or(0, |_| 0)
    }

    fn TF_GetDeviceName(ctx: Ctx) -> StringView {
        StringView::new(ctx.get(CALL).map_or("", |ctx| &ctx.device))
    }

    fn TF_GetOpKernelName(ctx: Ctx) -> StringView {
        StringView::new(ctx.get(CALL).map_or("", |ctx| &ctx.node))
    }

    fn TF_GetOpKernelRequestedInput(ctx: Ctx, index: usize) -> StringView {
        let input = ctx.get(CALL).and_then(|ctx| ctx.inputs.get(index));
        StringView::new(input.map_or("", |input| &input.name))
    }

    fn TF_GetResourceMgrDefaultContainerName(ctx: Ctx) -> StringView {
        StringView::new(ctx.get(CALL).map_or("", |_| "localhost"))
    }

    fn TF_IncNumDeferredOps(ctx: Ctx) {
        if let Some(ctx) = ctx.get(CALL) {
            ctx.deferred.fetch_add(1, Ordering::AcqRel);
        }
    }

    fn TF_DecNumDeferredOps(ctx: Ctx) {
        if let Some(ctx) = ctx.get(CALL) {
            ctx.deferred.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
