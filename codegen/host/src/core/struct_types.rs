//! The structs that calls pass by value or by pointer, as C types. A module of its own, since it needs the modules that
//! define functions, and these need the types of signatures.

use super::buffer::BufferFields;
use super::compute::AllocatorAttributes;
use super::construction::StringView;
use super::serialized::InputRange;
use super::signature::{CallType, ForeignType};
use super::string::StringElement;

macro_rules! structs {
    ($($ty:ty = $name:literal,)*) => { $(impl ForeignType for $ty {
        fn c_type() -> CallType {
            CallType::Struct { name: $name.to_owned(), size: size_of::<$ty>() }
        }
    })* };
}

structs! {
    BufferFields = "TF_Buffer",
    StringView = "TF_StringView",
    AllocatorAttributes = "TF_AllocatorAttributes",
    InputRange = "TF_InputRange_Args",
    StringElement = "TF_TString",
}
