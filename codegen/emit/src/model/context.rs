//! The facts that the files of one API are emitted from.

use std::collections::BTreeMap;

use sp_ir::Api;

use super::catalog::Catalog;
use super::epochs::{AllOlder, OlderDeclaration};
use super::exports::Exports;
use super::features::Features;
use super::timeline::Timeline;

/// One API, and the other APIs and releases as far as its code depends on them.
pub struct Context<'a> {
    /// The API.
    pub api: &'a Api,
    /// The names of all APIs.
    pub catalog: &'a Catalog<'a>,
    /// The releases of its items.
    pub timeline: &'a Timeline,
    /// The items that need another API's feature.
    pub features: &'a Features<'a>,
    /// The libraries that export its functions.
    pub exports: &'a Exports<'a>,
    /// The older layouts and signatures of all APIs.
    pub all_older: &'a AllOlder<'a>,
    /// The older layouts and signatures of this API, by module.
    pub older: Option<&'a BTreeMap<String, Vec<OlderDeclaration<'a>>>>,
}

impl<'a> Context<'a> {
    /// Returns the older layouts and signatures of this API.
    pub fn older_declarations(&self) -> impl Iterator<Item = &'a OlderDeclaration<'a>> + use<'a> {
        let modules = self.older.into_iter();
        modules.flat_map(|modules| modules.values().flatten())
    }
}
