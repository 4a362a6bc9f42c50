//! Kernels and ops that sources register, as data.

use sp_ops::{DataType, OpDef};

/// A C++ source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path, for messages.
    pub path: String,
    /// The text.
    pub text: String,
}

impl Source {
    /// Returns true for a header: the other sources may call its macros.
    pub fn is_header(&self) -> bool {
        let (_, extension) = self.path.rsplit_once('.').unwrap_or_default();
        ["h", "hh", "hpp", "hxx", "inc"].contains(&extension)
    }

    /// Returns the path without its folders.
    pub fn file_name(&self) -> &str {
        let name = self.path.rsplit(['/', '\\']).next();
        name.unwrap_or(&self.path)
    }
}

/// A position in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The number of the source.
    pub source: usize,
    /// The line, counted from 1.
    pub line: u32,
}

/// A kernel that a source registers: a call of `REGISTER_KERNEL_BUILDER`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelRegistration {
    /// The op.
    pub op: String,
    /// The type of the device: `CPU` for `DEVICE_CPU`. Empty if the registration has none.
    pub device: String,
    /// The types of type attributes, in the order of the registration.
    pub types: Vec<(String, Vec<DataType>)>,
    /// The arguments in host memory.
    pub host_memory: Vec<String>,
    /// The label.
    pub label: Option<String>,
    /// The priority.
    pub priority: Option<i32>,
    /// The class, as it is written.
    pub class: String,
    /// True if the source derives the class from `AsyncOpKernel`.
    pub is_asynchronous: bool,
    /// The line of the registration, or of the macro's call that contains it.
    pub position: Position,
}

/// An op that a source defines: a call of `REGISTER_OP`.
#[derive(Debug, Clone, PartialEq)]
pub struct OpRegistration {
    /// The definition. Attributes of type shape, tensor and func have no default here.
    pub definition: OpDef,
    /// The reason for a deprecation.
    pub deprecation: String,
    /// The name of the shape function; empty if it is written in place.
    pub shape_function: Option<String>,
    /// The attributes whose default a definition in Rust cannot have, each with its default.
    pub omitted_defaults: Vec<(String, String)>,
    /// The line of the definition.
    pub position: Position,
}

/// A registration, or a part of one, that was not read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unread {
    /// The line.
    pub position: Position,
    /// The registration: `REGISTER_KERNEL_BUILDER(Name("Relu"))`.
    pub what: String,
    /// The reason.
    pub reason: String,
}

/// The kernels and ops that sources register.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Registrations {
    /// The kernels in the order of the sources.
    pub kernels: Vec<KernelRegistration>,
    /// The ops in the order of the sources.
    pub ops: Vec<OpRegistration>,
    /// The registrations that were not read.
    pub unread: Vec<Unread>,
}

impl Registrations {
    /// Returns true if the sources register nothing, and nothing was left unread.
    pub fn is_empty(&self) -> bool {
        self.kernels.is_empty() && self.ops.is_empty() && self.unread.is_empty()
    }
}
