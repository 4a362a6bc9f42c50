//! Resource variables of kernels_experimental.h. The plugin deletes every tensor of a variable that it gets;
//! TensorFlow deletes none.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError};

use super::argument::{Arg, CStringArgument, List, Out};
use super::attr::Attr;
use super::construction::KernelConstruction;
use super::context::{Ctx, KernelContext};
use super::functions::functions;
use super::status::report;
use super::tensor::{TensorHandle, View};
use crate::StatusCode;
use crate::dtype::DType;
use crate::lock;
use crate::objects::{self, HostObject, ObjectKind, Owner};
use crate::quirks::Quirk;
use crate::status_object::StatusObject;

pub(super) type Copy =
    unsafe extern "C" fn(*mut KernelContext, *mut TensorHandle, *mut TensorHandle);
type Update = unsafe extern "C" fn(*mut KernelContext, *mut TensorHandle, *mut TensorHandle, c_int);
type StatusResult<T> = Result<T, (StatusCode, String)>;

/// A variable: its value, if it has one, and its lock.
#[derive(Default)]
pub(crate) struct StoredVariable {
    value: Mutex<Option<View>>,
    lock: Mutex<LockState>,
    released: Condvar,
}

/// The calls that have locked a variable, by their contexts.
#[derive(Default)]
struct LockState {
    exclusive: Option<usize>,
    shared: Vec<usize>,
}

impl LockState {
    fn is_held_by(&self, context: usize) -> bool {
        self.exclusive == Some(context) || self.shared.contains(&context)
    }
}

static NEXT: AtomicU64 = AtomicU64::new(1);
static ALL: LazyLock<Mutex<BTreeMap<u64, Arc<StoredVariable>>>> = LazyLock::new(Mutex::default);

impl StoredVariable {
    /// Creates a variable and returns the number in its resource handles.
    pub fn create() -> u64 {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        lock(&ALL).insert(number, Arc::default());
        number
    }

    /// Returns the variable of a resource handle.
    pub fn find(handle: &[u8]) -> Option<Arc<Self>> {
        let number = u64::from_le_bytes(handle.try_into().ok()?);
        lock(&ALL).get(&number).cloned()
    }

    /// Removes the variable, which frees its device memory.
    pub fn remove(number: u64) {
        drop(lock(&ALL).remove(&number));
    }

    pub fn set(&self, value: View) {
        *lock(&self.value) = Some(value);
    }

    pub fn value(&self) -> Option<View> {
        lock(&self.value).clone()
    }

    /// Waits for the lock; an error if the same call has it already, since it would wait forever.
    fn acquire(
        self: &Arc<Self>,
        call: &str,
        context: usize,
        is_exclusive: bool,
    ) -> StatusResult<Lock> {
        let mut state = lock(&self.lock);
        if state.is_held_by(context) {
            let text =
                format!("{call} waits forever for a variable that the same kernel has locked");
            objects::record_fault(text.clone());
            return Err((StatusCode::INTERNAL, text));
        }
        while state.exclusive.is_some() || is_exclusive && !state.shared.is_empty() {
            let waited = self.released.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        match is_exclusive {
            true => state.exclusive = Some(context),
            false => state.shared.push(context),
        }
        let variable = Arc::clone(self);
        Ok(Lock { variable, context })
    }
}

/// A lock on a variable. Dropping it releases the lock.
struct Lock {
    variable: Arc<StoredVariable>,
    context: usize,
}

impl Drop for Lock {
    fn drop(&mut self) {
        let mut state = lock(&self.variable.lock);
        state.exclusive = state.exclusive.filter(|it| *it != self.context);
        state.shared.retain(|it| *it != self.context);
        self.variable.released.notify_all();
    }
}

/// The object behind `TF_VariableInputLockHolder*`.
struct LockHolder(#[allow(dead_code, reason = "dropping it releases the locks")] Vec<Lock>);

impl HostObject for LockHolder {
    const KIND: ObjectKind = ObjectKind::VariableLock;
}

impl KernelContext {
    fn variable(&self, call: &str, index: c_int) -> StatusResult<Arc<StoredVariable>> {
        let view = self.input(index)?;
        let found = match view.dtype {
            DType::RESOURCE => StoredVariable::find(view.buffer.host_bytes()),
            _ => None,
        };
        let none = || {
            let text = format!("{call}: input {index} names no variable");
            (StatusCode::INVALID_ARGUMENT, text)
        };
        found.ok_or_else(none)
    }

    fn assign(
        &self,
        call: &str,
        context: usize,
        (input, value): (c_int, c_int),
        validate: bool,
    ) -> StatusResult<()> {
        let variable = self.variable(call, input)?;
        let _lock = variable.acquire(call, context, true)?;
        let value = self.input(value)?;
        let mut current = lock(&variable.value);
        match &*current {
            Some(old) if validate && old.dims != value.dims => Err((
                StatusCode::INVALID_ARGUMENT,
                format!(
                    "a value of {:?} for a variable of {:?}",
                    value.dims, old.dims
                ),
            )),
            _ => {
                *current = Some(value);
                Ok(())
            }
        }
    }

    /// Returns the variables that core locks for these inputs, in the order of its locks.
    fn locked_variables(&self, call: &str, inputs: &[c_int]) -> Vec<Arc<StoredVariable>> {
        let find = |inputs: &[c_int]| -> Vec<_> {
            inputs
                .iter()
                .filter_map(|it| self.variable(call, *it).ok())
                .collect()
        };
        let order = |it: &Arc<StoredVariable>| Arc::as_ptr(it) as usize;
        let mut distinct = find(inputs);
        distinct.sort_by_key(order);
        distinct.dedup_by(|left, right| Arc::ptr_eq(left, right));
        if !self.quirks.has(Quirk::LocksFirstInputs) {
            return distinct;
        }
        let first: Vec<c_int> = (0..distinct.len() as c_int).collect();
        if !first.iter().all(|it| inputs.contains(it)) {
            objects::record_fault(format!("{call} locks inputs {first:?}, not {inputs:?}"));
        }
        let mut variables = find(&first);
        variables.sort_by_key(order);
        variables
    }

    /// Returns a value that is not shared: a copy if it has other references.
    fn unshared_value(
        &self,
        ctx: &Ctx,
        variable: &StoredVariable,
        copy: Option<Copy>,
    ) -> StatusResult<View> {
        let value = variable.value();
        let none = || {
            (
                StatusCode::FAILED_PRECONDITION,
                "the variable has no value".to_owned(),
            )
        };
        let old = value.ok_or_else(none)?;
        // The variable and `old` have one reference each.
        if Arc::strong_count(&old.buffer) == 2 {
            return Ok(old);
        }
        let new = self.allocate_tensor(old.dtype, &old.dims, false)?;
        let copy = copy.ok_or_else(|| (StatusCode::INTERNAL, "copyFunc is null".to_owned()))?;
        // SAFETY: the plugin passed this function with this signature, and the context and both handles are alive.
        unsafe {
            copy(
                ctx.address(),
                old.into_plugin_handle(),
                new.clone().into_plugin_handle(),
            )
        };
        *lock(&variable.value) = Some(new.clone());
        Ok(new)
    }
}

/// Sets the status if `result` is OK, and fails the kernel otherwise, as TensorFlow does.
pub(super) fn report_or_fail(
    ctx: &KernelContext,
    result: StatusResult<()>,
    call: &str,
    status: &Arg<StatusObject>,
) {
    match result {
        Ok(()) => report(status, call, Ok(())),
        Err(failure) => drop(ctx.state().failure.get_or_insert(failure)),
    }
}

/// Returns the function of this name for releases in which it has so many parameters.
pub(super) fn older_form(symbol: &str, arguments: Option<usize>) -> Option<*mut std::ffi::c_void> {
    match (symbol, arguments) {
        ("TF_AssignVariable", Some(5)) => Some(assign_without_validation as *mut _),
        _ => None,
    }
}

/// `TF_AssignVariable` before 2.10, which does not compare shapes.
extern "C" fn assign_without_validation(
    ctx: Ctx,
    input: c_int,
    value: c_int,
    _copy: Option<Copy>,
    status: Arg<StatusObject>,
) {
    const CALL: &str = "TF_AssignVariable";
    let Some(found) = ctx.get(CALL) else { return };
    report_or_fail(
        found,
        found.assign(CALL, ctx.address() as usize, (input, value), false),
        CALL,
        &status,
    );
}

/// Returns the C signature of the function that [`older_form`] finds.
#[cfg(test)]
pub(super) fn older_signature(
    symbol: &str,
    arguments: usize,
) -> Option<super::signature::CSignature> {
    use super::signature::CallType;
    older_form(symbol, Some(arguments))?;
    let function = assign_without_validation as extern "C" fn(_, _, _, _, _);
    match c_type_of(function) {
        CallType::Function(signature) => Some(*signature),
        _ => None,
    }
}

/// Returns the C type of a value's type.
#[cfg(test)]
fn c_type_of<T: super::signature::ForeignType>(_: T) -> super::signature::CallType {
    T::c_type()
}

functions! {
    // `copy` is not called while the variable has no other reader.
    fn TF_AssignVariable(
        ctx: Ctx,
        input: c_int,
        value: c_int,
        validate_shape: u8,
        _copy: Option<Copy>,
        status: Arg<StatusObject>,
    ) {
        let Some(found) = ctx.get(CALL) else { return };
        report_or_fail(found, found.assign(CALL, ctx.address() as usize, (input, value), validate_shape != 0), CALL, &status);
    }

    fn TF_AssignUpdateVariable(
        ctx: Ctx,
        input: c_int,
        value: c_int,
        operation: c_int,
        _is_variant: c_int,
        copy: Option<Copy>,
        update: Option<Update>,
        status: Arg<StatusObject>,
    ) {
        let Some(found) = ctx.get(CALL) else { return };
        let prepared = found.variable(CALL, input).and_then(|variable| {
            let lock = variable.acquire(CALL, ctx.address() as usize, true)?;
            let target = found.unshared_value(&ctx, &variable, copy)?;
            Ok((target, found.input(value)?, lock))
        });
        let result = prepared.and_then(|(target, value, _lock)| {
            if target.dims != value.dims {
                let text = format!("a value of {:?} for {:?}", value.dims, target.dims);
                return Err((StatusCode::INVALID_ARGUMENT, text));
            }
            let update = update.ok_or_else(|| (StatusCode::INTERNAL, "updateFunc is null".to_owned()))?;
            // SAFETY: the plugin passed this function with this signature, and the context and both handles are alive.
            unsafe { update(ctx.address(), target.into_plugin_handle(), value.into_plugin_handle(), operation) };
            Ok(())
        });
        report_or_fail(found, result, CALL, &status);
    }

    fn TF_GetInputTensorFromVariable(
        ctx: Ctx,
        input: c_int,
        _lock_held: u8,
        _is_variant: u8,
        sparse: u8,
        copy: Option<Copy>,
        out: Out<*mut TensorHandle>,
        status: Arg<StatusObject>,
    ) {
        let Some(found) = ctx.get(CALL) else { return };
        // A reference is the tensor itself.
        if found.input(input).is_ok_and(|view| view.dtype != DType::RESOURCE) {
            let value = found.input(input);
            return report(&status, CALL, value.map(|value| out.set(value.into_plugin_handle())));
        }
        let value = found.variable(CALL, input).and_then(|variable| {
            if sparse == 0 && !lock(&variable.lock).is_held_by(ctx.address() as usize) {
                objects::record_fault(format!("{CALL} got variable {input}, which the kernel has not locked"));
            }
            found.unshared_value(&ctx, &variable, copy)
        });
        report_or_fail(found, value.map(|value| out.set(value.into_plugin_handle())), CALL, &status);
    }

    fn TF_MaybeLockVariableInputMutexesInOrder(
        ctx: Ctx,
        do_lock: u8,
        _sparse: u8,
        inputs: List<c_int>,
        len: usize,
        _copy: Option<Copy>,
        holder: Out<*mut LockHolder>,
        status: Arg<StatusObject>,
    ) {
        let Some(found) = ctx.get(CALL) else { return };
        let variables = found.locked_variables(CALL, inputs.values(len));
        let context = ctx.address() as usize;
        let locks = variables.iter().filter_map(|it| it.acquire(CALL, context, do_lock != 0).ok());
        holder.set(objects::create(LockHolder(locks.collect()), Owner::Plugin));
        report(&status, CALL, Ok(()));
    }

    fn TF_ReleaseVariableInputLockHolder(holder: Arg<LockHolder>) {
        drop(holder.take(CALL));
    }

    // A reference is the tensor itself, and resources are not forwarded.
    fn TF_OpKernelContext_ForwardRefInputToRefOutput(ctx: Ctx, input: i32, output: i32) {
        let Some(found) = ctx.get(CALL) else { return };
        let forwarded = match found.input(input) {
            Ok(view) if view.dtype != DType::RESOURCE => found.set_output(output, view),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err((_, message)) = forwarded {
            objects::record_fault(format!("{CALL}: {message}"));
        }
    }

    fn TF_IsRefInput(ctx: Ctx, _index: c_int, status: Arg<StatusObject>) -> bool {
        ctx.get(CALL);
        report(&status, CALL, Ok(()));
        false
    }

    fn TF_GetInputByName(
        ctx: Ctx,
        name: CStringArgument,
        out: Out<*mut TensorHandle>,
        status: Arg<StatusObject>,
    ) {
        let Some(found) = ctx.get(CALL) else { return };
        let name = name.string();
        let at = found.inputs.iter().position(|input| input.name == name);
        let none = || (StatusCode::INVALID_ARGUMENT, format!("there is no input {name}"));
        let view = at.ok_or_else(none).and_then(|at| found.input(at as c_int));
        report(&status, CALL, view.map(|view| out.set(view.into_plugin_handle())));
    }

    fn TF_OpKernelConstruction_GetAttrTensorShape(
        ctx: Arg<KernelConstruction>,
        name: CStringArgument,
        dims: Out<i64>,
        room: usize,
        status: Arg<StatusObject>,
    ) {
        let Some(ctx) = ctx.get(CALL) else { return };
        let name = name.string();
        let found = match ctx.attrs.get(&name) {
            Some(Attr::Shape(Some(shape))) if shape.len() <= room => Ok(shape),
            _ => Err((StatusCode::INVALID_ARGUMENT, format!("{name} is not a shape of at most {room} dimensions"))),
        };
        report(&status, CALL, found.map(|shape| dims.fill(shape)));
    }
}
