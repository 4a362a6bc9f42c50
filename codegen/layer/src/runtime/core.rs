//! The functions of core that the checks and a capture call themselves, about kernels and tensors.

use super::host;
use std::sync::OnceLock;

/// Declares functions by their symbols. Each returns `None` if the process has no such function.
macro_rules! functions {
    ($($name:ident = $symbol:literal ($($parameter:ident: $ty:ty),*) -> $result:ty;)*) => {$(
        #[doc = concat!("Calls `", $symbol, "`.")]
        ///
        /// # Safety
        /// - The arguments are valid as the API requires.
        unsafe fn $name($($parameter: $ty),*) -> Option<$result> {
            static ADDRESS: OnceLock<usize> = OnceLock::new();
            let address = *ADDRESS.get_or_init(|| host::core_address($symbol));
            if address == 0 {
                return None;
            }
            type Function = unsafe extern "C-unwind" fn($($ty),*) -> $result;
            // SAFETY: the address is that of the symbol, whose function has this signature in each release; the caller
            // guarantees the rest.
            Some(unsafe { std::mem::transmute::<usize, Function>(address)($($parameter),*) })
        }
    )*};
}

functions! {
    new_status = "TF_NewStatus"() -> u64;
    delete_status = "TF_DeleteStatus"(status: u64) -> ();
    new_buffer = "TF_NewBuffer"() -> u64;
    delete_buffer = "TF_DeleteBuffer"(buffer: u64) -> ();
    num_inputs = "TF_NumInputs"(context: u64) -> i32;
    input_type = "TF_InputDatatype"(context: u64, index: i32) -> i32;
    expected_type = "TF_ExpectedOutputDataType"(context: u64, index: i32) -> i32;
    get_input = "TF_GetInput"(context: u64, index: i32, tensor: *mut u64, status: u64) -> ();
    delete_tensor = "TF_DeleteTensor"(tensor: u64) -> ();
    tensor_type = "TF_TensorType"(tensor: u64) -> i32;
    num_dims = "TF_NumDims"(tensor: u64) -> i32;
    dim = "TF_Dim"(tensor: u64, index: i32) -> i64;
    byte_size = "TF_TensorByteSize"(tensor: u64) -> u64;
    data = "TF_TensorData"(tensor: u64) -> u64;
    get_stream = "TF_GetStream"(context: u64, status: u64) -> u64;
    get_node_def = "TF_OpKernelConstruction_GetNodeDef"(construction: u64, status: u64) -> u64;
    get_handle = "TF_GetSerializedResourceHandleProto"(context: u64, index: i32, buffer: u64, status: u64) -> ();
}

/// The start of `TF_Buffer`.
#[repr(C)]
struct Buffer {
    data: *const u8,
    length: usize,
}

/// A tensor of the plugin or of core: its type, shape and memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The number of its `TF_DataType`.
    pub dtype: u32,
    /// The shape.
    pub dims: Vec<i64>,
    /// Address of its memory.
    pub address: u64,
    /// Number of bytes of its memory.
    pub size: u64,
}

/// Calls `function` with a new status; returns its result if the status is OK.
pub fn with_status<T>(function: impl FnOnce(u64) -> Option<T>) -> Option<T> {
    // SAFETY: the status is live from its creation until it is deleted here, after its last use.
    unsafe {
        let status = new_status()?;
        let result = function(status);
        let is_ok = host::status_code(status) == Some(0);
        delete_status(status);
        result.filter(|_| is_ok)
    }
}

/// Returns the type, shape and memory of a tensor.
///
/// # Safety
/// - `tensor` is null or a live `TF_Tensor`.
pub unsafe fn view(tensor: u64) -> Option<View> {
    if tensor == 0 {
        return None;
    }
    // SAFETY: the tensor is live, and each index is within its rank.
    unsafe {
        let dims = (0..num_dims(tensor)?).map(|index| dim(tensor, index));
        Some(View {
            dtype: tensor_type(tensor)? as u32,
            dims: dims.collect::<Option<_>>()?,
            address: data(tensor)?,
            size: byte_size(tensor)?,
        })
    }
}

/// Returns the types of the inputs of a running kernel. A type of a reference is above 100.
///
/// # Safety
/// - `context` is live.
pub unsafe fn input_types(context: u64) -> Option<Vec<u32>> {
    // SAFETY: as the caller guarantees; each index is below the number of inputs.
    unsafe {
        let count = num_inputs(context)?;
        let types = (0..count).map(|index| Some(input_type(context, index)? as u32));
        types.collect()
    }
}

/// Returns the types that a running kernel's outputs must have.
///
/// # Safety
/// - `context` is live.
pub unsafe fn output_types(context: u64) -> Option<Vec<u32>> {
    // SAFETY: as the caller guarantees; each index is below the number of outputs.
    unsafe {
        let count = host::output_count(context)?;
        let types = (0..count).map(|index| Some(expected_type(context, index as i32)? as u32));
        types.collect()
    }
}

/// Calls `read` with an input of a running kernel, which is no reference.
///
/// # Safety
/// - `context` is live.
pub unsafe fn with_input<T>(
    context: u64,
    index: usize,
    read: impl FnOnce(&View) -> T,
) -> Option<T> {
    let mut tensor = 0;
    with_status(|status| {
        // SAFETY: the context is live, and `tensor` is writable.
        unsafe { get_input(context, index as i32, &raw mut tensor, status) }
    })?;
    // SAFETY: the call has stored a tensor that is the caller's, which is deleted here after its last use.
    unsafe {
        let result = view(tensor).map(|view| read(&view));
        if tensor != 0 {
            delete_tensor(tensor);
        }
        result
    }
}

/// Returns the stream of a running kernel, or `None` if its device has none.
///
/// # Safety
/// - `context` is live.
pub unsafe fn stream(context: u64) -> Option<u64> {
    // SAFETY: as the caller guarantees.
    with_status(|status| unsafe { get_stream(context, status) })
}

/// Returns the serialized `NodeDef` of a kernel that is created, or nothing if the release does not return it.
///
/// # Safety
/// - `construction` is live.
pub unsafe fn node_def(construction: u64) -> Vec<u8> {
    // SAFETY: as the caller guarantees.
    let buffer = with_status(|status| unsafe { get_node_def(construction, status) });
    // SAFETY: the buffer is the caller's, and nothing else has it.
    buffer.map_or_else(Vec::new, |buffer| unsafe { take_buffer(buffer) })
}

/// Returns the serialized handle of an input, or nothing if the release does not return it.
///
/// # Safety
/// - `context` is live.
pub unsafe fn handle(context: u64, index: usize) -> Vec<u8> {
    // SAFETY: as the caller guarantees; the buffer is new, and deleted by `take_buffer`.
    unsafe {
        let Some(buffer) = new_buffer() else {
            return Vec::new();
        };
        let filled = with_status(|status| get_handle(context, index as i32, buffer, status));
        let bytes = take_buffer(buffer);
        filled.map_or_else(Vec::new, |()| bytes)
    }
}

/// Returns the bytes of a `TF_Buffer`, and deletes it.
///
/// # Safety
/// - `buffer` is null or a live `TF_Buffer` of the caller.
unsafe fn take_buffer(buffer: u64) -> Vec<u8> {
    if buffer == 0 {
        return Vec::new();
    }
    // SAFETY: the struct begins with its data and length, and is live until it is deleted here.
    unsafe {
        let Buffer { data, length } = (buffer as *const Buffer).read();
        let bytes = match data.is_null() {
            true => Vec::new(),
            false => std::slice::from_raw_parts(data, length).to_vec(),
        };
        delete_buffer(buffer);
        bytes
    }
}
