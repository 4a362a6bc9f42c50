//! Sides that are hosts of PJRT plugins: `jaxlib:0.9`.

use super::scene::Scene;

#[test]
fn compares_demands_of_two_releases() {
    let scene = Scene::new();
    let run = scene.diff(&["jaxlib:0.9.0", "jaxlib:0.9"]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    let json = scene.json(&["jaxlib:0.9.0", "jaxlib:0.9"]);
    assert_eq!(json["verdict"], "breaking");
    assert_eq!(
        (&json["old"], &json["new"]),
        (&"jaxlib:0.9.0".into(), &"jaxlib:0.9.2".into())
    );
    let findings = json["findings"].as_array().unwrap();
    let payload = findings
        .iter()
        .find(|finding| finding["item"] == "PJRT_Error_ForEachPayload");
    let payload = payload.unwrap();
    assert_eq!(payload["rule"], "pjrt_slot_required");
    assert_eq!(
        payload["directions"]["old_on_new"]["outcome"],
        "ends the process"
    );
}

#[test]
fn release_that_demands_the_same_exits_with_0() {
    let scene = Scene::new();
    for (old, new) in [
        ("jaxlib:0.10.2", "jaxlib:0.10"),
        ("jaxlib:0.10.1", "jaxlib:0.10.2"),
    ] {
        let run = scene.diff(&[old, new]);
        assert_eq!(run.status, 0, "{old} {new}: {}", run.stdout);
    }
}

#[test]
fn finding_of_a_demand_can_be_accepted() {
    let scene = Scene::new();
    let entry = "[[suppress]]\nrule = \"pjrt_slot_required\"\nitem = \"PJRT_Error_ForEachPayload\"\nreason = \"filled\"\n";
    let rest = "[[suppress]]\nrule = \"pjrt_slot_required\"\nitem = \"PJRT_Executable_Name\"\nreason = \"filled\"\n";
    scene.write("sp-gen.toml", format!("{entry}{rest}"));
    let run = scene.diff(&["jaxlib:0.9.0", "jaxlib:0.9.2"]);
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
}

#[test]
fn rejects_unknown_host_release_and_options_of_headers() {
    let scene = Scene::new();
    let run = scene.diff(&["jaxlb:0.9", "jaxlib:0.10"]);
    run.assert_rejected(&["no host of PJRT plugins is named `jaxlb`", "jaxlib"]);
    let run = scene.diff(&["jaxlib:0.3", "jaxlib:0.10"]);
    run.assert_rejected(&[
        "jaxlib 0.3 was not measured",
        "tests/pjrt-demand jaxlib 0.3",
    ]);
    for arguments in [
        ["jaxlib:0.9", "2.21", "--fail-on", "any"],
        ["2.21", "jaxlib:0.9", "--fail-on", "any"],
        ["jaxlib:0.9", "jaxlib:0.10", "--api", "pjrt"],
    ] {
        let run = scene.diff(&arguments);
        run.assert_rejected(&["cannot be compared with the demands of a host"]);
    }
}

/// A plugin in C without a header: GetPjrtApi returns a table of 140 slots. MINOR is its version, NULL_SLOT is null, and
/// PJRT_Client_PlatformName rejects a struct of which COMPARE is true.
const PLUGIN: &str = r#"
#include <stddef.h>
static int client;
static void* succeed(void* args) { return NULL; }
static void error_destroy(void* args) {}
static void error_message(size_t* args) { args[3] = (size_t)"another struct_size"; args[4] = 19; }
static void* error_code(size_t* args) { *(int*)&args[3] = 3; return NULL; }
static void* client_create(size_t* args) { args[8] = (size_t)&client; return NULL; }
static void* memory_table[] = {(void*)40, NULL, (void*)8, NULL, NULL};
static void* memory = memory_table;
static void* memories[] = {&memory};
static void* client_memories(size_t* args) { if (*args < 40) return &client; args[3] = (size_t)memories; args[4] = 1; return NULL; }
static void* platform_name(size_t* args) { return COMPARE ? &client : NULL; }
static struct { size_t size; void* next; size_t version_size; void* version_next; int major, minor; void* slots[140]; } table;
void* GetPjrtApi(void) {
    table.size = sizeof table;
    table.version_size = 24;
    table.minor = MINOR;
    for (int i = 0; i < 140; ++i) table.slots[i] = (void*)succeed;
    table.slots[0] = (void*)error_destroy;
    table.slots[1] = (void*)error_message;
    table.slots[2] = (void*)error_code;
    table.slots[10] = (void*)client_create;
    table.slots[12] = (void*)platform_name;
    table.slots[19] = (void*)client_memories;
    if (NULL_SLOT >= 0) table.slots[NULL_SLOT] = NULL;
    return &table;
}
"#;

/// Compiles the plugin. Returns false if there is no compiler.
fn compile(scene: &Scene, minor: u32, null: Option<&str>, compare: &str) -> bool {
    let names = sp_data::demand::slot_names();
    let place = |name| names.iter().position(|it| it == name).unwrap();
    let null = null.map_or("-1".to_owned(), |name| place(name).to_string());
    let defines =
        format!("#define MINOR {minor}\n#define NULL_SLOT {null}\n#define COMPARE ({compare})\n");
    scene.write("plugin.c", defines + PLUGIN);
    sp_tests::compile_library(&scene.path("plugin.so"), &scene.path("plugin.c"), &[])
}

/// Returns the exit status and the rules and items of the breaking findings for the plugin.
fn breaking(scene: &Scene, old: &str, new: &str) -> (i32, Vec<(String, String)>) {
    let arguments = [old, new, "--plugin", "plugin.so", "--format", "json"];
    let run = scene.diff(&arguments);
    let json: serde_json::Value =
        serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr));
    let findings = json["findings"].as_array().unwrap().iter();
    let breaking = findings.filter(|it| it["impact"] == "breaking");
    let text = |it: &serde_json::Value, key: &str| it[key].as_str().unwrap().to_owned();
    let found = breaking.map(|it| (text(it, "rule"), text(it, "item")));
    (run.status, found.collect())
}

/// A null slot of `defect` or another minor version breaks the plugin, and a filled one does not.
#[test]
fn finds_historic_breaks_of_a_plugin_and_accepts_the_corrected_one() {
    let scene = Scene::new();
    let right = "*args < 40";
    type Plugin<'a> = (u32, Option<&'a str>, &'a str);
    let cases: [(&str, &str, Plugin, Plugin, &str); 5] = [
        (
            "jaxlib:0.4.36",
            "jaxlib:0.4.38",
            (90, Some("PJRT_Plugin_Attributes"), right),
            (90, None, right),
            "pjrt_slot_required",
        ),
        (
            "jaxlib:0.5.0",
            "jaxlib:0.5.1",
            (90, Some("PJRT_Memory_Kind"), right),
            (90, None, right),
            "pjrt_slot_required",
        ),
        (
            "jaxlib:0.9.0",
            "jaxlib:0.9.2",
            (100, Some("PJRT_Error_ForEachPayload"), right),
            (100, None, right),
            "pjrt_slot_required",
        ),
        (
            "jaxlib:0.4.31",
            "jaxlib:0.4.30",
            (90, None, right),
            (54, None, right),
            "pjrt_header_declined",
        ),
        (
            "jaxlib:0.6.2",
            "jaxlib:0.7.2",
            (90, None, "*args != 40"),
            (90, None, right),
            "pjrt_size_rejected",
        ),
    ];
    for (old, new, broken, corrected, rule) in cases {
        if !compile(&scene, broken.0, broken.1, broken.2) {
            return;
        }
        let (status, found) = breaking(&scene, old, new);
        assert_eq!((status, found.len()), (1, 1), "{old} {new}: {found:?}");
        assert_eq!(found[0].0, rule);
        assert!(compile(&scene, corrected.0, corrected.1, corrected.2));
        assert_eq!(breaking(&scene, old, new), (0, vec![]), "{old} {new}");
    }
}

#[test]
fn accepted_finding_of_a_host_may_not_concern_the_plugin() {
    let scene = Scene::new();
    if !compile(&scene, 100, None, "0") {
        return;
    }
    let entry = "[[suppress]]\nrule = \"pjrt_slot_required\"\nitem = \"PJRT_Error_ForEachPayload\"\nreason = \"filled\"\n";
    scene.write("sp-gen.toml", entry);
    assert_eq!(
        breaking(&scene, "jaxlib:0.9.0", "jaxlib:0.9.2"),
        (0, vec![])
    );
    let run = scene.diff(&["jaxlib:0.9.0", "jaxlib:0.9.2", "--plugin", "plugin.so"]);
    assert!(run.stdout.contains("exports GetPjrtApi"), "{}", run.stdout);
}

#[test]
fn rejects_plugin_without_a_table() {
    let scene = Scene::new();
    scene.write("plugin.c", "void SE_InitPlugin(void) {}\n");
    let other = scene.path("plugin.so");
    if !sp_tests::compile_library(&other, &scene.path("plugin.c"), &[]) {
        return;
    }
    for (path, reason) in [
        ("plugin.so", "does not export GetPjrtApi"),
        ("absent.so", "No such file"),
    ] {
        let run = scene.diff(&["jaxlib:0.9", "jaxlib:0.10", "--plugin", path]);
        run.assert_rejected(&["has no table of PJRT that can be read", reason]);
    }
}

/// The host reads the first word of a memory as a pointer to a table.
#[test]
fn finds_memories_without_a_table() {
    let scene = Scene::new();
    if !compile(&scene, 107, None, "*args < 40") {
        return;
    }
    let (old, new) = ("jaxlib:0.10.0", "jaxlib:0.10.1");
    assert_eq!(breaking(&scene, old, new), (0, vec![]));
    let source = std::fs::read_to_string(scene.path("plugin.c")).unwrap();
    let other = source.replace("void* memory = memory_table", "void* memory = (void*)7");
    scene.write("plugin.c", other);
    let [library, source] = ["plugin.so", "plugin.c"].map(|name| scene.path(name));
    assert!(sp_tests::compile_library(&library, &source, &[]));
    let (status, found) = breaking(&scene, old, new);
    assert_eq!(status, 1);
    let is_table = |it: &(String, String)| it.0 == "pjrt_function_table_called";
    assert!(found.len() == 2 && found.iter().all(is_table), "{found:?}");
}
