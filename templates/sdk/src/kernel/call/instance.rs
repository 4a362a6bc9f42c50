//! A kernel that TensorFlow has constructed for a node.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::sync::{Arc, Weak};

use sp_abi::kernels::TF_GetOpKernelName; // since 2.10
use sp_runtime::Host;

use super::Call;
use crate::kernel::attribute::Construction;
use crate::kernel::spec::{ArgumentSpec, Count, KernelSpec, State};
use crate::release::is_running;
use crate::status::InstanceStatus;
use crate::{Error, Result};

/// A kernel that TensorFlow has constructed for a node.
// The fields that every call reads come first, in as few cache lines as possible.
#[repr(C)]
pub(in crate::kernel) struct Instance {
    pub status: InstanceStatus,
    pub compute: fn(&Call<'_>) -> Result<()>,
    pub spec: &'static KernelSpec,
    pub state: InstanceState,
    pub has_host_access: bool,
    /// True if a call can end before the kernel computes.
    pub runs_behind: bool,
    /// True if the element types of tensors are to be checked in each call.
    pub checks_types: bool,
    pub inputs: Ranges,
    pub outputs: Ranges,
    /// The node's name, for messages of kernels of a device and for profiles; empty for other kernels where the context has it.
    pub node: Arc<str>,
    /// The owner, if calls can share the instance.
    pub shared: Option<Weak<dyn OwnsInstance>>,
}

/// The owner of an instance.
pub(in crate::kernel) trait OwnsInstance: Send + Sync {
    /// Returns the instance.
    fn instance(&self) -> &Instance;
}

/// The state of an instance, whose type is known without a call through its table.
pub(in crate::kernel) struct InstanceState {
    id: TypeId,
    state: State,
}

impl InstanceState {
    fn new(state: State) -> Self {
        let id = (*state).type_id();
        Self { id, state }
    }

    /// Returns the state if it is an `S`.
    #[inline]
    pub fn get<S: 'static>(&self) -> Option<&S> {
        let state: *const (dyn Any + Send + Sync) = &raw const *self.state;
        // SAFETY: `new` has read `id` from the value in the box, which nobody replaces. If it is that of `S`, the value is an
        // `S`. It lives as long as `self`, and is only lent as a shared reference.
        (self.id == TypeId::of::<S>()).then(|| unsafe { &*state.cast::<S>() })
    }
}

/// The tensors of each argument.
pub(in crate::kernel) enum Ranges {
    /// One tensor for each argument.
    Singles,
    /// The first tensor of each argument, and the number of all tensors.
    Starts(Box<[usize]>),
}

impl Ranges {
    fn new(arguments: &[ArgumentSpec], construction: &Construction<'_>) -> Result<Self> {
        let is_single = |it: &ArgumentSpec| it.count == Count::One && is_running(it.releases);
        if arguments.iter().all(is_single) {
            return Ok(Self::Singles);
        }
        let mut starts = vec![0];
        let mut end = 0;
        for argument in arguments {
            end += match (is_running(argument.releases), argument.count) {
                (false, _) => 0,
                (true, Count::One) => 1,
                (true, Count::Attribute(name)) => construction.attribute::<usize>(name)?,
                (true, Count::TypeList(name)) => construction.list_len(name)?,
            };
            starts.push(end);
        }
        Ok(Self::Starts(starts.into()))
    }

    /// Returns the first tensor of an argument, and the number of its tensors.
    #[inline]
    pub fn range(&self, position: usize) -> (usize, usize) {
        match self {
            Self::Singles => (position, 1),
            Self::Starts(starts) => (starts[position], starts[position + 1] - starts[position]),
        }
    }

    /// Returns the number of all tensors of these arguments.
    pub fn count(&self, arguments: &[ArgumentSpec]) -> usize {
        match self {
            Self::Singles => arguments.len(),
            Self::Starts(starts) => starts.last().copied().unwrap_or(0),
        }
    }

    /// Returns the position of the argument that has tensor `index`.
    fn position(&self, index: usize) -> usize {
        match self {
            Self::Singles => index,
            Self::Starts(starts) => starts.iter().take_while(|start| **start <= index).count() - 1,
        }
    }
}

impl Instance {
    pub fn new(
        spec: &'static KernelSpec,
        compute: fn(&Call<'_>) -> Result<()>,
        state: State,
        construction: &Construction<'_>,
    ) -> Result<Self> {
        Ok(Self {
            status: InstanceStatus::new()?,
            compute,
            spec,
            state: InstanceState::new(state),
            checks_types: cfg!(debug_assertions) || !Host::running().is_known(),
            inputs: Ranges::new(spec.inputs, construction)?,
            outputs: Ranges::new(spec.outputs, construction)?,
            node: node_name(spec, construction)?,
            has_host_access: spec.has_host_access(),
            runs_behind: spec.runs_behind(),
            shared: None,
        })
    }

    /// Returns the owner of the instance, which a command of a call shares until it has completed.
    pub fn owner(&self) -> Option<Arc<dyn OwnsInstance>> {
        self.shared.as_ref()?.upgrade()
    }

    /// Returns the error for an output that the kernel has not set.
    #[cold]
    pub fn unset_output(&self, index: usize) -> Error {
        let name = self.output_name(index);
        Error::internal(format!("the kernel has not set output {index}, `{name}`"))
    }

    /// Returns the name of the argument that has tensor `index` of the outputs.
    pub fn output_name(&self, index: usize) -> Cow<'static, str> {
        let argument = self.spec.outputs.get(self.outputs.position(index));
        argument.map_or_else(Default::default, |it| it.name.to_string_lossy())
    }

    /// Returns true if the host reads tensor `index` of the inputs in device memory.
    pub fn reads_input(&self, index: usize) -> bool {
        let argument = self.spec.inputs.get(self.inputs.position(index));
        argument.is_some_and(|it| it.parameter.has_host_access)
    }

    /// Returns true if tensor `index` of the inputs is in host memory.
    pub fn is_host_input(&self, index: usize) -> bool {
        let argument = self.spec.inputs.get(self.inputs.position(index));
        argument.is_some_and(|it| it.parameter.is_host)
    }

    /// Returns true if tensor `index` of the outputs is in host memory.
    pub fn is_host_output(&self, index: usize) -> bool {
        let argument = self.spec.outputs.get(self.outputs.position(index));
        argument.is_some_and(|it| it.parameter.is_host)
    }
}

/// Returns the node's name if it is stored: for a kernel of a device, and before 2.10, where a call's context does not have it.
fn node_name(spec: &KernelSpec, construction: &Construction<'_>) -> Result<Arc<str>> {
    // since 2.10
    if spec.options.device.is_none() && TF_GetOpKernelName.get().is_ok() {
        return Ok(Arc::default());
    }
    construction.node_name()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_of_another_type_is_not_returned() {
        let state = InstanceState::new(Box::new([7_u32, 8]));
        assert_eq!(state.get::<[u32; 2]>(), Some(&[7, 8]));
        assert_eq!(state.get::<[i32; 2]>(), None);
        assert_eq!(state.get::<u64>(), None);
        // The type of the box that has the value.
        assert!(state.get::<State>().is_none());
    }
}
