//! Texts with a small markup: `*v*` is italic, `m_3` and `m_{12}` have a subscript, `10^{-3}` has a superscript, and a
//! backslash escapes the next character. Unicode superscripts and subscripts such as `10⁻³` mean the same. An unmatched
//! star is a plain star, so `P*` needs no escaping.

use super::font::{self, Style};
use super::geometry::Spot;
use super::svg::{Points, escaped};
use std::fmt::Write;

/// The size of scripts and their distance from the baseline, relative to the font size.
const SCRIPT: f64 = 0.72;
const RISE: f64 = 0.42;
const DROP: f64 = 0.2;

/// Escapes all markup, so that a name from a file is shown verbatim.
pub fn plain(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        if matches!(character, '*' | '_' | '^' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Level {
    Base,
    Sub,
    Sup,
}

impl Level {
    fn size(self) -> f64 {
        if self == Level::Base { 1.0 } else { SCRIPT }
    }

    /// The height above the baseline.
    fn height(self) -> f64 {
        match self {
            Level::Base => 0.0,
            Level::Sub => -DROP,
            Level::Sup => RISE,
        }
    }
}

/// Characters with the same style.
#[derive(Clone, Debug, PartialEq)]
struct Run {
    text: String,
    italic: bool,
    level: Level,
    /// Whether these are rare symbols, which come from another font.
    rare: bool,
}

/// A text with parsed markup.
#[derive(Clone, Debug)]
pub(super) struct Text {
    runs: Vec<Run>,
    bold: bool,
}

impl Text {
    pub fn new(markup: &str) -> Self {
        let characters: Vec<char> = markup.chars().collect();
        let mut text = Text { runs: Vec::new(), bold: false };
        text.read(&characters, Level::Base, false);
        text
    }

    pub fn bold(markup: &str) -> Self {
        Text { bold: true, ..Text::new(markup) }
    }

    pub fn is_bold(&self) -> bool {
        self.bold
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    fn read(&mut self, characters: &[char], level: Level, mut italic: bool) {
        let mut k = 0;
        while k < characters.len() {
            let (character, rest) = (characters[k], &characters[k + 1..]);
            k += 1;
            match character {
                '\\' if !rest.is_empty() => {
                    self.push(rest[0], level, italic);
                    k += 1;
                }
                '*' if italic || opens_italics(rest) => italic = !italic,
                '_' | '^' if level == Level::Base && !rest.is_empty() => {
                    let script = if character == '_' { Level::Sub } else { Level::Sup };
                    if rest[0] == '{' {
                        let end = rest.iter().position(|&c| c == '}').unwrap_or(rest.len());
                        self.read(&rest[1..end], script, italic);
                        k += end + 1;
                    } else {
                        self.push(rest[0], script, italic);
                        k += 1;
                    }
                }
                _ => match script_character(character) {
                    Some((script, meaning)) => self.push(meaning, script, italic),
                    None => self.push(character, level, italic),
                },
            }
        }
    }

    fn push(&mut self, character: char, level: Level, italic: bool) {
        // A hyphen in an exponent or index is a minus sign.
        let character = if character == '-' && level != Level::Base { '−' } else { character };
        let rare = font::is_rare(character);
        match self.runs.last_mut() {
            Some(run) if (run.level, run.italic, run.rare) == (level, italic, rare) => run.text.push(character),
            _ => self.runs.push(Run { text: character.into(), italic, level, rare }),
        }
    }

    fn style(&self, run: &Run) -> Style {
        match (self.bold, run.italic) {
            (true, _) => Style::Bold,
            (false, true) => Style::Italic,
            (false, false) => Style::Regular,
        }
    }

    /// The start and end of each run, relative to the font size. A superscript and a subscript of the same base are
    /// stacked.
    fn places(&self) -> Vec<(f64, f64)> {
        let (mut sub, mut sup) = (0.0_f64, 0.0_f64);
        let mut places = Vec::with_capacity(self.runs.len());
        for run in &self.runs {
            let style = self.style(run);
            let width = run.text.chars().map(|c| font::advance(c, style)).sum::<f64>() * run.level.size();
            let start = match run.level {
                Level::Base => sub.max(sup),
                Level::Sub => sub,
                Level::Sup => sup,
            };
            let end = start + width;
            match run.level {
                Level::Base => (sub, sup) = (end, end),
                Level::Sub => sub = end,
                Level::Sup => sup = end,
            }
            places.push((start, end));
        }
        places
    }

    /// The width at this font size.
    pub fn width(&self, size: f64) -> f64 {
        size * self.places().iter().fold(0.0, |widest: f64, place| widest.max(place.1))
    }

    /// The font size, reduced if necessary to fit the width.
    pub fn fitting(&self, size: f64, room: f64) -> f64 {
        let width = self.width(size);
        if width > room { size * (room / width).max(0.5) } else { size }
    }

    /// Whether each run needs its own position. A renderer that lacks a glyph takes the whole text from the font that
    /// has it, unless runs are independent.
    pub fn is_split(&self) -> bool {
        self.runs.len() > 1 && self.runs.iter().any(|run| run.rare)
    }

    /// The content of a text element. `start` matters only if the text is split.
    pub fn spans(&self, size: f64, start: Spot) -> String {
        let (mut pen, mut height) = (0.0, 0.0);
        let mut spans = String::new();
        for (run, (from, to)) in self.runs.iter().zip(self.places()) {
            let mut attributes = String::new();
            if run.italic {
                attributes.push_str(" font-style=\"italic\"");
            }
            if run.level != Level::Base {
                let _ = write!(attributes, " font-size=\"{}\"", Points(size * SCRIPT));
            }
            let shifts = [("dx", from - pen), ("dy", height - run.level.height())];
            let places = [("x", start.0 + size * from), ("y", start.1 - size * run.level.height())];
            if self.is_split() {
                places.iter().for_each(|(name, place)| push(&mut attributes, name, *place));
            } else {
                let shifts = shifts.map(|(name, shift)| (name, size * shift));
                shifts
                    .iter()
                    .filter(|shift| shift.1.abs() >= 0.005)
                    .for_each(|(name, x)| push(&mut attributes, name, *x));
            }
            (pen, height) = (to, run.level.height());
            let content = escaped(&run.text);
            if attributes.is_empty() {
                spans.push_str(&content);
            } else {
                let _ = write!(spans, "<tspan{attributes}>{content}</tspan>");
            }
        }
        spans
    }
}

fn push(attributes: &mut String, name: &str, value: f64) {
    let _ = write!(attributes, " {name}=\"{}\"", Points(value));
}

/// Whether a star before these characters opens italics: text follows immediately, and another star closes it.
fn opens_italics(rest: &[char]) -> bool {
    let starts = rest.first().is_some_and(|c| !c.is_whitespace() && *c != '*');
    let closes = |pair: &[char]| pair[1] == '*' && !pair[0].is_whitespace() && !matches!(pair[0], '^' | '_' | '\\');
    starts && rest.windows(2).any(closes)
}

/// The meaning of a superscript or subscript character.
fn script_character(character: char) -> Option<(Level, char)> {
    const SCRIPTS: [(Level, &str, &str); 2] =
        [(Level::Sup, "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+−n"), (Level::Sub, "₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+−")];
    SCRIPTS.iter().find_map(|(level, scripts, meanings)| {
        let (_, meaning) = scripts.chars().zip(meanings.chars()).find(|pair| pair.0 == character)?;
        Some((*level, meaning))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(markup: &str) -> Vec<(String, bool, Level)> {
        Text::new(markup).runs.into_iter().map(|run| (run.text, run.italic, run.level)).collect()
    }

    #[test]
    fn scripts_and_italics_are_read() {
        let base = |text: &str| (text.to_string(), false, Level::Base);
        let expected = vec![
            base("P / ("),
            ("v".into(), true, Level::Base),
            base(" m"),
            ("3".into(), false, Level::Sub),
            base(" m"),
            ("2".into(), false, Level::Sub),
            ("L−1".into(), false, Level::Sup),
            base(")"),
        ];
        assert_eq!(runs("P / (*v* m_3 m_2^{L-1})"), expected);
    }

    #[test]
    fn characters_without_meaning_are_themselves() {
        assert_eq!(runs("P* vs v*"), [("P* vs v*".to_string(), false, Level::Base)]);
        assert_eq!(runs("a\\_b"), [("a_b".to_string(), false, Level::Base)]);
        assert_eq!(runs(&plain("val_loss*^2\\")), [("val_loss*^2\\".to_string(), false, Level::Base)]);
        assert_eq!(runs("a^"), [("a^".to_string(), false, Level::Base)]);
    }

    #[test]
    fn a_star_may_be_an_exponent() {
        let expected = [("P".to_string(), true, Level::Base), ("*".to_string(), false, Level::Sup)];
        assert_eq!(runs("*P*^*"), expected);
    }

    #[test]
    fn unicode_superscripts_mean_the_same() {
        assert_eq!(runs("10⁻³"), runs("10^{-3}"));
    }

    #[test]
    fn a_stacked_superscript_takes_no_room() {
        let width = |markup: &str| Text::new(markup).width(10.0);
        assert_eq!(width("m_2^2"), width("m_2"));
        assert_eq!(width("m_{12}^2x"), width("m_{12}x"));
        assert!(width("m_2^{10}") > width("m_2"));
        assert_eq!(Text::new("m_2^2").spans(10.0, (0.0, 0.0)).matches(" dx=\"-").count(), 1);
    }

    #[test]
    fn rare_symbols_do_not_change_their_neighbours() {
        let text = Text::new("∝ *v*");
        assert!(text.is_split() && !Text::new("~ *v*").is_split());
        let spans = text.spans(10.0, (100.0, 50.0));
        assert!(spans.starts_with("<tspan x=\"100\" y=\"50\">∝</tspan>"), "{spans}");
        assert_eq!(spans.matches(" y=\"50\"").count(), 3);
    }

    #[test]
    fn long_texts_shrink() {
        let text = Text::new("a long label");
        let size = text.fitting(8.0, 30.0);
        assert!(size < 8.0 && text.width(size) <= 30.0 + 1e-9);
        assert_eq!(text.fitting(8.0, 300.0), 8.0);
    }

    #[test]
    fn contents_are_escaped() {
        assert_eq!(Text::new("a<b & c").spans(8.0, (0.0, 0.0)), "a&lt;b &amp; c");
    }
}
