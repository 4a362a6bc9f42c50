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

/// The table of headers: `CONSTANT = name of package: header, own part with { other fields }`.
macro_rules! vendors {
    ($($id:ident = $name:literal of $package:literal: $header:literal, own $own:literal
        $(with { $($field:ident: $value:expr),* })?;)*) => {
        $(
            pub const $id: Vendor = Vendor {
                name: $name,
                header: $header,
                package: $package,
                own: $own,
                $($($field: $value,)*)?
                ..DEFAULT
            };
        )*
    };
}

vendors! {
    CUDA = "CUDA driver" of "nvidia-cuda-runtime-cu12": "cuda_runtime/include/cuda.h", own "/cuda.h"
        with { status: Some("CUresult") };
    CUDA_RUNTIME = "CUDA runtime" of "nvidia-cuda-runtime-cu12": "cuda_runtime/include/cuda_runtime_api.h", own "cuda_runtime/include"
        with { folders: CUDA_FOLDERS, status: Some("cudaError_t") };
    CUBLAS = "cuBLAS" of "nvidia-cublas-cu12": "cublas/include/cublas_v2.h", own "/cublas"
        with { folders: CUDA_FOLDERS, status: Some("cublasStatus_t") };
    CUDNN = "cuDNN" of "nvidia-cudnn-cu12": "cudnn/include/cudnn.h", own "/cudnn"
        with { folders: CUDA_FOLDERS, status: Some("cudnnStatus_t") };
    NCCL = "NCCL" of "nvidia-nccl-cu12": "nccl/include/nccl.h", own "/nccl"
        with { folders: CUDA_FOLDERS, status: Some("ncclResult_t") };
    HIP = "HIP" of "libamdhip64-dev": "/usr/include/hip/hip_runtime_api.h", own "/hip/"
        with { folders: &["/usr/include"], defines: &["__HIP_PLATFORM_AMD__"], status: Some("hipError_t") };
    HSA = "HSA" of "libhsa-runtime-dev": "/usr/include/hsa/hsa.h", own "/hsa/"
        with { status: Some("hsa_status_t") };
    LEVEL_ZERO = "Level Zero" of "libze-dev": "/usr/include/level_zero/ze_api.h", own "/level_zero/"
        with { status: Some("ze_result_t") };
    VULKAN = "Vulkan" of "libvulkan-dev": "/usr/include/vulkan/vulkan.h", own "/vulkan"
        with { status: Some("VkResult") };
    OPENCL = "OpenCL" of "opencl-c-headers": "/usr/include/CL/cl.h", own "/CL/"
        with { status: Some("cl_int") };
    ONEDNN = "oneDNN" of "libdnnl-dev": "/usr/include/dnnl.h", own "dnnl"
        with { status: Some("dnnl_status_t") };
    LIBDRM = "libdrm" of "libdrm-dev": "/usr/include/xf86drm.h", own "drm"
        with { folders: &["/usr/include/libdrm"] };
    GBM = "GBM" of "libgbm-dev": "/usr/include/gbm.h", own "/gbm.h";
    VA = "VA-API" of "libva-dev": "/usr/include/va/va.h", own "/va/"
        with { status: Some("VAStatus") };
    IBVERBS = "InfiniBand verbs" of "libibverbs-dev": "/usr/include/infiniband/verbs.h", own "/infiniband/";
    LIBUSB = "libusb" of "libusb-1.0-0-dev": "/usr/include/libusb-1.0/libusb.h", own "/libusb.h"
        with { option: Some("int=LIBUSB_SUCCESS"), status: Some("int") };
    ALSA = "ALSA" of "libasound2-dev": "/usr/include/alsa/asoundlib.h", own "/alsa/"
        with { option: Some("int"), status: Some("int") };
    AVCODEC = "libavcodec" of "libavcodec-dev": "/usr/include/x86_64-linux-gnu/libavcodec/avcodec.h", own "/libavcodec/"
        with { option: Some("int"), status: Some("int") };
    FUSE = "FUSE" of "libfuse3-dev": "/usr/include/fuse3/fuse.h", own "/fuse3/"
        with { defines: &["FUSE_USE_VERSION=31", "_FILE_OFFSET_BITS=64"], option: Some("int"), status: Some("int") };
    // It declares functions that only gcc sees.
    CURL = "curl" of "libcurl4-openssl-dev": "/usr/include/x86_64-linux-gnu/curl/curl.h", own "/curl/"
        with { defines: &["CURL_DISABLE_TYPECHECK"], option: Some("CURLcode"), status: Some("CURLcode") };
    OPENSSL = "OpenSSL" of "libssl-dev": "/usr/include/openssl/ssl.h", own "/openssl/"
        with { option: Some("int=1"), status: Some("int") };
    LIBPQ = "libpq" of "libpq-dev": "/usr/include/postgresql/libpq-fe.h", own "/postgresql/";
    SQLITE = "SQLite" of "libsqlite3-dev": "/usr/include/sqlite3.h", own "/sqlite3.h"
        with { option: Some("int"), status: Some("int") };
    LIBPNG = "libpng" of "libpng-dev": "/usr/include/png.h", own "/png";
    ZLIB = "zlib" of "zlib1g-dev": "/usr/include/zlib.h", own "/zlib.h"
        with { option: Some("int=Z_OK"), status: Some("int") };
    ZSTD = "Zstandard" of "libzstd-dev": "/usr/include/zstd.h", own "/zstd";
    LZ4 = "LZ4" of "liblz4-dev": "/usr/include/lz4.h", own "/lz4";
}
