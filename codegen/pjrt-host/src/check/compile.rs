//! Compilation: formats, garbage and options.

use sp_host::child_checks::{CheckResult, Stop};

use crate::buffer::{HostArray, ensure, expect_error};
use crate::plugin::{Called, PluginError, UNIMPLEMENTED};
use crate::program::{DOUBLE, DOUBLE_BYTECODE, options};
use crate::session::{Device, Session};

/// StableHLO is compiled.
pub(super) fn stablehlo(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let called = device.try_compile(DOUBLE.as_bytes(), "mlir", &options(1))?;
    match called {
        Ok(args) => {
            args.pointer("executable")?;
            Ok(format!("{} bytes of text", DOUBLE.len()))
        }
        Err(error) => Err(not_compiled(&error, "a program of one addition")),
    }
}

fn not_compiled(error: &PluginError, what: &str) -> Stop {
    match error.code {
        UNIMPLEMENTED => Stop::Skip(format!("the plugin compiles no StableHLO: {error}")),
        _ => Stop::Fail(format!("{what}: {error}")),
    }
}

/// StableHLO in bytecode is compiled, and computes.
pub(super) fn bytecode(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let called = device.try_compile(DOUBLE_BYTECODE, "mlir", &options(1))?;
    let compiled = called.map_err(|error| not_compiled(&error, "a program in bytecode"))?;
    let executable = device.executable(&compiled)?;
    let x = device.put(&HostArray::counting(&[2, 3]))?;
    let results = executable.execute(&[x], 1)?;
    let doubled = HostArray::floats(&[2, 3], &[2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    results[0].expect(&doubled, "x + x of a program in bytecode")?;
    results[0].destroy()?;
    x.destroy()?;
    executable.destroy()?;
    Ok(format!(
        "{} bytes of StableHLO 1.0.0",
        DOUBLE_BYTECODE.len()
    ))
}

/// Skips the check if the plugin compiles nothing.
fn require_compiler(device: &Device<'_>) -> Result<(), Stop> {
    device.compile(DOUBLE)?.destroy()
}

fn expect_rejected(called: Called<'_>, what: &str) -> Result<String, Stop> {
    Ok(expect_error(called, what)?.to_string())
}

/// Code that is no program of its format is an error.
pub(super) fn garbage(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    require_compiler(&device)?;
    let truncated = &DOUBLE.as_bytes()[..DOUBLE.len() / 2];
    let bytecode = b"ML\xefR\x01\x00garbage";
    let mut last = String::new();
    for (code, what) in [
        (&b"garbage"[..], "a text that is no program"),
        (b"", "an empty program"),
        (truncated, "half of a program"),
        (bytecode, "bytecode of other bytes"),
        (&[0; 4096], "a program of zeros"),
    ] {
        let called = device.try_compile(code, "mlir", &options(1))?;
        last = expect_rejected(called, what)?;
    }
    require_compiler(&device)?;
    Ok(format!("5 programs; the last one: {last}"))
}

/// A program in the format of TensorFlow that is none is an error.
pub(super) fn garbage_hlo(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    require_compiler(&device)?;
    let called = device.try_compile(b"\xff\xff\xffgarbage", "hlo", &options(1))?;
    let text = expect_rejected(called, "an HloModuleProto of other bytes")?;
    require_compiler(&device)?;
    Ok(text)
}

/// A format that does not exist is an error.
pub(super) fn unknown_format(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    require_compiler(&device)?;
    for format in ["sp_gen_unknown", ""] {
        let called = device.try_compile(DOUBLE.as_bytes(), format, &options(1))?;
        expect_rejected(called, &format!("a program of the format {format:?}"))?;
    }
    Ok("2 formats".into())
}

/// Options that are no CompileOptionsProto are an error.
pub(super) fn garbage_options(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    require_compiler(&device)?;
    let called = device.try_compile(DOUBLE.as_bytes(), "mlir", b"\xff\xff\xffgarbage")?;
    let text = expect_rejected(called, "compile options of other bytes")?;
    require_compiler(&device)?;
    Ok(text)
}

/// More replicas than devices are an error.
pub(super) fn too_many_replicas(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    require_compiler(&device)?;
    let devices = device.client.list("Client_Devices", "devices")?.len();
    ensure(devices < 100, || "more than 100 devices".into())
        .map_err(|_| Stop::Skip("the client has more than 100 devices".into()))?;
    let called = device.try_compile(DOUBLE.as_bytes(), "mlir", &options(100))?;
    expect_rejected(called, "a program for 100 replicas")
}
