//! The programs of three releases of jaxlib are read, and their texts are those that jaxlib prints. `programs.py` writes both.

use std::fs;
use std::path::{Path, PathBuf};

use sp_stablehlo::{Element, Module, Properties};

const RELEASES: [&str; 3] = ["0.4.38", "0.7.2", "0.10.2"];
const PROGRAMS: [&str; 5] = ["dot", "mlp_step", "convolution", "control_flow", "sharded"];

fn path(release: &str, program: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    folder.join(release).join(program).with_extension("mlirbc")
}

fn load(release: &str, program: &str) -> Vec<u8> {
    fs::read(path(release, program)).unwrap()
}

fn all_programs() -> impl Iterator<Item = (&'static str, &'static str)> {
    RELEASES
        .into_iter()
        .flat_map(|release| PROGRAMS.map(|program| (release, program)))
}

#[test]
fn text_is_that_of_jaxlib() {
    for (release, program) in all_programs() {
        let bytes = load(release, program);
        let text = Module::read(&bytes).unwrap().to_text().unwrap();
        let expected = fs::read_to_string(path(release, program).with_extension("mlir")).unwrap();
        assert_eq!(
            text.lines().count(),
            expected.lines().count(),
            "{release} {program}"
        );
        for (text, expected) in text.lines().zip(expected.lines()) {
            let is_sdy = (release, program) == ("0.10.2", "sharded") && expected.contains("sdy.");
            assert!(
                is_sdy || text == expected,
                "{release} {program}:\n{text}\n{expected}"
            );
        }
    }
}

#[test]
fn parts_of_another_dialect_are_opaque() {
    let bytes = load("0.10.2", "sharded");
    let module = Module::read(&bytes).unwrap();
    let operations = &module.body.operations[0].regions[0].0[0].operations;
    let [mesh, function] = &operations[..] else {
        panic!("{operations:?}")
    };
    assert_eq!((mesh.dialect, mesh.name), ("sdy", "mesh"));
    assert!(matches!(mesh.properties, Properties::Opaque([_, _])));
    assert_eq!((function.dialect, function.name), ("vhlo", "func_v1"));
}

#[test]
fn program_is_accessible_as_data() {
    let bytes = load("0.7.2", "control_flow");
    let module = Module::read(&bytes).unwrap();
    assert_eq!(
        (module.version, module.producer),
        (6, &b"StableHLO_v1.10.9"[..])
    );
    let dialects: Vec<&str> = module.dialects.iter().map(|dialect| dialect.name).collect();
    assert_eq!(dialects, ["builtin", "vhlo"]);
    let main = &module.body.operations[0].regions[0].0[0].operations[0];
    let Properties::Known(properties) = &main.properties else {
        panic!("{main:?}")
    };
    let (_, name) = properties
        .iter()
        .find(|(name, _)| *name == "sym_name")
        .unwrap();
    assert_eq!(module.string(*name), Some(&b"main"[..]));
    let tensors = (0..module.attributes.len()).filter_map(|index| module.elements(index));
    let mask = tensors
        .into_iter()
        .find(|it| it.element == Element::Boolean && it.shape == [9])
        .unwrap();
    assert_eq!(
        (&mask.bytes[..], mask.is_splat),
        (&[1, 0, 1, 1, 0, 0, 1, 1, 1][..], false)
    );
}

/// Reads and prints a program that may be wrong, and returns its error.
fn error(program: &[u8]) -> Option<String> {
    match Module::read(program) {
        Ok(module) => module.to_text().err().map(|error| error.to_string()),
        Err(error) => {
            assert!(error.offset <= program.len(), "{error}");
            Some(error.to_string())
        }
    }
}

#[test]
fn truncated_program_is_rejected() {
    for program in small_programs() {
        let bytes = load("0.10.2", program);
        for length in 0..bytes.len() {
            assert!(
                error(&bytes[..length]).is_some(),
                "{program}: {length} bytes"
            );
        }
    }
}

/// Returns the programs without the step of training, which has no part that the others do not have, and takes most of the time.
fn small_programs() -> impl Iterator<Item = &'static str> {
    PROGRAMS.into_iter().filter(|it| *it != "mlp_step")
}

#[test]
fn program_with_any_byte_changed_is_read_or_rejected() {
    let mut rejected = 0;
    for program in small_programs() {
        let mut bytes = load("0.10.2", program);
        for index in 0..bytes.len() {
            let byte = bytes[index];
            bytes[index] = [0xff, byte ^ 1, byte.wrapping_add(2)][index % 3];
            rejected += usize::from(error(&bytes).is_some());
            bytes[index] = byte;
        }
    }
    assert!(rejected > 1_000, "{rejected}");
}

/// Encodes a number in two bytes.
fn varint(value: usize) -> [u8; 2] {
    ((value << 2 | 2) as u16).to_le_bytes()
}

fn section(id: u8, content: &[u8]) -> Vec<u8> {
    [&[id][..], &varint(content.len()), content].concat()
}

/// Returns a program with one dialect, one name of an operation, one attribute and one type.
fn program(attribute: &[u8], type_: &[u8], operations: &[u8]) -> Vec<u8> {
    let size = |bytes: &[u8]| varint(bytes.len() << 1 | 1);
    let sizes = [&[3, 3, 1, 3][..], &size(attribute), &[1, 3], &size(type_)].concat();
    [
        b"ML\xefR\x0dtest\0".to_vec(),
        section(0, b"\x05\x05\x0bvhlo\0x\0"),
        section(1, &[3, 1, 3, 1, 3, 5]),
        section(2, &[attribute, type_].concat()),
        section(3, &sizes),
        section(4, operations),
    ]
    .concat()
}

const UNIT: &[u8] = &[3, 1];
const FLOAT: &[u8] = &[9];

#[test]
fn reads_smallest_program() {
    assert_eq!(error(&program(UNIT, FLOAT, &[1])), None);
}

#[test]
fn error_has_offset_and_reason() {
    let cases: [(Vec<u8>, &str); 7] = [
        (
            b"HloModule".to_vec(),
            "byte 0: the program is not MLIR bytecode",
        ),
        (
            b"ML\xefR\x0fx\0".to_vec(),
            "byte 4: version 7 of the format is unknown, 1 to 6 are known",
        ),
        (
            program(&[0x41], FLOAT, &[1]),
            "byte 35: attribute 32 of VHLO is unknown",
        ),
        (program(UNIT, &[0x67], &[1]), "type 51 of VHLO is unknown"),
        (
            program(&[3, 3, 1], FLOAT, &[1]),
            "more than 64 attributes or types refer to each other",
        ),
        (
            program(UNIT, &[3, 1], &[1]),
            "more than 64 attributes or types refer to each other",
        ),
        (
            program(&[7, 0x0d], FLOAT, &[1]),
            "6 is no value of the enumeration",
        ),
    ];
    for (program, expected) in cases {
        let message = error(&program).unwrap();
        assert!(message.ends_with(expected), "{message}: {expected}");
    }
}

#[test]
fn nested_regions_are_limited() {
    // An operation with one region of one block with one operation: its name, mask, location and count of regions.
    let nested = |depth: usize| {
        let open: &[u8] = &[5, 1, 0x10, 1, 5, 3, 1];
        program(
            UNIT,
            FLOAT,
            &[&open.repeat(depth)[..], &[5, 1, 0, 1]].concat(),
        )
    };
    assert_eq!(error(&nested(60)), None);
    assert!(
        error(&nested(70))
            .unwrap()
            .ends_with("more than 64 regions are inside of each other")
    );
}

#[test]
fn text_of_shared_attributes_is_limited() {
    // Arrays of sixteen times the array before: the text would have 16 to the power of 12 items.
    let arrays: Vec<Vec<u8>> = (0..12_usize)
        .map(|index| {
            [
                &[3, 33][..],
                &[(index.saturating_sub(1) << 1 | 1) as u8; 16],
            ]
            .concat()
        })
        .collect();
    let mut arrays = arrays;
    arrays[0] = vec![3, 1];
    let sizes: Vec<u8> = arrays
        .iter()
        .flat_map(|array| varint(array.len() << 1 | 1))
        .collect();
    let program = [
        b"ML\xefR\x0dtest\0".to_vec(),
        section(0, b"\x05\x05\x0bvhlo\0x\0"),
        section(1, &[3, 1, 3, 1, 3, 5]),
        section(2, &[&arrays.concat()[..], FLOAT].concat()),
        section(
            3,
            &[&[25, 3, 1, 25][..], &sizes, &[1, 3], &varint(3)].concat(),
        ),
        section(4, &[5, 1, 1, 1, 23]),
    ]
    .concat();
    assert_eq!(
        error(&program).as_deref(),
        Some("the text of the program is longer than 67108864 bytes")
    );
}
