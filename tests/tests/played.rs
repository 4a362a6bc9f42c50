//! Hosts that there is none of yet, or none that loads plugins, played by sp-host: a plugin runs where
//! nothing it knows has changed, and otherwise declines with a line that says why.

use std::path::PathBuf;
use std::process::Command;

use sp_host::{Host, Op, Tensor};
use sp_ir::{Api, Field, Item, Struct};

type Change = fn(&mut Struct);

/// A host: which release it says it is, whose structs it has, and what is done to one of them.
#[derive(Clone, Copy)]
struct Played {
    says: &'static str,
    has: &'static str,
    changed: Option<(&'static str, Change)>,
}

/// The newest structs in the release after them.
const NEXT: Played = Played {
    says: "2.23",
    has: "2.22",
    changed: None,
};

const HOSTS: [(&str, Played); 5] = [
    ("same", NEXT),
    ("longer_platform", changed("SP_Platform", append)),
    ("longer_table", changed("SP_StreamExecutor", append)),
    ("broken_table", changed("SP_StreamExecutor", insert)),
    (
        "before",
        Played {
            says: "2.4",
            has: "2.5",
            changed: None,
        },
    ),
];

const fn changed(name: &'static str, change: Change) -> Played {
    Played {
        changed: Some((name, change)),
        ..NEXT
    }
}

/// A slot more at the end.
fn append(body: &mut Struct) {
    let end = body.layout.size;
    let slot = body.fields.iter().find(|field| field.name == "ext");
    let new = Field {
        name: "newcomer".into(),
        offset: end,
        size: 8,
        ..slot.expect("every struct has one").clone()
    };
    body.fields.push(new);
    body.layout.size = end + 8;
    if let Some(size) = &mut body.struct_size {
        size.value = end + 8;
    }
}

/// A slot more behind the first two members, so that all others move.
fn insert(body: &mut Struct) {
    append(body);
    let new = body.fields.pop().expect("one was appended");
    body.fields
        .iter_mut()
        .skip(2)
        .for_each(|field| field.offset += 8);
    body.fields.insert(2, Field { offset: 16, ..new });
}

impl Played {
    fn apis(self) -> Vec<Api> {
        let mut apis = sp_tests::snapshots(self.has);
        for api in &mut apis {
            (api.release, api.preview) = (self.says.into(), None);
            let changed = self
                .changed
                .and_then(|(name, change)| Some((api.items.get_mut(name)?, change)));
            if let Some((Item::Struct(body), change)) = changed {
                change(body);
            }
        }
        apis
    }
}

/// Cargo builds the examples before the tests, beside them.
fn plugin() -> PathBuf {
    let folder = std::env::current_exe().unwrap();
    let folder = folder.ancestors().nth(2).unwrap().join("examples");
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    folder.join(format!("{prefix}far{suffix}"))
}

fn add(host: &Host) -> Result<Vec<Tensor>, sp_host::Error> {
    let one = || Tensor::from([2], &[1_f32, 2.0]);
    host.run(&Op::new("AddV2"), &[one(), one()])
}

/// Runs in a process of its own, which `play` starts: what host it is, a process decides once.
#[test]
fn says_what_became_of_it() {
    let Ok(name) = std::env::var("SP_PLAYED") else {
        return;
    };
    let (_, played) = HOSTS.iter().find(|(known, _)| *known == name).unwrap();
    match Host::open(&played.apis(), &plugin()).and_then(|host| add(&host)) {
        Ok(sums) => println!("added {sums:?}"),
        Err(error) => println!("declined: {error}"),
    }
}

/// What became of the plugin there, and what it said.
fn play(name: &str, assume_append: &str) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "says_what_became_of_it", "--nocapture"])
        .env("SP_PLAYED", name)
        .env("SP_ASSUME_APPEND", assume_append)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{name}: {said}");
    said
}

#[test]
fn an_unknown_release_with_known_sizes_is_served() {
    let said = play("same", "0");
    assert!(said.contains("added [FLOAT"), "{said}");
}

#[test]
fn a_longer_platform_gets_no_devices_and_a_line() {
    let said = play("longer_platform", "0");
    assert!(
        said.contains("declined: the plugin reports 0 devices"),
        "{said}"
    );
    assert!(said.contains("SP_Platform has"), "{said}");
    let lines = said.lines().filter(|line| line.contains("SP_Platform has"));
    assert_eq!(lines.count(), 1, "{said}");
}

#[test]
fn a_longer_table_is_an_error_that_names_it() {
    // Nothing tells a host that appended from one that inserted.
    for name in ["longer_table", "broken_table"] {
        let said = play(name, "0");
        assert!(
            said.contains("declined: create_stream_executor"),
            "{name}: {said}"
        );
        assert!(said.contains("SP_StreamExecutor has"), "{name}: {said}");
    }
}

#[test]
fn whoever_knows_that_it_was_appended_may_say_so() {
    for name in ["longer_platform", "longer_table"] {
        let said = play(name, "1");
        assert!(said.contains("added [FLOAT"), "{name}: {said}");
    }
}

#[test]
fn a_release_before_plugins_is_told_so_and_gets_nothing() {
    // Where slots stand was another matter then, so none is filled.
    let said = play("before", "0");
    assert!(!said.contains("added"), "{said}");
    let line = "plugin: no devices for TensorFlow 2.4: plugins are loaded from TensorFlow 2.5 on";
    assert!(said.contains(line), "{said}");
}
