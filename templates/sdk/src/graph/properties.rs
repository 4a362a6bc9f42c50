//! The shapes and types of a graph's tensors, as TensorFlow infers them.

use std::ffi::{CString, c_char};
use std::marker::PhantomData;
use std::ptr::NonNull;

use sp_abi::grappler::{
    TF_DeleteGraphProperties, TF_GetInputPropertiesList, TF_GetInputPropertiesListSize,
    TF_GetOutputPropertiesList, TF_GetOutputPropertiesListSize, TF_GraphProperties,
    TF_GrapplerItem, TF_InferStatically, TF_NewGraphProperties,
};
use sp_abi::tf_buffer::TF_Buffer;
use sp_abi::tf_status::TF_Status;
use sp_graph::TensorProperties;
use sp_runtime::{Function, Status};

use super::buffer;
use crate::{Error, Result, limit};

type Size =
    unsafe extern "C-unwind" fn(*mut TF_GraphProperties, *const c_char, *mut i32, *mut TF_Status);
type List = unsafe extern "C-unwind" fn(
    *mut TF_GraphProperties,
    *const c_char,
    *mut *mut TF_Buffer,
    i32,
    *mut TF_Status,
);

/// Options of the inference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Inference {
    /// True to assume that fed tensors have the shapes of their placeholders.
    pub assume_valid_feeds: bool,
    /// True to infer shapes from the values of tensors too, which takes longer.
    pub aggressive: bool,
}

/// The shapes and types of a graph's tensors.
pub struct Properties<'a> {
    raw: NonNull<TF_GraphProperties>,
    item: PhantomData<&'a TF_GrapplerItem>,
}

impl Properties<'_> {
    /// Runs the inference.
    ///
    /// # Safety
    /// - `item` is live while the value lives.
    pub(super) unsafe fn infer(item: *const TF_GrapplerItem, options: Inference) -> Result<Self> {
        let (new, infer, status) = (
            TF_NewGraphProperties.get()?,
            TF_InferStatically.get()?,
            Status::new()?,
        );
        // SAFETY: the caller guarantees that the item is live.
        let raw = NonNull::new(unsafe { new(item) });
        let properties = Self {
            raw: raw.ok_or_else(|| Error::internal("TensorFlow returned no properties"))?,
            item: PhantomData,
        };
        let (feeds, aggressive) = (options.assume_valid_feeds.into(), options.aggressive.into());
        // The zeros: the results do not include values of tensors.
        // SAFETY: `properties` owns a live object, and `status` is live.
        unsafe {
            infer(
                properties.raw.as_ptr(),
                feeds,
                aggressive,
                0,
                0,
                status.as_ptr(),
            )
        };
        status.check()?;
        Ok(properties)
    }

    /// Returns the properties of a node's inputs, in order. The list is empty if TensorFlow has none.
    ///
    /// # Errors
    /// Returns the error of TensorFlow.
    pub fn inputs(&self, node: &str) -> Result<Vec<TensorProperties>> {
        self.list(
            node,
            &TF_GetInputPropertiesListSize,
            &TF_GetInputPropertiesList,
        )
    }

    /// Returns the properties of a node's outputs, in order. The list is empty if TensorFlow has none.
    ///
    /// # Errors
    /// Returns the error of TensorFlow.
    pub fn outputs(&self, node: &str) -> Result<Vec<TensorProperties>> {
        self.list(
            node,
            &TF_GetOutputPropertiesListSize,
            &TF_GetOutputPropertiesList,
        )
    }

    /// Requests the size of a list of properties, then the list.
    fn list(
        &self,
        node: &str,
        size: &Function<Size>,
        list: &Function<List>,
    ) -> Result<Vec<TensorProperties>> {
        let name = CString::new(node);
        let name = name
            .map_err(|_| Error::invalid_argument(format!("node name {node:?} contains a NUL")))?;
        let (raw, status, mut count) = (self.raw.as_ptr(), Status::new()?, 0);
        // SAFETY: `self` owns the live properties; the name and the output parameter are locals.
        unsafe { size.get()?(raw, name.as_ptr(), &mut count, status.as_ptr()) };
        status.check()?;
        limit::check_count("a list of properties", count)?;
        let buffers = (0..count).map(|_| buffer::OwnedBuffer::new());
        let buffers: Vec<buffer::OwnedBuffer> = buffers.collect::<Result<_>>()?;
        let mut pointers: Vec<_> = buffers.iter().map(buffer::OwnedBuffer::as_ptr).collect();
        let (first, status_ptr) = (pointers.as_mut_ptr(), status.as_ptr());
        // SAFETY: `self` owns the live properties, the name is a local, and `first` points to `count` empty
        // buffers, as TensorFlow requires.
        unsafe { list.get()?(raw, name.as_ptr(), first, count, status_ptr) };
        status.check()?;
        let parse = |it: &buffer::OwnedBuffer| TensorProperties::parse(it.bytes()?);
        buffers.iter().map(parse).collect()
    }
}

impl Drop for Properties<'_> {
    fn drop(&mut self) {
        if let Ok(delete) = TF_DeleteGraphProperties.get() {
            // SAFETY: `self` owns the live properties, and nothing uses them after the drop.
            unsafe { delete(self.raw.as_ptr()) }
        }
    }
}
