//! The embedded fonts, so that figures look the same on every machine.

use resvg::usvg::fontdb::Database;
use std::sync::{Arc, LazyLock};
use ttf_parser::Face;

/// The font families in order of preference: the second has rare symbols that the first lacks, such as `∝` and `∈`, and
/// the last is for programs that show the SVG without these fonts installed.
pub(super) const FAMILY: &str = "'Noto Sans', 'DejaVu Sans', sans-serif";

const MAIN: &str = "Noto Sans";

/// The faces with known metrics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Style {
    Regular,
    Italic,
    Bold,
}

/// The embedded files: one per style, and one with the rare symbols.
fn files() -> [&'static [u8]; 4] {
    [notosans::REGULAR_TTF, notosans::ITALIC_TTF, notosans::BOLD_TTF, dejavu::sans::regular()]
}

static FACES: LazyLock<[Face; 4]> =
    LazyLock::new(|| files().map(|data| Face::parse(data, 0).expect("the embedded fonts are sound")));

static DATABASE: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut database = Database::new();
    files().iter().for_each(|data| database.load_font_data(data.to_vec()));
    // Drawings that request other fonts get this one too.
    database.set_sans_serif_family(MAIN);
    database.set_serif_family(MAIN);
    database.set_monospace_family(MAIN);
    Arc::new(database)
});

/// The width of a character, relative to the font size.
pub(super) fn advance(character: char, style: Style) -> f64 {
    let width = |face: &Face| {
        let width = face.glyph_hor_advance(face.glyph_index(character)?)?;
        Some(f64::from(width) / f64::from(face.units_per_em()))
    };
    width(&FACES[style as usize]).or_else(|| width(&FACES[3])).unwrap_or(0.6)
}

/// Whether the main font lacks the character.
pub(super) fn is_rare(character: char) -> bool {
    FACES[Style::Regular as usize].glyph_index(character).is_none()
}

/// The fonts for the renderers, without those installed on the machine.
pub(super) fn database() -> Arc<Database> {
    DATABASE.clone()
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
    fn the_main_family_is_in_the_database() {
        let faces = database();
        let named = |family: &str| faces.faces().filter(|face| face.families.iter().any(|f| f.0 == family)).count();
        assert_eq!((named(MAIN), named("DejaVu Sans")), (3, 1));
    }
}
