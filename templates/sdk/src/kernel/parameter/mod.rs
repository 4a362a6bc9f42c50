//! The parameters of a kernel: the op's arguments by name, each of a type that states its memory space.

mod any;
mod bytes;
mod call_info;
mod device_context;
mod device_output;
mod fetched_input;
mod input;
mod inputs;
mod listed_type;
mod memory_output;
mod output;
mod output_tensor;
mod placement;
mod temporary;
mod text;

pub use any::{AnyIn, AnyInList, AnyOut, AnyOutList};
pub use bytes::{BytesIn, BytesInList, BytesOut, BytesOutList, OutBytes};
pub use call_info::CallInfo;
pub use device_context::{Context, ContextParameter};
pub use device_output::{DeviceForwarded, DeviceOut};
pub(super) use fetched_input::short_copy;
pub use input::{
    FromInput, HostElement, HostIn, In, InList, Integer, Integers, LazyIn, ResourceHandle,
};
pub use inputs::Inputs;
pub use listed_type::ListedType;
pub use output::{Forwarded, FromOutput, HostOut, HostOutList, Out, OutData, OutList, OutSlice};
pub use placement::{HostAccess, HostInt32, Placement};
pub use temporary::Temporary;
pub use text::{OutStrings, Strings};
