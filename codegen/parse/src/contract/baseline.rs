//! Compares the comments of headers at hand with those of the newest known release. A comment that differs takes
//! precedence over the notes, which were written for that release.

use sp_ir::{Direction, Evidence, Field, Item, Loc, Presence, Side, Signature, Stated, Struct};

use super::Items;

type Fact<T> = Option<Stated<T>>;

/// Replaces each fact of `items` whose comment differs from the comment in `baseline`. `commented`
/// are the same items without notes.
pub fn prefer_changed_comments(items: &mut Items, commented: &Items, baseline: &Items) {
    for (name, item) in items {
        match (item, &commented[name], baseline.get(name)) {
            (Item::Struct(item), Item::Struct(commented), Some(Item::Struct(known))) => {
                update_struct(item, commented, known);
            }
            (Item::Function(item), Item::Function(commented), Some(Item::Function(known))) => {
                let signatures = (&commented.signature, &known.signature);
                update_signature(&mut item.signature, signatures.0, signatures.1);
            }
            _ => {}
        }
    }
}

/// The difference between a comment and the baseline's.
#[derive(PartialEq, Eq)]
enum CommentChange {
    Same,
    Changed,
    Removed,
}

/// Replaces a fact by the value of a comment that changed.
fn update<T: Clone + PartialEq>(
    fact: &mut Fact<T>,
    commented: &Fact<T>,
    known: &Fact<T>,
) -> CommentChange {
    match (comment_value(commented), comment_value(known)) {
        (now, before) if now == before => CommentChange::Same,
        (None, _) => CommentChange::Removed,
        (Some(_), _) => {
            *fact = commented.clone();
            CommentChange::Changed
        }
    }
}

fn comment_value<T>(fact: &Fact<T>) -> Option<&T> {
    fact.as_ref()?.comment_value()
}

fn update_struct(item: &mut Struct, commented: &Struct, known: &Struct) {
    update(&mut item.filled_by, &commented.filled_by, &known.filled_by);
    let filler = item.filled_by.as_ref().map(|fact| fact.value);
    for (field, commented) in item.fields.iter_mut().zip(&commented.fields) {
        if let Some(known) = known.fields.iter().find(|known| known.name == field.name) {
            update_field(field, commented, known, filler);
        }
    }
}

/// Updates the facts of a field. Without its marker, a field follows the header's rules: it is required, and the side
/// that fills the struct fills it. `ext` is always optional.
fn update_field(field: &mut Field, commented: &Field, known: &Field, filler: Option<Side>) {
    keep_required(field, known);
    let presence = update(&mut field.presence, &commented.presence, &known.presence);
    if presence == CommentChange::Removed && field.name != "ext" {
        field.presence = unmarked(Presence::Required, &field.loc);
    }
    update(&mut field.filled_by, &commented.filled_by, &known.filled_by);
    let direction = update(&mut field.direction, &commented.direction, &known.direction);
    let is_filled_by_core =
        filler == Some(Side::Core) && comment_value(&commented.filled_by).is_none();
    if direction == CommentChange::Removed && is_filled_by_core {
        field.direction = unmarked(Direction::In, &field.loc);
    }
}

/// Copies a requirement of the known release's libraries, which holds until the header's comment differs.
fn keep_required(field: &mut Field, known: &Field) {
    let Some(known) = known.presence.as_ref() else {
        return;
    };
    if known.evidence == Evidence::Library {
        let comment = field.presence.as_ref().and_then(Stated::comment_value);
        field.presence = Some(Stated {
            comment: comment.copied(),
            ..known.clone()
        });
    }
}

fn unmarked<T>(value: T, loc: &Loc) -> Fact<T> {
    Some(Stated::new(value, Evidence::Comment(loc.clone())))
}

/// Updates the facts of a signature. A note still applies if its comment was removed: an absent comment states nothing.
fn update_signature(item: &mut Signature, commented: &Signature, known: &Signature) {
    for (param, commented) in item.params.iter_mut().zip(&commented.params) {
        if let Some(known) = known.params.iter().find(|known| known.name == param.name) {
            update(&mut param.direction, &commented.direction, &known.direction);
            update(&mut param.transfer, &commented.transfer, &known.transfer);
        }
    }
    update(
        &mut item.ret_transfer,
        &commented.ret_transfer,
        &known.ret_transfer,
    );
}
