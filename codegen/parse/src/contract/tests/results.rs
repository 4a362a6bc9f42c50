//! Whose what a function returns is, and what does the same elsewhere.

use super::*;

fn giving(name: &str, ty: &str) -> (String, Item) {
    let mut item = function(name, Vec::new());
    if let Item::Function(item) = &mut item {
        item.signature.ret = pointer(ty);
    }
    (name.into(), item)
}

fn transfer(items: &Items, name: &str) -> Option<(Transfer, Evidence)> {
    let Item::Function(found) = &items[name] else {
        panic!("{name} is no function")
    };
    let said = found.signature.ret_transfer.clone();
    said.map(|said| (said.value, said.evidence))
}

/// `T_New` makes what `T_Delete` ends, `T_Peek` shows it, and every `Error*` is ended by its owner.
fn makers() -> Items {
    Items::from([
        giving("T_New", "T"),
        giving("T_Peek", "T"),
        giving("T_Fail", "Error"),
        (
            "T_Delete".into(),
            function("T_Delete", vec![param("it", pointer("T"))]),
        ),
        ("Error_Destroy".into(), function("Error_Destroy", vec![])),
    ])
}

#[test]
fn what_is_made_and_what_is_ended_are_the_callers() {
    let mut items = makers();
    let (comments, known) = (Comments::default(), Known::default());
    annotate(&mut items, &comments, &notes(""), &known, "2.21").unwrap();
    let full = Some((Transfer::Full, Evidence::Prefix));
    assert_eq!(transfer(&items, "T_New"), full);
    assert_eq!(transfer(&items, "T_Fail"), full);
    assert_eq!(transfer(&items, "T_Peek"), None);
}

#[test]
fn a_comment_and_a_note_say_it_of_others() {
    let mut items = makers();
    let mut comments = Comments::default();
    let text = "Caller takes ownership of\nreturned T.".into();
    comments.add("T_Peek", "", Comment { text, loc: loc(7) });
    let note = r#"
        [item.T_New]
        ret = { transfer = "none" }
        instead = "T_Peek"
        evidence = "seen""#;
    let known = Known::default();
    annotate(&mut items, &comments, &notes(note), &known, "2.21").unwrap();
    let comment = Evidence::Comment(loc(7));
    assert_eq!(transfer(&items, "T_Peek"), Some((Transfer::Full, comment)));
    let seen = Evidence::Notes("seen".into());
    assert_eq!(transfer(&items, "T_New"), Some((Transfer::None, seen)));
    let Item::Function(found) = &items["T_New"] else {
        unreachable!()
    };
    assert_eq!(found.instead.clone().unwrap().value, "T_Peek");
}
