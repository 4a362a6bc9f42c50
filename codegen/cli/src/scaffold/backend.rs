//! Backends: plugins over the API of a kind of devices, with the device and kernels written already.

use clap::ValueEnum;

/// A backend of a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// GPUs and CPUs with OpenCL 1.2 or newer; needs its headers
    #[value(name = "opencl")]
    OpenCl,
}

impl Backend {
    /// The header, as C includes it.
    pub const fn header(self) -> &'static str {
        match self {
            Self::OpenCl => "CL/cl.h",
        }
    }

    /// The library, as `dlopen` takes it.
    pub const fn library(self) -> &'static str {
        match self {
            Self::OpenCl => "libOpenCL.so.1",
        }
    }

    /// Files of a plugin without backend that one with this backend does not have.
    pub const fn replaced_files(self) -> &'static [&'static str] {
        match self {
            Self::OpenCl => &["src/kernels/relu.rs"],
        }
    }
}
