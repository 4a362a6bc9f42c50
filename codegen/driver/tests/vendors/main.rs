//! Headers of real drivers and libraries, from packages. A header that is not installed is skipped. `tests/run` downloads those of
//! CUDA, and `.ci/run` installs Debian's packages.
//!
//! Each function that gcc sees must be bound or named as left out. rustc evaluates the asserts of clang's sizes and
//! offsets, and gcc evaluates the same numbers for the C types. `tests/driver-headers` installs the headers, and writes a page
//! of the results.

mod c_asserts;
mod check;
#[path = "../compilers/mod.rs"]
mod compilers;
mod headers;
mod page;

use compilers::compile;

/// Defines a test for each header, of which those with a reason are ignored.
macro_rules! test_headers {
    ($($test:ident: $header:ident $(= $ignored:literal)?,)*) => {
        $(
            #[test]
            $(#[ignore = $ignored])?
            fn $test() {
                check::check(&headers::$header);
            }
        )*
        /// The headers in the order of the page.
        const HEADERS: &[&headers::Vendor] = &[$(&headers::$header),*];
    };
}

test_headers! {
    cuda: CUDA,
    cuda_runtime: CUDA_RUNTIME,
    cublas: CUBLAS = "tests/driver-headers runs it: a wheel of 600 MB",
    cudnn: CUDNN = "tests/driver-headers runs it: a wheel of 700 MB",
    nccl: NCCL = "tests/driver-headers runs it: a wheel of 300 MB",
    hip: HIP,
    hsa: HSA,
    level_zero: LEVEL_ZERO,
    vulkan: VULKAN,
    opencl: OPENCL,
    onednn: ONEDNN,
    libdrm: LIBDRM,
    gbm: GBM,
    va: VA,
    ibverbs: IBVERBS,
    libusb: LIBUSB,
    alsa: ALSA,
    avcodec: AVCODEC,
    fuse: FUSE,
    curl: CURL,
    openssl: OPENSSL,
    libpq: LIBPQ,
    sqlite: SQLITE,
    libpng: LIBPNG,
    zlib: ZLIB,
    zstd: ZSTD,
    lz4: LZ4,
}

#[test]
fn zlib_computes_through_its_bindings() {
    let Some((_, bindings)) = check::bind(&headers::ZLIB) else {
        return;
    };
    let code = r#"
        fn main() {
            // SAFETY: the library has the functions of its header.
            let driver = unsafe { driver::Driver::load_from("libz.so.1") }.expect("zlib");
            driver.require(&["compress", "uncompress"]).expect("the functions");
            let text = b"one two one two one two one two";
            let (mut packed, mut packed_len) = ([0u8; 100], 100);
            let (mut unpacked, mut len) = ([0u8; 100], 100);
            // SAFETY: the buffers are live, and have the lengths that are passed.
            unsafe {
                driver.compress(packed.as_mut_ptr(), &mut packed_len, text.as_ptr(), text.len() as u64).expect("packed");
                driver.uncompress(unpacked.as_mut_ptr(), &mut len, packed.as_ptr(), packed_len).expect("unpacked");
                let mut none = 1;
                let failed = driver.uncompress(unpacked.as_mut_ptr(), &mut none, packed.as_ptr(), packed_len);
                assert_eq!(failed.unwrap_err().to_string(), "uncompress: status -5");
            }
            assert_eq!(&unpacked[..len as usize], text);
        }"#;
    let folder = compile(&bindings.text, code);
    let output = std::process::Command::new(folder.path().join("program")).output();
    compilers::assert_success(&output.expect("the program runs"));
}
