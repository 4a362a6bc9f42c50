use sp_abi::stream_executor::TimerFns;
use sp_plugin::vtable;

struct Mine;

#[vtable]
impl TimerFns for Mine {
    type Timer = u64;
}

fn main() {}
