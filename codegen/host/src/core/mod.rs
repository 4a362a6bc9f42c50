//! The functions that TensorFlow's core exports to plugins, over the host's own objects. Each file
//! has one family; each family lists itself in [`find`].

mod argument;
mod attr;
mod buffer;
mod builder;
mod compute;
mod construction;
mod context;
mod core_ops;
mod failure;
mod functions;
mod grappler;
mod op_def;
mod op_definition;
mod op_text;
mod reference;
mod report;
mod serialized;
mod shape;
#[cfg(test)]
pub(crate) mod signature;
mod status;
pub(crate) mod string;
#[cfg(test)]
mod struct_types;
mod tensor;
mod variable;
mod variant;

use std::ffi::{CString, c_char, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

pub(crate) use argument::Arg;
pub use attr::Attr;
pub(crate) use buffer::BufferObject;
pub(crate) use builder::{Compute, Done, KernelBuilder, Wait, take_registered_kernels};
pub(crate) use construction::KernelConstruction;
pub(crate) use context::{ArgumentPlacement, KernelContext};
pub(crate) use core_ops::find as find_core_op;
pub(crate) use grappler::{GrapplerItem, register_item};
pub(crate) use op_def::defined;
pub(crate) use op_definition::OpDefinition;
pub(crate) use shape::{ShapeInference, TensorShape};
pub(crate) use string::{StringElement, texts};
pub(crate) use tensor::{View, elements};
pub(crate) use variable::StoredVariable;
pub(crate) use variant::{find_list, store_list};

/// The function of this name of each file with C functions.
macro_rules! families {
    ($name:ident) => {
        [
            status::$name,
            tensor::$name,
            buffer::$name,
            builder::$name,
            construction::$name,
            context::$name,
            compute::$name,
            grappler::$name,
            op_def::$name,
            reference::$name,
            shape::$name,
            serialized::$name,
            string::$name,
            variable::$name,
            variant::$name,
        ]
    };
}

/// Returns the host's function for `symbol` in the form with so many parameters, or `None` if it has none.
/// `TSL_X` is another name for `TF_X`.
pub(crate) fn find_function(symbol: &str, arguments: Option<usize>) -> Option<NonNull<c_void>> {
    let symbol = match symbol.strip_prefix("TSL_") {
        Some(rest) => format!("TF_{rest}"),
        None => symbol.to_owned(),
    };
    if symbol == "TF_Version" {
        return NonNull::new(tf_version as *mut c_void);
    }
    if let Some(older) = variable::older_form(&symbol, arguments) {
        return NonNull::new(older);
    }
    let families = families!(find);
    let families = families.iter().find_map(|family| family(&symbol));
    families.and_then(NonNull::new)
}

/// Returns the C signatures of all functions that the host defines.
#[cfg(test)]
pub(crate) fn signatures() -> Vec<signature::CFunction> {
    families!(signatures)
        .into_iter()
        .flat_map(|family| family())
        .collect()
}

/// Returns the C signature of the form of `symbol` for older releases, which takes so many arguments.
#[cfg(test)]
pub(crate) fn older_signature(symbol: &str, arguments: usize) -> Option<signature::CSignature> {
    variable::older_signature(symbol, arguments)
}

static VERSION: OnceLock<CString> = OnceLock::new();

/// Sets the version that `TF_Version` returns.
pub(crate) fn set_version(version: String) {
    VERSION.get_or_init(|| CString::new(version).unwrap_or_default());
}

/// Returns the release whose version `TF_Version` returns, or `None` if no plugin is loaded.
pub(crate) fn running_release() -> Option<sp_ir::Release> {
    VERSION.get()?.to_str().ok()?.parse().ok()
}

extern "C" fn tf_version() -> *const c_char {
    VERSION
        .get()
        .map_or(c"".as_ptr(), |version| version.as_ptr())
}
