//! The recorder. A process has one, so its tests take turns.

use std::sync::{Mutex, PoisonError};

use super::scope::CallDetails;
use super::*;

/// Runs a test while no other one uses the recorder.
pub(crate) fn alone<T>(test: impl FnOnce() -> T) -> T {
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
        owner: "mine",
        is_reference: false,
        device,
    }
}

#[test]
fn records_calls_between_start_and_stop() {
    alone(|| {
        assert!(begin().is_none());
        start();
        let first = begin().unwrap();
        first.add_input("TF_FLOAT", &[2, 3], 24);
        first.add_input("TF_INT32", &[], 4);
        first.record(details("Relu", 0));
        let other = std::thread::spawn(|| begin().unwrap().record(details("MatMul", 1)));
        other.join().unwrap();
        stop();
        assert!(begin().is_none());
        let calls = take_calls();
        let recorded: Vec<_> = calls.iter().map(|it| (it.kernel, it.device)).collect();
        assert_eq!(recorded, [("Relu", 0), ("MatMul", 1)]);
        assert_eq!(calls[0].inputs, "float[2,3];int32[]");
        assert_eq!(calls[0].input_bytes, 28);
        assert_ne!(calls[0].thread, calls[1].thread);
        assert_ne!(calls[0].correlation, calls[1].correlation);
        assert_eq!(take_calls(), []);
    });
}

#[test]
fn source_of_kernel_is_its_owner_or_staged() {
    alone(|| {
        start();
        for (copied_bytes, is_reference) in [(0, false), (0, true), (8, true)] {
            let call = begin().unwrap();
            call.record(CallDetails {
                copied_bytes,
                is_reference,
                ..details("Relu", 0)
            });
        }
        stop();
        let sources: Vec<_> = take().kernels.iter().map(|it| it.source.name()).collect();
        assert_eq!(sources, ["own", "reference", "staged"]);
    });
}

#[test]
fn command_of_kernel_has_number_of_call_and_others_have_own() {
    alone(|| {
        start();
        let call = begin().unwrap();
        let kernel = Started::now().command(CommandKind::Kernel, 0, 1);
        let copy = Started::now().command(CommandKind::Fill(4), 0, 1);
        assert_eq!(kernel.correlation, call.correlation());
        assert_ne!(copy.correlation, kernel.correlation);
        drop(call);
        let outside = Started::now().command(CommandKind::Kernel, 0, 1);
        assert_ne!(outside.correlation, kernel.correlation);
        stop();
    });
}

#[test]
fn copy_is_recorded_when_it_ends() {
    alone(|| {
        assert!(record_copy(0, Direction::ToHost, 8).is_none());
        start();
        drop(record_copy(2, Direction::ToHost, 8));
        stop();
        let recorded = take();
        let [command] = &recorded.commands[..] else {
            panic!("{recorded:?}")
        };
        assert_eq!(command.kind, CommandKind::Copy(Direction::ToHost, 8));
        assert_eq!((command.device, command.clock), (2, Clock::Host));
    });
}
