//! TensorFlow's own passes over a graph, and what a plugin may say of them.

use sp_abi::grappler::{TF_TriState, TP_OptimizerConfigs};
use sp_runtime::PrefixMut;

/// What a plugin says of a pass. TensorFlow, up to 2.21, runs a pass unless the user or a plugin of
/// the graph's devices has switched it off: `On` says no more than silence does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// It does not run.
    Off,
    /// It may run.
    On,
}

macro_rules! passes {
    ($($(#[doc = $doc:literal])+ $pass:ident = $field:ident,)*) => {
        /// A pass of TensorFlow's own. One that a release lacks is left out there.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Pass {
            /// Removes what nobody needs.
            ModelPruning,
            $($(#[doc = $doc])+ $pass,)*
        }

        impl Pass {
            pub(super) fn set(self, switch: Switch, configs: &mut PrefixMut<'_, TP_OptimizerConfigs>) {
                let (field, value) = match self {
                    // The only one that is said the other way round.
                    Self::ModelPruning => (TP_OptimizerConfigs::disable_model_pruning, switch.turned()),
                    $(Self::$pass => (TP_OptimizerConfigs::$field, switch),)*
                };
                configs.set(field, value.state());
            }
        }
    };
}

passes! {
    /// Picks among implementations of a function by device.
    ImplementationSelector = implementation_selector,
    /// Inlines and specializes functions.
    FunctionOptimization = function_optimization,
    /// Computes once what is computed twice.
    CommonSubgraphElimination = common_subgraph_elimination,
    /// Simplifies arithmetic.
    ArithmeticOptimization = arithmetic_optimization,
    /// Removes assertions and prints.
    DebugStripper = debug_stripper,
    /// Computes what depends on constants only.
    ConstantFolding = constant_folding,
    /// Simplifies what works on shapes.
    ShapeOptimization = shape_optimization,
    /// Takes 16-bit floats where it can.
    AutoMixedPrecision = auto_mixed_precision,
    // since 2.10
    /// The same for oneDNN and bfloat16; from 2.10 on.
    AutoMixedPrecisionOnednnBfloat16 = auto_mixed_precision_onednn_bfloat16,
    /// The same for MKL.
    AutoMixedPrecisionMkl = auto_mixed_precision_mkl,
    /// Puts small integer work on the host.
    PinToHostOptimization = pin_to_host_optimization,
    /// Changes the order of images' dimensions.
    LayoutOptimizer = layout_optimizer,
    /// Fuses ops into one.
    Remapping = remapping,
    /// Moves work out of loops.
    LoopOptimization = loop_optimization,
    /// Removes orders that follow from others.
    DependencyOptimization = dependency_optimization,
    /// Spreads a graph over devices.
    AutoParallel = auto_parallel,
    /// Computes again what would take memory.
    MemoryOptimization = memory_optimization,
    /// Allocates together what is used together.
    ScopedAllocatorOptimization = scoped_allocator_optimization,
}

impl Switch {
    fn turned(self) -> Self {
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
    fn pruning_is_disabled_where_the_others_are_off() {
        // SAFETY: all zeros is a value of a struct of numbers and null pointers.
        let mut configs: TP_OptimizerConfigs = unsafe { std::mem::zeroed() };
        configs.struct_size = TP_OptimizerConfigs::STRUCT_SIZE;
        let mut view = PrefixMut::of(&mut configs);
        Pass::ModelPruning.set(Switch::Off, &mut view);
        Pass::Remapping.set(Switch::Off, &mut view);
        assert_eq!(configs.disable_model_pruning, TF_TriState::TF_TriState_On);
        assert_eq!(configs.remapping, TF_TriState::TF_TriState_Off);
        assert_eq!(configs.layout_optimizer, TF_TriState::TF_TriState_Default);
    }
}
