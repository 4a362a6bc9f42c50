//! The graph optimizer and the profiler as a host registers and calls them, without TensorFlow: served,
//! declined, and with an author's part that fails.

use std::ffi::CStr;
use std::ptr;
use std::time::{Duration, SystemTime};

use sp_abi::grappler::{TP_Optimizer, TP_OptimizerConfigs, TP_OptimizerRegistrationParams};
use sp_abi::pluggable_profiler::{TF_ProfilerRegistrationParams, TP_Profiler, TP_ProfilerFns};
use sp_abi::tf_buffer::TF_Buffer;
use sp_plugin::graph::{Graph, Item, Node};
use sp_plugin::optimizer::{self, Pass, Switch};
use sp_plugin::platform::PluginInfo;
use sp_plugin::profiler::{self, Space};
use sp_plugin::{Error, FIRST_SUPPORTED, Optimizer, Profiler, Release, Releases, Result};
use sp_runtime::{Host, HostRequirements, UnknownRelease, Versioned};

const PLUGIN_INFO: PluginInfo = PluginInfo {
    name: "demo",
    device_type: c"DEMO",
    platform_name: c"DEMO",
    min_release: FIRST_SUPPORTED,
    unknown_release: UnknownRelease::ReadHost,
};

/// The host that the device's entry point has found: one that later parts can rely on, or not.
fn host(clue: Result<Releases>) {
    let terms = HostRequirements {
        plugin: PLUGIN_INFO.name,
        oldest: FIRST_SUPPORTED,
        unknown_release: PLUGIN_INFO.unknown_release,
    };
    Host::get_or_decide(&terms, &sp_abi::KNOWN_RELEASES, || vec![clue]);
}

fn of_2_7() -> Result<Releases> {
    Ok(Releases::from(Release::new(2, 7)))
}

/// A struct of a host's, that may be longer than ours.
#[repr(C)]
struct Longer<T> {
    known: T,
    more: [u64; 2],
}

impl<T: Versioned> Longer<T> {
    /// All zero, as TensorFlow makes it, but for the size.
    fn by(bytes: usize) -> Box<Self> {
        let mut made = Box::<Self>::new_uninit();
        // SAFETY: structs of numbers, pointers and functions that may be absent are good as zeros, and
        // open with their size.
        unsafe {
            made.as_mut_ptr().write_bytes(0, 1);
            made.as_mut_ptr()
                .cast::<usize>()
                .write(T::STRUCT_SIZE + bytes);
            made.assume_init()
        }
    }
}

/// Removes every node; fails on graphs without any.
#[derive(Default)]
struct Empty;

impl Optimizer for Empty {
    const PASSES: &'static [(Pass, Switch)] = &[(Pass::Remapping, Switch::Off)];

    fn optimize(&mut self, item: &Item<'_>) -> Result<Option<Vec<u8>>> {
        let mut graph = item.graph()?;
        assert!(!graph.nodes.is_empty(), "a graph without nodes");
        graph.nodes.clear();
        Ok(Some(graph.to_bytes()))
    }
}

struct Registered {
    configs: Box<Longer<TP_OptimizerConfigs>>,
    table: Box<Longer<TP_Optimizer>>,
    device_type: &'static CStr,
}

fn register(longer: usize) -> Registered {
    let mut configs = Longer::<TP_OptimizerConfigs>::by(longer);
    let mut table = Longer::<TP_Optimizer>::by(0);
    let mut params = Longer::<TP_OptimizerRegistrationParams>::by(0);
    params.known.optimizer_configs = &raw mut configs.known;
    params.known.optimizer = &raw mut table.known;
    // SAFETY: as a host calls it; no status is needed where nothing fails.
    unsafe { optimizer::register::<Empty>(PLUGIN_INFO, &raw mut params.known, ptr::null_mut()) };
    // SAFETY: the plugin's name for a device type lives for ever.
    let device_type = unsafe { CStr::from_ptr(params.known.device_type) };
    Registered {
        configs,
        table,
        device_type,
    }
}

/// What the optimizer makes of `graph`; `None` where it puts nothing into the buffer.
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
    // SAFETY: as a host calls them, with buffers of its own and no status.
    unsafe {
        let made = table.create_func.map_or(ptr::null_mut(), |create| create());
        let run = table.optimize_func.unwrap();
        run(
            made,
            &raw mut input,
            ptr::null(),
            &raw mut output,
            ptr::null_mut(),
        );
        if let Some(destroy) = table.destroy_func {
            destroy(made);
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

/// The lines of a test in a process of its own, and nothing in that process.
fn lines(test: &str, body: impl FnOnce()) -> Option<Vec<String>> {
    let said = sp_tests::alone(test, body);
    let ours = said.lines().filter(|line| line.starts_with("plugin demo:"));
    std::env::var_os("SP_ALONE")
        .is_none()
        .then(|| ours.map(str::to_owned).collect())
}

#[test]
fn an_optimizer_is_asked_and_its_panic_leaves_nothing() {
    lines("an_optimizer_is_asked_and_its_panic_leaves_nothing", || {
        host(of_2_7());
        let found = register(0);
        assert_eq!(found.device_type, c"DEMO");
        assert_eq!(found.configs.known.remapping.0, 1);
        let optimized = |graph: &[u8]| optimize(&found.table.known, graph);
        assert_eq!(optimized(&graph()).as_deref(), Some(&[][..]));
        assert_eq!(optimized(b"no graph"), None, "it fails");
        assert_eq!(optimized(&[]), None, "it panics");
    });
}

#[test]
fn a_longer_configuration_declines_the_optimizer_alone() {
    let lines = lines(
        "a_longer_configuration_declines_the_optimizer_alone",
        || {
            host(of_2_7());
            let found = register(8);
            assert_eq!(found.device_type, c"DEMO_DECLINED");
            assert_eq!(found.configs.known.remapping.0, 0);
            assert_eq!(found.configs.more, [0; 2]);
            assert_eq!(optimize(&found.table.known, &graph()), Some(graph()));
        },
    );
    if let Some(lines) = lines {
        assert_eq!(lines.len(), 1, "{lines:?}");
        let wanted = [
            "declined",
            "for its graph optimizer",
            "TP_OptimizerConfigs is 100 bytes",
        ];
        assert!(
            wanted.iter().all(|part| lines[0].contains(part)),
            "{lines:?}"
        );
    }
}

#[test]
fn a_host_that_is_declined_hears_of_it_once() {
    let lines = lines("a_host_that_is_declined_hears_of_it_once", || {
        host(Err(Error::internal("a platform that nobody knows")));
        assert_eq!(register(0).device_type, c"DEMO_DECLINED");
        let profiler = Profiling::<Failing>::register();
        profiler.start();
        profiler.stop();
        assert_eq!(profiler.size(), 0);
    });
    // The device's entry point says the line.
    assert!(lines.is_none_or(|lines| lines.is_empty()));
}

/// Has an event for each session; fails in every third.
#[derive(Default)]
struct Failing {
    sessions: usize,
    recorded: bool,
}

impl Profiler for Failing {
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

struct Profiling<P> {
    profiler: Box<Longer<TP_Profiler>>,
    fns: Box<Longer<TP_ProfilerFns>>,
    of: std::marker::PhantomData<P>,
}

impl<P: Profiler> Profiling<P> {
    fn register() -> Self {
        let mut profiler = Longer::<TP_Profiler>::by(0);
        let mut fns = Longer::<TP_ProfilerFns>::by(0);
        let mut params = Longer::<TF_ProfilerRegistrationParams>::by(0);
        params.known.profiler = &raw mut profiler.known;
        params.known.profiler_fns = &raw mut fns.known;
        // SAFETY: as a host calls it; no status is needed where nothing fails.
        unsafe { profiler::register::<P>(PLUGIN_INFO, &raw mut params.known, ptr::null_mut()) };
        assert!(params.known.destroy_profiler.is_some());
        Self {
            profiler,
            fns,
            of: std::marker::PhantomData,
        }
    }

    fn start(&self) {
        // SAFETY: as a host calls it.
        unsafe { self.fns.known.start.unwrap()(&raw const self.profiler.known, ptr::null_mut()) }
    }

    fn stop(&self) {
        // SAFETY: as a host calls it.
        unsafe { self.fns.known.stop.unwrap()(&raw const self.profiler.known, ptr::null_mut()) }
    }

    fn collect(&self, buffer: *mut u8, size: &mut usize) {
        let collect = self.fns.known.collect_data_xspace.unwrap();
        // SAFETY: as a host calls it, with a buffer of that size or none.
        unsafe {
            collect(
                &raw const self.profiler.known,
                buffer,
                size,
                ptr::null_mut(),
            )
        }
    }

    /// The answer to the first question; a host has put nothing there.
    fn size(&self) -> usize {
        let mut size = usize::MAX;
        self.collect(ptr::null_mut(), &mut size);
        size
    }
}

#[test]
fn a_session_is_collected_once_and_a_panic_is_no_bytes() {
    lines(
        "a_session_is_collected_once_and_a_panic_is_no_bytes",
        || {
            host(of_2_7());
            let profiler = Profiling::<Failing>::register();
            assert_eq!(profiler.size(), 0, "before a session");
            for session in 1..=6 {
                profiler.start();
                profiler.stop();
                let size = profiler.size();
                if session % 3 == 0 {
                    assert_eq!(size, 0, "it panics");
                    continue;
                }
                assert_eq!(profiler.size(), size, "asked again");
                let mut buffer = vec![0; size];
                let mut short = size - 1;
                profiler.collect(buffer.as_mut_ptr(), &mut short);
                assert!(buffer.iter().all(|byte| *byte == 0), "no room, so nothing");
                let mut room = size;
                profiler.collect(buffer.as_mut_ptr(), &mut room);
                assert!(String::from_utf8_lossy(&buffer).contains("work"));
                assert_eq!(profiler.size(), 0, "once a session");
            }
        },
    );
}
