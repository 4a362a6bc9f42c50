//! The facts that the files of one API are emitted from.

use std::collections::BTreeMap;

use sp_ir::Api;

use crate::catalog::Catalog;
use crate::epochs::{Broken, Old};
use crate::exports::Exports;
use crate::features::Features;
use crate::slots::Table;
use crate::timeline::Timeline;

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
    pub broken: &'a Broken<'a>,
    /// The older layouts and signatures of this API.
    pub old: Option<&'a BTreeMap<String, Vec<Old<'a>>>>,
}

impl<'a> Context<'a> {
    /// Returns the tables that authors fill.
    pub fn tables(&self) -> Vec<Table<'a>> {
        Table::all(self.api.items.iter(), self.catalog, &mut Vec::new())
    }
}
