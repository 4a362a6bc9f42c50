//! A plugin's profiler: its registration and one session.

use std::ptr::null_mut;

use crate::call::{Ptr, call, status_call};
use crate::guarded::GuardedMemory;
use crate::plugin::{LoadedPlugin, relocate};
use crate::quirks::Quirks;
use crate::record::GuardedStruct;
use crate::{Error, requirements};

/// Initial value of the size that `collect_data_xspace` must set: TensorFlow does not initialize it.
const UNSET: usize = 0xa5a5_a5a5;

/// Maximum length of a protocol buffer message.
const LONGEST: usize = i32::MAX as usize;

/// The structs that `TF_InitProfiler` filled.
pub(crate) struct RegisteredProfiler {
    pub params: GuardedStruct,
    pub profiler: GuardedStruct,
    pub functions: GuardedStruct,
}

impl LoadedPlugin {
    /// Calls `TF_InitProfiler`.
    pub fn register_profiler(&self) -> Result<RegisteredProfiler, Error> {
        let mut params = self.shapes.record("TF_ProfilerRegistrationParams")?;
        let profiler = self.shapes.record("TP_Profiler")?;
        let functions = self.shapes.record("TP_ProfilerFns")?;
        params.set_version(self.versions.profiler);
        params.set_pointer("profiler", profiler.address());
        params.set_pointer("profiler_fns", functions.address());
        self.call_entry_point(&"TF_InitProfiler", &params)?;
        Ok(RegisteredProfiler {
            params,
            profiler,
            functions,
        })
    }
}

impl RegisteredProfiler {
    pub fn records(&self) -> [&GuardedStruct; 3] {
        [&self.params, &self.profiler, &self.functions]
    }

    /// Returns the reasons for which TensorFlow would reject the profiler.
    pub fn rejections(&self, quirks: Quirks) -> Vec<String> {
        self.records()
            .into_iter()
            .flat_map(|record| requirements::rejections(quirks, record))
            .chain(requirements::name_defect(&self.profiler, "device_type"))
            .collect()
    }

    /// Returns the device type of the registration.
    pub fn device_type(&self) -> String {
        self.profiler.text("device_type").unwrap_or_default()
    }

    /// Moves the structs as TensorFlow does, which destroys two copies of them. The plugin must not free what they
    /// point to then.
    pub fn into_loaded(self) -> Result<Self, Error> {
        for _ in 0..2 {
            let profiler = self.profiler.clone_to_new_address();
            let functions = self.functions.clone_to_new_address();
            self.destroy(&profiler, &functions)?;
            profiler.retire();
            functions.retire();
        }
        Ok(Self {
            profiler: relocate(self.profiler),
            functions: relocate(self.functions),
            ..self
        })
    }

    fn destroy(&self, profiler: &GuardedStruct, functions: &GuardedStruct) -> Result<(), Error> {
        call!(self.params, "destroy_profiler", (profiler.address()): (Ptr));
        call!(self.params, "destroy_profiler_fns", (functions.address()): (Ptr));
        Ok(())
    }

    pub fn start(&self) -> Result<(), Error> {
        status_call!(self.functions, "start", (self.profiler.address()): (Ptr, Ptr))
    }

    pub fn stop(&self) -> Result<(), Error> {
        status_call!(self.functions, "stop", (self.profiler.address()): (Ptr, Ptr))
    }

    /// Requests the size, then the bytes if there are any, and returns them: an `XSpace`.
    pub fn collect(&self) -> Result<Vec<u8>, Error> {
        let mut size = self.data_size()?;
        let mut buffer = GuardedMemory::new(size, &"the buffer for collect_data_xspace");
        if size > 0 {
            self.request(buffer.bytes_mut().as_mut_ptr().cast(), &mut size)?;
        }
        Ok(buffer.bytes().to_vec())
    }

    /// Requests the bytes with a buffer of `len` bytes, which may be smaller than the data.
    pub fn collect_into(&self, len: usize) -> Result<(), Error> {
        let mut buffer = GuardedMemory::new(len, &"a buffer that is smaller than the data");
        let mut size = len;
        self.request(buffer.bytes_mut().as_mut_ptr().cast(), &mut size)
    }

    /// Requests the size of the data.
    pub fn data_size(&self) -> Result<usize, Error> {
        let mut size = UNSET;
        self.request(null_mut(), &mut size)?;
        if size == UNSET {
            let text = "collect_data_xspace without a buffer left the size unset";
            return Err(Error::Refused(text.into()));
        }
        if size > LONGEST {
            let text = format!(
                "collect_data_xspace without a buffer set the size to {size} bytes, above the limit of protocol buffers"
            );
            return Err(Error::Refused(text));
        }
        Ok(size)
    }

    fn request(&self, buffer: Ptr, size: &mut usize) -> Result<(), Error> {
        status_call!(
            self.functions, "collect_data_xspace",
            (self.profiler.address(), buffer, &mut *size): (Ptr, Ptr, *mut usize, Ptr)
        )
    }
}
