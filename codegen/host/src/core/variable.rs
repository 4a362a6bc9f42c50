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
use super::failure::{CallError, StatusResult, internal, invalid};
use super::functions::functions;
use super::report::report_result;
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
            return Err(internal(text));
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
        found.ok_or_else(|| invalid(format!("{call}: input {index} names no variable")))
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
            Some(old) if validate && old.dims != value.dims => Err(invalid(format!(
                "a value of {:?} for a variable of {:?}",
                value.dims, old.dims
            ))),
            _ => {
                *current = Some(value);
                Ok(())
            }
        }
    }

    fn assign_update(
        &self,
        call: &str,
        ctx: &Ctx,
        (input, value): (c_int, c_int),
        operation: c_int,
        (copy, update): (Option<Copy>, Option<Update>),
    ) -> StatusResult<()> {
        let variable = self.variable(call, input)?;
        let _lock = variable.acquire(call, ctx.address() as usize, true)?;
        let target = self.unshared_value(ctx, &variable, copy)?;
        let value = self.input(value)?;
        if target.dims != value.dims {
            let text = format!("a value of {:?} for {:?}", value.dims, target.dims);
            return Err(invalid(text));
        }
        let update = update.ok_or_else(|| internal("updateFunc is null"))?;
        let (target, value) = (target.into_plugin_handle(), value.into_plugin_handle());
        // SAFETY: the plugin passed this function with this signature, and the context and both handles are alive.
        unsafe { update(ctx.address(), target, value, operation) };
        Ok(())
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
        let none = || "the variable has no value".to_owned();
        let old = variable.value();
        let old = old.ok_or_else(|| (StatusCode::FAILED_PRECONDITION, none()))?;
        // The variable and `old` have one reference each.
        if Arc::strong_count(&old.buffer) == 2 {
            return Ok(old);
        }
        let new = self.allocate_tensor(old.dtype, &old.dims, false)?;
        call_copy(ctx, copy, old, new.clone())?;
        *lock(&variable.value) = Some(new.clone());
        Ok(new)
    }
}

/// Calls the plugin's function that copies a tensor.
pub(super) fn call_copy(ctx: &Ctx, copy: Option<Copy>, old: View, new: View) -> StatusResult<()> {
    let copy = copy.ok_or_else(|| internal("copyFunc is null"))?;
    let (old, new) = (old.into_plugin_handle(), new.into_plugin_handle());
    // SAFETY: the plugin passed this function with this signature, and the context and both handles are alive.
    unsafe { copy(ctx.address(), old, new) };
    Ok(())
}

/// Assigns an input's value to a variable, and fails the kernel if that is an error.
fn assign(call: &str, ctx: &Ctx, places: (c_int, c_int), validate: bool) -> Result<(), CallError> {
    let found = ctx.live(call)?;
    found.fail_on_error(found.assign(call, ctx.address() as usize, places, validate))
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
    report_result(&status, CALL, assign(CALL, &ctx, (input, value), false));
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
        ctx: Ctx, input: c_int, value: c_int, validate_shape: u8, _copy: Option<Copy>; status
    ) {
        assign(CALL, &ctx, (input, value), validate_shape != 0)
    }

    fn TF_AssignUpdateVariable(
        ctx: Ctx, input: c_int, value: c_int, operation: c_int, _is_variant: c_int, copy: Option<Copy>,
        update: Option<Update>; status
    ) {
        let found = ctx.live(CALL)?;
        let result = found.assign_update(CALL, &ctx, (input, value), operation, (copy, update));
        found.fail_on_error(result)
    }

    fn TF_GetInputTensorFromVariable(
        ctx: Ctx, input: c_int, _lock_held: u8, _is_variant: u8, sparse: u8, copy: Option<Copy>,
        out: Out<*mut TensorHandle>; status
    ) {
        let found = ctx.live(CALL)?;
        // A reference is the tensor itself.
        if found.input(input).is_ok_and(|view| view.dtype != DType::RESOURCE) {
            out.set(found.input(input)?.into_plugin_handle());
            return Ok(());
        }
        let value = found.variable(CALL, input).and_then(|variable| {
            if sparse == 0 && !lock(&variable.lock).is_held_by(ctx.address() as usize) {
                objects::record_fault(format!("{CALL} got variable {input}, which the kernel has not locked"));
            }
            found.unshared_value(&ctx, &variable, copy)
        });
        found.fail_on_error(value.map(|value| out.set(value.into_plugin_handle())))
    }

    fn TF_MaybeLockVariableInputMutexesInOrder(
        ctx: Ctx, do_lock: u8, _sparse: u8, inputs: List<c_int>, len: usize, _copy: Option<Copy>,
        holder: Out<*mut LockHolder>; status
    ) {
        let variables = ctx.live(CALL)?.locked_variables(CALL, inputs.values(len));
        let context = ctx.address() as usize;
        let locks = variables.iter().filter_map(|it| it.acquire(CALL, context, do_lock != 0).ok());
        holder.set(objects::create(LockHolder(locks.collect()), Owner::Plugin));
        Ok(())
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

    fn TF_IsRefInput(ctx: Ctx, _index: c_int; status) -> bool {
        ctx.get(CALL);
        Ok(false)
    }

    fn TF_GetInputByName(ctx: Ctx, name: CStringArgument, out: Out<*mut TensorHandle>; status) {
        let (found, name) = (ctx.live(CALL)?, name.string());
        let at = found.inputs.iter().position(|input| input.name == name);
        let at = at.ok_or_else(|| invalid(format!("there is no input {name}")))?;
        out.set(found.input(at as c_int)?.into_plugin_handle());
        Ok(())
    }

    fn TF_OpKernelConstruction_GetAttrTensorShape(
        ctx: Arg<KernelConstruction>, name: CStringArgument, dims: Out<i64>, room: usize; status
    ) {
        let (ctx, name) = (ctx.live(CALL)?, name.string());
        match ctx.attrs.get(&name) {
            Some(Attr::Shape(Some(shape))) if shape.len() <= room => dims.fill(shape),
            _ => return Err(invalid(format!("{name} is not a shape of at most {room} dimensions")).into()),
        }
        Ok(())
    }
}
