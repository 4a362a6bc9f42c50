//! `--plugin`: a plugin in C, built here, and the part of a diff that concerns it.

use super::scene::Scene;
use sp_tests::{assert_contains, compile_library};

/// A plugin that looks one function up by name and imports another.
pub const SOURCE: &str = r#"
#include <stddef.h>
extern void* TF_NewStatus(void);
static const char* const name = "TF_GetNodesToPreserveListSize";
void* find(const char* text);
void SE_InitPlugin(void* params, void* status) { if (!status) TF_NewStatus(); find(name); }
"#;

/// Builds `plugin.so`. Returns false if there is no C compiler.
pub fn built(scene: &Scene, source: &str, flags: &[&str]) -> bool {
    scene.write("plugin.c", source);
    let flags = [&["-g"], flags].concat();
    compile_library(&scene.path("plugin.so"), &scene.path("plugin.c"), &flags)
}

#[test]
fn diff_is_restricted_to_what_the_plugin_uses() {
    let scene = Scene::new();
    if !built(&scene, SOURCE, &[]) {
        return;
    }
    let json = scene.json(&["2.4", "2.21", "--plugin", "plugin.so"]);
    let plugin = &json["plugin"];
    assert_eq!(plugin["entry_points"], serde_json::json!(["SE_InitPlugin"]));
    assert_eq!(plugin["imports"], serde_json::json!(["TF_NewStatus"]));
    let expected = serde_json::json!(["TF_GetNodesToPreserveListSize"]);
    assert_eq!(plugin["lookups"], expected);
    assert_eq!(
        plugin["apis"],
        serde_json::json!(["grappler", "stream_executor", "tf_status"])
    );
    let all = scene.json(&["2.4", "2.21"]);
    let count = |json: &serde_json::Value| json["findings"].as_array().unwrap().len();
    assert!(count(&json) < count(&all));
    for finding in json["findings"].as_array().unwrap() {
        assert_ne!(finding["api"], "pjrt", "{finding}");
    }
    let run = scene.diff(&["2.4", "2.21", "--plugin", "plugin.so"]);
    assert_contains(&run.stdout, "it exports SE_InitPlugin");
}

#[test]
fn stripped_plugin_gives_the_same_diff() {
    let scene = Scene::new();
    if !built(&scene, SOURCE, &[]) {
        return;
    }
    let whole = scene.json(&["2.6", "2.7", "--plugin", "plugin.so"]);
    assert!(built(&scene, SOURCE, &["-s", "-O2"]));
    assert_eq!(whole, scene.json(&["2.6", "2.7", "--plugin", "plugin.so"]));
}

/// TF_AssignVariable is exported by no library of 2.19, and the helpers of grappler.h moved at 2.12.
const FUNCTIONS: &str = r#"
#include <stddef.h>
#ifdef LOOKUP
const char* const names[] = {"TF_AssignVariable", "TF_GetNodesToPreserveListSize"};
void* use(int n) { return (void*)names[n]; }
#else
extern void TF_AssignVariable(void);
extern void TF_GetNodesToPreserveListSize(void);
void* use(int n) { return n ? (void*)TF_AssignVariable : (void*)TF_GetNodesToPreserveListSize; }
#endif
void SE_InitPlugin(void* params, void* status) { use(params == status); }
"#;

/// Returns rule, impact and the outcome of an old plugin on a new host, of each finding about `item`.
fn findings_about(json: &serde_json::Value, item: &str) -> Vec<(String, String, String)> {
    let findings = json["findings"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let row = |finding: &serde_json::Value| {
        let outcome = &finding["directions"]["old_on_new"]["outcome"];
        (
            text(&finding["rule"]),
            text(&finding["impact"]),
            text(outcome),
        )
    };
    let findings = findings.filter(|finding| finding["item"] == item).map(row);
    findings.collect()
}

#[test]
fn looked_up_functions_do_not_prevent_loading() {
    let scene = Scene::new();
    let rows = |flags: &[&str], item: &str, releases: [&str; 2]| {
        let made = built(&scene, FUNCTIONS, flags);
        made.then(|| {
            let [old, new] = releases;
            findings_about(&scene.json(&[old, new, "--plugin", "plugin.so"]), item)
        })
    };
    let (dropped, moved) = (["2.18", "2.19"], ["2.11", "2.12"]);
    let row =
        |rule: &str, impact: &str, outcome: &str| (rule.into(), impact.into(), outcome.into());
    let preserve = "TF_GetNodesToPreserveListSize";
    if let Some(linked) = rows(&[], "TF_AssignVariable", dropped) {
        assert_eq!(linked, [row("symbol_dropped", "breaking", "fails to load")]);
        let linked = rows(&[], preserve, moved);
        let expected = [row("symbol_moved", "breaking", "fails to load")];
        assert_eq!(linked.unwrap(), expected);
        let looked_up = rows(&["-DLOOKUP"], "TF_AssignVariable", dropped);
        assert_eq!(
            looked_up.unwrap(),
            [row("symbol_dropped", "breaking", "misses a function")]
        );
        let looked_up = rows(&["-DLOOKUP"], preserve, moved);
        assert_eq!(
            looked_up.unwrap(),
            [row("symbol_moved", "compatible", "works")]
        );
    }
}

#[test]
fn rejects_file_that_is_not_a_plugin() {
    let scene = Scene::new();
    scene.write("text.so", "#!/bin/sh\n");
    scene
        .diff(&["2.6", "2.7", "--plugin", "text.so"])
        .assert_rejected(&["text.so", "ELF"]);
    scene
        .diff(&["2.6", "2.7", "--plugin", "no.so"])
        .assert_rejected(&["no.so cannot be read"]);
    if built(&scene, "int nothing;", &[]) {
        let run = scene.diff(&["2.6", "2.7", "--plugin", "plugin.so"]);
        run.assert_rejected(&[
            "exports no entry point and uses no function",
            "SE_InitPlugin",
        ]);
    }
}

/// A plugin with sp-gen's runtime, which states the functions that it can do without.
const STATED: &str = r#"
const char* const names[] = {"TF_AssignVariable", "TF_GetInputTensorFromVariable"};
__attribute__((section("sp_optional"), used)) static const char stated[] =
    "runtime sp-plugin 0.1.0 2.18\n"
    "kernel AssignVariableOp TF_AssignVariable TF_GetInputTensorFromVariable\n";
void SE_InitPlugin(void* params, void* status) { (void)names[params == status]; }
"#;

#[test]
fn plugin_with_a_runtime_is_judged_by_what_it_states() {
    let scene = Scene::new();
    if !built(&scene, STATED, &[]) {
        return;
    }
    let known = scene.json(&[
        "2.5",
        "2.18",
        "--plugin",
        "plugin.so",
        "--api",
        "stream_executor",
    ]);
    assert_eq!(known["verdict"], "compatible");
    assert_eq!(known["plugin"]["runtime"], "sp-plugin 0.1.0");
    let reduced = scene.diff(&["2.18", "2.19", "--plugin", "plugin.so"]);
    assert_eq!(reduced.status, 0, "{}", reduced.stdout);
    for words in ["2.18 → 2.19: reduced", "loses kernels of AssignVariableOp"] {
        assert!(reduced.stdout.contains(words), "{}", reduced.stdout);
    }
    let any = ["2.18", "2.19", "--plugin", "plugin.so", "--fail-on", "any"];
    assert_eq!(scene.diff(&any).status, 1);
}

#[test]
fn worst_outcome_names_its_item() {
    let scene = Scene::new();
    let run = scene.diff(&["2.18", "2.19"]);
    let line = run
        .stdout
        .lines()
        .find(|line| line.contains("worst outcome: "));
    let line = line.expect("a worst outcome");
    assert!(line.contains("worst outcome: fails to load (TF_"), "{line}");
}

#[test]
fn note_names_the_releases_in_which_a_next_pluggable_device_computes() {
    let scene = Scene::new();
    let plain = "void TFNPD_Init(void) {}\nvoid SE_InitPlugin(void) {}\n";
    let next = plain.replace("TFNPD_Init(", "TFNPD_InitPlugin(");
    for (source, is_noted) in [(&next[..], true), (plain, false)] {
        if !built(&scene, source, &[]) {
            return;
        }
        let run = scene.diff(&["2.18", "2.21", "--plugin", "plugin.so"]);
        let note = "a NextPluggableDevice computes in TensorFlow 2.16 to 2.18 only";
        assert_eq!(run.stderr.contains(note), is_noted, "{}", run.stderr);
    }
}
