//! A small diff for the tests of reports: an insertion with all that a finding can say, an appended
//! field, a function that went.

use sp_ir::Loc;

use crate::finding::{Bump, Diff, Directions, Effect, Finding, Impact, Outcome, Shown, Slot};

fn effect(outcome: Outcome, guarded: Outcome, why: &str) -> Effect {
    Effect {
        outcome,
        guarded,
        why: why.into(),
    }
}

fn shown(text: &str, file: &str, line: u32) -> Option<Shown> {
    Some(Shown {
        text: text.into(),
        loc: Loc {
            file: file.into(),
            line,
        },
    })
}

fn slot(offset: u64, old: Option<&str>, new: Option<&str>) -> Slot {
    Slot {
        offset,
        size: 8,
        old: old.map(String::from),
        new: new.map(String::from),
    }
}

/// Between 2.6 and 2.7.
pub fn diff() -> Diff {
    Diff::of(
        "2.6",
        "2.7",
        "x86_64-unknown-linux-gnu",
        vec![inserted(), appended(), removed()],
    )
}

fn inserted() -> Finding {
    Finding {
        rule: "field_inserted",
        api: "stream_executor".into(),
        item: "SP_StreamExecutor.mem_zero".into(),
        impact: Impact::Breaking,
        bump: Bump::Major,
        message: "mem_zero stands where memory_usage stood; what follows moved by 8 bytes".into(),
        directions: Directions {
            old_on_new: effect(
                Outcome::WrongFunction,
                Outcome::Works,
                "the host calls memory_usage where it wants mem_zero",
            ),
            new_on_old: effect(
                Outcome::CorruptsMemory,
                Outcome::WorksWithout,
                "8 bytes behind the host's table are written",
            ),
        },
        bytes: vec![
            slot(32, Some("memory_usage"), Some("mem_zero")),
            slot(40, None, Some("memory_usage")),
        ],
        before: None,
        after: shown(
            "void (*mem_zero)(const SP_Device* device, uint64_t size)",
            "tensorflow/c/se.h",
            3,
        ),
        remedy: "choose the layout by the host's struct_size, as the generated shims do".into(),
        target: None,
    }
}

fn appended() -> Finding {
    Finding {
        rule: "field_appended",
        item: "SP_StreamExecutor.last | <tag>".into(),
        impact: Impact::Compatible,
        bump: Bump::Minor,
        message: "`last` was appended".into(),
        directions: Directions {
            old_on_new: effect(Outcome::Works, Outcome::Works, "it is left empty"),
            new_on_old: effect(
                Outcome::WorksWithout,
                Outcome::WorksWithout,
                "the host does not look there",
            ),
        },
        bytes: Vec::new(),
        ..inserted()
    }
}

fn removed() -> Finding {
    Finding {
        rule: "function_retyped",
        api: "kernels".into(),
        item: "TF_Run".into(),
        message: "TF_Run takes one parameter more".into(),
        bytes: Vec::new(),
        before: shown("void TF_Run(int count)", "tensorflow/c/kernels.h", 1),
        after: shown(
            "void TF_Run(int count, int more)",
            "tensorflow/c/kernels.h",
            2,
        ),
        remedy: String::new(),
        target: Some("i686-unknown-linux-gnu".into()),
        ..inserted()
    }
}
