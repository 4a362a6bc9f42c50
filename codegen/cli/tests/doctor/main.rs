//! `sp-gen doctor` as a whole process, with a Python whose TensorFlow is a small package.

#![cfg(unix)]

mod jax;
mod scene;
#[path = "../temporary_folder/mod.rs"]
mod temporary_folder;

use scene::{Scene, step};
use sp_tests::assert_contains;
use std::fs::File;
use std::process::Command;

const DEVICE: &str = r#"
#include <string.h>
const char* SE_InitPlugin(void) { return "ACCEL"; }
void TF_InitKernel(void) {}
size_t sp_plugin_settings(char* buffer, size_t size) {
    const char text[] = "jit_compile=ignore\npython=not installed: no interpreter\nlacking=Cast: TF_X is absent\n";
    if (buffer) memcpy(buffer, text, size < sizeof text ? size : sizeof text);
    return sizeof text;
}
"#;

#[test]
fn all_steps_pass_for_listed_device() {
    let Some(scene) = Scene::with_plugins(&[("libaccel.so", DEVICE)]) else {
        return;
    };
    let (status, steps) = scene.steps(&[]);
    let verdicts = steps.iter().map(|it| it["verdict"].as_str().unwrap());
    assert!(verdicts.into_iter().all(|it| it == "ok"), "{steps:?}");
    assert_eq!(status, 0);
    assert!(step(&steps, "tensorflow")[1].starts_with("2.99.0 in "));
    assert_eq!(step(&steps, "devices")[1], "ACCEL: 1");
    assert_eq!(step(&steps, "kernels")[1], "ACCEL: 3");
    let settings = "jit_compile=ignore, python=not installed: no interpreter";
    assert_eq!(step(&steps, "settings")[1], settings);
    let lacking = "1 op has no kernel here, since TF_X is absent: Cast";
    assert_eq!(step(&steps, "lacking")[1], lacking);
    assert_eq!(step(&steps, "import")[1], "it lists ACCEL: 1, CPU: 1");
}

#[test]
fn diagnoses_other_plugins_after_abort() {
    let abort = "#include <stdlib.h>\nvoid SE_InitPlugin(void) { abort(); }";
    let plugins = [("liba.so", abort), ("libb.so", DEVICE)];
    let Some(scene) = Scene::with_plugins(&plugins) else {
        return;
    };
    let (status, steps) = scene.steps(&[]);
    assert_eq!(status, 1);
    let [verdict, detail, advice] = step(&steps, "host");
    assert_eq!(verdict, "failed");
    assert!(detail.contains("signal 6 (SIGABRT)"), "{detail}");
    assert!(advice.contains("sp-gen verify"), "{advice}");
    let of_second = |it: &&serde_json::Value| {
        it["step"] == "devices" && it["plugin"].as_str().unwrap().ends_with("libb.so")
    };
    assert_eq!(steps.iter().find(of_second).unwrap()["verdict"], "ok");
    assert_eq!(step(&steps, "import")[0], "failed");
}

/// TensorFlow ends the process when it loads the second one.
#[test]
fn names_both_libraries_of_one_file_name_and_one_device_type() {
    let Some(scene) = Scene::with_plugins(&[("libaccel.so", DEVICE)]) else {
        return;
    };
    let later = DEVICE.replace("jit_compile=ignore", "jit_compile=error");
    assert!(scene.build("user/site-packages", "libaccel.so", &later));
    let (status, steps) = scene.steps(&[]);
    assert_eq!(status, 1);
    let paths = ["site-packages", "user/site-packages"];
    let paths = paths.map(|site| scene.path(&format!("{site}/tensorflow-plugins/libaccel.so")));
    let [first, second] = paths.map(|path| path.display().to_string());
    let of_folder = format!("{second} has the file name of {first}: TensorFlow loads both");
    assert!(
        steps
            .iter()
            .any(|it| it["detail"].as_str().unwrap().starts_with(&of_folder))
    );
    let [verdict, detail, advice] = step(&steps, "names");
    assert_eq!(verdict, "failed");
    assert_contains(
        detail,
        &format!("{first} and {second} have the device type ACCEL"),
    );
    assert_contains(advice, "--device-type");
    let [verdict, detail, _] = step(&steps, "import");
    assert_eq!(verdict, "failed");
    assert_contains(
        detail,
        "Duplicate registration of device factory for type ACCEL",
    );
}

#[test]
fn names_plugins_of_one_platform_name_and_platform_of_tensorflow() {
    let plugin = |platform: &str, device: &str| {
        let names =
            format!("const char* sp_plugin_platform(void) {{ return \"{platform} {device}\"; }}\n");
        names + &DEVICE.replace("ACCEL", device)
    };
    let sources = [("MINE", "A"), ("MINE", "B"), ("CUDA", "C")].map(|(p, d)| plugin(p, d));
    let names = ["liba.so", "libb.so", "libc.so"];
    let plugins = names.into_iter().zip(sources.iter().map(String::as_str));
    let plugins: Vec<_> = plugins.collect();
    let Some(scene) = Scene::with_plugins(&plugins) else {
        return;
    };
    let (status, steps) = scene.steps(&[]);
    assert_eq!(status, 1);
    let found = steps.iter().filter(|it| it["step"] == "names");
    let found: Vec<_> = found
        .map(|it| {
            (
                it["verdict"].as_str().unwrap(),
                it["detail"].as_str().unwrap(),
            )
        })
        .collect();
    let [(of_core, core), (of_both, both)] = found[..] else {
        panic!("{found:?}");
    };
    assert_eq!((of_core, of_both), ("unknown", "failed"));
    assert_contains(core, "the name CUDA of one of TensorFlow's own");
    assert_contains(both, "liba.so and ");
    assert_contains(both, "libb.so have the platform name MINE");
}

#[test]
fn hanging_plugin_fails_after_time_limit() {
    let hang = "#include <unistd.h>\nvoid SE_InitPlugin(void) { sleep(1000); }";
    let Some(scene) = Scene::with_plugins(&[("liba.so", hang)]) else {
        return;
    };
    let (status, steps) = scene.steps(&["--timeout", "4"]);
    assert_eq!(status, 1);
    let [verdict, detail, _] = step(&steps, "host");
    assert_eq!(verdict, "failed");
    assert!(detail.contains("killed after 4 seconds"), "{detail}");
}

#[test]
fn load_step_names_undefined_symbol() {
    let undefined =
        "void TF_NoSuch(void); void (*p)(void) = TF_NoSuch;\nvoid SE_InitPlugin(void) {}";
    let Some(scene) = Scene::with_plugins(&[("liba.so", undefined)]) else {
        return;
    };
    let (status, steps) = scene.steps(&[]);
    assert_eq!(status, 1);
    let [verdict, detail, advice] = step(&steps, "load");
    assert_eq!(verdict, "failed");
    assert!(detail.contains("undefined symbol: TF_NoSuch"), "{detail}");
    assert!(advice.contains("sp-gen history"), "{advice}");
    assert_eq!(step(&steps, "host")[0], "unknown");
}

#[test]
fn quotes_declining_plugin_without_control_characters() {
    let declines = r#"
#include <stdio.h>
void* SE_InitPlugin(void) {
    if (fopen("plugin-ran-here", "w")) fputs("plugin accel: declined TensorFlow 2.99: \033[31mtoo new\n", stderr);
    return 0;
}"#;
    let Some(scene) = Scene::with_plugins(&[("libaccel.so", declines)]) else {
        return;
    };
    let run = scene.doctor(&["./python"]);
    assert_eq!(run.status, 1);
    assert!(!run.stdout.contains('\x1b'), "{}", run.stdout);
    let words: Vec<&str> = run.stdout.split_whitespace().collect();
    let text = words.join(" ");
    let line = r"FAILED host plugin accel: declined TensorFlow 2.99: \u{1b}[31mtoo new";
    assert!(text.contains(line), "{text}");
    assert_contains(&text, "-> build the plugin with an sp-gen");
    assert!(text.contains("FAILED devices none"), "{text}");
    assert!(
        !scene.path("plugin-ran-here").exists(),
        "it has a folder of its own"
    );
}

#[test]
fn reports_device_without_kernels() {
    let bare = r#"const char* SE_InitPlugin(void) { return "ACCEL"; }"#;
    let Some(scene) = Scene::with_plugins(&[("libaccel.so", bare)]) else {
        return;
    };
    let (status, steps) = scene.steps(&[]);
    assert_eq!(status, 1);
    assert_eq!(step(&steps, "devices")[0], "ok");
    assert_eq!(step(&steps, "kernels")[0], "failed");
    // It is no plugin of sp-gen.
    assert_eq!(step(&steps, "settings")[0], "unknown");
}

#[test]
fn missing_plugins_folder_lists_searched_ones() {
    let Some(scene) = Scene::new() else { return };
    let (status, steps) = scene.steps(&[]);
    assert_eq!(status, 1);
    let [verdict, detail, advice] = step(&steps, "folder");
    assert_eq!(verdict, "failed");
    let site = scene.path("site-packages").display().to_string();
    assert!(detail.contains(&site), "{detail}");
    assert!(advice.contains("pip install ."), "{advice}");
}

#[test]
fn python_without_tensorflow_is_exit_status_2() {
    let Some(scene) = Scene::without_tensorflow() else {
        return;
    };
    let (status, steps) = scene.steps(&[]);
    assert_eq!((status, step(&steps, "tensorflow")[0]), (2, "failed"));
    let broken = "raise ImportError('no numpy')";
    scene.write("site-packages/tensorflow/__init__.py", broken);
    let (status, steps) = scene.steps(&[]);
    assert_eq!((status, step(&steps, "tensorflow")[0]), (2, "failed"));
    assert!(step(&steps, "tensorflow")[1].contains("no numpy"));
}

#[test]
fn rejects_path_that_is_no_python() {
    let Some(scene) = Scene::without_tensorflow() else {
        return;
    };
    scene.program("none", "echo 'not me' >&2; exit 3");
    for (program, code) in [
        ("./none", "sp_gen::doctor::no_answer"),
        ("./absent", "sp_gen::doctor::no_python"),
    ] {
        let run = scene.doctor(&[program]);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""));
        assert!(run.stderr.contains(code), "{}", run.stderr);
    }
}

#[test]
fn imports_no_module_from_current_directory() {
    let Some(scene) = Scene::with_plugins(&[("libaccel.so", DEVICE)]) else {
        return;
    };
    for module in ["json.py", "ctypes.py", "tensorflow.py", "platform.py"] {
        let marker = scene.path("ran").display().to_string();
        scene.write(
            module,
            &format!("open({marker:?}, 'w')\nraise SystemExit\n"),
        );
    }
    assert_eq!(scene.steps(&[]).0, 0);
    assert!(!scene.path("ran").exists());
}

/// Two plugins of 100 MiB do not fit in 200 MB at a time.
#[cfg(target_os = "linux")]
#[test]
fn finds_copies_of_large_plugins_in_limited_memory() {
    let Some(scene) = Scene::new() else { return };
    for name in ["liba.so", "libb.so"] {
        let plugin = format!("site-packages/tensorflow-plugins/{name}");
        scene.write(&plugin, "");
        let file = File::options().write(true).open(scene.path(&plugin));
        file.unwrap().set_len(100 << 20).unwrap();
    }
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        "ulimit -v 200000 && exec \"$0\" doctor ./python --format json",
    ]);
    shell.arg(env!("CARGO_BIN_EXE_sp-gen"));
    let output = shell.current_dir(scene.path(".")).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("is the same plugin as"), "{stdout}");
}
