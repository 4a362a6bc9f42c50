//! `sp-gen new --lang c`: the plugin is compiled as its CMakeLists.txt does, and tested in sp-host.

use sp_host::{Host, Op, Tensor};
use sp_tests::{assert_contains, assert_contains_all, in_own_process, snapshots};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Releases that differ in what the plugin calls. `SP_EVERY_RELEASE=1` tests it in all.
const DIFFERING: &str = "2.5,2.9,2.12,2.21,2.22";

fn sp_gen(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sp-gen"));
    command.current_dir(folder).args(arguments);
    command.output().expect("sp-gen runs")
}

fn new_plugin(folder: &Path) -> PathBuf {
    let output = sp_gen(folder, &["new", "my-accel", "--lang", "c", "--vcs", "none"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert_contains(
        &stderr,
        "wrote 15 files of the plugin and 18 files of generated headers",
    );
    folder.join("my-accel")
}

/// Compiles the plugin with the options of its CMakeLists.txt, the level of optimization, and warnings as errors. Returns `None` without
/// a compiler.
fn compile(plugin: &Path, level: &str) -> Option<PathBuf> {
    let library = plugin.join("libmy_accel.so");
    let mut objects = Vec::new();
    for entry in fs::read_dir(plugin.join("src")).unwrap().flatten() {
        let source = entry.path();
        let (compiler, standard) = match source.extension()?.to_str()? {
            "c" => ("cc", "-std=c11"),
            "cc" => ("c++", "-std=c++17"),
            _ => continue,
        };
        let object = source.with_extension("o");
        let mut command = Command::new(compiler);
        command.args([
            standard,
            "-D_DEFAULT_SOURCE",
            level,
            "-fPIC",
            "-fvisibility=hidden",
            "-c",
        ]);
        command.args([
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unused-parameter",
            "-I../src",
            "-isystem",
            "../spgen",
        ]);
        run(command
            .arg(&source)
            .arg("-o")
            .arg(&object)
            .current_dir(plugin.join("src")))?;
        objects.push(object);
    }
    let mut command = Command::new("c++");
    command
        .args(["-shared", "-pthread", "-Wl,--no-undefined", "-o"])
        .arg(&library);
    run(command.args(objects))?;
    Some(library)
}

/// Runs a compiler. Returns `None` if this machine does not have it.
fn run(command: &mut Command) -> Option<()> {
    let Ok(output) = command.output() else {
        println!("skipped: this machine has no C and C++ compiler (cc, c++)");
        return None;
    };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    Some(())
}

/// Runs `body` with the plugin in a host of TensorFlow 2.21, in a process of its own.
fn in_host(test: &str, body: impl FnOnce(&Host)) {
    in_own_process(test, || {
        let folder = tempfile::tempdir().unwrap();
        if let Some(library) = compile(&new_plugin(folder.path()), "-O0") {
            body(&Host::open(&snapshots("2.21"), &library).unwrap());
        }
    });
}

#[test]
fn plugin_in_c_passes_the_checks_of_releases_that_differ() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = compile(&new_plugin(folder.path()), "-O2") else {
        return;
    };
    let library = library.to_str().unwrap();
    let releases = match std::env::var_os("SP_EVERY_RELEASE") {
        Some(_) => "all",
        None => DIFFERING,
    };
    let output = sp_gen(folder.path(), &["verify", library, "--release", releases]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}");
    assert_contains(&stdout, " 0 failed");
    let output = sp_gen(folder.path(), &["verify", "--kernels", library]);
    assert_contains(
        &String::from_utf8_lossy(&output.stdout),
        "3 kernels of 3 ops, 0 findings",
    );
}

#[test]
fn kernels_in_c_and_cpp_compute() {
    in_host("kernels_in_c_and_cpp_compute", |host| {
        let matrix = |rows, columns, values: &[f32]| Tensor::from([rows, columns], values);
        let x = matrix(2, 2, &[1.0, -1.0, 3.0, -4.0]);
        let run = |op: Op, inputs: &[Tensor]| host.run(&op, inputs).unwrap().remove(0);
        assert_eq!(
            run(Op::new("Relu"), std::slice::from_ref(&x)),
            matrix(2, 2, &[1.0, 0.0, 3.0, 0.0])
        );
        let bias = Tensor::from([2], &[1_f32, 2.0]);
        let sum = run(Op::new("MyAccelBiasRelu"), &[x.clone(), bias]);
        assert_eq!(sum, matrix(2, 2, &[2.0, 1.0, 4.0, 0.0]));
        let row = matrix(1, 2, &[1.0, 2.0]);
        let product = Op::new("MatMul")
            .attr("transpose_a", false)
            .attr("transpose_b", true);
        assert_eq!(
            run(product.clone(), &[x.clone(), row.clone()]),
            matrix(2, 1, &[-1.0, -5.0])
        );
        let product = Op::new("MatMul")
            .attr("transpose_a", true)
            .attr("transpose_b", true);
        let column = matrix(1, 2, &[1.0, 1.0]);
        assert_eq!(
            run(product, &[x.clone(), column]),
            matrix(2, 1, &[4.0, -5.0])
        );
        let error = host
            .run(&Op::new("MatMul"), &[x, matrix(1, 2, &[1.0, 2.0])])
            .unwrap_err();
        assert_contains(
            &error.to_string(),
            "2 columns of the first matrix and 1 rows",
        );
    });
}

#[test]
fn op_in_c_has_its_shape_function() {
    in_host("op_in_c_has_its_shape_function", |host| {
        let op = Op::new("MyAccelBiasRelu");
        let infer = |value: Option<Vec<i64>>, bias: &[i64]| {
            host.infer_shapes(&op, &[value, Some(bias.to_vec())])
        };
        assert_eq!(
            infer(Some(vec![-1, -1]), &[3]).unwrap(),
            [Some(vec![-1, 3])]
        );
        assert_eq!(infer(None, &[3]).unwrap(), [None]);
        let error = infer(Some(vec![2, 4]), &[3]).unwrap_err().to_string();
        assert_contains(&error, "must be equal");
        assert!(infer(Some(Vec::new()), &[3]).is_err() && infer(None, &[3, 3]).is_err());
    });
}

/// Returns a field of a protobuf message with contents of less than 128 bytes.
fn field(number: u8, contents: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, contents.len() as u8], contents].concat()
}

/// Returns a serialized graph of nodes: name, op, inputs and device.
fn graph(nodes: &[(&str, &str, &[&str], &str)]) -> Vec<u8> {
    let node = |(name, op, inputs, device): &(&str, &str, &[&str], &str)| {
        let inputs = inputs.iter().map(|it| field(3, it.as_bytes()));
        let inputs = inputs.collect::<Vec<_>>().concat();
        let head = [field(1, name.as_bytes()), field(2, op.as_bytes())].concat();
        field(1, &[head, inputs, field(4, device.as_bytes())].concat())
    };
    nodes.iter().map(node).collect::<Vec<_>>().concat()
}

#[test]
fn optimizer_in_c_changes_consecutive_relus_of_the_device_only() {
    in_host(
        "optimizer_in_c_changes_consecutive_relus_of_the_device_only",
        |host| {
            const DEVICE: &str = "/device:MY_ACCEL:0";
            let nodes = |of_last: &'static str, control: &[&'static str], device: &'static str| {
                let inputs = [&["x"], control].concat();
                let first = ("first", "Relu", inputs.as_slice(), device);
                graph(&[
                    ("x", "Placeholder", &[], ""),
                    ("last", "Relu", &[of_last], DEVICE),
                    first,
                ])
            };
            let optimized = |graph: &[u8]| host.optimize(graph, &["last"]).unwrap();
            let merged = nodes("x", &[], DEVICE);
            for of_last in ["first", "first:0"] {
                assert_eq!(optimized(&nodes(of_last, &[], DEVICE)), merged);
            }
            for other in [
                nodes("first", &["^x"], DEVICE),
                nodes("first", &[], "/device:CPU:0"),
                nodes("^first", &[], DEVICE),
            ] {
                assert_eq!(optimized(&other), other);
            }
        },
    );
}

#[test]
fn profiler_in_c_has_the_kernels_of_a_session() {
    in_host("profiler_in_c_has_the_kernels_of_a_session", |host| {
        let x = [Tensor::from([2], &[1_f32, -2.0])];
        let relu = || drop(host.run(&Op::new("Relu"), &x).unwrap());
        for _ in 0..2 {
            let space = host.profile(relu).unwrap();
            let text = String::from_utf8_lossy(&space).into_owned();
            assert_contains_all(&text, &["/device:CUSTOM:MY_ACCEL:0", "kernels", "Relu"]);
        }
        relu();
        assert!(host.profile(|| ()).unwrap().is_empty());
    });
}

#[test]
fn update_restores_headers_and_leaves_edited_ones() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = new_plugin(folder.path());
    let status = |arguments: &[&str]| sp_gen(&plugin, arguments).status.code();
    assert_eq!(status(&["update", "--check"]), Some(0));
    let header = plugin.join("spgen/spgen_ops.h");
    let text = fs::read_to_string(&header).unwrap();
    fs::remove_file(&header).unwrap();
    assert_eq!(status(&["update", "--check"]), Some(1));
    assert_eq!(status(&["update"]), Some(0));
    assert_eq!(fs::read_to_string(&header).unwrap(), text);
    let edited = format!("{text}/* edited */\n");
    fs::write(&header, &edited).unwrap();
    assert_eq!(status(&["update"]), Some(2));
    assert_eq!(fs::read_to_string(&header).unwrap(), edited);
    assert_eq!(status(&["update", "--force"]), Some(0));
    assert_eq!(fs::read_to_string(&header).unwrap(), text);
}

#[test]
fn options_of_rust_are_an_error_with_c() {
    let folder = tempfile::tempdir().unwrap();
    for option in [
        ["--with", "ops"],
        ["--without", "kernels"],
        ["--backend", "opencl"],
    ] {
        let output = sp_gen(
            folder.path(),
            &[&["new", "x", "--lang", "c"], &option[..]].concat(),
        );
        let message = format!("{} is an option of plugins in Rust", option[0]);
        assert_contains(&String::from_utf8_lossy(&output.stderr), &message);
        assert_eq!(output.status.code(), Some(2));
        assert!(!folder.path().join("x").exists());
    }
}
