//! Copies of a kernel's inputs to the device, and of its outputs to the host.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use crate::core::{ArgumentPlacement, View};
use crate::executor::DeviceMemoryBlock;
use crate::host::Host;
use crate::memory::HostMemory;
use crate::quirks::Quirk;
use crate::tensor_buffer::TensorBuffer;
use crate::{DType, Error, StatusCode, Tensor};

impl Host {
    /// Enqueues a copy of a tensor to device memory; copies at once if its place is in host memory.
    ///
    /// # Safety
    /// - The tensor is neither changed nor dropped before the copy is done, also if this function returns an error.
    pub(super) unsafe fn upload(
        &self,
        tensor: &Tensor,
        placement: &ArgumentPlacement,
    ) -> Result<View, Error> {
        let bytes = tensor.bytes();
        let buffer = match placement.on_host {
            true => TensorBuffer::from_host_memory(HostMemory::from_bytes(bytes)),
            false => {
                TensorBuffer::allocate_on(&self.executor, bytes.len()).map_err(uninitialized)?
            }
        };
        if buffer.on_device() {
            let source = (bytes.as_ptr(), bytes.len());
            let stream = self.streams.host_to_device;
            // SAFETY: the caller guarantees that the tensor is there until the copy is done.
            let copied = unsafe { self.executor.htod_from(stream, block(&buffer), source) };
            copied.map_err(|error| self.copy_error("CPU->PluggableDevice", error))?;
        }
        Ok(View {
            dtype: tensor.dtype(),
            dims: tensor.dims().to_vec(),
            buffer: Arc::new(buffer),
        })
    }

    /// Copies a tensor to device memory.
    pub(crate) fn copy_in(&self, tensor: &Tensor) -> Result<View, Error> {
        let placement = ArgumentPlacement {
            name: String::new(),
            dtype: tensor.dtype(),
            on_host: false,
        };
        // SAFETY: the tensor is borrowed until this function returns, which waits for the copy.
        let view = unsafe { self.upload(tensor, &placement) };
        let stream = self.streams.host_to_device;
        let copied = view.and_then(|view| self.executor.poll(stream).map(|()| view));
        if copied.is_err() {
            // The first error is the one to report.
            let _ = self.executor.synchronize();
        }
        copied
    }

    /// Returns the error that TensorFlow reports if a copy cannot be enqueued.
    fn copy_error(&self, direction: &str, error: Error) -> Error {
        match self.quirks.has(Quirk::CopyErrorIsFatal) {
            true => Error::Refused(format!("{direction} Memcpy failed.; {error}")),
            false => error,
        }
    }

    pub(super) fn download(
        &self,
        op: &str,
        index: usize,
        view: Option<View>,
        placement: &ArgumentPlacement,
    ) -> Result<Tensor, Error> {
        let name = &placement.name;
        let unset = || Error::Status {
            call: format!("{op} left its output {name} unset"),
            code: StatusCode::INTERNAL,
            message: format!("Missing {index}-th output from {{{{node {op}}}}}"),
        };
        let view = view.ok_or_else(unset)?;
        if view.dtype != placement.dtype {
            let text = format!(
                "{op} returned {name} as {}, not {}",
                view.dtype, placement.dtype
            );
            return Err(Error::Refused(text));
        }
        if view.bytes() > view.buffer.len() {
            let text = format!(
                "{op} returned {name} with the shape {:?}, which exceeds its memory",
                view.dims
            );
            return Err(Error::Refused(text));
        }
        if view.dtype == DType::VARIANT {
            return Ok(Tensor::raw(view.dtype, view.dims, view.buffer.host_bytes()));
        }
        if view.buffer.on_device() {
            return self.copy_out(&view);
        }
        // SAFETY: the kernel has returned, and the C contract makes the texts of its strings readable as long as the tensor.
        let tensor =
            unsafe { Tensor::from_plugin(view.dtype, &view.dims, view.buffer.host_bytes()) };
        tensor.map_err(|reason| Error::Refused(format!("{op} returned {name}: {reason}")))
    }

    /// Copies a tensor from device memory to the host.
    pub(crate) fn copy_out(&self, view: &View) -> Result<Tensor, Error> {
        let len = view.bytes();
        let stream = self.streams.device_to_host;
        // Never freed unless the copy is done.
        let mut bytes = ManuallyDrop::new(HostMemory::poisoned(len));
        self.executor.depend(stream, self.streams.compute)?;
        let source = DeviceMemoryBlock {
            opaque: view.buffer.data(),
            size: len as u64,
        };
        let target = (bytes.bytes_mut().as_mut_ptr(), len);
        // SAFETY: the memory is freed after the stream is done, or not at all, and nothing else uses it until then.
        let copied = unsafe { self.executor.dtoh_to(stream, target, source) };
        copied.map_err(|error| self.copy_error("PluggableDevice->CPU", error))?;
        self.executor.poll(stream)?;
        let bytes = ManuallyDrop::into_inner(bytes);
        // SAFETY: the C contract makes the texts of strings readable as long as the tensor, which `view` is.
        let tensor = unsafe { Tensor::from_plugin(view.dtype, &view.dims, bytes.bytes()) };
        tensor.map_err(|reason| Error::Refused(format!("a tensor on the device: {reason}")))
    }
}

fn block(buffer: &TensorBuffer) -> DeviceMemoryBlock {
    DeviceMemoryBlock {
        opaque: buffer.data(),
        size: buffer.len() as u64,
    }
}

/// Returns the error that TensorFlow reports if there is no device memory for a tensor of the host.
fn uninitialized(error: Error) -> Error {
    match error {
        Error::Status { call, code, .. } if code == StatusCode::RESOURCE_EXHAUSTED => {
            let message = "Dst tensor is not initialized.".into();
            Error::Status {
                call,
                code: StatusCode::INTERNAL,
                message,
            }
        }
        other => other,
    }
}
