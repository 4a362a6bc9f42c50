//! Tests of the ownership of results, and of replacement functions.

use super::*;

fn returning(name: &str, ty: &str) -> (String, Item) {
    let mut item = function(name, Vec::new());
    if let Item::Function(item) = &mut item {
        item.signature.ret = pointer(ty);
    }
    (name.into(), item)
}

fn transfer(items: &Items, name: &str) -> Option<(Transfer, Evidence)> {
    let Item::Function(found) = &items[name] else {
        panic!("{name} is not a function")
    };
    let fact = found.signature.ret_transfer.clone();
    fact.map(|fact| (fact.value, fact.evidence))
}

/// Returns `T_New` and `T_Delete`, `T_Peek`, which borrows, and `T_Fail`, whose `Error` has a destructor.
fn constructors() -> Items {
    Items::from([
        returning("T_New", "T"),
        returning("T_Peek", "T"),
        returning("T_Fail", "Error"),
        (
            "T_Delete".into(),
            function("T_Delete", vec![Param::new("it", pointer("T"))]),
        ),
        ("Error_Destroy".into(), function("Error_Destroy", vec![])),
    ])
}

#[test]
fn caller_owns_results_that_have_a_destructor() {
    let items = annotated_items(constructors(), &Comments::default(), "").unwrap();
    let full = Some((Transfer::Full, Evidence::Prefix));
    assert_eq!(transfer(&items, "T_New"), full);
    assert_eq!(transfer(&items, "T_Fail"), full);
    assert_eq!(transfer(&items, "T_Peek"), None);
}

#[test]
fn reads_result_ownership_from_comment_and_note() {
    let comments = comments("T_Peek", "", "Caller takes ownership of\nreturned T.");
    let note = r#"
        [item.T_New]
        ret = { transfer = "none" }
        instead = "T_Peek"
        evidence = "seen""#;
    let items = annotated_items(constructors(), &comments, note).unwrap();
    let comment = Evidence::Comment(loc(2));
    assert_eq!(transfer(&items, "T_Peek"), Some((Transfer::Full, comment)));
    let seen = Evidence::Notes("seen".into());
    assert_eq!(transfer(&items, "T_New"), Some((Transfer::None, seen)));
    let Item::Function(found) = &items["T_New"] else {
        unreachable!()
    };
    assert_eq!(found.instead.clone().unwrap().value, "T_Peek");
}
