//! Verifies a plugin: `cargo run -p sp-host --example verify -- target/debug/libmyaccel.so`.

use std::path::Path;
use std::process::ExitCode;

use sp_ir::Api;

const SNAPSHOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../generated/ir");

fn main() -> ExitCode {
    let apis: Vec<Api> = sp_host::EMULATED_APIS.map(snapshot).into();
    sp_host::child_main(&apis);
    let Some(plugin) = std::env::args_os().nth(1) else {
        eprintln!("usage: verify PLUGIN.so");
        return ExitCode::from(2);
    };
    let outcomes = sp_host::run_all_checks(&apis, Path::new(&plugin));
    outcomes.iter().for_each(|outcome| println!("{outcome}"));
    println!("{}", sp_host::summary(&outcomes));
    sp_host::exit_code(&outcomes)
}

fn snapshot(name: &str) -> Api {
    let path = format!("{SNAPSHOTS}/{name}/2.21.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    Api::from_json(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}
