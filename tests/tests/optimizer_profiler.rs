//! Registration and calls of the graph optimizer and the profiler, without TensorFlow: in an accepted host,
//! in a declined one, and if the author's code fails.

use std::ffi::CStr;
use std::ptr;
use std::time::{Duration, SystemTime};

use sp_abi::grappler::{TP_Optimizer, TP_OptimizerConfigs, TP_OptimizerRegistrationParams};
use sp_abi::pluggable_profiler::{TF_ProfilerRegistrationParams, TP_Profiler, TP_ProfilerFns};
use sp_abi::tf_buffer::TF_Buffer;
use sp_plugin::__private::{OptimizerPart, PluginInfo, ProfilerPart, register_part};
use sp_plugin::graph::{Graph, Item, Node};
use sp_plugin::optimizer::{Pass, Switch};
use sp_plugin::profiler::Space;
use sp_plugin::{Error, FIRST_SUPPORTED, Optimizer, Profiler, Release, Releases, Result};
use sp_runtime::{Host, HostRequirements, UnknownRelease, Versioned};

const PLUGIN_INFO: PluginInfo = PluginInfo {
    name: "demo",
    device_type: c"DEMO",
    platform_name: c"DEMO",
    min_release: FIRST_SUPPORTED,
    unknown_release: UnknownRelease::ReadHost,
    jit_compile: sp_plugin::JitCompile::Ignore,
};

/// Identifies the host by `evidence`, as the device's entry point does before the other parts register.
fn identify_host(evidence: Result<Releases>) {
    let requirements = HostRequirements {
        plugin: PLUGIN_INFO.name,
        oldest: FIRST_SUPPORTED,
        unknown_release: PLUGIN_INFO.unknown_release,
    };
    // SAFETY: sp-abi has the facts of TensorFlow's headers, and the tests' structs are those of `evidence`.
    unsafe { Host::get_or_decide(&requirements, &sp_abi::KNOWN_RELEASES, || vec![evidence]) };
}

fn release_2_7() -> Result<Releases> {
    Ok(Releases::from(Release::new(2, 7)))
}

/// A host's struct, which may be longer than the known one.
#[repr(C)]
struct ExtendedStruct<T> {
    known: T,
    extension: [u64; 2],
}

impl<T: Versioned> ExtendedStruct<T> {
    /// Creates a zeroed struct that states a size of `bytes` more than the known one.
    fn zeroed(bytes: usize) -> Box<Self> {
        let mut value = Box::<Self>::new_uninit();
        // SAFETY: numbers, pointers and optional functions are valid as zeros, and the first member of
        // every `Versioned` struct is its size, a `usize`.
        unsafe {
            value.as_mut_ptr().write_bytes(0, 1);
            value
                .as_mut_ptr()
                .cast::<usize>()
                .write(T::STRUCT_SIZE + bytes);
            value.assume_init()
        }
    }
}

/// Removes every node; panics on a graph without nodes.
#[derive(Default)]
struct RemoveNodes;

impl Optimizer for RemoveNodes {
    const PASSES: &'static [(Pass, Switch)] = &[(Pass::Remapping, Switch::Off)];

    fn optimize(&mut self, item: &Item<'_>) -> Result<Option<Vec<u8>>> {
        let mut graph = item.graph()?;
        assert!(!graph.nodes.is_empty(), "a graph without nodes");
        graph.nodes.clear();
        Ok(Some(graph.to_bytes()))
    }
}

struct RegisteredOptimizer {
    configs: Box<ExtendedStruct<TP_OptimizerConfigs>>,
    table: Box<ExtendedStruct<TP_Optimizer>>,
    device_type: &'static CStr,
}

/// Registers the optimizer with a configuration struct that is `extension` bytes longer than the known one.
fn register(extension: usize) -> RegisteredOptimizer {
    let mut configs = ExtendedStruct::<TP_OptimizerConfigs>::zeroed(extension);
    let mut table = ExtendedStruct::<TP_Optimizer>::zeroed(0);
    let mut params = ExtendedStruct::<TP_OptimizerRegistrationParams>::zeroed(0);
    params.known.optimizer_configs = &raw mut configs.known;
    params.known.optimizer = &raw mut table.known;
    // SAFETY: the pointers are those of live structs of the stated sizes; a status is written on failure only.
    unsafe {
        register_part::<OptimizerPart<RemoveNodes>>(
            PLUGIN_INFO,
            &raw mut params.known,
            ptr::null_mut(),
        )
    };
    // SAFETY: the plugin's device type is a static C string.
    let device_type = unsafe { CStr::from_ptr(params.known.device_type) };
    RegisteredOptimizer {
        configs,
        table,
        device_type,
    }
}

/// Returns the optimized `graph`, or `None` if the optimizer leaves the output buffer empty.
fn optimize(table: &TP_Optimizer, graph: &[u8]) -> Option<Vec<u8>> {
    let mut input = TF_Buffer {
        data: graph.as_ptr().cast(),
        length: graph.len(),
        data_deallocator: None,
    };
    let mut output = TF_Buffer {
        data: ptr::null(),
        length: 0,
        data_deallocator: None,
    };
    // SAFETY: the functions are called in the order of a host, with live buffers; a status is written on
    // failure only.
    unsafe {
        let optimizer = table.create_func.map_or(ptr::null_mut(), |create| create());
        let run = table.optimize_func.unwrap();
        run(
            optimizer,
            &raw mut input,
            ptr::null(),
            &raw mut output,
            ptr::null_mut(),
        );
        if let Some(destroy) = table.destroy_func {
            destroy(optimizer);
        }
        let free = output.data_deallocator?;
        let bytes = std::slice::from_raw_parts(output.data.cast(), output.length).to_vec();
        free(output.data.cast_mut(), output.length);
        Some(bytes)
    }
}

fn graph() -> Vec<u8> {
    let mut graph = Graph::default();
    graph.nodes.push(Node::new("x", "NoOp"));
    graph.to_bytes()
}

/// Runs `body` of `test` in a process of its own; returns the plugin's lines, or `None` in that process.
fn lines(test: &str, body: impl FnOnce()) -> Option<Vec<String>> {
    let stderr = sp_tests::in_own_process(test, body);
    let lines = stderr
        .lines()
        .filter(|line| line.starts_with("plugin demo:"));
    std::env::var_os("SP_OWN_PROCESS")
        .is_none()
        .then(|| lines.map(str::to_owned).collect())
}

#[test]
fn optimizer_returns_graph_and_its_panic_returns_none() {
    lines("optimizer_returns_graph_and_its_panic_returns_none", || {
        identify_host(release_2_7());
        let registered = register(0);
        assert_eq!(registered.device_type, c"DEMO");
        assert_eq!(registered.configs.known.remapping.0, 1);
        let optimized = |graph: &[u8]| optimize(&registered.table.known, graph);
        assert_eq!(optimized(&graph()).as_deref(), Some(&[][..]));
        assert_eq!(optimized(b"no graph"), None, "the graph is invalid");
        assert_eq!(optimized(&[]), None, "the graph has no nodes");
    });
}

#[test]
fn longer_configuration_declines_only_the_optimizer() {
    let lines = lines("longer_configuration_declines_only_the_optimizer", || {
        identify_host(release_2_7());
        let registered = register(8);
        assert_eq!(registered.device_type, c"DEMO_DECLINED");
        assert_eq!(registered.configs.known.remapping.0, 0);
        assert_eq!(registered.configs.extension, [0; 2]);
        assert_eq!(optimize(&registered.table.known, &graph()), Some(graph()));
    });
    if let Some(lines) = lines {
        assert_eq!(lines.len(), 1, "{lines:?}");
        let expected = [
            "declined",
            "for its graph optimizer",
            "TP_OptimizerConfigs is 100 bytes",
        ];
        assert!(
            expected.iter().all(|text| lines[0].contains(text)),
            "{lines:?}"
        );
    }
}

#[test]
fn declined_host_gets_no_line_from_later_parts() {
    let lines = lines("declined_host_gets_no_line_from_later_parts", || {
        identify_host(Err(Error::internal("an unknown platform")));
        assert_eq!(register(0).device_type, c"DEMO_DECLINED");
        let profiler = RegisteredProfiler::<PanicsInThirdSession>::register();
        profiler.start();
        profiler.stop();
        assert_eq!(profiler.size(), 0);
    });
    // The line is the device's entry point's, which this test does not call.
    assert!(lines.is_none_or(|lines| lines.is_empty()));
}

/// Records one event in each session, and panics in every third.
#[derive(Default)]
struct PanicsInThirdSession {
    sessions: usize,
    recorded: bool,
}

impl Profiler for PanicsInThirdSession {
    fn start(&mut self) -> Result<()> {
        (self.sessions, self.recorded) = (self.sessions + 1, true);
        Ok(())
    }

    fn stop(&mut self) -> Result<()> {
        Ok(())
    }

    fn collect(&mut self) -> Result<Space> {
        assert!(!self.sessions.is_multiple_of(3), "the third session");
        let mut space = Space::default();
        if std::mem::take(&mut self.recorded) {
            let mut line = space.device("DEMO", 0).line(1, "queue");
            line.add_event("work", SystemTime::now(), Duration::from_micros(5));
        }
        Ok(space)
    }
}

struct RegisteredProfiler<P> {
    profiler: Box<ExtendedStruct<TP_Profiler>>,
    fns: Box<ExtendedStruct<TP_ProfilerFns>>,
    author: std::marker::PhantomData<P>,
}

impl<P: Profiler> RegisteredProfiler<P> {
    fn register() -> Self {
        let mut profiler = ExtendedStruct::<TP_Profiler>::zeroed(0);
        let mut fns = ExtendedStruct::<TP_ProfilerFns>::zeroed(0);
        let mut params = ExtendedStruct::<TF_ProfilerRegistrationParams>::zeroed(0);
        params.known.profiler = &raw mut profiler.known;
        params.known.profiler_fns = &raw mut fns.known;
        // SAFETY: the pointers are those of live structs of the stated sizes; a status is written on failure only.
        unsafe {
            register_part::<ProfilerPart<P>>(PLUGIN_INFO, &raw mut params.known, ptr::null_mut())
        };
        assert!(params.known.destroy_profiler.is_some());
        Self {
            profiler,
            fns,
            author: std::marker::PhantomData,
        }
    }

    fn start(&self) {
        // SAFETY: the profiler was registered and is alive; a status is written on failure only.
        unsafe { self.fns.known.start.unwrap()(&raw const self.profiler.known, ptr::null_mut()) }
    }

    fn stop(&self) {
        // SAFETY: the profiler was registered and is alive; a status is written on failure only.
        unsafe { self.fns.known.stop.unwrap()(&raw const self.profiler.known, ptr::null_mut()) }
    }

    fn collect(&self, buffer: *mut u8, size: &mut usize) {
        let collect = self.fns.known.collect_data_xspace.unwrap();
        // SAFETY: the profiler was registered and is alive; `buffer` is null or has `size` bytes.
        unsafe {
            collect(
                &raw const self.profiler.known,
                buffer,
                size,
                ptr::null_mut(),
            )
        }
    }

    /// Returns the size that the profiler reports for a null buffer.
    fn size(&self) -> usize {
        let mut size = usize::MAX;
        self.collect(ptr::null_mut(), &mut size);
        size
    }
}

#[test]
fn session_is_collected_once_and_panic_gives_no_bytes() {
    lines("session_is_collected_once_and_panic_gives_no_bytes", || {
        identify_host(release_2_7());
        let profiler = RegisteredProfiler::<PanicsInThirdSession>::register();
        assert_eq!(profiler.size(), 0, "before a session");
        for session in 1..=6 {
            profiler.start();
            profiler.stop();
            let size = profiler.size();
            if session % 3 == 0 {
                assert_eq!(size, 0, "the profiler panics");
                continue;
            }
            assert_eq!(profiler.size(), size, "second call");
            let mut buffer = vec![0; size];
            let mut short = size - 1;
            profiler.collect(buffer.as_mut_ptr(), &mut short);
            assert!(
                buffer.iter().all(|byte| *byte == 0),
                "the buffer is too short"
            );
            let mut capacity = size;
            profiler.collect(buffer.as_mut_ptr(), &mut capacity);
            assert!(String::from_utf8_lossy(&buffer).contains("work"));
            assert_eq!(profiler.size(), 0, "collected before");
        }
    });
}
