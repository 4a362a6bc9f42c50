//! `sp-gen new --driver`.

#[path = "../libclang/mod.rs"]
mod libclang;
#[path = "../temporary_folder/mod.rs"]
#[allow(dead_code, reason = "other tests use the other items")]
mod temporary_folder;

use std::fs;
use std::path::Path;

use libclang::has_libclang;
use sp_tests::assert_contains;
use temporary_folder::TemporaryFolder;

const HEADER: &str = "#define ACC_VERSION 3\n\
    typedef enum acc_status { ACC_OK, ACC_BAD } acc_status;\n\
    acc_status acc_count(int* count);\n\
    acc_status acc_log(const char* format, ...);\n\
    acc_status acc_close(void);\n\
    typedef struct { int struct_size; int value; } acc_props;\n\
    acc_status acc_read(acc_props* props);\n";

/// Creates a folder with the header `acc.h`. Without libclang, prints that the test is skipped and returns `None`.
fn folder(header: &str) -> Option<TemporaryFolder> {
    let folder = has_libclang().then(TemporaryFolder::new)?;
    folder.write("acc.h", header);
    Some(folder)
}

#[test]
fn writes_bindings_and_device_that_needs_the_driver() {
    let Some(folder) = folder(HEADER) else { return };
    let run = folder.run("", &["new", "my-accel", "--driver", "acc.h"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let expected = "src/driver.rs: bound 3 functions, left out 1";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert!(
        run.stderr
            .contains("functions that return `acc_status` return a `Result`")
    );
    let read = |file: &str| fs::read_to_string(folder.path("my-accel").join(file)).unwrap();
    let driver = read("src/driver.rs");
    for part in [
        "pub const LIBRARY: &str = \"libacc.so\";",
        "pub const LIBRARY_VARIABLE: &str = \"MY_ACCEL_DRIVER\";",
        "`acc_log` (acc.h:4) takes a variable number of arguments",
        "pub const ACC_VERSION: u32 = 3;",
    ] {
        assert!(driver.contains(part), "{part}");
    }
    assert!(
        read("src/lib.rs").contains("mod device;\n#[rustfmt::skip] // generated\nmod driver;\n")
    );
    assert!(read("src/device.rs").contains("Driver::get(driver::FUNCTIONS)"));
    assert!(read("README.md").contains("`MY_ACCEL_DRIVER`"));
}

/// Returns a program that runs in place of rustc: it prints its version, then fails.
#[cfg(unix)]
fn failing_rustc(folder: &TemporaryFolder) -> std::path::PathBuf {
    let script = "#!/bin/sh\n[ \"$1\" = --version ] && exec echo rustc 1.99.0\n\
        echo 'driver.rs:1:1: error[E0000]: no such code' >&2; exit 1\n";
    folder.write("rustc", script);
    let path = folder.path("rustc");
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&path, permissions).unwrap();
    path
}

#[test]
#[cfg(unix)]
fn bindings_that_rustc_rejects_are_an_error_and_write_nothing() {
    let Some(folder) = folder(HEADER) else { return };
    let rustc = failing_rustc(&folder);
    let new = ["new", "myaccel", "--driver", "acc.h"];
    let run = folder.run_with("", &new, &[("RUSTC", rustc.to_str().unwrap())]);
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!(run.stderr.contains("[sp_gen::driver::rejected]"));
    assert!(run.stderr.contains("E0000"), "{}", run.stderr);
    assert!(!folder.path("myaccel").exists());
    let run = folder.run_with("", &new, &[("RUSTC", "no-rustc")]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let expected = "src/driver.rs: not compiled: no-rustc cannot be started";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
}

#[test]
fn contract_adds_safe_methods() {
    let Some(folder) = folder(HEADER) else { return };
    let contract = "threads = \"any\"\n[functions]\nacc_count = { count = \"out\" }\n";
    folder.write("acc.toml", contract);
    let options = ["--driver", "acc.h", "--driver-contract", "acc.toml"];
    let run = folder.run("", &[&["new", "myaccel"], &options[..]].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let expected = "src/driver.rs: 1 functions have a safe method in `driver::safe`";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    let driver = fs::read_to_string(folder.path("myaccel/src/driver.rs")).unwrap();
    assert!(driver.contains("pub fn acc_count(&self) -> Result<i32>"));
}

#[test]
fn contract_owns_memory_whose_type_is_an_integer() {
    let memory = "#include <stdint.h>\n\
        typedef enum acc_status { ACC_OK } acc_status;\n\
        typedef uint64_t acc_ptr;\n\
        acc_status acc_alloc(uint64_t bytes, acc_ptr *memory);\n\
        acc_status acc_free(acc_ptr memory);\n\
        acc_status acc_fill(acc_ptr memory, uint64_t bytes);\n";
    let Some(folder) = folder(memory) else { return };
    let contract = "threads = \"any\"\n[owned]\nacc_ptr = { destroy = \"acc_free\" }\n\
        [functions]\nacc_alloc = { memory = \"new\" }\nacc_fill = {}\n";
    folder.write("acc.toml", contract);
    let options = ["--driver", "acc.h", "--driver-contract", "acc.toml"];
    let run = folder.run("", &[&["new", "myaccel"], &options[..]].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let driver = fs::read_to_string(folder.path("myaccel/src/driver.rs")).unwrap();
    assert!(driver.contains("pub fn acc_alloc(&self, bytes: u64) -> Result<acc_ptr>"));
    assert!(driver.contains("pub fn acc_fill(&self, bytes: u64) -> Result<()>"));
}

#[test]
fn plugin_without_driver_has_no_trace_of_it() {
    let folder = TemporaryFolder::new();
    let run = folder.run("", &["new", "myaccel"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(!folder.path("myaccel/src/driver.rs").exists());
    for file in ["src/lib.rs", "src/device.rs", "README.md"] {
        let text = fs::read_to_string(folder.path("myaccel").join(file)).unwrap();
        assert!(!text.contains("driver"), "{file}: {text}");
    }
}

/// Options, the code of the error, and a part of the message.
const FAILURES: &str = "
--driver no.h | driver::header_missing | no header no.h
--driver broken.h | driver::header_invalid | broken.h:2:12
--driver needs.h | driver::header_invalid | --include DIR
--driver cpp.h | driver::header_invalid | this is C++
--driver empty.h | driver::no_functions | declares no function
--driver acc.h --driver-status acc_stat | driver::status_unknown | `acc_status` (3 functions)
--driver acc.h --driver-status acc_status=ACC_FINE | driver::status_unknown | ACC_FINE
--driver acc.h --driver-library ./acc.h | new::library_invalid | acc.h
--driver myaccel.h | new::library_is_plugin | `myaccel-plugin`
--driver acc.h --driver-library libmyaccel.so | new::library_is_plugin
    libmyaccel.so is the file name of the driver's library and of the plugin
--driver acc.h --driver-library ./libmyaccel.so | new::library_is_plugin | `--driver-library NAME`
--driver acc.h --driver-contract sizes.toml | driver::contract_invalid | did you mean `struct_size`?
--driver acc.h --driver-contract no.toml | driver::unreadable | no.toml
--driver acc.h --driver-contract bad.toml | driver::contract_invalid
    bad.toml: the header has no function `acc_open` that is bound
--driver acc.h --driver-contract misspelt.toml | driver::contract_invalid
    did you mean `acc_count`?
--driver acc.h --driver-contract owned.toml | driver::contract_invalid
    `acc_count` takes no `acc_memory`
--driver-contract acc.toml | usage::missing_required_argument | --driver
--driver-library libacc.so | usage::missing_required_argument | --driver
--backend opencl --driver CL/no.h | driver::header_missing | no header CL/no.h
--backend cuda | usage::invalid_value | possible values: opencl
";

#[test]
fn bad_input_is_one_message_with_status_2_and_writes_nothing() {
    let Some(folder) = folder(HEADER) else { return };
    folder.write("myaccel.h", HEADER);
    folder.write("sizes.toml", SIZES);
    folder.write("broken.h", "int ok(void);\nint broken(missing_t x);\n");
    folder.write("needs.h", "#include <vendor/other.h>\nint ok(void);\n");
    folder.write("cpp.h", "#include <string>\nint ok(std::string name);\n");
    folder.write("empty.h", "#define X 1\n");
    let contract = "threads = \"any\"\n[functions]\nacc_open = {}\n";
    folder.write("bad.toml", contract);
    folder.write("misspelt.toml", contract.replace("acc_open", "acc_cuont"));
    let owned = "[owned]\nacc_memory = { destroy = \"acc_count\" }\n[functions]\n";
    folder.write("owned.toml", contract.replace("[functions]\n", owned));
    for [options, code, part] in sp_tests::rows(FAILURES) {
        let options = options.split(' ');
        let arguments: Vec<&str> = ["new", "myaccel"].into_iter().chain(options).collect();
        let run = folder.run("", &arguments);
        let stderr = run.stderr;
        assert_eq!(run.status, 2, "{arguments:?}: {stderr}");
        for part in [&format!("[sp_gen::{code}]"), part] {
            assert!(stderr.contains(part), "{arguments:?}: {stderr}");
        }
        let errors = stderr.matches("error: ").count();
        assert_eq!(errors, 1, "{arguments:?}: {stderr}");
        assert!(!folder.path("myaccel").exists(), "{arguments:?}");
    }
}

const SIZES: &str = "threads = \"any\"\nsize_field = \"struct_sise\"\n[functions]\nacc_read = { props = \"inout\" }\n";

#[test]
fn library_that_is_named_otherwise_than_the_plugin_is_bound() {
    let Some(folder) = folder(HEADER) else { return };
    folder.write("myaccel.h", HEADER);
    let options = [
        "--driver",
        "myaccel.h",
        "--driver-library",
        "libmyaccel.so.1",
    ];
    let run = folder.run("", &[&["new", "myaccel"], &options[..]].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let run = folder.run("", &["new", "myaccel-plugin", "--driver", "myaccel.h"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
}

#[test]
fn folder_that_is_not_empty_is_the_only_message() {
    let Some(folder) = folder(HEADER) else { return };
    folder.write("myaccel/notes.txt", "");
    let run = folder.run("", &["new", "myaccel", "--driver", "acc.h"]);
    assert_eq!(run.status, 2);
    assert_contains(&run.stderr, "myaccel exists and is not an empty folder");
    assert!(!run.stderr.contains("src/driver.rs"), "{}", run.stderr);
}

#[test]
fn owned_type_that_no_function_creates_is_a_warning() {
    let header = HEADER.to_owned()
        + "typedef struct acc_queue acc_queue;\nvoid acc_queue_free(acc_queue *q);\n\
        acc_status acc_queue_wait(acc_queue *q);\n";
    let Some(folder) = folder(&header) else {
        return;
    };
    let contract = "threads = \"any\"\n[owned]\nacc_queue = { destroy = \"acc_queue_free\" }\n[functions]\nacc_queue_wait = {}\n";
    folder.write("acc.toml", contract);
    let options = ["--driver", "acc.h", "--driver-contract", "acc.toml"];
    let run = folder.run("", &[&["new", "myaccel"], &options[..]].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_contains(
        &run.stderr,
        "no function of the contract creates `acc_queue`: its methods cannot be called",
    );
}

#[test]
fn include_and_define_reach_the_header() {
    let header = "#ifndef PLATFORM\n#error no platform\n#endif\n#include <vendor/types.h>\nint ok(handle_t x);\n";
    let Some(folder) = folder(header) else { return };
    folder.write("sdk/vendor/types.h", "typedef unsigned handle_t;\n");
    let options = [
        "new",
        "myaccel",
        "--driver",
        "acc.h",
        "-I",
        "sdk",
        "-D",
        "PLATFORM=1",
    ];
    let run = folder.run("", &options);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let driver = fs::read_to_string(folder.path("myaccel/src/driver.rs")).unwrap();
    assert!(driver.contains("pub type handle_t = u32;"), "{driver}");
}

#[test]
fn library_file_is_checked_and_named_without_its_folder() {
    let zlib = Path::new("/usr/lib/x86_64-linux-gnu/libz.so.1");
    if !has_libclang() {
        return;
    }
    if !zlib.exists() {
        eprintln!("skipped: no {}", zlib.display());
        return;
    }
    let folder = TemporaryFolder::new();
    folder.write(
        "z.h",
        "const char* zlibVersion(void);\nint inflateSoon(void);\n",
    );
    folder.write("other.h", "int inflateSoon(void);\n");
    let new = |header| {
        let library = zlib.to_str().unwrap();
        folder.run(
            "",
            &[
                "new",
                "myaccel",
                "--driver",
                header,
                "--driver-library",
                library,
            ],
        )
    };
    let run = new("other.h");
    assert_eq!(run.status, 2);
    assert_contains(&run.stderr, "[sp_gen::new::other_library]");
    let run = new("z.h");
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stderr
            .contains("1 functions of the header are not exported, such as inflateSoon")
    );
    let driver = fs::read_to_string(folder.path("myaccel/src/driver.rs")).unwrap();
    assert!(driver.contains("pub const LIBRARY: &str = \"libz.so.1\";"));
}

#[test]
fn backend_binds_the_header_of_a_named_folder() {
    if !has_libclang() {
        return;
    }
    let folder = TemporaryFolder::new();
    folder.write("sdk/CL/cl_types.h", "typedef int cl_int;\n");
    let header = "#include <CL/cl_types.h>\ncl_int clFinish(void);\ncl_int clFlush(void);\n#define CL_SUCCESS 0\n";
    folder.write("sdk/CL/cl.h", header);
    let options = ["new", "my-accel", "--backend", "opencl", "-I", "sdk"];
    let run = folder.run("", &options);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let read = |file: &str| fs::read_to_string(folder.path("my-accel").join(file)).unwrap();
    assert!(read("src/driver.rs").contains("pub const LIBRARY: &str = \"libOpenCL.so.1\";"));
    assert!(read("src/device.rs").contains("pub type MyAccel = AcceleratorDevice<OpenCl>;"));
    assert!(read("README.md").contains("OpenCL"));
}

/// Runs `new --driver acc.h` with a header of this text and more options, and returns the message.
fn rejected_header(header: &str, options: &[&str]) -> Option<String> {
    let folder = folder(header)?;
    let pipe = folder.path("pipe.h");
    let made = std::process::Command::new("mkfifo").arg(pipe).status();
    assert!(made.unwrap().success());
    let arguments = ["new", "myaccel", "--driver", "acc.h"];
    let run = folder.run("", &[&arguments[..], options].concat());
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!(!folder.path("myaccel").exists());
    Some(run.stderr)
}

#[test]
fn header_that_includes_a_pipe_or_a_device_is_an_error() {
    for name in ["pipe.h", "/dev/zero"] {
        let header = format!("int f(void);\n#include \"{name}\"\n");
        let Some(message) = rejected_header(&header, &[]) else {
            return;
        };
        let expected = format!("acc.h:2 includes {name}");
        assert!(message.contains(&expected), "{message}");
        assert!(message.contains("not a regular file"), "{message}");
    }
}

#[test]
fn status_of_macros_that_stand_for_each_other_is_an_error() {
    let header = "#define A B\n#define B A\nint f(void);\n";
    let options = ["--driver-status", "int=A"];
    if let Some(message) = rejected_header(header, &options) {
        assert!(message.contains("no constant `A`"), "{message}");
    }
}
