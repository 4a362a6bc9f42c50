//! TensorFlow's own passes over a graph, and the plugin's configuration of them.

use std::ffi::CStr;

use sp_abi::grappler::{TF_TriState, TP_OptimizerConfigs};
use sp_runtime::PrefixMut;

/// A plugin's configuration of a pass.
///
/// TensorFlow, up to 2.21, runs a pass unless the user or a plugin of the graph's devices has switched it off.
/// So `On` has the same effect as no configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// The pass does not run.
    Off,
    /// The pass may run.
    On,
}

macro_rules! passes {
    ($($(#[doc = $doc:literal])+ $pass:ident = $field:ident,)*) => {
        /// A pass of TensorFlow. A release without the pass ignores its configuration.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Pass {
            /// Removes nodes that do not contribute to the outputs.
            ModelPruning,
            $($(#[doc = $doc])+ $pass,)*
        }

        impl Pass {
            pub(super) fn set(self, switch: Switch, configs: &mut PrefixMut<'_, TP_OptimizerConfigs>) {
                let (field, value) = match self {
                    // The only field that disables its pass.
                    Self::ModelPruning => (TP_OptimizerConfigs::disable_model_pruning, switch.inverted()),
                    $(Self::$pass => (TP_OptimizerConfigs::$field, switch),)*
                };
                configs.set(field, value.state());
            }
        }
    };
}

passes! {
    /// Selects an implementation of a function by device.
    ImplementationSelector = implementation_selector,
    /// Inlines and specializes functions.
    FunctionOptimization = function_optimization,
    /// Merges equal subgraphs.
    CommonSubgraphElimination = common_subgraph_elimination,
    /// Simplifies arithmetic.
    ArithmeticOptimization = arithmetic_optimization,
    /// Removes assertions and prints.
    DebugStripper = debug_stripper,
    /// Evaluates subgraphs with constant inputs.
    ConstantFolding = constant_folding,
    /// Simplifies computations of shapes.
    ShapeOptimization = shape_optimization,
    /// Converts nodes to 16-bit floats.
    AutoMixedPrecision = auto_mixed_precision,
    // since 2.10
    /// Converts nodes to bfloat16 for oneDNN; from 2.10 on.
    AutoMixedPrecisionOnednnBfloat16 = auto_mixed_precision_onednn_bfloat16,
    /// Converts nodes to bfloat16 for MKL.
    AutoMixedPrecisionMkl = auto_mixed_precision_mkl,
    /// Places small integer computations on the host.
    PinToHostOptimization = pin_to_host_optimization,
    /// Converts between image layouts, such as NHWC and NCHW.
    LayoutOptimizer = layout_optimizer,
    /// Fuses ops into one.
    Remapping = remapping,
    /// Moves loop-invariant nodes out of loops.
    LoopOptimization = loop_optimization,
    /// Removes redundant control dependencies.
    DependencyOptimization = dependency_optimization,
    /// Distributes a graph over devices.
    AutoParallel = auto_parallel,
    /// Recomputes or swaps tensors to reduce memory use.
    MemoryOptimization = memory_optimization,
    /// Allocates tensors that are used together in one block.
    ScopedAllocatorOptimization = scoped_allocator_optimization,
}

/// Returns the configuration that an optimizer's own one replaces. With type `GPU` these passes use ops and types for which
/// core's GPU build has kernels, such as `_FusedConv2D` and half floats, and which other plugins need not have.
pub(super) fn defaults(device_type: &CStr) -> &'static [(Pass, Switch)] {
    match device_type.to_bytes() {
        b"GPU" => &[
            (Pass::LayoutOptimizer, Switch::Off),
            (Pass::Remapping, Switch::Off),
            (Pass::AutoMixedPrecision, Switch::Off),
        ],
        _ => &[],
    }
}

impl Switch {
    fn inverted(self) -> Self {
        match self {
            Self::Off => Self::On,
            Self::On => Self::Off,
        }
    }

    fn state(self) -> TF_TriState {
        match self {
            Self::Off => TF_TriState::TF_TriState_Off,
            Self::On => TF_TriState::TF_TriState_On,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_runtime::Versioned;

    #[test]
    fn passes_that_need_kernels_of_cores_gpu_build_are_off_for_type_gpu() {
        let passes: Vec<Pass> = defaults(c"GPU").iter().map(|(pass, _)| *pass).collect();
        assert!(passes.contains(&Pass::Remapping) && passes.contains(&Pass::LayoutOptimizer));
        assert!(defaults(c"GPU").iter().all(|it| it.1 == Switch::Off));
        assert_eq!(defaults(c"MYACCEL"), []);
    }

    #[test]
    fn switching_off_sets_disable_field_of_pruning_pass() {
        // SAFETY: the struct has integers and a raw pointer only, for which all zeros is a valid value.
        let mut configs: TP_OptimizerConfigs = unsafe { std::mem::zeroed() };
        configs.struct_size = TP_OptimizerConfigs::STRUCT_SIZE;
        let mut view = PrefixMut::from_mut(&mut configs);
        Pass::ModelPruning.set(Switch::Off, &mut view);
        Pass::Remapping.set(Switch::Off, &mut view);
        assert_eq!(configs.disable_model_pruning, TF_TriState::TF_TriState_On);
        assert_eq!(configs.remapping, TF_TriState::TF_TriState_Off);
        assert_eq!(configs.layout_optimizer, TF_TriState::TF_TriState_Default);
    }
}
