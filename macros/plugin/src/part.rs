//! What a part beside the device does in its entry point: serve the host, or decline it in the way that
//! TensorFlow survives. An error there would abort the import.

use sp_abi::availability::MARKS;
use sp_runtime::host::{Clue, Host};

use crate::Result;
use crate::platform::About;

/// What a host hands to a part's entry point, and what the part can do with it.
pub trait Offer {
    /// The part's name, for people.
    const PART: &'static str;

    /// What the structs' sizes tell of the release.
    fn clues(&self) -> [Clue; 3];

    /// Fills the structs in.
    fn accept(&mut self, about: About) -> Result<()>;

    /// Fills in what TensorFlow demands of a part that does nothing. The structs may have changed, so
    /// only what no release has moved.
    fn decline(&mut self, about: About);
}

/// Accepts the offer, or declines it and says why.
pub fn settle<O: Offer>(about: About, mut offer: O) {
    let clues = offer.clues();
    let host = Host::enter(about.min_release, MARKS, &clues);
    if host.is_too_old() {
        return;
    }
    if host.serve().is_err() {
        // Why has been told with the device.
        return offer.decline(about);
    }
    let unknown = clues.into_iter().find_map(Result::err);
    if let Err(reason) = unknown.map_or_else(|| offer.accept(about), Err) {
        let (part, host) = (O::PART, host.name());
        eprintln!("plugin: no {part} for {host}: {}", reason.message());
        offer.decline(about);
    }
}
