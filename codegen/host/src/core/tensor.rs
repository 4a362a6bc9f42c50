//! `TF_Tensor`: a view of a shared buffer. Two handles may share one buffer, as in TensorFlow.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::argument::{Arg, List};
use super::failure::{StatusResult, invalid};
use super::functions::functions;
use crate::dtype::DType;
use crate::memory::ALIGNMENT;
use crate::objects::{self, BorrowedObject, HostObject, ObjectKind, Owner};
use crate::tensor_buffer::{Deallocator, TensorBuffer};

/// The object behind `TF_Tensor*`.
pub(crate) struct TensorHandle {
    view: Mutex<View>,
}

impl HostObject for TensorHandle {
    const KIND: ObjectKind = ObjectKind::Tensor;
}

/// Element type and shape over a buffer.
#[derive(Clone)]
pub(crate) struct View {
    pub dtype: DType,
    pub dims: Vec<i64>,
    pub buffer: Arc<TensorBuffer>,
}

impl View {
    /// Returns the number of elements; the largest number if it is larger, or a dimension is negative.
    pub fn elements(&self) -> i64 {
        elements(&self.dims).unwrap_or(i64::MAX)
    }

    /// Returns the number of bytes of the elements, or the largest number.
    pub fn bytes(&self) -> usize {
        (self.elements() as usize).saturating_mul(self.dtype.stride())
    }

    /// Returns a handle of this view that the plugin must delete.
    pub fn into_plugin_handle(self) -> *mut TensorHandle {
        objects::create(self.into_handle(), Owner::Plugin)
    }

    /// Returns a handle of this view that the plugin borrows for a call.
    pub fn into_borrowed_handle(self) -> BorrowedObject<TensorHandle> {
        BorrowedObject::new(self.into_handle())
    }

    fn into_handle(self) -> TensorHandle {
        let view = Mutex::new(self);
        TensorHandle { view }
    }
}

/// Returns the number of elements of a shape, or `None` if a dimension is negative or the number exceeds `i64`.
pub(crate) fn elements(dims: &[i64]) -> Option<i64> {
    let is_valid = dims.iter().all(|it| *it >= 0);
    let count = dims
        .iter()
        .try_fold(1, |count: i64, it| count.checked_mul(*it));
    count.filter(|_| is_valid)
}

impl TensorHandle {
    pub fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn bitcast(from: &View, to: &mut View, dtype: DType, dims: &[i64]) -> StatusResult<()> {
    let view = View {
        dtype,
        dims: dims.to_vec(),
        buffer: Arc::clone(&from.buffer),
    };
    if view.bytes() != from.bytes() {
        let (old, new) = (from.bytes(), view.bytes());
        return Err(invalid(format!("a bitcast from {old} to {new} bytes")));
    }
    *to = view;
    Ok(())
}

functions! {
    fn TF_DataTypeSize(dtype: u32) -> usize {
        DType(dtype).size()
    }

    fn TF_TensorDefaultAlignment() -> usize {
        ALIGNMENT
    }

    fn TF_AllocateTensor(dtype: u32, dims: List<i64>, rank: c_int, len: usize) -> *mut TensorHandle {
        let buffer = Arc::new(TensorBuffer::host(len));
        View { dtype: DType(dtype), dims: dims.values(rank).to_vec(), buffer }.into_plugin_handle()
    }

    fn TF_NewTensor(
        dtype: u32,
        dims: List<i64>,
        rank: c_int,
        data: *mut c_void,
        len: usize,
        deallocator: Option<Deallocator>,
        argument: *mut c_void,
    ) -> *mut TensorHandle {
        // SAFETY: the C contract of this function makes `data` valid until the host calls `deallocator`, which it does once.
        let buffer = unsafe { TensorBuffer::foreign(data, len, deallocator, argument) };
        let buffer = Arc::new(buffer);
        View { dtype: DType(dtype), dims: dims.values(rank).to_vec(), buffer }.into_plugin_handle()
    }

    fn TF_DeleteTensor(tensor: Arg<TensorHandle>) {
        drop(tensor.take(CALL));
    }

    fn TF_TensorMaybeMove(tensor: Arg<TensorHandle>) -> *mut TensorHandle {
        match tensor.get(CALL) {
            Some(handle) if Arc::strong_count(&handle.view().buffer) == 1 => tensor.address(),
            _ => std::ptr::null_mut(),
        }
    }

    fn TF_TensorType(tensor: Arg<TensorHandle>) -> u32 {
        tensor.get(CALL).map_or(0, |tensor| tensor.view().dtype.0)
    }

    fn TF_SetShape(tensor: Arg<TensorHandle>, dims: List<i64>, rank: c_int) {
        if let Some(tensor) = tensor.get(CALL) {
            tensor.view().dims = dims.values(rank).to_vec();
        }
    }

    fn TF_NumDims(tensor: Arg<TensorHandle>) -> c_int {
        tensor.get(CALL).map_or(0, |tensor| tensor.view().dims.len() as c_int)
    }

    fn TF_Dim(tensor: Arg<TensorHandle>, index: c_int) -> i64 {
        let Some(tensor) = tensor.get(CALL) else { return 0 };
        let dim = usize::try_from(index).ok().and_then(|at| tensor.view().dims.get(at).copied());
        dim.unwrap_or_else(|| {
            objects::record_fault(format!("{CALL} was asked for dimension {index} of {:?}", tensor.view().dims));
            0
        })
    }

    fn TF_TensorByteSize(tensor: Arg<TensorHandle>) -> usize {
        tensor.get(CALL).map_or(0, |tensor| tensor.view().bytes())
    }

    fn TF_TensorElementCount(tensor: Arg<TensorHandle>) -> i64 {
        tensor.get(CALL).map_or(0, |tensor| tensor.view().elements())
    }

    fn TF_TensorData(tensor: Arg<TensorHandle>) -> *mut c_void {
        tensor.get(CALL).map_or(std::ptr::null_mut(), |tensor| tensor.view().buffer.data())
    }

    fn TF_TensorIsAligned(tensor: Arg<TensorHandle>) -> bool {
        tensor.get(CALL).is_some_and(|tensor| {
            (tensor.view().buffer.data() as usize).is_multiple_of(ALIGNMENT)
        })
    }

    fn TF_TensorBitcastFrom(
        from: Arg<TensorHandle>, dtype: u32, to: Arg<TensorHandle>, dims: List<i64>, rank: c_int; status
    ) {
        let (from, to) = (from.live(CALL)?, to.live(CALL)?);
        let from = from.view().clone();
        Ok(bitcast(&from, &mut to.view(), DType(dtype), dims.values(rank))?)
    }
}

#[cfg(test)]
mod tests {
    use super::elements;

    #[test]
    fn shape_without_a_valid_size_has_no_elements() {
        assert_eq!(elements(&[2, 3]), Some(6));
        assert_eq!(elements(&[]), Some(1));
        assert_eq!(elements(&[2, 0]), Some(0));
        assert_eq!(elements(&[1 << 62, 4]), None);
        assert_eq!(elements(&[-2, -3]), None);
    }
}
