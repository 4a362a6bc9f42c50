//! Properties of executables: names, numbers, results, costs and serialization.

use sp_host::child_checks::{CheckResult, Stop};

use super::attribute;
use super::topology::take_bytes;
use crate::args::Args;
use crate::buffer::{F32, HostArray, ensure, expect_error};
use crate::memory;
use crate::plugin::{Called, Plugin};
use crate::program::{DOUBLE, Executable, TWO_RESULTS, options};
use crate::session::Session;

/// An executable with its part without devices.
struct Compiled<'p, 'a> {
    loaded: Executable<'p, 'a>,
    unloaded: u64,
}

impl<'p, 'a> Compiled<'p, 'a> {
    fn new(loaded: Executable<'p, 'a>) -> Result<Self, Stop> {
        let unloaded = loaded.unloaded()?;
        Ok(Self { loaded, unloaded })
    }

    fn plugin(&self) -> &'p Plugin<'a> {
        self.loaded.device.plugin()
    }

    /// Calls a function of the executable, such as `Name`.
    fn call(&self, function: &str) -> Result<Args<'a>, Stop> {
        let set = [("executable", self.unloaded)];
        self.plugin().call(&format!("Executable_{function}"), &set)
    }

    fn destroy(self) -> Result<(), Stop> {
        self.call("Destroy")?;
        self.loaded.destroy()
    }
}

/// Name, replicas, partitions and the size of the code.
pub(super) fn properties(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let compiled = Compiled::new(device.compile(DOUBLE)?)?;
    let args = compiled.call("Name")?;
    let name = compiled.plugin().text(&args, "executable_name")?;
    ensure(!name.is_empty(), || "the executable has no name".into())?;
    for (function, field, expected) in [
        ("NumReplicas", "num_replicas", 1),
        ("NumPartitions", "num_partitions", 1),
        ("NumOutputs", "num_outputs", 1),
    ] {
        let count = compiled.call(function)?.get(field)?;
        ensure(count == expected, || {
            format!("{field} is {count}, expected {expected}")
        })?;
    }
    let size = compiled.call("SizeOfGeneratedCodeInBytes");
    let size = size.and_then(|args| args.get("size_in_bytes"));
    let size = super::buffer::optional(size)?.map_or(-1, |size| size as i64);
    ensure(size >= -1, || format!("the size of the code is {size}"))?;
    compiled.destroy()?;
    Ok(name)
}

/// The types and dimensions of the results are those of the program.
pub(super) fn results(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let compiled = Compiled::new(device.compile(TWO_RESULTS)?)?;
    let count = compiled.call("NumOutputs")?.get("num_outputs")?;
    ensure(count == 2, || format!("num_outputs is {count}, expected 2"))?;
    let args = compiled.call("OutputElementTypes")?;
    let count = args.get("num_output_types")? as usize;
    let types = memory::bytes(args.get("output_types")?, count * 4, "output_types")?;
    let types: Vec<u8> = types.chunks(4).map(|it| it[0]).collect();
    ensure(types == [F32 as u8; 2], || {
        format!("the element types are {types:?}, expected F32")
    })?;
    let args = compiled.call("OutputDimensions")?;
    let count = args.get("num_outputs")? as usize;
    ensure(count == 2, || {
        format!("num_outputs of the dimensions is {count}, expected 2")
    })?;
    let ranks = memory::words(args.get("dim_sizes")?, count, "dim_sizes")?;
    let dims = memory::words(
        args.get("dims")?,
        ranks.iter().sum::<u64>() as usize,
        "dims",
    )?;
    ensure(ranks == [2, 2] && dims == [2, 3, 2, 3], || {
        format!("the results have the ranks {ranks:?} and dimensions {dims:?}")
    })?;
    compiled.destroy()?;
    Ok("2 results of 2 by 3 floats".into())
}

/// The kinds of memory of the results are those of the device.
pub(super) fn memory_kinds(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let compiled = Compiled::new(device.compile(TWO_RESULTS)?)?;
    let args = compiled.call("OutputMemoryKinds")?;
    let count = args.get("num_outputs")? as usize;
    ensure(count == 2, || {
        format!("there are {count} kinds for 2 results")
    })?;
    let texts = memory::words(args.get("memory_kinds")?, count, "memory_kinds")?;
    let sizes = memory::words(args.get("memory_kind_sizes")?, count, "memory_kind_sizes")?;
    let mut kinds = vec![];
    for (text, size) in texts.into_iter().zip(sizes) {
        kinds.push(memory::text(text, size as usize, "a kind of memory")?);
    }
    let mut known = vec![];
    for memory in super::memory_space::of_device(&device.client, device.handle)? {
        let args = device.plugin().call("Memory_Kind", &[("memory", memory)])?;
        known.push(device.plugin().text(&args, "kind")?);
    }
    ensure(kinds.iter().all(|kind| known.contains(kind)), || {
        format!("the results are in {kinds:?}, and the device has {known:?}")
    })?;
    compiled.destroy()?;
    Ok(kinds.join(", "))
}

/// Equal programs have equal fingerprints.
pub(super) fn fingerprint(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let (first, second) = (device.compile(DOUBLE)?, device.compile(DOUBLE)?);
    let read = |executable: &Executable<'_, '_>| {
        let unloaded = executable.unloaded()?;
        let set = [("executable", unloaded)];
        let args = device.plugin().call("Executable_Fingerprint", &set)?;
        device.plugin().text(&args, "executable_fingerprint")
    };
    let (one, other) = (read(&first)?, read(&second)?);
    ensure(!one.is_empty() && one == other, || {
        format!("the fingerprints of one program are {one:?} and {other:?}")
    })?;
    first.destroy()?;
    second.destroy()?;
    Ok(one.chars().take(32).collect())
}

/// The costs of an executable are named numbers.
pub(super) fn costs(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let compiled = Compiled::new(device.compile(DOUBLE)?)?;
    let args = compiled.call("GetCostAnalysis")?;
    let items = attribute::read(compiled.plugin(), &args, "properties", "num_properties")?;
    compiled.destroy()?;
    Ok(attribute::describe(&items))
}

/// The sizes of arguments and results are those of the program.
pub(super) fn memory_statistics(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let compiled = Compiled::new(device.compile(DOUBLE)?)?;
    let args = compiled.call("GetCompiledMemoryStats")?;
    for field in ["argument_size_in_bytes", "output_size_in_bytes"] {
        let size = args.get(field)? as i64;
        ensure((24..1 << 20).contains(&size), || {
            format!("{field} is {size}, expected 24")
        })?;
    }
    let temporary = args.get("temp_size_in_bytes")? as i64;
    ensure(temporary >= 0, || {
        format!("temp_size_in_bytes is {temporary}")
    })?;
    compiled.destroy()?;
    Ok("arguments and results".into())
}

/// The optimized program has the size that a first call returns, and the name of its format.
pub(super) fn optimized_program(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let compiled = Compiled::new(device.compile(DOUBLE)?)?;
    let size = read_optimized(&compiled, 0, 0)?.get("code_size")? as usize;
    ensure((1..1 << 30).contains(&size), || {
        format!("the code has {size} bytes")
    })?;
    let mut code = vec![0xa5_u8; size + 16];
    let program = read_optimized(&compiled, code.as_mut_ptr() as u64, size as u64)?;
    let format = compiled.plugin().text(&program, "format")?;
    ensure(!format.is_empty(), || "the format has no name".into())?;
    ensure(code[size..].iter().all(|byte| *byte == 0xa5), || {
        format!("more than the {size} bytes of the code were written")
    })?;
    ensure(code[..size].iter().any(|byte| *byte != 0xa5), || {
        "no code was written".into()
    })?;
    compiled.destroy()?;
    Ok(format!("{size} bytes of {format}"))
}

/// Returns the struct of the program after a call with memory for its code.
fn read_optimized<'a>(compiled: &Compiled<'_, 'a>, code: u64, size: u64) -> Result<Args<'a>, Stop> {
    let mut program = Args::new(compiled.plugin().api, "PJRT_Program")?
        .set("code", code)?
        .set_inout("code_size", size)?;
    let set = [
        ("executable", compiled.unloaded),
        ("program", program.address()),
    ];
    let function = "Executable_OptimizedProgram";
    compiled.plugin().call(function, &set)?;
    program.check_bounds()?;
    Ok(program)
}

/// A serialized executable computes the same after it is deserialized.
pub(super) fn serialization(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let compiled = Compiled::new(device.compile(DOUBLE)?)?;
    let args = compiled.call("Serialize")?;
    let bytes = take_bytes(compiled.plugin(), &args, "serialized_executable")?;
    compiled.destroy()?;
    let called = deserialize(&device, &bytes)?;
    let args = device
        .plugin()
        .require("Executable_DeserializeAndLoad", called)?;
    let loaded = Executable {
        device: &device,
        handle: args.pointer("loaded_executable")?,
    };
    let x = device.put(&HostArray::counting(&[2, 3]))?;
    let results = loaded.execute(&[x], 1)?;
    let expected = HostArray::floats(&[2, 3], &[2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    results[0].expect(&expected, "the result of a deserialized executable")?;
    loaded.destroy()?;
    Ok(format!("{} bytes", bytes.len()))
}

/// Other bytes than those of an executable are an error.
pub(super) fn garbage(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let compiled = Compiled::new(device.compile(DOUBLE)?)?;
    let args = compiled.call("Serialize")?;
    let bytes = take_bytes(compiled.plugin(), &args, "serialized_executable")?;
    for (bytes, what) in [
        (&b"\xff\xff\xffgarbage"[..], "an executable of other bytes"),
        (b"", "an executable without bytes"),
        (&bytes[..bytes.len() / 2], "half of an executable"),
    ] {
        expect_error(deserialize(&device, bytes)?, what)?;
    }
    compiled.destroy()?;
    Ok("3 texts of bytes".into())
}

fn deserialize<'a>(device: &crate::session::Device<'a>, bytes: &[u8]) -> Result<Called<'a>, Stop> {
    let set = [
        ("serialized_executable", bytes.as_ptr() as u64),
        ("serialized_executable_size", bytes.len() as u64),
    ];
    device
        .client
        .try_call("Executable_DeserializeAndLoad", &set)
}

/// The serialized compile options can be compiled with again.
pub(super) fn compile_options(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let compiled = Compiled::new(device.compile(DOUBLE)?)?;
    let args = compiled.call("GetCompileOptions")?;
    let bytes = take_bytes(compiled.plugin(), &args, "serialized_compile_options")?;
    compiled.destroy()?;
    ensure(!bytes.is_empty() || options(1).is_empty(), || {
        "the options are empty".into()
    })?;
    let again = device.try_compile(DOUBLE.as_bytes(), "mlir", &bytes)?;
    ensure(again.is_ok(), || {
        format!(
            "the options of an executable do not compile: {:?}",
            again.err()
        )
    })?;
    Ok(format!("{} bytes", bytes.len()))
}
