//! Tables and registration with the struct sizes of other releases, without TensorFlow. The struct size is
//! all that identifies the host here.

use std::ffi::c_int;
use std::ptr;

use sp_abi::stream_executor::{
    SE_CreateStreamExecutorParams, SE_PlatformRegistrationParams, SP_Platform, SP_PlatformFns,
    SP_StreamExecutor, SP_TimerFns, epochs::v2_5,
};
use sp_cpu::CpuDevice;
use sp_plugin::__private::{PlatformPart, PluginInfo, register_part};
use sp_runtime::{Field, PrefixMut, UnknownRelease, Versioned};

const POISON: u8 = 0xA5;

/// Both crates define the constant: sp-runtime does not depend on sp-ir, to keep a plugin's build small.
#[test]
fn ir_and_runtime_agree_on_first_supported_release() {
    let runtime = sp_runtime::FIRST_SUPPORTED.to_string();
    assert_eq!(runtime, sp_ir::Release::FIRST_SUPPORTED.to_string());
}

/// Memory of a host, aligned for any struct. The first `size` bytes are the struct, the rest is poison.
struct HostMemory {
    words: Vec<u64>,
    size: usize,
}

impl HostMemory {
    /// Creates a zeroed struct that states its size, as TensorFlow does, with poison after it.
    fn zeroed(size: usize) -> Self {
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
        // SAFETY: `len` is the size of `words`, which is borrowed mutably, and every byte of a `u64` is initialized.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), len) }
    }

    fn word(&mut self, offset: usize) -> u64 {
        let bytes = self.bytes()[offset..offset + 8].try_into();
        u64::from_ne_bytes(bytes.unwrap())
    }

    /// Returns true if nothing was written after the struct.
    fn has_intact_poison(&mut self) -> bool {
        let size = self.size;
        self.bytes()[size..].iter().all(|byte| *byte == POISON)
    }
}

#[test]
fn slots_have_offsets_of_2_5_in_struct_of_2_5() {
    let mut old = HostMemory::zeroed(264);
    let mut new = HostMemory::zeroed(288);
    for memory in [&mut old, &mut new] {
        // SAFETY: the memory is as long as the size in its first member, and is borrowed by nothing else.
        let mut table = unsafe { PrefixMut::new(memory.start()) };
        SP_StreamExecutor::fill::<CpuDevice>(&mut table);
    }
    assert!(old.has_intact_poison() && new.has_intact_poison());
    assert_eq!((old.word(0), new.word(0)), (264, 288));
    // Offsets of the first slot and of the last one, which 2.7 moved.
    for (old_offset, new_offset) in [(16, 16), (256, 280)] {
        assert_ne!(old.word(old_offset), 0);
        let is_same = old.word(old_offset) == new.word(new_offset);
        assert!(is_same, "{old_offset} {new_offset}");
    }
    assert_eq!(end(v2_5::SP_StreamExecutor::host_callback), 264);
}

fn end<T, F, W>(field: Field<T, F, W>) -> usize {
    field.end()
}

/// Registers the plugin with a host whose SP_Platform has `size` bytes. Returns the platform, its function
/// table and the number of devices that the plugin reports.
fn register(size: usize) -> (HostMemory, HostMemory, c_int) {
    let mut platform = HostMemory::zeroed(size);
    let mut fns = HostMemory::zeroed(SP_PlatformFns::STRUCT_SIZE);
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
        jit_compile: sp_plugin::JitCompile::Ignore,
    };
    // SAFETY: the pointers are those of live structs of the stated sizes, as a host passes them; a status is
    // written on failure only.
    unsafe { register_part::<PlatformPart<CpuDevice>>(info, &raw mut params, ptr::null_mut()) };
    assert!(params.destroy_platform.is_some() && params.destroy_platform_fns.is_some());
    let mut devices = -1;
    // SAFETY: the registration has filled the table, which has the newest size.
    unsafe {
        let table = &*fns.start::<SP_PlatformFns>();
        let count = table.get_device_count.unwrap();
        count(platform.start(), &raw mut devices, ptr::null_mut());
    }
    (platform, fns, devices)
}

/// Returns the tables that the platform fills, also without devices: SP_StreamExecutor of `size` bytes and
/// SP_TimerFns.
fn create_tables(
    platform: &mut HostMemory,
    fns: &mut HostMemory,
    size: usize,
) -> (HostMemory, HostMemory) {
    let mut executor = HostMemory::zeroed(size);
    let mut timer = HostMemory::zeroed(SP_TimerFns::STRUCT_SIZE);
    let mut params = SE_CreateStreamExecutorParams {
        struct_size: SE_CreateStreamExecutorParams::STRUCT_SIZE,
        ext: ptr::null_mut(),
        stream_executor: executor.start::<SP_StreamExecutor>(),
    };
    // SAFETY: the pointers are those of live structs of the stated sizes, as a host passes them; a status is
    // written on failure only.
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

/// Returns true if every slot after `struct_size` and `ext` is set.
fn has_all_slots(table: &mut HostMemory) -> bool {
    (16..table.size)
        .step_by(8)
        .all(|offset| table.word(offset) != 0)
}

#[test]
fn platform_of_2_5_is_filled_within_its_size() {
    sp_tests::in_own_process("platform_of_2_5_is_filled_within_its_size", || {
        let (mut platform, mut fns, devices) = register(34);
        assert!(platform.has_intact_poison() && fns.has_intact_poison());
        assert_eq!((platform.word(0), devices), (34, 1));
        assert_eq!(platform.bytes()[33], 1, "use_bfc_allocator");
    });
}

#[test]
fn platform_of_unknown_size_gets_no_devices_and_one_line() {
    let stderr = sp_tests::in_own_process(
        "platform_of_unknown_size_gets_no_devices_and_one_line",
        || {
            let (mut platform, mut fns, devices) = register(42);
            assert!(platform.has_intact_poison() && fns.has_intact_poison());
            assert_eq!((platform.word(0), devices), (42, 0));
            assert_ne!((platform.word(16), platform.word(24)), (0, 0), "its names");
            // These bytes may be another member in an unknown release, so they stay as they are.
            assert_eq!(platform.bytes()[34..42], [0; 8]);
            for size in [288, 320] {
                let (mut executor, mut timer) = create_tables(&mut platform, &mut fns, size);
                assert!(executor.has_intact_poison() && timer.has_intact_poison());
                assert!(
                    has_all_slots(&mut executor) && has_all_slots(&mut timer),
                    "{size}"
                );
                assert!(has_all_slots(&mut fns));
            }
        },
    );
    if std::env::var_os("SP_OWN_PROCESS").is_none() {
        let lines: Vec<_> = stderr
            .lines()
            .filter(|line| line.starts_with("plugin demo:"))
            .collect();
        assert_eq!(lines.len(), 1, "{stderr}");
        assert!(lines[0].contains("SP_Platform is 42 bytes"), "{stderr}");
        assert!(lines[0].contains("34 or 35"), "{stderr}");
    }
}
