//! Checks that every plugin is written as rustfmt formats it, with short names and, without a backend, with long ones.

use super::*;
use std::process::Command;

const LONG_NAME: &str = "a-long-name-of-an-accelerator-of-vendors";

/// Returns all plugins that can be written: a plugin without kernels has no op and no backend.
fn variants() -> Vec<(Parts, Option<Backend>)> {
    let bits = (0..16).map(|bits: u32| [0, 1, 2, 3].map(|bit| bits >> bit & 1 == 1));
    let parts = bits.map(|[kernels, optimizer, profiler, ops]| Parts {
        kernels,
        optimizer,
        profiler,
        ops,
    });
    parts
        .flat_map(|parts| [None, Some(Backend::OpenCl)].map(|backend| (parts, backend)))
        .filter(|(parts, backend)| parts.kernels || (!parts.ops && backend.is_none()))
        .collect()
}

/// Returns what rustfmt would change in the plugin; the length of the checkout's path does not count.
fn differences(plugin: &Path, checkout: &str) -> String {
    let conformance = plugin.join("tests/conformance.rs");
    let text = fs::read_to_string(&conformance).unwrap();
    fs::write(&conformance, text.replace(checkout, "..")).unwrap();
    let output = Command::new("rustfmt")
        .args(["--check", "--edition", "2024", "src/lib.rs"])
        .args(["tests/conformance.rs"])
        .current_dir(plugin)
        .output()
        .expect("rustfmt is installed with cargo");
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert_eq!(output.status.success(), stdout.is_empty(), "{stderr}");
    stdout
}

#[test]
fn plugins_are_written_as_rustfmt_formats_them() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let checkout = checkout.canonicalize().unwrap();
    let source = SpSource::Checkout(checkout.clone());
    let checkout = checkout.to_str().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    for name in ["x", LONG_NAME] {
        let names = PluginNames::new(name, None, None).unwrap();
        // The kernels of a backend name the device's type, whose length decides where lines end.
        let variants = variants().into_iter();
        let variants = variants.filter(|(_, backend)| backend.is_none() || name == "x");
        for (index, (parts, backend)) in variants.enumerate() {
            let target = scratch.path().join(format!("{name}-{index}"));
            let driver = backend.map(|_| "// the bindings\n");
            let plugin = Plugin {
                backend,
                driver,
                ..plugin(&names, parts, &source)
            };
            create(&target, &plugin).unwrap();
            assert_eq!(
                differences(&target, checkout),
                "",
                "{name}, {parts:?}, {backend:?}"
            );
        }
    }
}
