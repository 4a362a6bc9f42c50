//! Programs, compile options, and executables.

use sp_host::child_checks::Stop;

use crate::args::Args;
use crate::buffer::{Buffer, ensure};
use crate::plugin::Called;
use crate::session::Device;

/// `x + x` of 2 by 3 floats, as StableHLO in MLIR's text form, which a plugin must read as the bytecode.
pub(crate) const DOUBLE: &str = "module @sp_gen_double {\n  \
    func.func public @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {\n    \
    %0 = stablehlo.add %arg0, %arg0 : tensor<2x3xf32>\n    \
    return %0 : tensor<2x3xf32>\n  }\n}\n";

/// [`DOUBLE`] as JAX sends programs: MLIR's bytecode of StableHLO 1.0.0, which later versions read for five years. StableHLO's
/// `serialize_portable_artifact_str` has written it from the text.
pub(crate) const DOUBLE_BYTECODE: &[u8] = include_bytes!("double.mlirbc");

/// Two results, `x + y` and `x * y`.
pub(crate) const TWO_RESULTS: &str = "module @sp_gen_two {\n  \
    func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {\n    \
    %0 = stablehlo.add %arg0, %arg1 : tensor<2x3xf32>\n    \
    %1 = stablehlo.multiply %arg0, %arg1 : tensor<2x3xf32>\n    \
    return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>\n  }\n}\n";

/// [`DOUBLE`] whose argument may be overwritten by the result, as JAX states donation.
pub(crate) const DONATES: &str = "module @sp_gen_donates {\n  \
    func.func public @main(%arg0: tensor<2x3xf32> {tf.aliasing_output = 0 : i32}) -> tensor<2x3xf32> {\n    \
    %0 = stablehlo.add %arg0, %arg0 : tensor<2x3xf32>\n    \
    return %0 : tensor<2x3xf32>\n  }\n}\n";

/// Returns the serialized CompileOptionsProto for `replicas` replicas of one partition.
pub(crate) fn options(replicas: u8) -> Vec<u8> {
    // Field 3, executable_build_options: device_ordinal (1) of -1, num_replicas (4), num_partitions (5).
    let mut build = vec![0x08];
    build.extend([0xff; 9]);
    build.push(1);
    build.extend([0x20, replicas, 0x28, 1]);
    let mut options = vec![0x1a, build.len() as u8];
    options.extend(build);
    options
}

impl<'a> Device<'a> {
    /// Compiles a program, which may fail.
    pub fn try_compile(
        &self,
        code: &[u8],
        format: &str,
        options: &[u8],
    ) -> Result<Called<'a>, Stop> {
        let mut code = code.to_vec();
        let mut program = Args::new(self.plugin().api, "PJRT_Program")?
            .set("code", code.as_mut_ptr() as u64)?
            .set("code_size", code.len() as u64)?
            .set("format", format.as_ptr() as u64)?
            .set("format_size", format.len() as u64)?;
        let set = [
            ("program", program.address()),
            ("compile_options", options.as_ptr() as u64),
            ("compile_options_size", options.len() as u64),
        ];
        let called = self.client.try_call("Client_Compile", &set)?;
        program.check_bounds()?;
        Ok(called)
    }

    /// Compiles StableHLO. Skips the check if the plugin cannot compile the simplest program, which `pjrt_compile` reports.
    pub fn compile(&self, code: &str) -> Result<Executable<'_, 'a>, Stop> {
        match self.try_compile(code.as_bytes(), "mlir", &options(1))? {
            Ok(args) => self.executable(&args),
            Err(error) => Err(Stop::Skip(format!("a program is not compiled: {error}"))),
        }
    }
}

impl<'a> Device<'a> {
    /// Returns the executable of a compilation.
    pub fn executable(&self, compiled: &Args<'a>) -> Result<Executable<'_, 'a>, Stop> {
        Ok(Executable {
            device: self,
            handle: compiled.pointer("executable")?,
        })
    }
}

/// Fails unless a list that the plugin fills has no null pointer but the last one, which is past its end.
fn expect_filled(list: &[u64]) -> Result<(), Stop> {
    let (last, filled) = list.split_last().expect("the list has a margin");
    ensure(*last == 0, || {
        "PJRT_LoadedExecutable_Execute wrote past the end of a list".into()
    })?;
    ensure(!filled.contains(&0), || {
        "PJRT_LoadedExecutable_Execute left a result or an event null".into()
    })
}

/// A loaded executable with its device.
pub(crate) struct Executable<'p, 'a> {
    pub device: &'p Device<'a>,
    pub handle: u64,
}

impl<'p, 'a> Executable<'p, 'a> {
    /// Calls a function of the loaded executable, such as `Delete`.
    pub fn loaded(&self, function: &str, set: &[(&str, u64)]) -> Result<Args<'a>, Stop> {
        let set = [&[("executable", self.handle)], set].concat();
        let function = format!("LoadedExecutable_{function}");
        self.device.plugin().call(&function, &set)
    }

    /// Returns the executable without devices, which the caller destroys.
    pub fn unloaded(&self) -> Result<u64, Stop> {
        let set = [("loaded_executable", self.handle)];
        let function = "LoadedExecutable_GetExecutable";
        self.device
            .plugin()
            .call(function, &set)?
            .pointer("executable")
    }

    /// Executes with one list of arguments, which may fail. Returns the results after the event of the execution.
    pub fn try_execute(
        &self,
        arguments: &[u64],
        results: usize,
    ) -> Result<Result<Vec<Buffer<'p, 'a>>, crate::plugin::PluginError>, Stop> {
        let plugin = self.device.plugin();
        let mut options = Args::new(plugin.api, "PJRT_ExecuteOptions")?;
        let (mut outputs, mut events) = (vec![0_u64; results + 1], [0_u64; 2]);
        let argument_lists = [arguments.as_ptr() as u64];
        let output_lists = [outputs.as_mut_ptr() as u64];
        let set = [
            ("executable", self.handle),
            ("options", options.address()),
            ("argument_lists", argument_lists.as_ptr() as u64),
            ("num_devices", 1),
            ("num_args", arguments.len() as u64),
            ("output_lists", output_lists.as_ptr() as u64),
            ("device_complete_events", events.as_mut_ptr() as u64),
        ];
        let called = plugin.try_call("LoadedExecutable_Execute", &set)?;
        options.check_bounds()?;
        if let Err(error) = called {
            return Ok(Err(error));
        }
        expect_filled(&outputs)?;
        expect_filled(&events)?;
        let waited = crate::buffer::wait(plugin, events[0])?;
        let buffers = outputs[..results].iter();
        let buffers = buffers.map(|handle| Buffer::new(plugin, *handle));
        Ok(waited.map(|()| buffers.collect()))
    }

    /// Executes with one list of arguments.
    pub fn execute(
        &self,
        arguments: &[Buffer<'_, '_>],
        results: usize,
    ) -> Result<Vec<Buffer<'p, 'a>>, Stop> {
        let handles: Vec<u64> = arguments.iter().map(|it| it.handle).collect();
        let executed = self.try_execute(&handles, results)?;
        executed.map_err(|error| Stop::Fail(format!("the execution failed: {error}")))
    }

    /// Destroys the executable.
    pub fn destroy(&self) -> Result<(), Stop> {
        self.loaded("Destroy", &[]).map(drop)
    }
}
