//! The data of records.

/// The elements of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// They were not read, such as those of a variant.
    Unread,
    /// Numbers, as the memory has them.
    Bytes(Vec<u8>),
    /// Strings.
    Strings(Vec<Vec<u8>>),
    /// A resource handle: its serialized `ResourceHandleProto`, or nothing if the release does not state it.
    Resource(Vec<u8>),
}

/// A tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// The number of its `TF_DataType`.
    pub dtype: u32,
    /// The shape.
    pub dims: Vec<i64>,
    /// True if its memory is that of the device.
    pub is_on_device: bool,
    /// The elements.
    pub content: Content,
}

/// The use of a variable by a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableUse {
    /// The input with the handle.
    pub input: u32,
    /// The value that the kernel has read.
    pub before: Option<Tensor>,
    /// The value after the call.
    pub after: Option<Tensor>,
}

/// A kernel that was created.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Created {
    /// Its number.
    pub kernel: u64,
    /// The op type.
    pub op: String,
    /// The name of the node.
    pub node: String,
    /// The serialized `NodeDef`, with the attributes.
    pub node_def: Vec<u8>,
}

/// A call of a kernel's compute function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Computed {
    /// The number of the call, in the order in which the calls began.
    pub number: u64,
    /// The number of the kernel; 0 if the kernel has no create function.
    pub kernel: u64,
    /// The thread.
    pub thread: u32,
    /// The op type.
    pub op: String,
    /// The name of the node.
    pub node: String,
    /// Time in nanoseconds until the work on the kernel's stream was done.
    pub duration: u64,
    /// The inputs.
    pub inputs: Vec<Tensor>,
    /// The types of the outputs.
    pub output_types: Vec<u32>,
    /// The outputs; `None` for one that the kernel has not set.
    pub outputs: Vec<Option<Tensor>>,
    /// The variables.
    pub variables: Vec<VariableUse>,
    /// The code and message of a failure that the kernel has reported.
    pub failure: Option<(u32, String)>,
    /// The reason why the call cannot be repeated, or "".
    pub omitted: String,
}

/// A registered kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registered {
    /// The op type.
    pub op: String,
    /// The device type.
    pub device: String,
    /// Attributes with the number of the `TF_DataType` that each must have.
    pub constraints: Vec<(String, u32)>,
    /// Arguments in host memory.
    pub host_memory: Vec<String>,
}
