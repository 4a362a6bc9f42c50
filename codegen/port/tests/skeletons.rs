//! The skeletons of the sources in `sources`. `SP_BLESS=1` writes those that `tests/tests/ported.rs` compiles.

use sp_port::{Options, Plan, Registrations, Source, print, scan};
use sp_tests::{assert_contains_all, assert_golden, root};

fn source(name: &str) -> Source {
    let path = format!("codegen/port/tests/sources/{name}");
    let text = std::fs::read_to_string(root().join(&path)).unwrap();
    Source { path, text }
}

fn skeletons(names: &[&str], options: &Options) -> (Registrations, String) {
    let sources: Vec<Source> = names.iter().map(|name| source(name)).collect();
    let found = scan(&sources);
    let plan = Plan::new(&found, options);
    let text = print(&sources, &found, &plan, options);
    (found, text)
}

fn on_device() -> Options {
    Options {
        device: syn::parse_str("sp_cpu::CpuDevice").ok(),
        device_type: None,
    }
}

#[test]
fn kernels_of_tensorflows_ops_have_skeletons() {
    let (found, text) = skeletons(&["arrays.cc", "arrays.h"], &on_device());
    assert_eq!((found.kernels.len(), found.unread), (25, Vec::new()));
    assert_golden("tests/examples/ported/device.rs", &text);
}

#[test]
fn ops_of_the_sources_and_their_kernels_have_skeletons() {
    let (found, text) = skeletons(&["custom_ops.cc"], &Options::default());
    assert_eq!((found.ops.len(), found.unread), (6, Vec::new()));
    assert_golden("tests/examples/ported/host.rs", &text);
}

#[test]
fn unread_registrations_are_named_with_line_and_reason() {
    let (found, text) = skeletons(&["unread.cc"], &Options::default());
    let lines: Vec<u32> = found.unread.iter().map(|it| it.position.line).collect();
    assert_eq!(lines, [4, 6, 7, 8, 9, 11, 12, 13, 14, 15, 17, 18], "{text}");
    assert_golden("codegen/port/tests/sources/unread.rs.golden", &text);
}

#[test]
fn device_type_selects_registrations() {
    let options = Options {
        device_type: Some("CPU".to_owned()),
        ..on_device()
    };
    let (_, text) = skeletons(&["arrays.cc", "arrays.h"], &options);
    let expected = [
        "#[kernel(Sum, T = [f32], Tidx = [i32])]",
        "reduction_indices: HostIn<'_, i32>",
        "MatMul GPU T=float,bfloat16: for `GPU`: the skeleton is that of `CPU`",
    ];
    assert_contains_all(&text, &expected);
    assert!(!text.contains("CpuDevice"), "{text}");
}
