//! Reads the markers in fields' comments: `[Optional]`, `[in/out]`, `output, to be filled by plugin`, `Input/output`,
//! `reserved for future use`, `free-form data set by plugin`.

use sp_ir::{Direction, Evidence, Field, Item, Presence, Side};

use super::{Items, state};
use crate::clang::{Comment, Comments};

/// The facts that the markers of a comment state.
#[derive(Debug, Default, PartialEq, Eq)]
struct Markers {
    presence: Option<Presence>,
    direction: Option<Direction>,
    filled_by: Option<Side>,
}

/// Adds the facts that the markers state.
pub fn annotate(items: &mut Items, comments: &Comments) {
    for (name, item) in items {
        let Item::Struct(item) = item else { continue };
        for field in &mut item.fields {
            for comment in comments.get(name, &field.name) {
                apply(field, comment);
            }
        }
    }
}

fn apply(field: &mut Field, comment: &Comment) {
    let markers = read(&comment.text);
    let evidence = || Evidence::Comment(comment.loc.clone());
    if let Some(value) = markers.presence {
        state(&mut field.presence, value, evidence());
    }
    if let Some(value) = markers.direction {
        state(&mut field.direction, value, evidence());
    }
    if let Some(value) = markers.filled_by {
        state(&mut field.filled_by, value, evidence());
    }
}

fn read(comment: &str) -> Markers {
    let text = comment.to_lowercase();
    let is_reserved = text.starts_with("reserved for future use");
    let is_free_form = text.starts_with("free-form data");
    let is_marked = text.lines().any(is_optional);
    Markers {
        presence: (is_marked || is_reserved || is_free_form).then_some(Presence::Optional),
        direction: direction(&text),
        filled_by: filler(&text),
    }
}

/// Returns true for a line that starts with `[Optional]`, `(Optional)`, `Optional.` or `Optional:`.
fn is_optional(line: &str) -> bool {
    let marks = ["[optional]", "(optional)", "optional.", "optional:"];
    line == "optional" || marks.iter().any(|mark| line.starts_with(mark))
}

/// Returns the direction, which is the first word of a comment, or in brackets at its start.
fn direction(text: &str) -> Option<Direction> {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let bracketed = bracketed.map(|(word, _)| word);
    let first = text.split([',', '.', ';', ':', ' ', '\n']).next();
    let first = first.unwrap_or_default();
    match bracketed.unwrap_or(first) {
        "in/out" | "in-out" | "inout" | "in, out" | "input/output" => Some(Direction::InOut),
        "out" | "output" => Some(Direction::Out),
        "in" | "input" if bracketed.is_some() || text.starts_with("input,") => Some(Direction::In),
        _ => None,
    }
}

fn filler(text: &str) -> Option<Side> {
    let is_filled_by = |side: &str| {
        ["set by", "filled by"]
            .iter()
            .any(|verb| text.contains(&format!("{verb} {side}")))
    };
    match () {
        () if is_filled_by("the plugin") || is_filled_by("plugin") => Some(Side::Plugin),
        () if is_filled_by("core") => Some(Side::Core),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_direction() {
        let directions = [
            ("output, to be filled by plugin", Some(Direction::Out)),
            ("out, set by plugin", Some(Direction::Out)),
            ("[out]", Some(Direction::Out)),
            ("[in/out] which", Some(Direction::InOut)),
            ("in-out", Some(Direction::InOut)),
            (
                "Input/output, struct_size set by TF for plugin to read.",
                Some(Direction::InOut),
            ),
            ("In/out: filled by the plugin", Some(Direction::InOut)),
            ("output the thing", Some(Direction::Out)),
            ("outputs of the thing", None),
            ("in a hurry", None),
        ];
        for (text, expected) in directions {
            assert_eq!(read(text).direction, expected, "{text}");
        }
    }

    #[test]
    fn reads_filling_side() {
        let expected = Some(Side::Plugin);
        assert_eq!(read("free-form data set by plugin").filled_by, expected);
        assert_eq!(
            read("output, to be filled by plugin").filled_by,
            Some(Side::Plugin)
        );
        assert_eq!(
            read("struct_size set by TF for plugin to read").filled_by,
            None
        );
    }

    #[test]
    fn reads_presence() {
        let expected = Some(Presence::Optional);
        assert_eq!(read("[Optional]\nName for printing.").presence, expected);
        assert_eq!(
            read("Reserved for future use").presence,
            Some(Presence::Optional)
        );
        for text in [
            "What it is.\n(Optional) More.",
            "Optional: a name.",
            "Optional\nA name.",
        ] {
            assert_eq!(read(text).presence, Some(Presence::Optional), "{text}");
        }
        assert_eq!(read("An optional thing").presence, None);
        assert_eq!(read("Optional things").presence, None);
    }
}
