//! What is coloured, and how.

use crate::history::Paint;
use sp_diff::Verdict;
use sp_diff::finding::Impact;

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Breaking,
    Compatible,
    SourceOnly,
    Strong,
    Faint,
}

impl Ink {
    /// That of a verdict.
    pub fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Breaking => Self::Breaking,
            Verdict::Compatible | Verdict::Identical => Self::Compatible,
        }
    }

    /// That of an impact.
    pub fn of_impact(impact: Impact) -> Self {
        match impact {
            Impact::Breaking => Self::Breaking,
            Impact::Compatible => Self::Compatible,
            Impact::SourceOnly => Self::SourceOnly,
        }
    }

    fn code(self) -> &'static str {
        match self {
            Self::Breaking => "1;31",
            Self::Compatible => "32",
            Self::SourceOnly => "36",
            Self::Strong => "1",
            Self::Faint => "2",
        }
    }
}

/// The text, coloured where there are colours.
pub fn ink(paint: Paint, ink: Ink, text: &str) -> String {
    match paint {
        Paint::Plain => text.into(),
        Paint::Ansi => format!("\x1b[{}m{text}\x1b[0m", ink.code()),
    }
}
