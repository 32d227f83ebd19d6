//! Pictures as PNG.

use super::font;
use super::picture::{Picture, Rgb, Shape};
use anyhow::{Context, Result, ensure};
use tiny_skia::{FillRule, Paint, PathBuilder, Pixmap, Transform};

/// A picture of more pixels than this is a mistake in the scale.
const MAX_PIXELS: f64 = 400e6;

/// The SVG of a figure or drawing as PNG, with so many pixels for each 96th of an inch.
///
/// # Errors
/// If the SVG was not written by this crate, or if the scale leaves no pixels or more than 400 million.
pub fn png(svg: &str, scale: f64) -> Result<Vec<u8>> {
    let picture = Picture::read(svg)?;
    let [width, height] = [picture.width, picture.height].map(|side| (f64::from(side) * scale).round());
    ensure!(width >= 1.0 && height >= 1.0, "the scale {scale} leaves no pixels");
    ensure!(width * height <= MAX_PIXELS, "the scale {scale} gives {width} × {height} pixels, which is too much");
    let mut pixels = Pixmap::new(width as u32, height as u32).context("the picture is too large")?;
    for mark in &picture.marks {
        let place = mark.transform.post_scale(scale as f32, scale as f32);
        match &mark.shape {
            Shape::Path { path, fill, edge } => {
                if let Some(fill) = fill {
                    pixels.fill_path(path, &paint(fill.colour, fill.opacity), FillRule::Winding, place, None);
                }
                if let Some(edge) = edge {
                    pixels.stroke_path(path, &paint(edge.colour, 1.0), &edge.stroke, place, None);
                }
            }
            Shape::Text { run, colour } => {
                let mut outline = PathBuilder::new();
                for glyph in &run.glyphs {
                    let unit = run.size * font::unit(run.face);
                    let to_page = Transform::from_row(unit, 0.0, 0.0, -unit, glyph.x, run.baseline);
                    if let Some(path) = font::outline(run.face, glyph.id).and_then(|path| path.transform(to_page)) {
                        outline.push_path(&path);
                    }
                }
                if let Some(path) = outline.finish() {
                    pixels.fill_path(&path, &paint(*colour, 1.0), FillRule::Winding, place, None);
                }
            }
        }
    }
    pixels.encode_png().context("the picture cannot be encoded")
}

fn paint([red, green, blue]: Rgb, opacity: f32) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, (opacity * 255.0).round() as u8);
    paint
}
