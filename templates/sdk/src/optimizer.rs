//! Graph optimizers: the author's trait, and its registration with TensorFlow.
//!
//! TensorFlow runs its own passes over a graph first. Then it runs the optimizers of the plugins on whose
//! devices the graph has nodes. If one returns an error, TensorFlow logs it and uses the graph unchanged.

mod declined;
mod facts;
mod pass;

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

use sp_abi::grappler::TP_OptimizerRegistrationParams as RegistrationParams;
use sp_abi::grappler::{
    DECLARATIONS, TF_GrapplerItem, TP_Optimizer, TP_Optimizer__optimize_func, TP_OptimizerConfigs,
};
use sp_abi::tf_buffer::TF_Buffer;
use sp_abi::tf_status::TF_Status;
use sp_graph::fusion::FusionSettings;
pub use sp_graph::fusion::{self, Fusion};
use sp_graph::{call, collective, condition, core_fusion, temporary_sum, variable_update};
use sp_runtime::declarations::KnownApi;
use sp_runtime::{guard, handle};

use self::facts::{ItemFacts, RegisteredKernels};
pub use self::pass::{Pass, Switch};
use crate::graph::{self, Graph, Item};
use crate::jit_compile::JitCompile;
use crate::part::{self, Part, PartStructs, StructField};
use crate::plugin_info::PluginInfo;
use crate::trace::{self, ActivityKind};
use crate::{Error, Result, kernel, platform};

/// A graph optimizer.
///
/// If the plugin has kernels of `LogicalAnd`, `LogicalOr` and `LogicalNot` with the label `host`, whose arguments are all in
/// host memory, the SDK selects them for conditions of loops and branches, so that no iteration copies its condition.
///
/// TensorFlow creates one for each graph, runs it on that graph, usually twice with its own passes between,
/// and drops it. It runs no optimizer on graphs of fewer than four nodes.
pub trait Optimizer: Default + Send + 'static {
    /// TensorFlow's own passes to switch on or off, for graphs that have nodes on the device.
    ///
    /// For a device of type `GPU`, `LayoutOptimizer`, `Remapping` and `AutoMixedPrecision` are off unless they are on here:
    /// they use ops such as `_FusedConv2D`, and types such as half floats, for which the plugin then needs kernels.
    const PASSES: &'static [(Pass, Switch)] = &[];

    /// True if the SDK replaces ops that change or read parts of a variable by ops of tensors, after `optimize`. It does so
    /// in 2.19 to 2.21 only, where no plugin can use a variable.
    ///
    /// A change becomes a read, a computation and an assignment of the whole variable. If no edge orders two changes, one can
    /// then be lost. These ops are replaced if the plugin has kernels of the ops on the right for the variable's type:
    ///
    /// | op | computation |
    /// |---|---|
    /// | `AssignAddVariableOp`, `AssignSubVariableOp` | `AddN`, `Neg` |
    /// | `ResourceScatterAdd`, `-Sub`, `-Min`, `-Max`, `-Update`, and these of `ResourceScatterNd` | `TensorScatterAdd`, ... |
    /// | `ResourceScatterMul`, `-Div` | `UnsortedSegmentProd`, `Mul` or `Div` |
    /// | `ResourceStridedSliceAssign` | `TensorStridedSliceUpdate` |
    /// | `ResourceGather`, `ResourceGatherNd` | `GatherV2`, `GatherNd` |
    /// | `RngReadAndSkip`, `RngSkip`, `StatefulUniform`, .. | `SpReserveNumbers`, `StatelessRandomUniformV2`, .. |
    /// | `StatefulRandomBinomial` | `SpRandomBinomial` |
    ///
    /// The first row stays if [`HostAddressable::memory_access`](crate::HostAddressable::memory_access) returns `InPlace`, but
    /// for updates by a tree of [`ELEMENTWISE`](Self::ELEMENTWISE): the sum becomes its last step. The variable has 4096 or more
    /// elements, and no other node of the graph, and none in a loop or branch, changes it. Of
    /// `ResourceScatterAdd` and its kind, an index without dimensions and one update for all rows are errors then: no op of
    /// tensors has them.
    const REPLACE_VARIABLE_UPDATES: bool = true;

    /// The chains of nodes that the SDK replaces by one node each, after `optimize`; empty for none. A chain is replaced if
    /// the plugin has a kernel of the new node's op and type, in no later table than a kernel of an op of the chain.
    const FUSIONS: &'static [Fusion] = fusion::DEFAULT;

    /// The elementwise ops of which the SDK replaces trees by one node each, after [`FUSIONS`](Self::FUSIONS): by default each
    /// of which a kernel states that it can be a step ([`Kernel::with_step`](kernel::Kernel::with_step)), as those of the
    /// reference do; with a list, those of them that are in it; empty for none.
    /// A tree is replaced if its results may have one shape, if `optimize` has
    /// changed nothing (TensorFlow calls it again), and if the plugin has a kernel of
    /// [`SpElementwise`](fusion::elementwise::OP), in no later table than a kernel of one of the ops. Trees that read each other's
    /// results are merged if the plugin has a kernel of `SpElementwiseResults` in the same table.
    const ELEMENTWISE: &'static [&'static str] = fusion::elementwise::DEFAULT;

    /// Returns the optimized graph, a serialized `GraphDef`, or `None` to use the graph unchanged.
    ///
    /// The optimized graph must compute the same and contain the nodes that [`Item::preserved_nodes`] returns.
    ///
    /// # Errors
    /// Returns an error if the graph cannot be optimized. TensorFlow logs it and uses the graph unchanged.
    fn optimize(&mut self, item: &Item<'_>) -> Result<Option<Vec<u8>>>;
}

/// The graph optimizer of a plugin.
#[doc(hidden)]
pub struct OptimizerPart<O>(PhantomData<O>);

// SAFETY: these are the parameters of `TF_InitGraph`.
unsafe impl<O: Optimizer> Part for OptimizerPart<O> {
    const NAME: &'static str = "graph optimizer";
    const ENTRY_POINT: &'static str = "TF_InitGraph";
    const API: &'static KnownApi = &DECLARATIONS;
    type Params = RegistrationParams;
    type First = TP_OptimizerConfigs;
    type Second = TP_Optimizer;
    const FIRST: StructField<RegistrationParams, TP_OptimizerConfigs> =
        (RegistrationParams::optimizer_configs, "optimizer_configs");
    const SECOND: StructField<RegistrationParams, TP_Optimizer> =
        (RegistrationParams::optimizer, "optimizer");

    fn accept(structs: &mut PartStructs<'_, Self>, info: &PluginInfo) -> Result<()> {
        // The same library can be registered with several test hosts.
        let _ = DEVICE.set((info.device_type, JitCompile::in_force(info)));
        let table = &mut structs.second;
        TP_Optimizer::set_optimize_func::<Slots<O>>(table)?;
        table.set_struct_size();
        table.set(TP_Optimizer::create_func, Some(create::<O>));
        table.set(TP_Optimizer::destroy_func, Some(destroy::<O>));
        structs.params.set_struct_size();
        let name = info.device_type.as_ptr();
        structs.params.set(RegistrationParams::device_type, name);
        structs.first.set_struct_size();
        for (pass, switch) in pass::defaults(info.device_type).iter().chain(O::PASSES) {
            pass.set(*switch, &mut structs.first);
        }
        Ok(())
    }

    /// Registers an optimizer for a device type that no graph has, so that TensorFlow never runs it.
    fn decline(structs: &mut PartStructs<'_, Self>, info: &PluginInfo) {
        let name = declined::device_type(info.device_type).as_ptr();
        let mut params = structs.params.fixed_fields();
        params.set(RegistrationParams::device_type, name);
        // SAFETY: `TP_Optimizer` consists of functions after its first two fields. TensorFlow does not call
        // them: no graph has a device of the registered type.
        unsafe { part::fill_with_stubs(&mut structs.second) };
        declined::fill(&mut structs.second.fixed_fields());
    }
}

unsafe extern "C" fn create<O: Optimizer>() -> *mut c_void {
    guard::run_with_default("TP_Optimizer.create_func", ptr::null_mut(), || {
        handle::into_raw(Mutex::new(O::default()))
    })
}

unsafe extern "C" fn destroy<O: Optimizer>(optimizer: *mut c_void) {
    guard::run_with_default("TP_Optimizer.destroy_func", (), || {
        if !optimizer.is_null() {
            // SAFETY: `create` made the handle with this type, and TensorFlow destroys an optimizer once, after
            // its last call.
            drop(unsafe { handle::from_raw::<Mutex<O>>(optimizer) });
        }
    });
}

/// The device type of the plugin, which is registered once, and what becomes of functions that ask for XLA.
static DEVICE: OnceLock<(&'static CStr, JitCompile)> = OnceLock::new();

/// Returns the graph after the changes of the SDK.
fn apply_rewrites<O: Optimizer>(
    item: &Item<'_>,
    new_graph: Option<Vec<u8>>,
) -> Result<Option<Vec<u8>>> {
    let Some((Ok(device_type), jit_compile)) = DEVICE.get().map(|(name, it)| (name.to_str(), it))
    else {
        return Ok(new_graph);
    };
    let (mut graph, kernels) = (
        Graph::parse(new_graph.as_deref().unwrap_or(item.bytes()))?,
        &RegisteredKernels,
    );
    let mut is_changed =
        *jit_compile == JitCompile::Ignore && call::replace_in(&mut graph, device_type);
    is_changed |= temporary_sum::replace(&mut graph, device_type, kernels);
    is_changed |= core_fusion::place_on_cpu(&mut graph, device_type, kernels);
    is_changed |= collective::replace(&mut graph, device_type, kernels);
    let settings = FusionSettings {
        chains: O::FUSIONS,
        elementwise: O::ELEMENTWISE,
        updates: O::REPLACE_VARIABLE_UPDATES && !kernel::has_functions_of_variables(),
    };
    let facts = ItemFacts::new(item, new_graph.is_none() && !is_changed);
    is_changed |= fusion::fuse(&mut graph, device_type, &settings, kernels, &facts);
    is_changed |= condition::place_on_host(&mut graph, device_type, kernels);
    is_changed |= settings.updates && replace_variable_updates(&mut graph, device_type);
    Ok(is_changed.then(|| graph.to_bytes()).or(new_graph))
}

/// Replaces the changes of variables. Returns true if there are any.
fn replace_variable_updates(graph: &mut Graph, device_type: &str) -> bool {
    let has_core_kernels =
        !platform::has_other_devices() && !platform::has_kernels_for_cuda(device_type.as_bytes());
    variable_update::replace(graph, device_type, &RegisteredKernels, has_core_kernels)
}

/// The optimize slot of `O`, whose signature depends on the release.
struct Slots<O>(PhantomData<fn() -> O>);

impl<O: Optimizer> TP_Optimizer__optimize_func for Slots<O> {
    unsafe extern "C" fn call(
        optimizer: *mut c_void,
        graph: *const TF_Buffer,
        item: *const TF_GrapplerItem,
        optimized: *mut TF_Buffer,
        status: *mut TF_Status,
    ) {
        let body = || {
            if optimizer.is_null() {
                return Err(Error::internal("the optimizer could not be created"));
            }
            // SAFETY: `create` made the handle with this type, and TensorFlow destroys it after its last call.
            let optimizer = unsafe { handle::borrow::<Mutex<O>>(optimizer) };
            let mut optimizer = optimizer.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: both are TensorFlow's arguments, live and unchanged during the call.
            let item = unsafe { Item::new(graph, item)? };
            let len = item.bytes().len();
            let mut pass = trace::begin_activity(ActivityKind::GraphPass(len, None));
            let new_graph = optimizer.optimize(&item)?;
            let new_graph = apply_rewrites::<O>(&item, new_graph)?;
            if let Some(pass) = &mut pass {
                pass.set_kind(ActivityKind::GraphPass(
                    len,
                    new_graph.as_ref().map(Vec::len),
                ));
            }
            drop(pass);
            // SAFETY: `optimized` is TensorFlow's output buffer, which no other code uses during the call.
            unsafe {
                graph::fill(
                    optimized,
                    new_graph.unwrap_or_else(|| item.bytes().to_vec()),
                )
            }
        };
        // SAFETY: `status` is TensorFlow's argument, a live status object.
        unsafe { guard::run_with_status("TP_Optimizer.optimize_func", status, body) }
    }
}
