//! What a name on the command line means: an API, an item of one, or a field, `Struct.field`.

use miette::Diagnostic;
use sp_ir::History;
use thiserror::Error;

use sp_data::suggest;

/// What a history is asked of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// All APIs.
    All,
    /// One API.
    Api(String),
    /// A struct or union.
    Struct(String),
    /// A function, a callback, or a function-typed field.
    Function(String),
    /// Anything else that has a name: an enumeration, a handle, another name, a constant.
    Other(String),
}

/// Nothing is called so.
#[derive(Debug, Error, Diagnostic)]
#[error("no API, struct or function is called `{name}` in any release")]
#[diagnostic(code(sp_gen::history::unknown), help("{help}"))]
pub struct Unknown {
    name: String,
    help: String,
}

impl Subject {
    /// What `name` means; everything where there is none.
    ///
    /// # Errors
    /// Where nothing is called so: with the closest names.
    pub fn find(history: &History, name: Option<&str>) -> Result<Self, Unknown> {
        let Some(name) = name else {
            return Ok(Self::All);
        };
        let owned = name.to_string();
        let is_function = history.functions.contains_key(name)
            || history.callbacks.contains_key(name)
            || history.slots.contains_key(name);
        if history.apis.contains_key(name) {
            Ok(Self::Api(owned))
        } else if history.structs.contains_key(name) {
            Ok(Self::Struct(owned))
        } else if is_function {
            Ok(Self::Function(owned))
        } else if history.items.contains_key(name) {
            Ok(Self::Other(owned))
        } else {
            Self::through_field(history, name).ok_or_else(|| unknown(history, name))
        }
    }

    /// A field of a callback's type is that callback; of any other, its struct.
    fn through_field(history: &History, name: &str) -> Option<Self> {
        let field = &history.fields.get(name)?.last()?.shape;
        let callback = field
            .ty
            .named()
            .filter(|one| history.callbacks.contains_key(*one));
        let (structure, _) = name.split_once('.')?;
        Some(match callback {
            Some(callback) => Self::Function(callback.into()),
            None => Self::Struct(structure.into()),
        })
    }

    /// The items that are meant, sorted.
    pub fn items<'a>(&'a self, history: &'a History) -> Vec<&'a str> {
        let of_api = |api: &'a str| {
            let has = move |(_, origins): &(&String, &Vec<sp_ir::Epoch<sp_ir::Origin>>)| {
                origins.iter().any(|origin| origin.shape.api == api)
            };
            history
                .items
                .iter()
                .filter(has)
                .map(|(name, _)| name.as_str())
                .collect()
        };
        match self {
            Self::All => history.items.keys().map(String::as_str).collect(),
            Self::Api(api) => of_api(api),
            Self::Struct(name) | Self::Function(name) | Self::Other(name) => vec![name],
        }
    }
}

fn unknown(history: &History, name: &str) -> Unknown {
    let known = history.apis.keys().chain(history.items.keys());
    let known = known.chain(history.slots.keys()).map(String::as_str);
    let help = suggest::did_you_mean(name, known);
    let name = name.into();
    Unknown {
        name,
        help: help.unwrap_or_else(|| "`sp-gen history` lists what changed in each API".into()),
    }
}
