//! Tables and registration as hosts of other releases lay them out, without TensorFlow: what tells a
//! host here is the size of its structs, which end where the host's end.

use std::ffi::c_int;
use std::ptr;

use sp_abi::stream_executor::{
    SE_CreateStreamExecutorParams, SE_PlatformRegistrationParams, SP_Platform, SP_PlatformFns,
    SP_StreamExecutor, SP_TimerFns, epochs::v2_5,
};
use sp_cpu::CpuDevice;
use sp_plugin::platform::{self, PluginInfo};
use sp_runtime::{Field, PrefixMut, UnknownRelease, Versioned};

const POISON: u8 = 0xA5;

/// sp-runtime does not depend on sp-ir, so that a plugin's build stays small: both have the constant.
#[test]
fn ir_and_runtime_agree_on_first_supported_release() {
    let runtime = sp_runtime::FIRST_SUPPORTED.to_string();
    assert_eq!(runtime, sp_ir::Release::FIRST_SUPPORTED.to_string());
}

/// Memory of a host, aligned as structs are, of which the first `size` bytes are the struct.
struct Memory {
    words: Vec<u64>,
    size: usize,
}

impl Memory {
    /// All zero, as TensorFlow makes it, and poison behind.
    fn of(size: usize) -> Self {
        let mut memory = Self {
            words: vec![u64::from_ne_bytes([POISON; 8]); size / 8 + 8],
            size,
        };
        memory.bytes()[..size].fill(0);
        memory.words[0] = size as u64;
        memory
    }

    fn start<T>(&mut self) -> *mut T {
        self.words.as_mut_ptr().cast()
    }

    fn bytes(&mut self) -> &mut [u8] {
        let len = self.words.len() * 8;
        // SAFETY: the words are ours, and any byte is a byte.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), len) }
    }

    fn word(&mut self, offset: usize) -> u64 {
        let bytes = self.bytes()[offset..offset + 8].try_into();
        u64::from_ne_bytes(bytes.unwrap())
    }

    fn is_whole(&mut self) -> bool {
        let size = self.size;
        self.bytes()[size..].iter().all(|byte| *byte == POISON)
    }
}

#[test]
fn slots_stand_where_2_5_has_them() {
    let mut old = Memory::of(264);
    let mut new = Memory::of(288);
    for memory in [&mut old, &mut new] {
        // SAFETY: the memory says its size and has it.
        let mut table = unsafe { PrefixMut::new(memory.start()) };
        SP_StreamExecutor::fill::<CpuDevice>(&mut table);
    }
    assert!(old.is_whole() && new.is_whole());
    assert_eq!((old.word(0), new.word(0)), (264, 288));
    // The first slot is the same code, and so is the last, which 2.7 moved.
    for (old_at, new_at) in [(16, 16), (256, 280)] {
        assert_ne!(old.word(old_at), 0);
        assert_eq!(old.word(old_at), new.word(new_at), "{old_at} {new_at}");
    }
    assert_eq!(end(v2_5::SP_StreamExecutor::host_callback), 264);
}

fn end<T, F, W>(field: Field<T, F, W>) -> usize {
    field.end()
}

/// What a registration leaves in a host whose SP_Platform has `size` bytes, and how many devices
/// it then says there are.
fn register(size: usize) -> (Memory, Memory, c_int) {
    let mut platform = Memory::of(size);
    let mut fns = Memory::of(SP_PlatformFns::STRUCT_SIZE);
    let mut params = SE_PlatformRegistrationParams {
        struct_size: SE_PlatformRegistrationParams::STRUCT_SIZE,
        ext: ptr::null_mut(),
        major_version: 0,
        minor_version: 0,
        patch_version: 1,
        platform: platform.start::<SP_Platform>(),
        platform_fns: fns.start::<SP_PlatformFns>(),
        destroy_platform: None,
        destroy_platform_fns: None,
    };
    let info = PluginInfo {
        name: "demo",
        device_type: c"DEMO",
        platform_name: c"DEMO",
        min_release: sp_plugin::FIRST_SUPPORTED,
        unknown_release: UnknownRelease::ReadHost,
    };
    // SAFETY: as a host calls it; no status is needed where nothing fails.
    unsafe { platform::register::<CpuDevice>(info, &raw mut params, ptr::null_mut()) };
    assert!(params.destroy_platform.is_some() && params.destroy_platform_fns.is_some());
    let mut devices = -1;
    // SAFETY: the table has just been filled, and is whole.
    unsafe {
        let table = &*fns.start::<SP_PlatformFns>();
        let count = table.get_device_count.unwrap();
        count(platform.start(), &raw mut devices, ptr::null_mut());
    }
    (platform, fns, devices)
}

/// What the platform puts into the tables that TensorFlow asks of it, also where it has no devices: a
/// stream executor's of `size` bytes, and a timer's.
fn tables(platform: &mut Memory, fns: &mut Memory, size: usize) -> (Memory, Memory) {
    let (mut executor, mut timer) = (Memory::of(size), Memory::of(SP_TimerFns::STRUCT_SIZE));
    let mut params = SE_CreateStreamExecutorParams {
        struct_size: SE_CreateStreamExecutorParams::STRUCT_SIZE,
        ext: ptr::null_mut(),
        stream_executor: executor.start::<SP_StreamExecutor>(),
    };
    // SAFETY: as a host calls them; no status is needed where nothing fails.
    unsafe {
        let table = &*fns.start::<SP_PlatformFns>();
        let create = table.create_stream_executor.unwrap();
        create(platform.start(), &raw mut params, ptr::null_mut());
        let create = table.create_timer_fns.unwrap();
        create(platform.start(), timer.start(), ptr::null_mut());
        let create = table.create_device_fns.unwrap();
        create(platform.start(), ptr::null_mut(), ptr::null_mut());
    }
    (executor, timer)
}

/// Whether every slot behind `struct_size` and `ext` is there.
fn is_full(table: &mut Memory) -> bool {
    (16..table.size).step_by(8).all(|it| table.word(it) != 0)
}

#[test]
fn a_platform_of_2_5_gets_what_it_has() {
    sp_tests::alone("a_platform_of_2_5_gets_what_it_has", || {
        let (mut platform, mut fns, devices) = register(34);
        assert!(platform.is_whole() && fns.is_whole());
        assert_eq!((platform.word(0), devices), (34, 1));
        assert_eq!(platform.bytes()[33], 1, "use_bfc_allocator");
    });
}

#[test]
fn an_unknown_platform_gets_no_devices_and_a_line_says_why() {
    let said = sp_tests::alone(
        "an_unknown_platform_gets_no_devices_and_a_line_says_why",
        || {
            let (mut platform, mut fns, devices) = register(42);
            assert!(platform.is_whole() && fns.is_whole());
            assert_eq!((platform.word(0), devices), (42, 0));
            assert_ne!((platform.word(16), platform.word(24)), (0, 0), "its names");
            // Where one release has put something else, nothing is written.
            assert_eq!(platform.bytes()[34..42], [0; 8]);
            for size in [288, 320] {
                let (mut executor, mut timer) = tables(&mut platform, &mut fns, size);
                assert!(executor.is_whole() && timer.is_whole());
                assert!(is_full(&mut executor) && is_full(&mut timer), "{size}");
                assert!(is_full(&mut fns));
            }
        },
    );
    if std::env::var_os("SP_ALONE").is_none() {
        let lines: Vec<_> = said
            .lines()
            .filter(|it| it.starts_with("plugin demo:"))
            .collect();
        assert_eq!(lines.len(), 1, "{said}");
        assert!(lines[0].contains("SP_Platform is 42 bytes"), "{said}");
        assert!(lines[0].contains("34 or 35"), "{said}");
    }
}
