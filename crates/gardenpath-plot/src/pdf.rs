//! Pictures as PDF, with real text: the glyphs in use are embedded, and text can be selected and searched.

use super::font;
use super::picture::{Edge, Fill, Picture, Rgb, Run, Shape};
use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use pdf_writer::types::{CidFontType, FontFlags, LineCapStyle, LineJoinStyle, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use subsetter::GlyphRemapper;
use tiny_skia::{LineCap, Path, PathSegment, Transform};

/// Points in a unit of the page.
const POINTS: f32 = 0.75;

/// Glyphs are numbered as they are embedded.
const SYSTEM: SystemInfo = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// The SVG of a figure or a drawing as PDF, in its natural size, with real text.
///
/// # Errors
/// If the SVG was not written by this crate.
pub fn pdf(svg: &str) -> Result<Vec<u8>> {
    let picture = Picture::read(svg)?;
    // PDF counts upwards.
    let to_page = Transform::from_row(POINTS, 0.0, 0.0, -POINTS, 0.0, picture.height * POINTS);
    let mut page = Page { content: Content::new(), fonts: BTreeMap::new(), opacities: BTreeSet::new() };
    for mark in &picture.marks {
        page.content.save_state();
        page.content.transform(matrix(to_page.pre_concat(mark.transform)));
        match &mark.shape {
            Shape::Path { path, fill, edge } => page.draw(path, fill.as_ref(), edge.as_ref()),
            Shape::Text { run, colour } => page.write(run, *colour),
        }
        page.content.restore_state();
    }
    page.finish(picture.width * POINTS, picture.height * POINTS)
}

/// A page being written, and what it needs.
struct Page {
    content: Content,
    fonts: BTreeMap<usize, Subset>,
    /// In percent.
    opacities: BTreeSet<u8>,
}

/// The glyphs of a font that are in use.
#[derive(Default)]
struct Subset {
    glyphs: GlyphRemapper,
    characters: BTreeMap<u16, char>,
    /// Widths by number in thousandths of the font size.
    widths: BTreeMap<u16, f32>,
}

impl Page {
    fn draw(&mut self, path: &Path, fill: Option<&Fill>, edge: Option<&Edge>) {
        if let Some(fill) = fill {
            let [red, green, blue] = parts(fill.colour);
            self.content.set_fill_rgb(red, green, blue);
            if fill.opacity < 1.0 {
                let percent = (fill.opacity * 100.0).round() as u8;
                self.opacities.insert(percent);
                self.content.set_parameters(Name(opacity_name(percent).as_bytes()));
            }
        }
        if let Some(edge) = edge {
            let [red, green, blue] = parts(edge.colour);
            let round = edge.stroke.line_cap == LineCap::Round;
            let cap = if round { LineCapStyle::RoundCap } else { LineCapStyle::ButtCap };
            self.content.set_stroke_rgb(red, green, blue).set_line_width(edge.stroke.width);
            self.content.set_line_cap(cap).set_line_join(LineJoinStyle::RoundJoin);
            self.content.set_dash_pattern(edge.dash.iter().copied(), 0.0);
        }
        outline(&mut self.content, path);
        match (fill, edge) {
            (Some(_), Some(_)) => self.content.fill_nonzero_and_stroke(),
            (Some(_), None) => self.content.fill_nonzero(),
            (None, Some(_)) => self.content.stroke(),
            (None, None) => self.content.end_path(),
        };
    }

    fn write(&mut self, run: &Run, colour: Rgb) {
        let subset = self.fonts.entry(run.face).or_default();
        let [red, green, blue] = parts(colour);
        let start = run.glyphs.first().map_or(0.0, |glyph| glyph.x);
        self.content.set_fill_rgb(red, green, blue).begin_text();
        self.content.set_font(Name(font_name(run.face).as_bytes()), run.size);
        self.content.set_text_matrix([1.0, 0.0, 0.0, -1.0, start, run.baseline]);
        let mut shown = self.content.show_positioned();
        let mut items = shown.items();
        // Where a viewer would put the next glyph, and the glyphs that are where it puts them.
        let (mut pen, mut bytes) = (start, Vec::new());
        for glyph in &run.glyphs {
            let back = (pen - glyph.x) * 1000.0 / run.size;
            if back.abs() >= 0.5 {
                items.show(Str(&bytes)).adjust(back);
                (pen, bytes) = (glyph.x, Vec::new());
            }
            let number = subset.glyphs.remap(glyph.id.0);
            let width = 1000.0 * font::width(run.face, glyph.id);
            subset.characters.entry(number).or_insert(glyph.character);
            subset.widths.insert(number, width);
            bytes.extend(number.to_be_bytes());
            pen += width * run.size / 1000.0;
        }
        items.show(Str(&bytes));
        items.finish();
        shown.finish();
        self.content.end_text();
    }

    fn finish(self, width: f32, height: f32) -> Result<Vec<u8>> {
        let mut pdf = Pdf::new();
        let mut references = (1..).map(Ref::new);
        let mut next = || references.next().expect("numbers do not end");
        let (catalog, pages, page, content) = (next(), next(), next(), next());
        let fonts: Vec<(usize, Ref)> = self.fonts.keys().map(|&face| (face, next())).collect();
        pdf.catalog(catalog).pages(pages);
        pdf.pages(pages).kids([page]).count(1);
        let mut entry = pdf.page(page);
        entry.parent(pages).contents(content).media_box(Rect::new(0.0, 0.0, width, height));
        let mut resources = entry.resources();
        let mut list = resources.fonts();
        fonts.iter().for_each(|&(face, font)| _ = list.pair(Name(font_name(face).as_bytes()), font));
        list.finish();
        let mut list = resources.ext_g_states();
        for &percent in &self.opacities {
            let name = opacity_name(percent);
            list.insert(Name(name.as_bytes()))
                .start::<pdf_writer::writers::ExtGraphicsState>()
                .non_stroking_alpha(f32::from(percent) / 100.0);
        }
        list.finish();
        resources.finish();
        entry.finish();
        pdf.stream(content, &compressed(self.content.finish().as_slice())?).filter(Filter::FlateDecode);
        for ((face, subset), (_, font)) in self.fonts.iter().zip(fonts) {
            subset.embed(&mut pdf, *face, font, &mut next)?;
        }
        Ok(pdf.finish())
    }
}

impl Subset {
    /// Writes the font under the reference `font`.
    fn embed(&self, pdf: &mut Pdf, number: usize, font: Ref, next: &mut impl FnMut() -> Ref) -> Result<()> {
        let (descendant, descriptor, file, map) = (next(), next(), next(), next());
        let name = format!("{}+{}", self.tag(), font::NAMES[number]);
        let name = Name(name.as_bytes());
        let mut entry = pdf.type0_font(font);
        entry.base_font(name).encoding_predefined(Name(b"Identity-H")).descendant_font(descendant).to_unicode(map);
        entry.finish();

        let mut entry = pdf.cid_font(descendant);
        entry.subtype(CidFontType::Type2).base_font(name).system_info(SYSTEM).font_descriptor(descriptor);
        entry.cid_to_gid_map_predefined(Name(b"Identity")).default_width(0.0);
        let mut widths = entry.widths();
        self.widths.iter().for_each(|(&glyph, &width)| _ = widths.consecutive(glyph, [width]));
        widths.finish();
        entry.finish();

        let face = font::face(number);
        let unit = |value: i16| 1000.0 * f32::from(value) * font::unit(number);
        let bounds = face.global_bounding_box();
        let italic = if face.is_italic() { FontFlags::ITALIC } else { FontFlags::empty() };
        let mut entry = pdf.font_descriptor(descriptor);
        entry.name(name).flags(FontFlags::SYMBOLIC | italic).italic_angle(face.italic_angle());
        entry.bbox(Rect::new(unit(bounds.x_min), unit(bounds.y_min), unit(bounds.x_max), unit(bounds.y_max)));
        entry.ascent(unit(face.ascender())).descent(unit(face.descender()));
        // The width of stems is not in the file; viewers use it only if they lack the font.
        entry.cap_height(unit(face.capital_height().unwrap_or(face.ascender()))).stem_v(80.0).font_file2(file);
        entry.finish();

        let data = subsetter::subset(font::file(number), 0, &self.glyphs).context("the font cannot be embedded")?;
        pdf.stream(file, &compressed(&data)?).filter(Filter::FlateDecode).pair(Name(b"Length1"), data.len() as i32);
        let mut unicode = UnicodeCmap::<u16>::new(Name(b"Characters"), SYSTEM);
        self.characters.iter().for_each(|(&glyph, &character)| unicode.pair(glyph, character));
        pdf.cmap(map, &compressed(unicode.finish().as_slice())?).filter(Filter::FlateDecode);
        Ok(())
    }

    /// Six letters that tell subsets of a font apart, as the standard wants.
    fn tag(&self) -> String {
        let step = |hash: u64, glyph: u16| (hash ^ u64::from(glyph)).wrapping_mul(0x0100_0000_01b3);
        let hash = self.glyphs.remapped_gids().fold(0xcbf2_9ce4_8422_2325, step);
        (0..6).map(|k| char::from(b'A' + ((hash >> (8 * k)) % 26) as u8)).collect()
    }
}

fn outline(content: &mut Content, path: &Path) {
    let mut pen = tiny_skia::Point::zero();
    for segment in path.segments() {
        match segment {
            PathSegment::MoveTo(to) => _ = content.move_to(to.x, to.y),
            PathSegment::LineTo(to) => _ = content.line_to(to.x, to.y),
            PathSegment::QuadTo(by, to) => {
                // The cubic curve that is the same.
                let towards = |from: f32, by: f32| from + 2.0 / 3.0 * (by - from);
                let (x1, y1) = (towards(pen.x, by.x), towards(pen.y, by.y));
                content.cubic_to(x1, y1, towards(to.x, by.x), towards(to.y, by.y), to.x, to.y);
            }
            PathSegment::CubicTo(a, b, to) => _ = content.cubic_to(a.x, a.y, b.x, b.y, to.x, to.y),
            PathSegment::Close => _ = content.close_path(),
        }
        if let PathSegment::MoveTo(to) | PathSegment::LineTo(to) | PathSegment::QuadTo(_, to) = segment {
            pen = to;
        }
    }
}

fn compressed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

fn font_name(face: usize) -> String {
    format!("F{face}")
}

fn opacity_name(percent: u8) -> String {
    format!("O{percent}")
}

fn parts(colour: Rgb) -> [f32; 3] {
    colour.map(|part| f32::from(part) / 255.0)
}

fn matrix(t: Transform) -> [f32; 6] {
    [t.sx, t.ky, t.kx, t.sy, t.tx, t.ty]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Anchor, Drawing, Paint};
    use flate2::read::ZlibDecoder;
    use std::io::Read;

    /// The streams of a file, decompressed.
    fn streams(pdf: &[u8]) -> Vec<Vec<u8>> {
        let find = |from: usize, text: &[u8]| {
            pdf[from..].windows(text.len()).position(|window| window == text).map(|place| from + place)
        };
        let mut streams = Vec::new();
        let mut from = 0;
        while let Some(start) = find(from, b"stream\n") {
            let end = find(start, b"\nendstream").expect("streams end");
            let mut bytes = Vec::new();
            ZlibDecoder::new(&pdf[start + 7..end]).read_to_end(&mut bytes).expect("streams are compressed");
            streams.push(bytes);
            from = end + 10;
        }
        streams
    }

    #[test]
    fn text_can_be_searched_and_fonts_hold_what_is_used() {
        let mut drawing = Drawing::new(100.0, 30.0);
        drawing.text((5.0, 20.0), 10.0, Anchor::Start, "#000000", "To ∈ *v*");
        drawing.bar((50.0, 5.0), (20.0, 10.0), Paint { opacity: 0.25, .."#d55e00".into() });
        let file = pdf(&drawing.svg()).unwrap();
        let streams = streams(&file);
        let fonts: Vec<usize> = streams.iter().filter(|s| s.starts_with(&[0, 1, 0, 0])).map(Vec::len).collect();
        assert_eq!(fonts.len(), 3, "the regular, the italic and the rare one");
        assert!(fonts.iter().all(|&bytes| bytes < 20_000), "{fonts:?}");
        let maps: Vec<String> = streams.iter().map(|s| String::from_utf8_lossy(s).into_owned()).collect();
        let maps: Vec<&String> = maps.iter().filter(|text| text.contains("begincmap")).collect();
        for character in "To∈v".chars() {
            let code = format!("<{:04X}>\n", u32::from(character));
            assert_eq!(maps.iter().filter(|map| map.contains(&code)).count(), 1, "{character}");
        }
        let all = String::from_utf8_lossy(&file);
        assert!(all.contains("/ca 0.25") && all.contains("/MediaBox [0 0 75 22.5]"));
    }
}
