//! The recorder, without a session: other tests of the process would be in it. `templates/cpu/tests/profile.rs` has sessions.

use std::sync::{Mutex, PoisonError};

use sp_abi::tf_datatype::TF_DataType;

use super::scope::{CallDetails, begin_call};
use super::*;

/// Runs a test while no other one uses the recorder.
fn alone<T>(test: impl FnOnce() -> T) -> T {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    test()
}

fn details(kernel: &'static str, device: u32) -> CallDetails {
    CallDetails {
        kernel,
        op: kernel,
        node: "node".into(),
        step: 3,
        copied_bytes: 0,
        is_behind: false,
        owner: "mine",
        is_reference: false,
        device,
    }
}

#[test]
fn call_is_not_recorded_without_session() {
    assert!(begin().is_none());
    assert!(begin_activity(ActivityKind::Wait(1)).is_none());
    assert!(record_copy(0, Direction::ToHost, 8).is_none());
}

#[test]
fn calls_have_inputs_threads_and_numbers() {
    alone(|| {
        let first = begin_call();
        first.add_input(TF_DataType::TF_FLOAT, &[2, 3], 24);
        first.add_input(TF_DataType::TF_INT32, &[], 4);
        first.record(details("Relu", 0));
        let other = std::thread::spawn(|| begin_call().record(details("MatMul", 1)));
        other.join().unwrap();
        let calls = take_calls();
        let recorded: Vec<_> = calls.iter().map(|it| (it.kernel, it.device)).collect();
        assert_eq!(recorded, [("Relu", 0), ("MatMul", 1)]);
        assert_eq!(calls[0].inputs, "float[2,3];int32[]");
        assert_eq!((calls[0].input_bytes, calls[0].step), (28, 3));
        assert_ne!(calls[0].thread, calls[1].thread);
        assert_ne!(calls[0].correlation, calls[1].correlation);
        assert_eq!(take_calls(), []);
    });
}

#[test]
fn source_of_kernel_is_its_owner_or_staged() {
    alone(|| {
        for (copied_bytes, is_reference) in [(0, false), (0, true), (8, true)] {
            begin_call().record(CallDetails {
                copied_bytes,
                is_reference,
                ..details("Relu", 0)
            });
        }
        let sources: Vec<_> = take_calls().iter().map(|it| it.source.name()).collect();
        assert_eq!(sources, ["own", "reference", "staged"]);
    });
}

#[test]
fn command_of_kernel_has_number_of_call_and_others_have_own() {
    let call = begin_call();
    let kernel = Started::now().command(CommandKind::Kernel, 0, 1);
    let copy = Started::now().command(CommandKind::Fill(4), 0, 1);
    assert_eq!(kernel.correlation, call.correlation());
    assert_ne!(copy.correlation, kernel.correlation);
    drop(call);
    let outside = Started::now().command(CommandKind::Kernel, 0, 1);
    assert_ne!(outside.correlation, kernel.correlation);
}

#[test]
fn number_of_outer_call_is_restored_after_inner_one() {
    let outer = begin_call();
    drop(begin_call());
    let command = Started::now().command(CommandKind::Kernel, 0, 1);
    assert_eq!(command.correlation, outer.correlation());
}
