//! Marks the fields that a release's libraries require. Their messages take precedence over the header's comment; a
//! note that contradicts them is an error.

use miette::Diagnostic;
use sp_ir::{Api, Evidence, Field, Item, Presence, Stated};
use sp_system::errors;
use thiserror::Error;

use crate::contract::Notes;
use sp_data::required_fields::RequiredFields;

/// Notes that the release's libraries contradict.
#[derive(Debug, Error, Diagnostic)]
#[error("the libraries of TensorFlow {release} contradict {} notes", notes.len())]
#[diagnostic(code(sp_gen::required_fields::contradicted))]
pub struct Contradictions {
    release: String,
    #[related]
    notes: Vec<Contradiction>,
}

errors! {
    /// A note that the libraries contradict.
    #[derive(Debug, Error, Diagnostic)]
    enum Contradiction in required_fields {
        /// The note states that a required field is optional.
        Required { api: String, field: String, note: &'static str, release: String }
            = contradiction: ("headers/apis/{api}.toml: `{field}` is {note}, but TensorFlow {release} requires it"),
            help("its libraries contain a message that the field must be set; correct the note or restrict its \
                  `releases`; if core reports the message under a condition only, add overrides = \"library\"");

        /// The note overrides a message that the libraries do not contain.
        OverrideUnused { api: String, field: String, release: String }
            = override_unused: ("headers/apis/{api}.toml: the note on `{field}` overrides a message that the \
                libraries of TensorFlow {release} do not contain"),
            help("remove `overrides`");
    }
}

/// Marks each field of `required` in `apis`, unless a note overrides the message of the libraries.
///
/// # Errors
/// Returns an error if a note states that a required field is optional, or overrides a message that does not exist.
pub fn annotate(
    apis: &mut [Api],
    required: &RequiredFields,
    notes: &[Notes],
) -> Result<(), Contradictions> {
    let release = apis
        .first()
        .map_or_else(String::new, |api| api.release.clone());
    if required.is_empty() {
        return Ok(());
    }
    let mut found = Vec::new();
    for api in apis {
        let notes = notes.iter().find(|notes| notes.api == api.name);
        let overridden = notes.map_or_else(Vec::new, |notes| notes.library_overrides(&release));
        found.extend(require_all(api, required, &overridden));
        found.extend(unused_overrides(api, required, &overridden));
    }
    match found.is_empty() {
        true => Ok(()),
        false => Err(Contradictions {
            release,
            notes: found,
        }),
    }
}

fn require_all(
    api: &mut Api,
    required: &RequiredFields,
    overridden: &[(&str, &str)],
) -> Vec<Contradiction> {
    let (name, release) = (api.name.clone(), api.release.clone());
    let mut found = Vec::new();
    for (structure, field) in required.pairs() {
        let is_overridden = overridden.contains(&(structure, field));
        let Some(field) = field_of(api, structure, field).filter(|_| !is_overridden) else {
            continue;
        };
        found.extend(contradiction(field).map(|note| Contradiction::Required {
            api: name.clone(),
            field: format!("{structure}.{}", field.name),
            note,
            release: release.clone(),
        }));
        require(field);
    }
    found
}

fn unused_overrides(
    api: &mut Api,
    required: &RequiredFields,
    overridden: &[(&str, &str)],
) -> Vec<Contradiction> {
    let mut found = Vec::new();
    for pair @ (structure, field) in overridden {
        if field_of(api, structure, field).is_some()
            && !required.pairs().any(|known| known == *pair)
        {
            found.push(Contradiction::OverrideUnused {
                api: api.name.clone(),
                field: format!("{structure}.{field}"),
                release: api.release.clone(),
            });
        }
    }
    found
}

fn field_of<'a>(api: &'a mut Api, structure: &str, field: &str) -> Option<&'a mut Field> {
    let Some(Item::Struct(item)) = api.items.get_mut(structure) else {
        return None;
    };
    item.fields.iter_mut().find(|known| known.name == field)
}

/// Returns the presence of a field as a note states it, if that is not `required`.
fn contradiction(field: &Field) -> Option<&'static str> {
    let presence = field.presence.as_ref()?;
    match (&presence.evidence, presence.value) {
        (Evidence::Notes(_), Presence::Optional) => Some("optional"),
        (Evidence::Notes(_), Presence::Unstated) => Some("unstated"),
        _ => None,
    }
}

fn require(field: &mut Field) {
    let comment = field.presence.as_ref().and_then(Stated::comment_value);
    field.presence = Some(Stated {
        comment: comment.copied(),
        ..Stated::new(Presence::Required, Evidence::Library)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an API with `SP_S { open }`, whose presence is given as JSON.
    fn api(presence: &str) -> Api {
        let field = format!(
            r#"{{"name":"open","type":"void*","offset":0,"size":8{presence},"loc":"d.h:2"}}"#
        );
        let item = format!(
            r#""SP_S":{{"kind":"struct","fields":[{field}],"layout":{{"size":8,"align":8}},"loc":"d.h:1"}}"#
        );
        let text = format!(r#"{{"schema":4,"name":"demo","release":"2.22","items":{{{item}}}}}"#);
        Api::from_json(&text).unwrap()
    }

    fn presence(value: &str, evidence: &str) -> String {
        format!(r#","presence":{{"value":"{value}","evidence":{evidence}}}"#)
    }

    fn required() -> RequiredFields {
        let mut required = RequiredFields::default();
        required.insert("SP_S", "open");
        required.insert("SP_S", "not_declared");
        required.insert("Elsewhere", "open");
        required
    }

    #[test]
    fn marks_field_required_without_or_with_equal_fact() {
        let same = presence("required", r#"{"notes":"seen"}"#);
        for known in ["", &same] {
            let mut apis = [api(known)];
            annotate(&mut apis, &required(), &[]).unwrap();
            let open = &apis[0].structure("SP_S").unwrap().fields[0];
            let expected = Stated::new(Presence::Required, Evidence::Library);
            assert_eq!(open.presence, Some(expected), "{known}");
            assert_eq!(Api::from_json(&apis[0].to_json()).unwrap(), apis[0]);
        }
    }

    #[test]
    fn library_message_takes_precedence_over_comment() {
        let mut apis = [api(&presence("optional", r#"{"comment":"d.h:1"}"#))];
        annotate(&mut apis, &required(), &[]).unwrap();
        let open = &apis[0].structure("SP_S").unwrap().fields[0];
        let presence = open.presence.as_ref().unwrap();
        assert_eq!(presence.value, Presence::Required);
        assert_eq!(presence.comment_value(), Some(&Presence::Optional));
    }

    #[test]
    fn rejects_note_that_states_optional() {
        let mut apis = [api(&presence("optional", r#"{"notes":"seen"}"#))];
        let error = annotate(&mut apis, &required(), &[]).unwrap_err();
        let note = error.notes[0].to_string();
        let expected =
            "headers/apis/demo.toml: `SP_S.open` is optional, but TensorFlow 2.22 requires it";
        assert_eq!(note, expected);
    }

    #[test]
    fn accepts_used_override_and_rejects_unused_one() {
        let text = |field: &str| {
            format!(
                "headers = []\n[item.SP_S]\npresence = [{{ value = \"optional\", fields = [\"{field}\"], \
                 evidence = \"seen\", overrides = \"library\" }}]"
            )
        };
        let known = presence("optional", r#"{"notes":"seen"}"#);
        let mut apis = [api(&known)];
        let notes = [Notes::parse("demo", &text("open")).unwrap()];
        annotate(&mut apis, &required(), &notes).unwrap();
        assert_eq!(apis, [api(&known)]);

        let mut other = RequiredFields::default();
        other.insert("SP_S", "close");
        let error = annotate(&mut apis, &other, &notes).unwrap_err();
        assert!(
            error.notes[0].to_string().contains("overrides a message"),
            "{error:?}"
        );
    }
}
