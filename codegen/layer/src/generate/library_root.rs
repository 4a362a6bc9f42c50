//! The root of the generated library: its `dlsym`, and the start when it is loaded.

#![allow(dead_code, reason = "a release may lack what a part of the runtime is for")]

mod generated;
mod runtime;

use std::arch::naked_asm;

/// The function that the loader calls when it has loaded the library.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    runtime::start(&generated::TABLES);
}

extern "C" fn real_dlsym() -> usize {
    runtime::real_dlsym()
}

/// Returns the layer's address for `name`, or jumps to the dynamic loader's `dlsym`, for which the return address on the
/// stack remains that of the caller.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn dlsym(handle: usize, name: usize) -> usize {
    naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "mov rdx, [rsp + 24]",
        "call {find}",
        "test rax, rax",
        "jne 2f",
        "call {real}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        "2:",
        "add rsp, 24",
        "ret",
        find = sym runtime::interpose::find,
        real = sym real_dlsym,
    )
}

/// As above.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn dlsym(handle: usize, name: usize) -> usize {
    naked_asm!(
        "stp x29, x30, [sp, #-32]!",
        "stp x0, x1, [sp, #16]",
        "mov x2, x30",
        "bl {find}",
        "cbnz x0, 2f",
        "bl {real}",
        "mov x16, x0",
        "ldp x0, x1, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        "br x16",
        "2:",
        "ldp x29, x30, [sp], #32",
        "ret",
        find = sym runtime::interpose::find,
        real = sym real_dlsym,
    )
}
