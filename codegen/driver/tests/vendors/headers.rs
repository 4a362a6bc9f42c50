//! The headers, and what is expected of each.

/// A header.
pub struct Vendor {
    /// The name and version's source on the page.
    pub name: &'static str,
    /// The path; a relative one is below the folder of the wheels.
    pub header: &'static str,
    /// The package that has it.
    pub package: &'static str,
    /// `--include`; a relative one is below the folder of the wheels.
    pub folders: &'static [&'static str],
    /// `--define`
    pub defines: &'static [&'static str],
    /// `--driver-status`
    pub option: Option<&'static str>,
    /// The type of status codes that is expected.
    pub status: Option<&'static str>,
    /// A part of the paths of its own headers.
    pub own: &'static str,
}

const DEFAULT: Vendor = Vendor {
    name: "",
    header: "",
    package: "",
    folders: &[],
    defines: &[],
    option: None,
    status: None,
    own: "",
};

/// The folders of the CUDA runtime's headers.
const CUDA_FOLDERS: &[&str] = &[
    "cuda_runtime/include",
    "cuda_nvcc/include",
    "cuda_cccl/include",
];

pub const CUDA: Vendor = Vendor {
    name: "CUDA driver",
    header: "cuda_runtime/include/cuda.h",
    package: "nvidia-cuda-runtime-cu12",
    status: Some("CUresult"),
    own: "/cuda.h",
    ..DEFAULT
};
pub const CUDA_RUNTIME: Vendor = Vendor {
    name: "CUDA runtime",
    header: "cuda_runtime/include/cuda_runtime_api.h",
    package: "nvidia-cuda-runtime-cu12",
    folders: CUDA_FOLDERS,
    status: Some("cudaError_t"),
    own: "cuda_runtime/include",
    ..DEFAULT
};
pub const CUBLAS: Vendor = Vendor {
    name: "cuBLAS",
    header: "cublas/include/cublas_v2.h",
    package: "nvidia-cublas-cu12",
    folders: CUDA_FOLDERS,
    status: Some("cublasStatus_t"),
    own: "/cublas",
    ..DEFAULT
};
pub const CUDNN: Vendor = Vendor {
    name: "cuDNN",
    header: "cudnn/include/cudnn.h",
    package: "nvidia-cudnn-cu12",
    folders: CUDA_FOLDERS,
    status: Some("cudnnStatus_t"),
    own: "/cudnn",
    ..DEFAULT
};
pub const NCCL: Vendor = Vendor {
    name: "NCCL",
    header: "nccl/include/nccl.h",
    package: "nvidia-nccl-cu12",
    folders: CUDA_FOLDERS,
    status: Some("ncclResult_t"),
    own: "/nccl",
    ..DEFAULT
};
pub const HIP: Vendor = Vendor {
    name: "HIP",
    header: "/usr/include/hip/hip_runtime_api.h",
    package: "libamdhip64-dev",
    folders: &["/usr/include"],
    defines: &["__HIP_PLATFORM_AMD__"],
    status: Some("hipError_t"),
    own: "/hip/",
    ..DEFAULT
};
pub const HSA: Vendor = Vendor {
    name: "HSA",
    header: "/usr/include/hsa/hsa.h",
    package: "libhsa-runtime-dev",
    status: Some("hsa_status_t"),
    own: "/hsa/",
    ..DEFAULT
};
pub const LEVEL_ZERO: Vendor = Vendor {
    name: "Level Zero",
    header: "/usr/include/level_zero/ze_api.h",
    package: "libze-dev",
    status: Some("ze_result_t"),
    own: "/level_zero/",
    ..DEFAULT
};
pub const VULKAN: Vendor = Vendor {
    name: "Vulkan",
    header: "/usr/include/vulkan/vulkan.h",
    package: "libvulkan-dev",
    status: Some("VkResult"),
    own: "/vulkan",
    ..DEFAULT
};
pub const OPENCL: Vendor = Vendor {
    name: "OpenCL",
    header: "/usr/include/CL/cl.h",
    package: "opencl-c-headers",
    status: Some("cl_int"),
    own: "/CL/",
    ..DEFAULT
};
pub const ONEDNN: Vendor = Vendor {
    name: "oneDNN",
    header: "/usr/include/dnnl.h",
    package: "libdnnl-dev",
    status: Some("dnnl_status_t"),
    own: "dnnl",
    ..DEFAULT
};
pub const LIBDRM: Vendor = Vendor {
    name: "libdrm",
    header: "/usr/include/xf86drm.h",
    package: "libdrm-dev",
    folders: &["/usr/include/libdrm"],
    own: "drm",
    ..DEFAULT
};
pub const GBM: Vendor = Vendor {
    name: "GBM",
    header: "/usr/include/gbm.h",
    package: "libgbm-dev",
    own: "/gbm.h",
    ..DEFAULT
};
pub const VA: Vendor = Vendor {
    name: "VA-API",
    header: "/usr/include/va/va.h",
    package: "libva-dev",
    status: Some("VAStatus"),
    own: "/va/",
    ..DEFAULT
};
pub const IBVERBS: Vendor = Vendor {
    name: "InfiniBand verbs",
    header: "/usr/include/infiniband/verbs.h",
    package: "libibverbs-dev",
    own: "/infiniband/",
    ..DEFAULT
};
pub const LIBUSB: Vendor = Vendor {
    name: "libusb",
    header: "/usr/include/libusb-1.0/libusb.h",
    package: "libusb-1.0-0-dev",
    option: Some("int=LIBUSB_SUCCESS"),
    status: Some("int"),
    own: "/libusb.h",
    ..DEFAULT
};
pub const ALSA: Vendor = Vendor {
    name: "ALSA",
    header: "/usr/include/alsa/asoundlib.h",
    package: "libasound2-dev",
    option: Some("int"),
    status: Some("int"),
    own: "/alsa/",
    ..DEFAULT
};
pub const AVCODEC: Vendor = Vendor {
    name: "libavcodec",
    header: "/usr/include/x86_64-linux-gnu/libavcodec/avcodec.h",
    package: "libavcodec-dev",
    option: Some("int"),
    status: Some("int"),
    own: "/libavcodec/",
    ..DEFAULT
};
pub const FUSE: Vendor = Vendor {
    name: "FUSE",
    header: "/usr/include/fuse3/fuse.h",
    package: "libfuse3-dev",
    defines: &["FUSE_USE_VERSION=31", "_FILE_OFFSET_BITS=64"],
    option: Some("int"),
    status: Some("int"),
    own: "/fuse3/",
    ..DEFAULT
};
pub const CURL: Vendor = Vendor {
    name: "curl",
    header: "/usr/include/x86_64-linux-gnu/curl/curl.h",
    package: "libcurl4-openssl-dev",
    // It declares functions that only gcc sees.
    defines: &["CURL_DISABLE_TYPECHECK"],
    option: Some("CURLcode"),
    status: Some("CURLcode"),
    own: "/curl/",
    ..DEFAULT
};
pub const OPENSSL: Vendor = Vendor {
    name: "OpenSSL",
    header: "/usr/include/openssl/ssl.h",
    package: "libssl-dev",
    option: Some("int=1"),
    status: Some("int"),
    own: "/openssl/",
    ..DEFAULT
};
pub const LIBPQ: Vendor = Vendor {
    name: "libpq",
    header: "/usr/include/postgresql/libpq-fe.h",
    package: "libpq-dev",
    own: "/postgresql/",
    ..DEFAULT
};
pub const SQLITE: Vendor = Vendor {
    name: "SQLite",
    header: "/usr/include/sqlite3.h",
    package: "libsqlite3-dev",
    option: Some("int"),
    status: Some("int"),
    own: "/sqlite3.h",
    ..DEFAULT
};
pub const LIBPNG: Vendor = Vendor {
    name: "libpng",
    header: "/usr/include/png.h",
    package: "libpng-dev",
    own: "/png",
    ..DEFAULT
};
pub const ZLIB: Vendor = Vendor {
    name: "zlib",
    header: "/usr/include/zlib.h",
    package: "zlib1g-dev",
    option: Some("int=Z_OK"),
    status: Some("int"),
    own: "/zlib.h",
    ..DEFAULT
};
pub const ZSTD: Vendor = Vendor {
    name: "Zstandard",
    header: "/usr/include/zstd.h",
    package: "libzstd-dev",
    own: "/zstd",
    ..DEFAULT
};
pub const LZ4: Vendor = Vendor {
    name: "LZ4",
    header: "/usr/include/lz4.h",
    package: "liblz4-dev",
    own: "/lz4",
    ..DEFAULT
};
