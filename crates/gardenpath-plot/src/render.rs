//! Renders SVG to PNG and PDF, with the embedded fonts only.

use super::font;
use anyhow::{Context, Result, bail, ensure};
use krilla::Document;
use krilla::geom::Size;
use krilla::page::PageSettings;
use krilla_svg::{SurfaceExt, SvgSettings};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// An image with more pixels is a mistake in the scale.
const MAX_PIXELS: f64 = 400e6;
/// Points per SVG unit.
const POINTS: f32 = 0.75;

fn tree(svg: &str) -> Result<Tree> {
    let options = Options { fontdb: font::database(), ..Options::default() };
    Tree::from_str(svg, &options).context("cannot parse the SVG")
}

/// Renders SVG to PNG, with `scale` pixels per 96th of an inch. Fails if the image would be empty or have more than 400
/// million pixels.
pub fn png(svg: &str, scale: f64) -> Result<Vec<u8>> {
    let tree = tree(svg)?;
    let [width, height] = [tree.size().width(), tree.size().height()].map(|side| (f64::from(side) * scale).round());
    ensure!(width >= 1.0 && height >= 1.0, "the scale {scale} leaves no pixels");
    ensure!(width * height <= MAX_PIXELS, "the scale {scale} gives {width} × {height} pixels, which is too much");
    let mut pixels = Pixmap::new(width as u32, height as u32).context("the image is too large")?;
    resvg::render(&tree, Transform::from_scale(scale as f32, scale as f32), &mut pixels.as_mut());
    pixels.encode_png().context("cannot encode the image")
}

/// Renders SVG to PDF in its natural size, with real text.
pub fn pdf(svg: &str) -> Result<Vec<u8>> {
    let tree = tree(svg)?;
    let (width, height) = (tree.size().width() * POINTS, tree.size().height() * POINTS);
    let size = Size::from_wh(width, height).context("the image is empty")?;
    let mut document = Document::new();
    let mut page = document.start_page_with(PageSettings::from_wh(width, height).context("the image is empty")?);
    let mut surface = page.surface();
    surface.draw_svg(&tree, size, SvgSettings::default()).context("cannot draw the image")?;
    surface.finish();
    page.finish();
    match document.finish() {
        Ok(bytes) => Ok(bytes),
        Err(error) => bail!("cannot write the PDF: {error:?}"),
    }
}
