//! A small diff for the tests of reports: an inserted field with all properties of a finding, an appended field, and a
//! function with another signature.

use sp_ir::Loc;

use crate::finding::{
    Bump, ByteRange, DeclarationText, Diff, Directions, Effect, Finding, Impact, Outcome,
};

fn effect(outcome: Outcome, guarded: Outcome, why: &str) -> Effect {
    Effect {
        outcome,
        guarded,
        why: why.into(),
    }
}

fn declaration(text: &str, file: &str, line: u32) -> Option<DeclarationText> {
    Some(DeclarationText {
        text: text.into(),
        loc: Loc::new(file, line),
    })
}

fn byte_range(offset: u64, old: Option<&str>, new: Option<&str>) -> ByteRange {
    ByteRange {
        offset,
        size: 8,
        old: old.map(String::from),
        new: new.map(String::from),
    }
}

/// Returns a diff between 2.6 and 2.7.
pub fn diff() -> Diff {
    Diff::new(
        "2.6",
        "2.7",
        "x86_64-unknown-linux-gnu",
        vec![inserted(), appended(), retyped()],
    )
}

fn inserted() -> Finding {
    Finding {
        rule: "field_inserted",
        api: "stream_executor".into(),
        item: "SP_StreamExecutor.mem_zero".into(),
        impact: Impact::Breaking,
        bump: Bump::Major,
        message: "mem_zero was inserted at offset 32; memory_usage moved".into(),
        directions: Directions {
            old_on_new: effect(
                Outcome::WrongFunction,
                Outcome::Works,
                "the host has mem_zero at offset 32, where the plugin has memory_usage",
            ),
            new_on_old: effect(
                Outcome::CorruptsMemory,
                Outcome::WorksWithout,
                "the plugin writes memory_usage at offset 40, past the end of the host's SP_StreamExecutor (40 bytes)",
            ),
        },
        bytes: vec![
            byte_range(32, Some("memory_usage"), Some("mem_zero")),
            byte_range(40, None, Some("memory_usage")),
        ],
        before: None,
        after: declaration(
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
            old_on_new: effect(Outcome::Works, Outcome::Works, "it stays null"),
            new_on_old: effect(
                Outcome::WorksWithout,
                Outcome::WorksWithout,
                "the host does not read it",
            ),
        },
        bytes: Vec::new(),
        ..inserted()
    }
}

fn retyped() -> Finding {
    Finding {
        rule: "function_retyped",
        api: "kernels".into(),
        item: "TF_Run".into(),
        message: "more was added as parameter 2".into(),
        bytes: Vec::new(),
        before: declaration("void TF_Run(int count)", "tensorflow/c/kernels.h", 1),
        after: declaration(
            "void TF_Run(int count, int more)",
            "tensorflow/c/kernels.h",
            2,
        ),
        remedy: String::new(),
        target: Some("i686-unknown-linux-gnu".into()),
        ..inserted()
    }
}
