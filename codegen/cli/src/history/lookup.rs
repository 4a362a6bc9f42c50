//! Resolves a name on the command line: an API, an item, or a field, `Struct.field`.

use miette::Diagnostic;
use sp_ir::History;
use thiserror::Error;

use sp_data::suggest;

/// Subject of a history.
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
    /// Another item: an enumeration, a handle, an alias, a constant.
    Other(String),
}

/// No API or item has the requested name.
#[derive(Debug, Error, Diagnostic)]
#[error("no release has an API, struct or function `{name}`")]
#[diagnostic(code(sp_gen::history::unknown_name), help("{help}"))]
pub struct UnknownName {
    name: String,
    help: String,
}

impl Subject {
    /// Returns the subject called `name`, or all APIs if `name` is `None`.
    ///
    /// # Errors
    /// Returns an error that suggests similar names if there is none of that name.
    pub fn find(history: &History, name: Option<&str>) -> Result<Self, UnknownName> {
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
            Self::from_field(history, name).ok_or_else(|| unknown_name(history, name))
        }
    }

    /// Returns the subject of a field: its callback type if it has one, else its struct.
    fn from_field(history: &History, name: &str) -> Option<Self> {
        let field = &history.fields.get(name)?.last()?.shape;
        let callback = field
            .ty
            .named()
            .filter(|name| history.callbacks.contains_key(*name));
        let (structure, _) = name.split_once('.')?;
        Some(match callback {
            Some(callback) => Self::Function(callback.into()),
            None => Self::Struct(structure.into()),
        })
    }

    /// Returns the items of the subject, sorted by name.
    pub fn items<'a>(&'a self, history: &'a History) -> Vec<&'a str> {
        let api_items = |api: &'a str| {
            let is_in_api = move |(_, origins): &(&String, &Vec<sp_ir::Epoch<sp_ir::Origin>>)| {
                origins.iter().any(|origin| origin.shape.api == api)
            };
            history
                .items
                .iter()
                .filter(is_in_api)
                .map(|(name, _)| name.as_str())
                .collect()
        };
        match self {
            Self::All => history.items.keys().map(String::as_str).collect(),
            Self::Api(api) => api_items(api),
            Self::Struct(name) | Self::Function(name) | Self::Other(name) => vec![name],
        }
    }
}

fn unknown_name(history: &History, name: &str) -> UnknownName {
    let known = history.apis.keys().chain(history.items.keys());
    let known = known.chain(history.slots.keys()).map(String::as_str);
    let help = suggest::did_you_mean(name, known);
    let name = name.into();
    UnknownName {
        name,
        help: help.unwrap_or_else(|| "`sp-gen history` prints the changes of all APIs".into()),
    }
}
