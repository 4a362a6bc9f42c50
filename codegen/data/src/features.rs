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

const fn feature(title: &'static str, needs: &'static [Need]) -> Feature {
    let observed = None;
    Feature {
        title,
        needs,
        observed,
    }
}

use Need::{Field, Function};

/// The features in the order of the page.
pub const FEATURES: &[Feature] = &[
    feature(
        "kernels: inputs, outputs, attributes, temporaries, priority",
        &[
            Function("TF_NewKernelBuilder"),
            Function("TF_RegisterKernelBuilder"),
            Function("TF_KernelBuilder_TypeConstraint"),
            Function("TF_KernelBuilder_HostMemory"),
            Function("TF_KernelBuilder_Priority"),
            Function("TF_GetInput"),
            Function("TF_SetOutput"),
            Function("TF_AllocateOutput"),
            Function("TF_AllocateTemp"),
            Function("TF_ForwardInputOrAllocateOutput"),
            Function("TF_GetStream"),
            Function("TF_OpKernelConstruction_GetAttrInt64"),
        ],
    ),
    feature(
        "resource variables: assign, update",
        &[
            Function("TF_AssignVariable"),
            Function("TF_AssignUpdateVariable"),
        ],
    ),
    feature(
        "resource variables: read and write in a kernel, gather, scatter update",
        &[
            Function("TF_GetInputTensorFromVariable"),
            Function("TF_MaybeLockVariableInputMutexesInOrder"),
            Function("TF_ReleaseVariableInputLockHolder"),
        ],
    ),
    feature(
        "reference variables",
        &[
            Function("TF_AssignRefVariable"),
            Function("TF_OpKernelContext_ForwardRefInputToRefOutput"),
            Function("TF_IsRefInput"),
        ],
    ),
    feature(
        "temporary variables",
        &[
            Function("TF_TemporaryVariable"),
            Function("TF_DestroyTemporaryVariable"),
        ],
    ),
    feature(
        "variants: AddN, ZerosLike",
        &[Function("TF_AddNVariant"), Function("TF_ZerosLikeVariant")],
    ),
    feature("inputs by name", &[Function("TF_GetInputByName")]),
    Feature {
        title: "custom ops",
        needs: &[
            Function("TF_NewOpDefinitionBuilder"),
            Function("TF_RegisterOpDefinition"),
            Function("TF_OpDefinitionBuilderSetShapeInferenceFunction"),
        ],
        observed: Some(("2.6", "have the functions, but an op does not work")),
    },
    Feature {
        title: "shape functions that read every input",
        needs: &[
            Function("TF_ShapeInferenceContextGetInput"),
            Function("TF_ShapeInferenceContextSetOutput"),
        ],
        observed: Some(("2.10", "reject every index but 0")),
    },
    feature(
        "shape attributes",
        &[Function("TF_OpKernelConstruction_GetAttrTensorShape")],
    ),
    feature(
        "tensor attributes",
        &[Function("TF_OpKernelConstruction_GetAttrTensor")],
    ),
    feature(
        "function attributes",
        &[Function("TF_OpKernelConstruction_GetAttrFunction")],
    ),
    feature(
        "the node's definition, shape attributes from it",
        &[Function("TF_OpKernelConstruction_GetNodeDef")],
    ),
    feature("labels", &[Function("TF_KernelBuilder_Label")]),
    feature(
        "memory type of an input or output",
        &[
            Function("TF_IsHostMemoryInput"),
            Function("TF_IsHostMemoryOutput"),
        ],
    ),
    feature(
        "asynchronous kernels",
        &[
            Function("TF_NewAsyncKernelBuilder"),
            Function("TF_RunAsyncOpKernelDoneCallback"),
        ],
    ),
    Feature {
        title: "asynchronous kernels that call `done` after they have returned",
        needs: &[
            Function("TF_NewAsyncKernelBuilder"),
            Function("TF_RunAsyncOpKernelDoneCallback"),
        ],
        observed: Some(("2.22", "free the argument of `done` when compute returns")),
    },
    feature(
        "deferred operations",
        &[
            Function("TF_IncNumDeferredOps"),
            Function("TF_DecNumDeferredOps"),
        ],
    ),
    feature("the device's name", &[Function("TF_GetDeviceName")]),
    feature(
        "stream priorities",
        &[Field("SP_StreamExecutor", "create_stream_with_options")],
    ),
];

impl Feature {
    /// Returns the functions that it needs.
    pub fn functions(&self) -> impl Iterator<Item = &'static str> {
        self.needs.iter().filter_map(|need| match need {
            Function(name) => Some(*name),
            Field(..) => None,
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
            Function(name) => exporting(symbols, name).contains(&release),
            Field(record, field) => apis.iter().any(|api| match api.items.get(*record) {
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
