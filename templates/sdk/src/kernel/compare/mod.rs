//! `SP_COMPARE`: each kernel of the author runs beside the reference kernel, on the same inputs, and a difference is the
//! error of the call.
//!
//! Everything is decided when kernels are registered: a kernel that is compared is registered with another function, and
//! the SDK calls other functions of core. Without the variable no call reads a setting.
//!
//! The reference kernel runs first, with outputs of its own: the author's kernel may write its output in an input's
//! buffer.

mod capture;
mod core_functions;
mod difference;
mod exceptions;
mod pairs;

use std::ffi::OsStr;
use std::sync::{Arc, LazyLock};

use sp_runtime::guard;

use super::attribute::Construction;
use super::call::context::{ContextRef, device_of_stream};
use super::call::execution;
use super::call::instance::Instance;
use super::definition::Kernel;
use crate::access::{DeviceMemory, HostMemory, StreamMemory};
use crate::element::ElementLayout;
use crate::tensor::Tensor;
use crate::{Device, Error, MemoryAccess, Result, platform};

use self::capture::Outputs;
use self::pairs::Pair;

pub(super) use self::core_functions::install;
pub(super) use self::pairs::set_pairs;

/// The consequence of a difference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Off,
    /// `SP_COMPARE=1`: the call fails.
    Error,
    /// `SP_COMPARE=warn`: one line on stderr.
    Warning,
}

fn mode() -> Mode {
    static MODE: LazyLock<Mode> = LazyLock::new(|| {
        let value = std::env::var_os("SP_COMPARE").unwrap_or_default();
        parse(&value).unwrap_or_else(|| {
            sp_runtime::report!(
                Warn,
                "SP_COMPARE={} is invalid: expected 1 or warn; nothing is compared",
                value.display()
            );
            Mode::Off
        })
    });
    *MODE
}

fn parse(value: &OsStr) -> Option<Mode> {
    match value.to_str()? {
        "1" => Some(Mode::Error),
        "warn" => Some(Mode::Warning),
        "" | "0" => Some(Mode::Off),
        _ => None,
    }
}

/// Returns the value of the setting `compare`.
pub(super) fn mode_name() -> &'static str {
    match mode() {
        _ if !is_enabled() => "off",
        Mode::Warning => "warn",
        Mode::Off | Mode::Error => "error",
    }
}

/// Returns true if kernels are compared.
pub(super) fn is_enabled() -> bool {
    mode() != Mode::Off && !core_functions::is_impossible()
}

/// Returns true if the kernel is compared.
pub(super) fn is_compared(kernel: &'static Kernel) -> bool {
    is_enabled() && pairs::find(kernel).is_some()
}

/// The reference kernel of a node.
pub(super) struct Reference {
    pair: Arc<Pair>,
    instance: Instance,
    node: Arc<str>,
}

impl Reference {
    /// Constructs the reference kernel of a node that `kernel` serves; `None` if the kernel is not compared.
    pub fn new(kernel: &'static Kernel, construction: &Construction<'_>) -> Option<Box<Self>> {
        let pair = match is_enabled() {
            true => pairs::find(kernel)?,
            false => return None,
        };
        let constructed = guard::catch_panic("a reference kernel's construction", || {
            let kernel = pair.reference_of(construction)?;
            let instance = kernel.construct(&construction.with_op(kernel.spec.op))?;
            Ok((instance, construction.node_name()?))
        });
        match constructed {
            Ok((instance, node)) => Some(Box::new(Self {
                pair,
                instance,
                node,
            })),
            Err(error) => {
                pair.report_uncompared(error.message());
                None
            }
        }
    }

    /// Computes one call with both kernels, and compares their outputs.
    fn compute<D: Device>(
        &self,
        instance: &Instance,
        context: ContextRef<'_>,
        memory: &dyn DeviceMemory,
    ) -> Result<()> {
        let call = Call {
            reference: self,
            instance,
            context,
            memory,
        };
        let expected = match call.expected_outputs::<D>() {
            Ok(expected) => expected,
            Err(error) => {
                // If this kernel fails too, its error is enough.
                execution::run::<D>(instance, context)?;
                self.pair.report_uncompared(error.message());
                return Ok(());
            }
        };
        let run = || execution::run::<D>(instance, context);
        let (computed, found) = capture::capture_author(context, run)?;
        computed.and_then(|()| call.compare(&expected, &found))
    }
}

/// One call of a kernel that is compared.
struct Call<'c> {
    reference: &'c Reference,
    instance: &'c Instance,
    context: ContextRef<'c>,
    memory: &'c dyn DeviceMemory,
}

impl Call<'_> {
    /// Returns the outputs of the reference kernel, in host memory.
    ///
    /// # Errors
    /// Returns the reason why there are none.
    fn expected_outputs<D: Device>(&self) -> Result<Outputs> {
        for dtype in capture::output_types(self.context)? {
            ElementLayout::from_dtype(dtype)?;
        }
        self.memory.settle()?;
        let inputs = self.host_inputs()?;
        capture::capture_reference(self.context, inputs, || {
            execution::compute_on_host::<D>(&self.reference.instance, self.context)
        })
        .map_err(|error| {
            let message = format!("the reference kernel failed: {}", error.message());
            Error::new(error.code(), message)
        })
    }

    /// Returns copies of the inputs that the host cannot address.
    ///
    /// # Errors
    /// Returns an error if an input cannot be copied, or if its elements are no numbers.
    fn host_inputs(&self) -> Result<Vec<Option<Tensor>>> {
        let is_staged = self.memory.access() == MemoryAccess::Staged;
        let copy = |index| {
            let tensor = self.context.input(index)?;
            ElementLayout::from_dtype(tensor.dtype()?)?;
            let is_copied = is_staged && !self.instance.is_host_input(index);
            // SAFETY: the kernel is registered with this input in the memory of the device.
            let copy = || unsafe { capture::copy_to_host(self.context, &tensor, self.memory) };
            is_copied.then(copy).transpose()
        };
        (0..capture::count_inputs(self.context)?)
            .map(copy)
            .collect()
    }

    /// Compares the outputs of both kernels.
    ///
    /// # Errors
    /// Returns an error that names the first wrong element, unless differences are warnings.
    fn compare(&self, expected: &Outputs, found: &Outputs) -> Result<()> {
        let op = self.instance.spec.op();
        let (mut is_different, mut reported) = (false, Ok(()));
        let outputs = expected.iter().zip(found).enumerate();
        for (index, outputs) in outputs.filter(|(index, _)| exceptions::is_compared(op, *index)) {
            let difference = match outputs {
                (Some(expected), Some(found)) => self.difference(index, expected, found),
                _ => fail!(internal, "output {index} was not set by both kernels"),
            };
            match difference {
                Ok(None) => {}
                Ok(Some(message)) => {
                    is_different = true;
                    reported = reported.and_then(|()| self.report_difference(message));
                }
                Err(error) => self.reference.pair.report_uncompared(error.message()),
            }
        }
        self.instance.spec.counts.count_compared(is_different);
        reported
    }

    fn report_difference(&self, message: String) -> Result<()> {
        if mode() == Mode::Error {
            return Err(Error::internal(message));
        }
        // A result may be wrong. A training loop would print a line for each step.
        match self.instance.spec.counts.has_difference() {
            false => {
                sp_runtime::report!(
                    Error,
                    "{message}. Further ones of this kernel have the level debug; sp_kernel_calls counts them"
                );
            }
            true => sp_runtime::report!(Debug, "{message}"),
        }
        Ok(())
    }

    /// Returns the description of the difference between two outputs; `None` if they are equal.
    ///
    /// # Errors
    /// Returns an error if an output cannot be read.
    fn difference(
        &self,
        index: usize,
        expected: &Tensor,
        found: &Tensor,
    ) -> Result<Option<String>> {
        let (expected_dims, dims, dtype) = (expected.dims()?, found.dims()?, found.dtype()?);
        let (dims, expected_dims) = (&dims[..], &expected_dims[..]);
        let output = format!("{}, {dtype:?} {dims:?}", self.output_name(index));
        if dims != expected_dims {
            return Ok(Some(format!(
                "{output}: the shape differs from the reference kernel's, expected {expected_dims:?}"
            )));
        }
        let memory: &dyn DeviceMemory = match self.instance.is_host_output(index) {
            true => &HostMemory,
            false => self.memory,
        };
        // SAFETY: the kernel is registered with this output in that memory.
        let found = unsafe { capture::copy_to_host(self.context, found, memory)? };
        // SAFETY: both tensors are in host memory, and nobody else has them. Their elements are numbers: the types of the outputs
        // were checked.
        let bytes = unsafe { [capture::bytes(expected)?, capture::bytes(&found)?] };
        let width = ElementLayout::from_dtype(dtype)?.width;
        let message = |it: difference::Difference| {
            let (all, element) = (bytes[0].len() / width, difference::indices(it.first, dims));
            format!(
                "{output}: {} of {all} elements differ from the reference kernel's, first element {element:?}: expected {}, \
                 got {}",
                it.count, it.expected, it.found
            )
        };
        Ok(difference::find(dtype, width, bytes).map(message))
    }

    /// Returns the call's op, types, node and output.
    fn output_name(&self, index: usize) -> String {
        let (label, node) = (self.instance.spec.label(), &self.reference.node);
        let output = self.instance.output_name(index);
        format!("{label} (node {node}): output {index}, `{output}`")
    }
}

/// Computes one call of a kernel beside the reference kernel.
pub(super) fn run<D: Device>(
    instance: &Instance,
    reference: Option<&Reference>,
    context: ContextRef<'_>,
) -> Result<()> {
    let Some(reference) = reference else {
        return execution::run::<D>(instance, context);
    };
    platform::check_process()?;
    if platform::has_only_in_place_devices() {
        return reference.compute::<D>(instance, context, &HostMemory);
    }
    // SAFETY: the function is registered for the device type of `D`'s platform.
    let (device, stream) = unsafe { device_of_stream::<D>(context.stream()?)? };
    let memory = StreamMemory::open(device, stream)?;
    reference.compute::<D>(instance, context, &memory)
}
