//! The kernel of `codegen/docs/porting.md` three ways: the plugins in C and in Rust give equal results and errors, and
//! `sp-gen port` writes the signature of the one in Rust from the one in C++.

use sp_data::{snapshots, symbols::Symbols};
use sp_host::{Host, Op, Tensor};
use sp_port::{Options, Plan, Source, print, scan};
use sp_tests::{assert_contains, compile_library, example, root};
use std::path::{Path, PathBuf};

fn source(name: &str) -> String {
    let path = root().join("codegen/port/tests/three_ways").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// Writes the generated headers and the plugin: the device of the tests of the headers, with the kernel of the page.
fn plugin_in_c(folder: &Path) -> Option<PathBuf> {
    let generated = root().join("generated");
    let apis = snapshots::read_folder(&generated.join("ir"), None).unwrap();
    let symbols = Symbols::read_folder(&generated.join("symbols")).unwrap();
    for (name, text) in sp_emit::emit_c(&apis, &symbols).unwrap() {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let device = std::fs::read_to_string(root().join("codegen/cli/tests/shim/after.c")).unwrap();
    let (device, _) = device
        .split_once("\n// Kernels.\n")
        .expect("a device, then kernels");
    let plugin = folder.join("gather.c");
    std::fs::write(&plugin, format!("{device}\n{}", source("gather.c"))).unwrap();
    let include = format!("-I{}", folder.display());
    let options =
        "-std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Werror -pedantic -Wno-unused-parameter";
    let options: Vec<&str> = options.split(' ').chain([&*include]).collect();
    let library = folder.join("libgather.so");
    compile_library(&library, &plugin, &options).then_some(library)
}

/// Returns the results of the kernel, or its errors.
fn results(library: &Path) -> Vec<String> {
    let host = Host::open(&sp_tests::snapshots("2.21"), library).unwrap();
    let params = Tensor::from([3, 2], &[0_f32, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let scalar = Tensor::from([0; 0], &[1_f32]);
    let cases = [
        (true, &params, Tensor::from([2], &[2_i32, 0])),
        (true, &params, Tensor::from([1, 2], &[1_i32, 1])),
        (true, &params, Tensor::from([0], &[0_i32; 0])),
        (true, &params, Tensor::from([2], &[1_i32, 3])),
        (true, &params, Tensor::from([1], &[-1_i32])),
        (false, &params, Tensor::from([3], &[-1_i32, 1, 3])),
        (true, &scalar, Tensor::from([1], &[0_i32])),
    ];
    let run = |(validate, params, indices): (bool, &Tensor, Tensor)| {
        let op = Op::new("Gather").attr("validate_indices", validate);
        match host.run(&op, &[params.clone(), indices]) {
            Ok(outputs) => format!("{:?}", outputs[0]),
            Err(error) => error.to_string(),
        }
    };
    cases.into_iter().map(run).collect()
}

#[test]
fn kernels_in_c_and_in_rust_give_equal_results_and_errors() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = plugin_in_c(folder.path()) else {
        return;
    };
    let found = results(&example("ported"));
    assert_eq!(results(&library), found);
    for (index, part) in [
        (3, "indices[1] = 3 is not in [0, 3)"),
        (4, "indices[0] = -1 is not in [0, 3)"),
        (6, "params has no rows"),
    ] {
        assert_contains(&found[index], part);
    }
}

#[test]
fn skeleton_of_the_kernel_in_cpp_has_the_signature_of_the_one_in_rust() {
    let sources = [Source {
        path: "gather.cc".to_owned(),
        text: source("gather.cc"),
    }];
    let found = scan(&sources);
    let plan = Plan::new(&found, &Options::default());
    let skeleton = print(&sources, &found, &plan, &Options::default());
    let signature = |text: &str| {
        let start = text.find("#[kernel(").unwrap();
        let end = text.find(") -> Result<()> {").unwrap();
        text[start..end].to_owned()
    };
    assert_eq!(signature(&skeleton), signature(&source("gather.rs")));
}
