//! The registration of a kernel as data: what `#[kernel(..)]` writes.
//!
//! A kernel is an item of a static array, one for each combination of types. The code that fetches the parameters and
//! calls the author's function exists once for each instance of that function: a kernel of `BytesIn` and `AnyIn` has
//! it once for all types. So an implementation of `FromInput` and `FromOutput` for several types reads what differs
//! from the registration (`ParameterSpec`).
//!
//! The handling of parameters is about a quarter of a plugin's machine code, and so of its build. Therefore an error
//! has the size of a pointer, an argument is passed in registers (`InputArgument`), layouts are constants that are
//! passed by reference, and the functions that find the tensors are compiled once.

mod builder;
mod check;
mod counts;
pub(super) mod optional;

use std::any::{Any, TypeId};
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

use sp_abi::tf_datatype::TF_DataType;
use sp_runtime::{Host, HostFunction, Releases, UnavailableFunction};

use crate::Result;
use crate::element::ElementLayout;
use crate::op::OpDefinition;
use crate::release::is_running;

pub use self::builder::KernelBuilder;
pub(super) use self::builder::{ComputeCall, CreateCall};
pub use self::check::{has_allowed_values, has_attributes, is_allowed, is_equal};
pub(super) use self::counts::CallCounts;
pub use self::optional::FunctionNames;

/// The state of a kernel's instance: its attributes, and what it has prepared from them.
pub type State = Box<dyn Any + Send + Sync>;

/// A kernel of an op, for one choice of element types, without its functions.
pub(super) struct KernelSpec {
    pub op: &'static OpSpec,
    pub constraints: &'static [Constraint],
    pub inputs: &'static [ArgumentSpec],
    pub outputs: &'static [ArgumentSpec],
    pub options: &'static Options,
    pub counts: CallCounts,
    /// True if only the shapes of inputs and the values in host memory decide the shapes of the outputs, and no values of others
    /// make the kernel fail.
    pub has_known_shapes: AtomicBool,
}

/// An op, with what its kernels have to know of it.
pub struct OpSpec {
    /// The name.
    pub name: &'static CStr,
    /// The releases that have the op.
    pub releases: &'static [Releases],
    /// The attributes that a kernel can read.
    pub attributes: &'static [AttributeSpec],
    /// The definition, if the plugin defines the op.
    pub definition: Option<&'static OpDefinition>,
}

/// An attribute of an op.
pub struct AttributeSpec {
    /// The name.
    pub name: &'static CStr,
    /// The type.
    pub kind: Kind,
    /// The releases whose op has the attribute.
    pub releases: &'static [Releases],
    /// The value in a release whose op lacks the attribute.
    pub default: DefaultValue,
}

/// The type of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A string.
    Text,
    /// An integer.
    Int,
    /// A floating point number.
    Float,
    /// A boolean.
    Boolean,
    /// An element type.
    Type,
    /// A shape.
    Shape,
    /// A tensor.
    Tensor,
    /// A function.
    Function,
    /// A list of strings.
    TextList,
    /// A list of integers.
    IntList,
    /// A list of floating point numbers.
    FloatList,
    /// A list of booleans.
    BooleanList,
    /// A list of element types.
    TypeList,
    /// A list of shapes.
    ShapeList,
    /// A list of tensors.
    TensorList,
    /// A list of functions.
    FunctionList,
}

/// The last type that `TF_KernelBuilder_TypeConstraint` accepts: it rejects the 8-bit floats and the integers of four bits
/// in all known releases. A kernel for them leaves the attribute without a constraint, as that of Cast.
const LAST_CONSTRAINABLE: TF_DataType = TF_DataType::TF_UINT64;

/// The default value of an attribute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DefaultValue {
    /// There is none, or it is of a type that no kernel reads as a default.
    Absent,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating point number.
    Float(f32),
    /// A string, or the name of a function.
    Text(&'static str),
    /// An element type.
    Type(TF_DataType),
    /// A shape, in which -1 is a dimension that is not known; `None` if the rank is not known.
    Shape(Option<&'static [i64]>),
    /// A list.
    List(&'static [DefaultValue]),
}

/// The functions that the host has to export for a kernel.
pub type Needs = &'static [&'static dyn HostFunction];

/// Returns no functions.
pub fn no_needs() -> Needs {
    &[]
}

/// An argument of an op, as the kernel takes it.
pub struct ArgumentSpec {
    /// The name.
    pub name: &'static CStr,
    /// The parameter.
    pub parameter: ParameterSpec,
    /// The number of its tensors.
    pub count: Count,
    /// The releases whose op has the argument.
    pub releases: &'static [Releases],
}

/// A parameter of a kernel that is an argument of the op.
pub struct ParameterSpec {
    /// True if TensorFlow has to place the argument in host memory.
    pub is_host: bool,
    /// True if the host reads or writes it in device memory.
    pub has_host_access: bool,
    /// Returns the functions that the host has to export.
    pub needs: fn() -> Needs,
    /// The type of the elements, for a parameter whose functions are the same for all types.
    pub layout: Option<ElementLayout>,
}

impl ParameterSpec {
    /// Returns the specification of an input that is no parameter.
    pub const fn ignored(is_host: bool) -> Self {
        Self {
            is_host,
            has_host_access: false,
            needs: no_needs,
            layout: None,
        }
    }
}

/// The number of tensors of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// One tensor.
    One,
    /// The value of an integer attribute.
    Attribute(&'static CStr),
    /// The length of a list of types.
    TypeList(&'static CStr),
}

/// A type attribute and the type for which the kernel is registered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constraint {
    /// The name of the attribute.
    pub attribute: &'static CStr,
    /// The type.
    pub dtype: TF_DataType,
    /// The releases whose op has the attribute.
    pub attribute_releases: &'static [Releases],
    /// The releases whose op allows the type.
    pub type_releases: &'static [Releases],
}

/// The arguments of `#[kernel(..)]` that do not depend on types.
pub struct Options {
    /// The crate that has the kernel.
    pub owner: &'static str,
    /// The priority.
    pub priority: i32,
    /// The label that a node has to select.
    pub label: Option<&'static CStr>,
    /// The releases to register the kernel in.
    pub releases: Releases,
    /// The functions that the host has to export.
    pub needs: Needs,
    /// Checks that the host has functions that read the attributes.
    pub attribute_checks: &'static [fn() -> Result<(), UnavailableFunction>],
    /// The line of the kernel in the library's section, which names `needs` and those of arguments and attributes. The
    /// reference keeps the line in the library.
    pub optional: &'static [u8],
    /// The author's function that adds to the builder what the SDK does not wrap.
    pub configure: Option<fn(&KernelBuilder) -> Result<()>>,
    /// True if a call may end after its function has returned.
    pub is_asynchronous: bool,
    /// The device whose kernel it is; `None` for a kernel of every device.
    pub device: Option<fn() -> TypeId>,
}

impl Options {
    /// Returns the options of a kernel whose attribute has no arguments.
    pub const fn new(owner: &'static str) -> Self {
        Self {
            owner,
            priority: 0,
            label: None,
            releases: Releases::ALL,
            needs: &[],
            attribute_checks: &[],
            optional: &[],
            configure: None,
            is_asynchronous: false,
            device: None,
        }
    }
}

impl KernelSpec {
    /// Returns the name of the op.
    #[inline]
    pub fn op(&self) -> &'static CStr {
        self.op.name
    }

    /// Returns the op, the types and the label: `Cast SrcT=TF_FLOAT DstT=TF_INT64`, `LogicalAnd label=host`.
    pub fn label(&self) -> &str {
        self.counts
            .label(self.op.name, self.constraints, self.options.label)
    }

    /// Returns the arguments that the running release's op has, inputs and then outputs.
    pub fn arguments(&self) -> impl Iterator<Item = &'static ArgumentSpec> {
        let all = self.inputs.iter().chain(self.outputs);
        all.filter(|it| is_running(it.releases))
    }

    /// Returns the functions that the host has to export.
    pub fn needs(&self) -> impl Iterator<Item = &'static dyn HostFunction> {
        let of_arguments = self.arguments().flat_map(|it| (it.parameter.needs)());
        self.options.needs.iter().chain(of_arguments).copied()
    }

    /// Returns true if an argument needs functions of core that are for strings, variables or variants.
    pub fn needs_functions(&self) -> bool {
        self.arguments()
            .any(|it| !(it.parameter.needs)().is_empty())
    }

    /// Returns true if the host reads or writes an argument in device memory.
    pub fn has_host_access(&self) -> bool {
        self.arguments().any(|it| it.parameter.has_host_access)
    }

    /// Returns true if a call can end before the kernel computes.
    pub fn runs_behind(&self) -> bool {
        let mut outputs = self.outputs.iter().filter(|it| is_running(it.releases));
        self.has_known_shapes.load(Ordering::Relaxed)
            && !self.options.is_asynchronous
            && self.options.device.is_none()
            && !self.needs_functions()
            && outputs.all(|it| !it.parameter.is_host && it.parameter.has_host_access)
    }

    /// Returns the constraints on attributes that the running release's op has.
    pub fn running_constraints(&self) -> impl Iterator<Item = &'static Constraint> {
        self.constraints
            .iter()
            .filter(|it| is_running(it.attribute_releases))
    }

    /// Returns true if there is a node that both kernels serve: no attribute is of one type here and of another there.
    pub fn overlaps(&self, other: &Self) -> bool {
        let differs = |it: &Constraint| {
            let mut others = other.running_constraints();
            others.any(|other| other.attribute == it.attribute && other.dtype != it.dtype)
        };
        self.is_of_same_nodes(other) && !self.running_constraints().any(differs)
    }

    /// Returns true if op and label are the same.
    pub fn is_of_same_nodes(&self, other: &Self) -> bool {
        self.op.name == other.op.name && self.options.label == other.options.label
    }

    /// Returns true if the running release's op exists and has all types.
    pub fn is_in_running_release(&self) -> bool {
        Host::running().is_in(self.options.releases) != Some(false)
            && is_running(self.op.releases)
            && self.constraints.iter().all(|it| self.has_type(it))
    }

    /// Returns true if the running release's op allows the type, and a kernel can be registered for it. An attribute that
    /// the op lacks has its default.
    fn has_type(&self, constraint: &Constraint) -> bool {
        if is_running(constraint.attribute_releases) {
            return is_running(constraint.type_releases)
                && constraint.dtype.0 <= LAST_CONSTRAINABLE.0;
        }
        let mut attributes = self.op.attributes.iter();
        let attribute = attributes.find(|it| it.name == constraint.attribute);
        attribute.is_none_or(|it| it.default == DefaultValue::Type(constraint.dtype))
    }
}
