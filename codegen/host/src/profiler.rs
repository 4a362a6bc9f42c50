//! A plugin's profiler: registered as TensorFlow registers it, and one session of it.

use std::ptr::null_mut;

use crate::call::{Ptr, call, checked};
use crate::guarded::Guarded;
use crate::plugin::{Plugin, moved};
use crate::quirks::Quirks;
use crate::record::Record;
use crate::{Error, requirements};

/// What `collect_data_xspace` finds where it must put a size: TensorFlow does not set it.
const UNSET: usize = 0xa5a5_a5a5;

/// The longest message that protocol buffers can have.
const LONGEST: usize = i32::MAX as usize;

/// What `TF_InitProfiler` filled.
pub(crate) struct Profiler {
    pub params: Record,
    pub profiler: Record,
    pub functions: Record,
}

impl Plugin {
    /// Calls `TF_InitProfiler`.
    pub fn register_profiler(&self) -> Result<Profiler, Error> {
        let mut params = self.shapes.record("TF_ProfilerRegistrationParams")?;
        let profiler = self.shapes.record("TP_Profiler")?;
        let functions = self.shapes.record("TP_ProfilerFns")?;
        params.set_version(self.versions.profiler);
        params.set_pointer("profiler", profiler.address());
        params.set_pointer("profiler_fns", functions.address());
        self.enter(&"TF_InitProfiler", &params)?;
        Ok(Profiler {
            params,
            profiler,
            functions,
        })
    }
}

impl Profiler {
    pub fn records(&self) -> [&Record; 3] {
        [&self.params, &self.profiler, &self.functions]
    }

    /// What TensorFlow would refuse in it.
    pub fn refusals(&self, quirks: Quirks) -> Vec<String> {
        self.records()
            .into_iter()
            .flat_map(|record| requirements::refusals(quirks, record))
            .chain(requirements::name(&self.profiler, "device_type"))
            .collect()
    }

    /// The device type that it was registered for.
    pub fn device_type(&self) -> String {
        self.profiler.text("device_type").unwrap_or_default()
    }

    /// As TensorFlow adopts it: the structs move, and two copies of them are destroyed meanwhile, so
    /// that nothing that they point to may go with them.
    pub fn adopt(self) -> Result<Self, Error> {
        for _ in 0..2 {
            let (profiler, functions) = (self.profiler.copied(), self.functions.copied());
            self.destroy(&profiler, &functions)?;
            profiler.retire();
            functions.retire();
        }
        Ok(Self {
            profiler: moved(self.profiler),
            functions: moved(self.functions),
            ..self
        })
    }

    fn destroy(&self, profiler: &Record, functions: &Record) -> Result<(), Error> {
        call!(self.params, "destroy_profiler", (profiler.address()): (Ptr));
        call!(self.params, "destroy_profiler_fns", (functions.address()): (Ptr));
        Ok(())
    }

    pub fn start(&self) -> Result<(), Error> {
        checked("start", |status| {
            call!(self.functions, "start", (self.profiler.address(), status): (Ptr, Ptr));
            Ok(())
        })
    }

    pub fn stop(&self) -> Result<(), Error> {
        checked("stop", |status| {
            call!(self.functions, "stop", (self.profiler.address(), status): (Ptr, Ptr));
            Ok(())
        })
    }

    /// The size call, then, where there is anything, the call with a buffer: an `XSpace`.
    pub fn collect(&self) -> Result<Vec<u8>, Error> {
        let mut size = UNSET;
        self.ask(null_mut(), &mut size)?;
        if size == UNSET {
            let text = "collect_data_xspace without a buffer left the size unset";
            return Err(Error::Refused(text.into()));
        }
        if size > LONGEST {
            let text = format!("collect_data_xspace without a buffer asks for one of {size} bytes");
            return Err(Error::Refused(text));
        }
        let mut buffer = Guarded::new(size, &"the buffer for collect_data_xspace");
        if size > 0 {
            self.ask(buffer.bytes_mut().as_mut_ptr().cast(), &mut size)?;
        }
        Ok(buffer.bytes().to_vec())
    }

    fn ask(&self, buffer: Ptr, size: &mut usize) -> Result<(), Error> {
        checked("collect_data_xspace", |status| {
            call!(
                self.functions, "collect_data_xspace",
                (self.profiler.address(), buffer, &mut *size, status): (Ptr, Ptr, *mut usize, Ptr)
            );
            Ok(())
        })
    }
}
