//! Reads any bytes, and programs of jaxlib with any changes, as MLIR bytecode: they are read or rejected, without a panic and
//! with memory in proportion to the program. The text of a program has its limit.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sp_fuzz::bytes::edited;
use sp_fuzz::sized::{Counting, most_taken};
use sp_stablehlo::Module;

/// The most memory for a program without a byte, and for each byte: an operation of four bytes is 200 here, in a list with
/// room for four.
const BASE: usize = 1 << 20;
const PROPORTION: usize = 1024;

const SAMPLES: [&[u8]; 5] = [
    b"",
    include_bytes!("../../../codegen/stablehlo/tests/programs/0.10.2/dot.mlirbc"),
    include_bytes!("../../../codegen/stablehlo/tests/programs/0.10.2/convolution.mlirbc"),
    include_bytes!("../../../codegen/stablehlo/tests/programs/0.10.2/control_flow.mlirbc"),
    include_bytes!("../../../codegen/stablehlo/tests/programs/0.10.2/sharded.mlirbc"),
];

#[global_allocator]
static COUNTING: Counting = Counting;

fuzz_target!(|input: (u8, &[u8])| {
    let (sample, bytes) = input;
    let sample = SAMPLES[usize::from(sample) % SAMPLES.len()];
    let program = match sample {
        [] => bytes.to_vec(),
        sample => edited(sample, bytes),
    };
    let taken = most_taken(|| drop(Module::read(&program)));
    let limit = BASE + PROPORTION * program.len();
    assert!(taken <= limit, "{taken} bytes for {}", program.len());
    let Ok(module) = Module::read(&program) else {
        return;
    };
    for index in 0..module.attributes.len() {
        let _ = (module.elements(index), module.string(index));
    }
    if let Ok(text) = module.to_text() {
        assert!(text.len() <= 1 << 26);
    }
});
