//! Headers of real drivers and libraries, from packages. A header that is not installed is skipped.
//!
//! Each function that gcc sees must be bound or named as left out. rustc evaluates the asserts of clang's sizes and
//! offsets, and gcc evaluates the same numbers for the C types.

mod compilers;

use std::collections::BTreeSet;
use std::path::Path;

use compilers::{compile, compile_c, functions_by_gcc, has_libclang, options, preprocess};
use sp_driver::{Bindings, Options};

/// A header.
struct Vendor {
    header: &'static str,
    package: &'static str,
    /// `--include` and `--define`.
    folders: &'static [&'static str],
    defines: &'static [&'static str],
    /// `--driver-status`
    option: Option<&'static str>,
    /// The type of status codes that is expected.
    status: Option<&'static str>,
    /// A part of the paths of its own headers.
    own: &'static str,
}

const DEFAULT: Vendor = Vendor {
    header: "",
    package: "",
    folders: &[],
    defines: &[],
    option: None,
    status: None,
    own: "",
};

fn bind(vendor: &Vendor) -> Option<(Options, Bindings)> {
    if !Path::new(vendor.header).is_file() {
        eprintln!(
            "skipped: no {}: apt-get install {}",
            vendor.header, vendor.package
        );
        return None;
    }
    if !has_libclang() {
        return None;
    }
    let mut options = options(Path::new(vendor.header));
    options.header.folders = vendor.folders.iter().map(Into::into).collect();
    options.header.defines = vendor.defines.iter().map(|it| (*it).to_owned()).collect();
    options.status = vendor.option.map(|text| text.parse().unwrap());
    let bindings = sp_driver::bindings(&options).unwrap();
    Some((options, bindings))
}

fn check(vendor: &Vendor) {
    let Some((options, bindings)) = bind(vendor) else {
        return;
    };
    assert_eq!(bindings.status.as_deref(), vendor.status);
    let left_out = bindings.left_out.iter().map(|it| it.name.as_str());
    let known: BTreeSet<&str> = bindings
        .functions
        .iter()
        .map(String::as_str)
        .chain(left_out)
        .collect();
    let declared = functions_by_gcc(&options, &|file| file.contains(vendor.own));
    assert!(!declared.is_empty(), "gcc sees no function");
    let missing: Vec<_> = declared
        .iter()
        .filter(|name| !known.contains(name.as_str()))
        .collect();
    assert!(
        missing.is_empty(),
        "{}: neither bound nor left out: {missing:?}",
        vendor.header
    );
    compile(&bindings.text, "fn main() {}");
    compile_c(&c_asserts(&bindings.text, &preprocess(&options)), &options);
}

/// Returns the asserts of the bindings as C: of the types and fields that can be named there. `header` is preprocessed.
fn c_asserts(bindings: &str, header: &str) -> String {
    let code = bindings.split_whitespace().collect::<Vec<_>>().join(" ");
    let asserts = code.split("const _: () = assert!(").skip(1);
    let asserts = asserts.filter_map(|rest| c_assert(rest.split_once(");")?.0, header));
    let asserts: Vec<String> = asserts.collect();
    let left_over = code.matches("size_of::<").count();
    assert!(
        asserts.len() >= left_over / 2,
        "{} asserts of {left_over} types",
        asserts.len()
    );
    asserts.concat()
}

/// Converts `::core::mem::size_of::<T>() == N` and `::core::mem::offset_of!(T, field) == N`.
fn c_assert(assert: &str, header: &str) -> Option<String> {
    let (expression, number) = assert.trim_end_matches([' ', ',']).split_once(" == ")?;
    let expression = expression.trim().strip_prefix("::core::mem::")?;
    let expression = match expression.split_once("::<") {
        Some((function, ty)) => {
            let function = if function == "size_of" {
                "sizeof"
            } else {
                "_Alignof"
            };
            format!("{function}({})", c_type(ty.strip_suffix(">()")?, header)?)
        }
        None => {
            let arguments = expression.strip_prefix("offset_of!(")?.strip_suffix(')')?;
            let (ty, field) = arguments.split_once(',')?;
            let field = field.trim().trim_start_matches("r#");
            let ty = c_type(ty, header)?;
            nameable(field).then(|| format!("offsetof({ty}, {field})"))?
        }
    };
    Some(format!("_Static_assert({expression} == {number}, \"\");\n"))
}

/// Returns the type as C names it: by its tag if it has one.
fn c_type(ty: &str, header: &str) -> Option<String> {
    let ty = ty.trim().trim_start_matches("r#");
    let has_tag = |keyword: &str| {
        let tagged = format!("{keyword} {ty}");
        let mut uses = header.match_indices(&tagged);
        uses.any(|(at, found)| !header[at + found.len()..].starts_with(is_identifier))
    };
    let keyword = ["struct", "union"].into_iter().find(|it| has_tag(it));
    nameable(ty).then(|| match keyword {
        Some(keyword) => format!("{keyword} {ty}"),
        None => ty.to_owned(),
    })
}

fn is_identifier(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Returns false for a name that the parser gave to an anonymous type or member.
fn nameable(name: &str) -> bool {
    !name.contains("__") && !name.starts_with("anonymous")
}

#[test]
fn vulkan() {
    check(&Vendor {
        header: "/usr/include/vulkan/vulkan.h",
        package: "libvulkan-dev",
        status: Some("VkResult"),
        own: "/vulkan",
        ..DEFAULT
    });
}

#[test]
fn opencl() {
    check(&Vendor {
        header: "/usr/include/CL/cl.h",
        package: "opencl-headers",
        status: Some("cl_int"),
        own: "/CL/",
        ..DEFAULT
    });
}

#[test]
fn onednn() {
    check(&Vendor {
        header: "/usr/include/dnnl.h",
        package: "libdnnl-dev",
        status: Some("dnnl_status_t"),
        own: "dnnl",
        ..DEFAULT
    });
}

#[test]
fn libdrm() {
    check(&Vendor {
        header: "/usr/include/xf86drm.h",
        package: "libdrm-dev",
        folders: &["/usr/include/libdrm"],
        own: "drm",
        ..DEFAULT
    });
}

#[test]
fn hsa() {
    check(&Vendor {
        header: "/usr/include/hsa/hsa.h",
        package: "libhsa-runtime-dev",
        status: Some("hsa_status_t"),
        own: "/hsa/",
        ..DEFAULT
    });
}

#[test]
fn hip() {
    check(&Vendor {
        header: "/usr/include/hip/hip_runtime_api.h",
        package: "libamdhip64-dev",
        folders: &["/usr/include"],
        defines: &["__HIP_PLATFORM_AMD__"],
        status: Some("hipError_t"),
        own: "/hip/",
        ..DEFAULT
    });
}

#[test]
fn zlib() {
    check(&Vendor {
        header: "/usr/include/zlib.h",
        package: "zlib1g-dev",
        option: Some("int=Z_OK"),
        status: Some("int"),
        own: "/zlib.h",
        ..DEFAULT
    });
}

#[test]
fn sqlite() {
    check(&Vendor {
        header: "/usr/include/sqlite3.h",
        package: "libsqlite3-dev",
        option: Some("int"),
        status: Some("int"),
        own: "/sqlite3.h",
        ..DEFAULT
    });
}

#[test]
fn zlib_computes_through_its_bindings() {
    let vendor = Vendor {
        header: "/usr/include/zlib.h",
        package: "zlib1g-dev",
        option: Some("int=Z_OK"),
        ..DEFAULT
    };
    let Some((_, bindings)) = bind(&vendor) else {
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
