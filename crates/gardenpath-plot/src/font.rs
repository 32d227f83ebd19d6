//! The embedded fonts, so that figures look the same on every machine.

use std::sync::LazyLock;
use tiny_skia::{Path, PathBuilder};
use ttf_parser::gpos::{PairAdjustment, PositioningSubtable};
use ttf_parser::{Face, GlyphId, OutlineBuilder, Tag};

/// The font families in order of preference: the second has rare symbols that the first lacks, such as `∝` and `∈`, and
/// the last is for programs that show the SVG without these fonts installed.
pub(super) const FAMILY: &str = "'Noto Sans', 'DejaVu Sans', sans-serif";

/// The names of the embedded fonts by number.
pub(super) const NAMES: [&str; 4] = ["NotoSans", "NotoSans-Italic", "NotoSans-Bold", "DejaVuSans"];

/// The number of the font with the rare symbols.
const RARE: usize = 3;

/// The fonts of the usual symbols; their numbers are 0, 1 and 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Style {
    Regular,
    Italic,
    Bold,
}

/// The embedded file of a font.
pub(super) fn file(number: usize) -> &'static [u8] {
    [notosans::REGULAR_TTF, notosans::ITALIC_TTF, notosans::BOLD_TTF, dejavu::sans::regular()][number]
}

static FACES: LazyLock<[Face; 4]> =
    LazyLock::new(|| [0, 1, 2, RARE].map(|number| Face::parse(file(number), 0).expect("the embedded fonts are sound")));

/// An embedded font.
pub(super) fn face(number: usize) -> &'static Face<'static> {
    &FACES[number]
}

/// The unit of a font relative to the font size.
pub(super) fn unit(number: usize) -> f32 {
    1.0 / f32::from(FACES[number].units_per_em())
}

/// The font that has a character, and its glyph; the box for missing glyphs if none has it.
pub(super) fn glyph(character: char, style: Style) -> (usize, GlyphId) {
    let find = |number: usize| Some((number, FACES[number].glyph_index(character)?));
    find(style as usize).or_else(|| find(RARE)).unwrap_or((style as usize, GlyphId(0)))
}

/// The width of a character relative to the font size.
pub(super) fn advance(character: char, style: Style) -> f64 {
    let (number, glyph) = glyph(character, style);
    let face = &FACES[number];
    let width = face.glyph_hor_advance(glyph).filter(|_| glyph != GlyphId(0));
    width.map_or(0.6, |width| f64::from(width) / f64::from(face.units_per_em()))
}

/// The width of a glyph relative to the font size.
pub(super) fn width(number: usize, glyph: GlyphId) -> f32 {
    f32::from(FACES[number].glyph_hor_advance(glyph).unwrap_or(0)) * unit(number)
}

/// How much nearer (if negative) two glyphs stand than their widths say, relative to the font size.
pub(super) fn kerning(number: usize, left: GlyphId, right: GlyphId) -> f32 {
    let shift = || {
        let table = FACES[number].tables().gpos?;
        let feature = table.features.find(Tag::from_bytes(b"kern"))?;
        let lookups = feature.lookup_indices.into_iter().filter_map(|index| table.lookups.get(index));
        let mut pairs = lookups.flat_map(|lookup| lookup.subtables.into_iter::<PositioningSubtable>());
        pairs.find_map(|subtable| {
            let PositioningSubtable::Pair(pair) = subtable else { return None };
            let row = pair.coverage().get(left)?;
            let (first, _) = match pair {
                PairAdjustment::Format1 { sets, .. } => sets.get(row)?.get(right)?,
                PairAdjustment::Format2 { classes, matrix, .. } => {
                    matrix.get((classes.0.get(left), classes.1.get(right)))?
                }
            };
            Some(first.x_advance)
        })
    };
    f32::from(shift().unwrap_or(0)) * unit(number)
}

/// The outline of a glyph in units of its font, counted upwards; nothing for a space.
pub(super) fn outline(number: usize, glyph: GlyphId) -> Option<Path> {
    let mut pen = Pen(PathBuilder::new());
    FACES[number].outline_glyph(glyph, &mut pen);
    pen.0.finish()
}

struct Pen(PathBuilder);

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.0.close();
    }
}

/// Whether the main font lacks the character.
pub(super) fn is_rare(character: char) -> bool {
    FACES[Style::Regular as usize].glyph_index(character).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symbol_of_a_formula_has_a_glyph() {
        for symbol in "αβγδεζηθικλμνξοπρστυφχψωΓΔΘΛΞΠΣΦΨΩ−×·~ℓ∞±≈≤≥∼√∑∝→⋅∂∈≠…–′⟨⟩∗≪≫≃≡∏∫".chars()
        {
            let known = FACES.iter().any(|face| face.glyph_index(symbol).is_some());
            assert!(known, "no glyph for {symbol}");
        }
    }

    #[test]
    fn widths_are_those_of_the_letters() {
        assert!(advance('m', Style::Regular) > 2.0 * advance('i', Style::Regular));
        assert!(advance('e', Style::Bold) > advance('e', Style::Regular));
        let digits: Vec<f64> = ('0'..='9').map(|digit| advance(digit, Style::Regular)).collect();
        assert!(digits.iter().all(|&width| width == digits[0]), "digits line up");
    }

    #[test]
    fn pairs_are_kerned() {
        let shift = |left: char, right: char| {
            let ((face, left), (_, right)) = (glyph(left, Style::Regular), glyph(right, Style::Regular));
            kerning(face, left, right)
        };
        assert!(shift('T', 'o') < -0.01 && shift('A', 'V') < -0.01);
        assert_eq!(shift('1', '2'), 0.0);
    }

    #[test]
    fn fonts_are_those_of_their_names() {
        let name = |face: &Face| {
            let names = face.names().into_iter().filter(|name| name.name_id == ttf_parser::name_id::POST_SCRIPT_NAME);
            names.filter_map(|name| name.to_string()).next()
        };
        assert_eq!(FACES.each_ref().map(|face| name(face).unwrap()), NAMES);
    }
}
