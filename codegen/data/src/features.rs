//! The features that an author of kernels can use, and the releases that have them: from the exported symbols, and from
//! observations where no symbol shows it. The page `generated/docs/features.md` is this table.

use crate::platform::WheelPlatform;
use crate::release::Release;
use crate::symbols::Symbols;
use sp_ir::{Api, Item};
use std::collections::BTreeSet;

/// A feature that an author of kernels can use.
#[derive(Debug)]
pub struct Feature {
    /// The title of its row.
    pub title: &'static str,
    /// The functions and fields that TensorFlow must have.
    pub needs: &'static [Need],
    /// The first release whose behavior allows it although earlier ones have all that it needs, and what these do.
    pub observed: Option<(&'static str, &'static str)>,
}

/// A part of the C API.
#[derive(Debug)]
pub enum Need {
    /// A function, by its symbol.
    Function(&'static str),
    /// A field of a struct that TensorFlow reads.
    Field(&'static str, &'static str),
}

/// Defines the table: `title: functions and fields (observed)`.
macro_rules! features {
    ($($title:literal: $($need:ident $(.$field:ident)?),* $(($release:literal, $earlier:literal))?;)*) => {
        /// The features in the order of the page.
        pub const FEATURES: &[Feature] = &[$(Feature {
            title: $title,
            needs: &[$(features!(@need $need $($field)?)),*],
            observed: features!(@observed $($release, $earlier)?),
        },)*];
    };
    (@need $function:ident) => { Need::Function(stringify!($function)) };
    (@need $structure:ident $field:ident) => { Need::Field(stringify!($structure), stringify!($field)) };
    (@observed) => { None };
    (@observed $release:literal, $earlier:literal) => { Some(($release, $earlier)) };
}

features! {
    "kernels: inputs, outputs, attributes, temporaries, priority":
        TF_NewKernelBuilder, TF_RegisterKernelBuilder, TF_KernelBuilder_TypeConstraint,
        TF_KernelBuilder_HostMemory, TF_KernelBuilder_Priority, TF_GetInput, TF_SetOutput,
        TF_AllocateOutput, TF_AllocateTemp, TF_ForwardInputOrAllocateOutput, TF_GetStream,
        TF_OpKernelConstruction_GetAttrInt64;
    "resource variables: assign, update": TF_AssignVariable, TF_AssignUpdateVariable;
    "resource variables: read and write in a kernel, gather, scatter update":
        TF_GetInputTensorFromVariable, TF_MaybeLockVariableInputMutexesInOrder,
        TF_ReleaseVariableInputLockHolder;
    "reference variables":
        TF_AssignRefVariable, TF_OpKernelContext_ForwardRefInputToRefOutput, TF_IsRefInput;
    "temporary variables": TF_TemporaryVariable, TF_DestroyTemporaryVariable;
    "variants: AddN, ZerosLike": TF_AddNVariant, TF_ZerosLikeVariant;
    "inputs by name": TF_GetInputByName;
    "custom ops":
        TF_NewOpDefinitionBuilder, TF_RegisterOpDefinition,
        TF_OpDefinitionBuilderSetShapeInferenceFunction
            ("2.6", "have the functions, but an op does not work");
    "shape functions that read every input":
        TF_ShapeInferenceContextGetInput, TF_ShapeInferenceContextSetOutput
            ("2.10", "reject every index but 0");
    "shape attributes": TF_OpKernelConstruction_GetAttrTensorShape;
    "tensor attributes": TF_OpKernelConstruction_GetAttrTensor;
    "function attributes": TF_OpKernelConstruction_GetAttrFunction;
    "the node's definition, shape attributes from it": TF_OpKernelConstruction_GetNodeDef;
    "labels": TF_KernelBuilder_Label;
    "memory type of an input or output": TF_IsHostMemoryInput, TF_IsHostMemoryOutput;
    "asynchronous kernels": TF_NewAsyncKernelBuilder, TF_RunAsyncOpKernelDoneCallback;
    "asynchronous kernels that call `done` after they have returned":
        TF_NewAsyncKernelBuilder, TF_RunAsyncOpKernelDoneCallback
            ("2.22", "free the argument of `done` when compute returns");
    "deferred operations": TF_IncNumDeferredOps, TF_DecNumDeferredOps;
    "the device's name": TF_GetDeviceName;
    "stream priorities": SP_StreamExecutor.create_stream_with_options;
}

impl Feature {
    /// Returns the functions that it needs.
    pub fn functions(&self) -> impl Iterator<Item = &'static str> {
        self.needs.iter().filter_map(|need| match need {
            Need::Function(name) => Some(*name),
            Need::Field(..) => None,
        })
    }

    /// Returns true if a release has the feature. `apis` are those of the release.
    pub fn is_in(&self, release: Release, symbols: &Symbols, apis: &[Api]) -> bool {
        let is_observed = self
            .observed
            .is_none_or(|(first, _)| first.parse().is_ok_and(|first: Release| release >= first));
        is_observed && self.needs.iter().all(|it| it.is_in(release, symbols, apis))
    }
}

impl Need {
    /// Returns true if a release has it: its Linux wheel exports the function, or its headers declare the field.
    fn is_in(&self, release: Release, symbols: &Symbols, apis: &[Api]) -> bool {
        match self {
            Need::Function(name) => exporting(symbols, name).contains(&release),
            Need::Field(record, field) => apis.iter().any(|api| match api.items.get(*record) {
                Some(Item::Struct(found)) => found.fields.iter().any(|it| it.name == *field),
                _ => false,
            }),
        }
    }
}

fn exporting(symbols: &Symbols, function: &str) -> BTreeSet<Release> {
    let availability = symbols.availability(function);
    availability.releases("tensorflow-cpu", WheelPlatform::LinuxX86_64)
}
