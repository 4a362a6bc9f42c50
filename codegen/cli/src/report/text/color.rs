//! Colors of the text report.

use crate::history::Paint;
use sp_diff::Verdict;
use sp_diff::finding::Impact;

/// The role of a piece of text, which determines its color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextColor {
    Breaking,
    Compatible,
    SourceOnly,
    Strong,
    Faint,
}

impl TextColor {
    /// Returns the color of a verdict.
    pub fn for_verdict(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Breaking => Self::Breaking,
            Verdict::Reduced | Verdict::Incomplete => Self::SourceOnly,
            Verdict::Compatible | Verdict::Identical => Self::Compatible,
        }
    }

    /// Returns the color of an impact.
    pub fn for_impact(impact: Impact) -> Self {
        match impact {
            Impact::Breaking => Self::Breaking,
            Impact::Compatible => Self::Compatible,
            Impact::SourceOnly | Impact::Reduced => Self::SourceOnly,
        }
    }

    fn escape_code(self) -> &'static str {
        match self {
            Self::Breaking => "1;31",
            Self::Compatible => "32",
            Self::SourceOnly => "36",
            Self::Strong => "1",
            Self::Faint => "2",
        }
    }
}

/// Returns the text in a color, or unchanged if `paint` is plain.
pub fn colored(paint: Paint, color: TextColor, text: &str) -> String {
    match paint {
        Paint::Plain => text.into(),
        Paint::Ansi => format!("\x1b[{}m{text}\x1b[0m", color.escape_code()),
    }
}
