//! The settings of a plugin, and its lines about ops without a kernel and about staging copies, in sp-host:
//! `examples/remote_memory.rs`.

use std::ffi::{CString, c_char};
use std::path::{Path, PathBuf};

use sp_host::{EmulatedRelease, Host, Op, Tensor};
use sp_tests::exports_without;

fn library() -> PathBuf {
    sp_tests::example("remote_memory")
}

/// Prints the settings in the release that SETTINGS_RELEASE names, after two kernels with staging copies. A process identifies
/// its host once, so [`run`] starts one for each release.
#[test]
fn print_settings() {
    let Ok(release) = std::env::var("SETTINGS_RELEASE") else {
        return;
    };
    let apis = sp_tests::snapshots(&release);
    // 2.19 to 2.21 export no function of variables.
    let exports = exports_without(&apis, "TF_GetInputTensorFromVariable");
    let emulated = match release.as_str() {
        "2.21" => EmulatedRelease::new(&apis).with_exports(&exports),
        _ => EmulatedRelease::new(&apis),
    };
    let host = Host::open(emulated, &library()).unwrap();
    let vector = || Tensor::from([2], &[1_f32, 2.0]);
    for op in ["AddV2", "Mul"] {
        host.run(&Op::new(op), &[vector(), vector()]).unwrap();
    }
    for line in settings(&library()).lines() {
        println!("setting {line}");
    }
}

/// Returns the text that `sp_plugin_settings` of the library writes.
fn settings(library: &Path) -> String {
    let path = CString::new(library.to_str().unwrap()).unwrap();
    // SAFETY: both names are C strings, and the host has loaded the library.
    let function = unsafe {
        let handle = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
        libc::dlsym(handle, c"sp_plugin_settings".as_ptr())
    };
    assert!(!function.is_null());
    // SAFETY: `plugin!` defines the function with this signature.
    let write: unsafe extern "C" fn(*mut c_char, usize) -> usize =
        unsafe { std::mem::transmute(function) };
    // SAFETY: a null buffer is not written.
    let needed = unsafe { write(std::ptr::null_mut(), 0) };
    let mut text = vec![1_u8; needed];
    // SAFETY: the buffer has this size.
    assert_eq!(unsafe { write(text.as_mut_ptr().cast(), needed) }, needed);
    assert_eq!(text.pop(), Some(0));
    String::from_utf8(text).unwrap()
}

/// Returns the settings in a release, and the lines of the plugin.
fn run(release: &str, log: &str) -> (Vec<String>, Vec<String>) {
    let variables = [("SETTINGS_RELEASE", release), ("SP_LOG", log)];
    let [stdout, stderr] = sp_tests::run_test("print_settings", &variables);
    let lines = |text: &str, prefix| {
        let lines = text.lines().filter_map(|line| line.strip_prefix(prefix));
        lines.map(str::to_owned).collect()
    };
    (
        lines(&stdout, "setting "),
        lines(&stderr, "plugin sp-tests: "),
    )
}

const LIST: &str = ", since TF_GetInputTensorFromVariable is not exported";
const STAGED: &str = " runs on the host through copies of device memory";

#[test]
fn ops_without_kernel_are_counted_at_level_debug_and_listed_as_settings() {
    let (settings, lines) = run("2.21", "debug");
    let counted = " ops have no kernel in TensorFlow 2.21, ";
    let line = lines.iter().find(|it| it.contains(counted));
    let line = line.unwrap_or_else(|| panic!("{lines:?}"));
    let is_op = |line: &&String| line.starts_with("lacking=ResourceGather: TF_");
    assert!(
        settings.iter().any(|it| it == "compare=off"),
        "{settings:?}"
    );
    let count = line.split(' ').next().unwrap();
    let lacking = settings.iter().filter(|it| it.starts_with("lacking="));
    assert_eq!(lacking.count().to_string(), count);
    assert_eq!(settings.iter().filter(is_op).count(), 1, "{settings:?}");
}

#[test]
fn kernels_with_staging_copies_give_one_short_line() {
    for release in ["2.21", "2.22"] {
        let (settings, lines) = run(release, "info");
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(
            lines[0].contains("kernels run on the host through copies")
                && lines[0].ends_with("AddV2 T=TF_FLOAT"),
            "{lines:?}"
        );
        let length = "plugin sp-tests: ".len() + lines[0].len();
        assert!(length <= 160, "{lines:?}");
        let is_lacking = settings.iter().any(|it| it.starts_with("lacking="));
        assert_eq!(is_lacking, release == "2.21");
    }
}

#[test]
fn lists_have_level_debug() {
    let (_, lines) = run("2.21", "debug");
    assert!(lines.iter().any(|it| it.contains(LIST)), "{lines:?}");
    let staged: Vec<_> = lines.iter().filter(|it| it.ends_with(STAGED)).collect();
    assert_eq!(staged.len(), 2, "{lines:?}");
    for level in ["off", "error", "warn"] {
        assert_eq!(run("2.21", level).1, [""; 0], "{level}");
    }
}
