//! `sp-gen doctor --jax`, with a Python whose JAX is a small package.

use crate::scene::{Scene, step};
use serde_json::Value;
use sp_tests::assert_contains;

/// A JAX that finds, initializes and loads plugins as the real one does.
const BRIDGE: &str = r#"
import ctypes, importlib, os, pkgutil
factories, selected = {}, None

class Device:
    platform = "accel"

class Backend:
    def devices(self):
        return [Device(), Device()]

def register_plugin(plugin_name, *, priority=400, library_path=None, options=None):
    ctypes.CDLL(library_path)
    factories[plugin_name] = Backend()

def discover_pjrt_plugins():
    import jax_plugins
    for module in pkgutil.iter_modules(jax_plugins.__path__, "jax_plugins."):
        try:
            importlib.import_module(module.name).initialize()
        except Exception:
            pass

def backends():
    discover_pjrt_plugins()
    names = (selected or os.environ.get("JAX_PLATFORMS") or ",".join(factories)).split(",")
    unknown = [name for name in names if name not in factories]
    if unknown:
        raise RuntimeError("Unknown backend %s" % unknown[0])
    return {name: factories[name] for name in names}
"#;

const PACKAGE: &str = r#"
from jax._src import xla_bridge

class config:
    @staticmethod
    def update(name, value):
        assert name == "jax_platforms"
        xla_bridge.selected = value

def devices():
    return next(iter(xla_bridge.backends().values())).devices()
"#;

const MODULE: &str = "
import os
from jax._src import xla_bridge

def initialize():
    path = os.path.join(os.path.dirname(__file__), 'libaccel.so')
    xla_bridge.register_plugin('accel', library_path=path)
";

/// Returns a plugin in C whose table has the version and 130 slots. The slot of PJRT_Plugin_Attributes has this value.
fn table(minor: u32, attributes: &str) -> String {
    format!(
        "#include <stddef.h>\nstatic void f(void) {{}}\n\
         static struct {{ size_t size; void* next; size_t version_size; void* version_next; int major, minor; void* slots[130]; }} table;\n\
         void* GetPjrtApi(void) {{\n\
           table.size = sizeof table; table.version_size = 24; table.minor = {minor};\n\
           for (int i = 0; i < 130; ++i) table.slots[i] = (void*)f;\n\
           table.slots[4] = {attributes};\n\
           return &table;\n}}\n"
    )
}

/// Returns a Python with this jaxlib, and a plugin of this module and source; `None` if Python or the compiler is absent.
fn scene(jaxlib: &str, module: &str, source: &str) -> Option<Scene> {
    let scene = Scene::without_tensorflow()?;
    let site = "site-packages";
    for package in ["jax", "jaxlib"] {
        let metadata = format!("Metadata-Version: 2.1\nName: {package}\nVersion: {jaxlib}\n");
        let folder = format!("{site}/{package}-{jaxlib}.dist-info");
        scene.write(&format!("{folder}/METADATA"), &metadata);
    }
    scene.write(&format!("{site}/jax/__init__.py"), PACKAGE);
    scene.write(&format!("{site}/jax/_src/__init__.py"), "");
    scene.write(&format!("{site}/jax/_src/xla_bridge.py"), BRIDGE);
    scene.write(&format!("{site}/jax_plugins/accel/__init__.py"), module);
    scene.write("plugin.c", source);
    let library = scene.path(&format!("{site}/jax_plugins/accel/libaccel.so"));
    sp_tests::compile_library(&library, &scene.path("plugin.c"), &[]).then_some(scene)
}

fn steps(scene: &Scene) -> (i32, Vec<Value>) {
    scene.steps(&["--jax"])
}

#[test]
fn all_steps_pass_for_listed_devices() {
    let Some(scene) = scene("0.10.2", MODULE, &table(90, "(void*)f")) else {
        return;
    };
    let (status, steps) = steps(&scene);
    let is_ok = |it: &Value| it["verdict"] == "ok";
    assert!(steps.iter().all(is_ok), "{steps:#?}");
    assert_eq!(status, 0);
    assert_eq!(step(&steps, "plugins")[1], "jax_plugins.accel");
    assert_eq!(
        step(&steps, "version")[1],
        "0.90, 1080 bytes; jaxlib 0.10.2 accepts it"
    );
    assert_eq!(step(&steps, "entry_points")[1], "GetPjrtApi");
    assert_eq!(step(&steps, "devices")[1], "accel: 2");
    assert_eq!(
        step(&steps, "platform")[1],
        "accel; JAX_PLATFORMS is not set"
    );
    assert_eq!(step(&steps, "import")[1], "it lists accel: 2");
}

#[test]
fn names_the_exception_of_initialize() {
    let module = "def initialize():\n    raise OSError('no driver')\n";
    let Some(scene) = scene("0.10.2", module, &table(90, "(void*)f")) else {
        return;
    };
    let (status, steps) = steps(&scene);
    assert_eq!(status, 1);
    let [verdict, detail, advice] = step(&steps, "initialize");
    assert_eq!((verdict, detail), ("failed", "OSError: no driver"));
    assert_contains(advice, "JAX prints such an error in its log only");
    assert_eq!(step(&steps, "devices")[0], "unknown");
}

#[test]
fn module_that_cannot_be_imported_fails() {
    let Some(scene) = scene("0.10.2", "import no_such_module\n", &table(90, "(void*)f")) else {
        return;
    };
    let (_, steps) = steps(&scene);
    let [verdict, detail, _] = step(&steps, "initialize");
    assert_eq!(verdict, "failed");
    assert_contains(detail, "No module named 'no_such_module'");
}

#[test]
fn library_that_is_absent_or_exports_nothing_fails() {
    let absent = MODULE.replace("libaccel.so", "libother.so");
    let Some(scene) = scene("0.10.2", &absent, "void GetOtherApi(void) {}") else {
        return;
    };
    let (_, found) = steps(&scene);
    assert_eq!(step(&found, "file")[0], "failed");
    assert_eq!(step(&found, "load")[0], "failed");
    assert_contains(step(&found, "load")[1], "cannot open shared object file");
    scene.write("site-packages/jax_plugins/accel/__init__.py", MODULE);
    let (_, found) = steps(&scene);
    assert_eq!(step(&found, "entry_points")[0], "failed");
    assert_contains(step(&found, "load")[1], "undefined symbol: GetPjrtApi");
}

#[test]
fn version_is_judged_by_the_demand_of_the_installed_jaxlib() {
    let Some(old) = scene("0.4.30", MODULE, &table(90, "(void*)f")) else {
        return;
    };
    let (status, found) = steps(&old);
    assert_eq!(status, 1);
    let [verdict, detail, _] = step(&found, "version");
    assert_eq!(verdict, "failed");
    let declined = "minor version 90 is newer than 54, the newest that jaxlib 0.4.30 accepts";
    assert_eq!(detail, declined);
    let unmeasured = scene("0.99.0", MODULE, &table(90, "(void*)f")).unwrap();
    let (_, found) = steps(&unmeasured);
    let [verdict, detail, _] = step(&found, "version");
    assert_eq!(verdict, "unknown");
    assert_contains(detail, "jaxlib 0.99.0 was not measured");
}

#[test]
fn names_slots_that_are_null_and_called() {
    let Some(scene) = scene("0.10.2", MODULE, &table(90, "NULL")) else {
        return;
    };
    let (status, steps) = steps(&scene);
    assert_eq!(status, 1);
    let [verdict, detail, advice] = step(&steps, "slots");
    assert_eq!(verdict, "failed");
    assert_contains(
        detail,
        "PJRT_Plugin_Attributes (crash in the program `devices`: SIGSEGV)",
    );
    assert_contains(advice, "UNIMPLEMENTED");
}

#[test]
fn variable_that_excludes_the_platform_fails() {
    let Some(scene) = scene("0.10.2", MODULE, &table(90, "(void*)f")) else {
        return;
    };
    let site = scene.path("site-packages").display().to_string();
    let body = format!("JAX_PLATFORMS=cpu PYTHONPATH={site} exec python3 -S \"$@\"");
    scene.program("python", &body);
    let (status, steps) = steps(&scene);
    assert_eq!(status, 1);
    let [verdict, detail, advice] = step(&steps, "platform");
    assert_eq!(
        (verdict, detail),
        ("failed", "JAX_PLATFORMS=cpu does not name `accel`")
    );
    assert_contains(advice, "add `accel` to it");
    assert_eq!(step(&steps, "devices")[0], "ok");
}

#[test]
fn name_of_another_platform_is_unknown() {
    let module = MODULE.replace("'accel', library", "'other', library");
    let Some(scene) = scene("0.10.2", &module, &table(90, "(void*)f")) else {
        return;
    };
    let (status, steps) = steps(&scene);
    assert_eq!(status, 0);
    let [verdict, detail, _] = step(&steps, "platform");
    assert_eq!(verdict, "unknown");
    assert_contains(
        detail,
        "it is registered as `other`, its devices state `accel`",
    );
}

#[test]
fn python_without_jax_or_plugins() {
    let Some(bare) = Scene::without_tensorflow() else {
        return;
    };
    let (status, found) = steps(&bare);
    assert_eq!((status, step(&found, "jax")[0]), (2, "failed"));
    let Some(scene) = scene("0.10.2", MODULE, &table(90, "(void*)f")) else {
        return;
    };
    std::fs::remove_dir_all(scene.path("site-packages/jax_plugins")).unwrap();
    let (status, found) = steps(&scene);
    assert_eq!((status, step(&found, "plugins")[0]), (1, "failed"));
    assert_contains(
        step(&found, "plugins")[2],
        "entry point of the group `jax_plugins`",
    );
}
