//! Kernels that run.

use super::content::Reader;
use super::device;
use super::file;
use super::format::{Computed, Content, Record, Tensor, VariableUse};
use super::gate;
use super::kernels;
use crate::runtime::core::{self, View};
use crate::runtime::description::Function;
use crate::runtime::host;
use crate::runtime::log::thread_log;
use crate::runtime::shared::Shared;
use crate::runtime::system;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Types above it are references, whose value may change while a kernel runs.
const LAST_TYPE: u32 = 100;
const VARIANT: u32 = 21;

/// Functions whose effect is not in the captured values.
const NOT_REPEATABLE: [&str; 5] = [
    "TF_AddNVariant",
    "TF_ZerosLikeVariant",
    "TF_TemporaryVariable",
    "TF_DestroyTemporaryVariable",
    "TF_AssignRefVariable",
];

/// A variable of a running kernel.
struct Variable {
    input: u32,
    before: Option<Tensor>,
    /// Its memory, if the kernel has got it.
    view: Option<View>,
    /// The input whose value was assigned.
    assigned: Option<usize>,
}

struct Running {
    computed: Computed,
    stream: Option<(u64, u64)>,
    started: u64,
    has_gate: bool,
    outputs: Vec<Option<View>>,
    variables: Vec<Variable>,
    /// The variable that an update function is called for.
    updated: Option<u32>,
}

static RUNNING: Shared<HashMap<u64, Running>> = Shared::new();
static LAST: AtomicU64 = AtomicU64::new(0);

/// Calls `read` with a reader of the memory of a kernel's device, after its stream is done.
///
/// # Safety
/// - The stream and its device are live.
unsafe fn with_reader<T>(stream: Option<(u64, u64)>, read: impl FnOnce(Reader) -> T) -> Option<T> {
    core::with_status(|status| {
        let mut device = 0;
        if let Some((stream, owner)) = stream {
            device = owner;
            // SAFETY: as the caller guarantees.
            unsafe { device::wait(owner, stream, status) };
        }
        Some(read(Reader { device, status }))
    })
}

/// Captures the begin of a kernel, or of an update of a variable in one.
///
/// # Safety
/// - The arguments are those of a call of `function`.
pub unsafe fn before_callback(function: &Function, arguments: &[u64]) {
    // SAFETY: as the caller guarantees.
    unsafe {
        match (function.name, function.short_name()) {
            (_, "compute_func" | "compute_async_func") if file::is_ended() => {}
            ("TF_NewAsyncKernelBuilder.compute_async_func", _) => {
                omit(arguments, "it is asynchronous")
            }
            (_, "compute_func") => begin(arguments[0], arguments[1]),
            ("TF_AssignUpdateVariable.updateFunc", _) => {
                let input = RUNNING.with(|running| running.get(&arguments[0])?.updated);
                if let Some(input) = input {
                    add_variable(arguments[0], input, arguments[1]);
                }
            }
            _ => {}
        }
    }
}

/// Writes a call of which nothing is captured.
fn omit(arguments: &[u64], reason: &str) {
    let mut computed = new_call(arguments[0]);
    computed.omitted = reason.into();
    file::write(&Record::Computed(computed));
}

fn new_call(object: u64) -> Computed {
    let op = thread_log().op().cloned().unwrap_or_default();
    let (kernel, omitted) = match kernels::find(object, &op.node) {
        Ok(kernel) => (kernel, String::new()),
        Err(reason) => (0, reason.into()),
    };
    Computed {
        number: LAST.fetch_add(1, Ordering::Relaxed) + 1,
        kernel,
        thread: system::thread_id() as u32,
        op: op.op.into(),
        node: op.node,
        omitted,
        ..Computed::default()
    }
}

/// # Safety
/// - `context` is the live context of a kernel that begins.
unsafe fn begin(object: u64, context: u64) {
    let has_gate = gate::close();
    let mut computed = new_call(object);
    if !has_gate {
        computed.omitted = "another kernel ran beside it".into();
    }
    // SAFETY: as the caller guarantees.
    let stream = unsafe { core::stream(context) };
    let stream = stream.and_then(|stream| Some((stream, device::of_stream(stream)?)));
    // SAFETY: as above; the kernel's stream and its device are live.
    unsafe { read_inputs(context, stream, &mut computed) };
    let running = Running {
        outputs: vec![None; computed.output_types.len()],
        computed,
        stream,
        started: system::now(),
        has_gate,
        variables: Vec::new(),
        updated: None,
    };
    RUNNING.with(|all| all.insert(context, running));
}

/// # Safety
/// - The context, the stream and its device are live.
unsafe fn read_inputs(context: u64, stream: Option<(u64, u64)>, computed: &mut Computed) {
    // SAFETY: as the caller guarantees.
    let types = unsafe { (core::input_types(context), core::output_types(context)) };
    let (Some(inputs), Some(outputs)) = types else {
        computed.omitted = "TensorFlow before 2.12 does not state the types of its inputs".into();
        return;
    };
    computed.output_types = outputs;
    if inputs.iter().any(|it| *it > LAST_TYPE) {
        computed.omitted = "it has an input that is a reference".into();
        return;
    }
    let read = |reader: Reader| {
        let indices = 0..inputs.len();
        // SAFETY: as the caller guarantees; no input is a reference.
        let tensors = indices.map(|index| unsafe { read_input(context, index, reader) });
        tensors.collect::<Option<Vec<Tensor>>>()
    };
    // SAFETY: as the caller guarantees.
    match unsafe { with_reader(stream, read) }.flatten() {
        Some(inputs) => computed.inputs = inputs,
        None => computed.omitted = "an input cannot be read".into(),
    }
    if let Some(reason) = computed.inputs.iter().find_map(unreadable) {
        computed.omitted = reason.into();
    }
}

/// Returns why the elements of an input were not read, or `None` if they were.
fn unreadable(tensor: &Tensor) -> Option<&'static str> {
    match (&tensor.content, tensor.dtype) {
        (Content::Unread, VARIANT) => Some("it has an input that is a variant"),
        (Content::Unread, _) => Some("an input cannot be read"),
        _ => None,
    }
}

/// # Safety
/// - The context is live, the work on its stream is done, and the input is no reference.
unsafe fn read_input(context: u64, index: usize, reader: Reader) -> Option<Tensor> {
    // SAFETY: as the caller guarantees.
    unsafe {
        let mut tensor = core::with_input(context, index, |view| reader.tensor(view))?;
        if let Content::Resource(handle) = &mut tensor.content {
            *handle = core::handle(context, index);
        }
        Some(tensor)
    }
}

/// Notes a variable whose memory the kernel has got.
///
/// # Safety
/// - `tensor` is a live tensor with the variable's memory.
unsafe fn add_variable(context: u64, input: u32, tensor: u64) {
    let Some(stream) = RUNNING.with(|running| Some(running.get(&context)?.stream)) else {
        return;
    };
    // SAFETY: as the caller guarantees; the kernel runs, so that its stream is live.
    let (view, before) = unsafe {
        let Some(view) = core::view(tensor) else {
            return;
        };
        let before = with_reader(stream, |reader| reader.tensor(&view));
        (view, before)
    };
    RUNNING.with(|running| {
        let Some(running) = running.get_mut(&context) else {
            return;
        };
        if before.is_none() && running.computed.omitted.is_empty() {
            running.computed.omitted = "a variable cannot be read".into();
        }
        let variable = running.variable(input);
        variable.view = Some(view);
        if variable.before.is_none() && variable.assigned.is_none() {
            variable.before = before;
        }
    });
}

impl Running {
    fn variable(&mut self, input: u32) -> &mut Variable {
        let found = self.variables.iter().position(|it| it.input == input);
        let index = found.unwrap_or(self.variables.len());
        if found.is_none() {
            self.variables.push(Variable {
                input,
                before: None,
                view: None,
                assigned: None,
            });
        }
        &mut self.variables[index]
    }

    /// Returns the uses of variables, with their values after the call.
    ///
    /// # Safety
    /// - The work on the kernel's stream is done, and its tensors are live.
    unsafe fn variable_uses(&mut self, reader: Reader) -> Vec<VariableUse> {
        let inputs = &self.computed.inputs;
        let variables = self.variables.drain(..);
        let uses = variables.map(|it| VariableUse {
            input: it.input,
            after: match (it.assigned, it.view) {
                (Some(input), _) => inputs.get(input).cloned(),
                // SAFETY: as the caller guarantees; the variable holds its memory.
                (None, Some(view)) => Some(unsafe { reader.tensor(&view) }),
                (None, None) => None,
            },
            before: it.before,
        });
        uses.collect()
    }
}

/// Notes what a function of core is called for.
///
/// # Safety
/// - The arguments are those of a call of `function`.
pub unsafe fn before_host(function: &Function, arguments: &[u64]) {
    let Some(context) = arguments.first() else {
        return;
    };
    RUNNING.with(|running| {
        let Some(running) = running.get_mut(context) else {
            return;
        };
        match function.name {
            "TF_AssignUpdateVariable" => running.updated = Some(arguments[1] as u32),
            "TF_AssignVariable" => {
                let value = arguments[2] as u32 as usize;
                running.variable(arguments[1] as u32).assigned = Some(value);
            }
            name if NOT_REPEATABLE.contains(&name) => {
                running.computed.omitted = format!("it calls {name}");
            }
            _ => {}
        }
    });
}

/// Notes what a function of core has done for a kernel.
///
/// # Safety
/// - The arguments are those of a call of `function` that has returned `result`.
pub unsafe fn after_host(function: &Function, arguments: &[u64], result: u64) {
    // SAFETY: the tensors that a call has returned or takes are live.
    unsafe {
        match function.name {
            "TF_AllocateOutput" => set_output(arguments[0], arguments[1], result),
            "TF_ForwardInputOrAllocateOutput" => set_output(arguments[0], arguments[3], result),
            "TF_SetOutput" => set_output(arguments[0], arguments[1], arguments[2]),
            "TF_GetInputTensorFromVariable" => {
                let stored = arguments[arguments.len() - 2] as *const u64;
                let is_ok = host::status_code(arguments[arguments.len() - 1]) == Some(0);
                if is_ok && !stored.is_null() {
                    add_variable(arguments[0], arguments[1] as u32, stored.read());
                }
            }
            "TF_OpKernelContext_Failure" => set_failure(arguments[0], arguments[1]),
            _ => {}
        }
    }
}

/// # Safety
/// - `tensor` is null or a live tensor.
unsafe fn set_output(context: u64, index: u64, tensor: u64) {
    // SAFETY: as the caller guarantees.
    let view = unsafe { core::view(tensor) };
    RUNNING.with(|running| {
        let outputs = running.get_mut(&context).map(|it| &mut it.outputs);
        if let Some(output) = outputs.and_then(|it| it.get_mut(index as u32 as usize)) {
            *output = view;
        }
    });
}

/// # Safety
/// - `status` is a live status.
unsafe fn set_failure(context: u64, status: u64) {
    // SAFETY: as the caller guarantees.
    let code = unsafe { host::status_code(status) }.unwrap_or(2) as u32;
    let mut message = String::new();
    host::push_status(status, &mut message);
    RUNNING.with(|running| {
        if let Some(running) = running.get_mut(&context) {
            running.computed.failure.get_or_insert((code, message));
        }
    });
}

/// Captures the outputs of a kernel that has returned, and writes its call.
///
/// # Safety
/// - `context` is live.
pub unsafe fn finish(context: u64) {
    let Some(mut running) = RUNNING.with(|all| all.remove(&context)) else {
        return;
    };
    let views = std::mem::take(&mut running.outputs);
    let stream = running.stream;
    // SAFETY: core holds the outputs until the call has returned to it; the stream is that of the live context.
    let read = unsafe {
        with_reader(stream, |reader| {
            running.computed.duration = system::now().saturating_sub(running.started);
            let outputs = views
                .iter()
                .map(|it| it.as_ref().map(|view| reader.tensor(view)));
            running.computed.outputs = outputs.collect();
            running.computed.variables = running.variable_uses(reader);
        })
    };
    if read.is_none() && running.computed.omitted.is_empty() {
        running.computed.omitted = "an output cannot be read".into();
    }
    if running.has_gate {
        gate::open();
    }
    let mut computed = running.computed;
    if !computed.omitted.is_empty() {
        (computed.inputs, computed.outputs) = (Vec::new(), Vec::new());
        computed.variables.clear();
    }
    file::write(&Record::Computed(computed));
}

/// Forgets a kernel that a C++ exception has ended.
pub fn abandon(context: u64) {
    let running = RUNNING.with(|all| all.remove(&context));
    if running.is_some_and(|it| it.has_gate) {
        gate::open();
    }
}
