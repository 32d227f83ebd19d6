//! Every kind of panel, axis, mark, legend and text, compared with golden SVG files.
//!
//! A changed figure is written next to the golden file with `.new` in its name. Look at both and, if the new one is
//! right, run the test with `UPDATE_GOLDEN=1`, which overwrites the golden files.

use gardenpath_plot::{
    Anchor, Axis, Cell, Chart, Corner, Dash, Drawing, Figure, Fill, Grid, Guide, Legend, Look, Marker, Paint, Palette,
    Panel, Point, Series, Stroke, plain,
};
use std::path::Path;
use std::{env, fs};

/// The names of the golden files and their figures.
fn figures() -> Vec<(&'static str, Figure)> {
    vec![
        ("power-laws", Figure::of(power_laws())),
        ("bands-and-dashes", Figure::of(bands())),
        ("markers", Figure::of(markers())),
        ("ordered", Figure::of(ordered())),
        ("bars", Figure::of(bars())),
        ("slanted-names", Figure::of(slanted())),
        ("histogram", Figure::of(histogram())),
        ("guides", Figure::of(guides())),
        ("gaps-and-clipping", Figure::of(gaps())),
        ("legend-places", legends()),
        ("chart-of-a-parser", Figure::of(parser())),
        ("heat-map", Figure::of(heat(5, true))),
        ("heat-map-of-many", Figure::of(heat(40, false))),
        ("drawing", Figure::of(drawing().titled("A drawing"))),
        ("markup", Figure::of(markup())),
        ("panels", panels()),
        ("empty", Figure::grid(2, vec![Chart::default().into(), Grid::default().into()])),
    ]
}

#[test]
fn figures_are_the_golden_ones() {
    let mut files: Vec<(String, String)> =
        figures().into_iter().map(|(name, figure)| (format!("{name}.svg"), figure.svg())).collect();
    files.push(("drawing-as-a-file.svg".into(), drawing().svg()));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let update = env::var_os("UPDATE_GOLDEN").is_some();
    let mut changed = Vec::new();
    for (name, svg) in &files {
        let path = folder.join(name);
        // Git may check out the files with other line endings.
        let same = fs::read_to_string(&path).is_ok_and(|golden| golden.replace('\r', "") == *svg);
        let new = path.with_extension("new.svg");
        if same || update {
            let _ = fs::remove_file(new);
            if !same {
                fs::write(path, svg).unwrap();
            }
        } else {
            fs::write(&new, svg).unwrap();
            changed.push(new.display().to_string());
        }
    }
    assert!(changed.is_empty(), "these differ from the golden ones:\n{}", changed.join("\n"));
    let known: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    let strangers: Vec<_> =
        known.iter().filter(|known| !files.iter().any(|(name, _)| *known == name.as_str())).collect();
    assert!(strangers.is_empty(), "no figure is called {strangers:?}");
}

/// The same as PNG, for viewing: `LOOK=folder cargo test -p gardenpath-plot --test golden`.
#[test]
fn figures_can_be_looked_at() {
    let Some(folder) = env::var_os("LOOK") else { return };
    for (name, figure) in figures() {
        fs::write(Path::new(&folder).join(name).with_extension("png"), figure.png(2.0).unwrap()).unwrap();
    }
}

/// Two logarithmic axes, error bars, a law as a curve and one as a guide.
fn power_laws() -> Chart {
    let measured = |scale: f64| {
        [8.0f64, 16.0, 32.0, 64.0].map(|v| Point::between(v, scale * v * v, 0.6 * scale * v * v, 1.8 * scale * v * v))
    };
    let theory = (8..=64).map(|v| (f64::from(v), 1.1 * f64::from(v * v)));
    Chart {
        title: Some("Two power laws".into()),
        guides: vec![Guide::sloped(2.0, (8.0, 5.0), "*v*^2")],
        ..Chart::new(
            Axis::log("vocabulary *v*"),
            Axis::log("examples *P*^*"),
            vec![
                Series::new("*L* = 2", measured(1.0)).look(Look::markers()),
                Series::new("*L* = 3", measured(9.0)).look(Look::markers()),
                Series::new("theory", theory).look(Look::curve(Dash::Solid).number(0)),
            ],
        )
    }
}

/// Linear axes, bands around lines, and all dashes.
fn bands() -> Chart {
    let series = |(number, name): (usize, &str)| {
        let point = |k: i32| {
            let (x, shift) = (f64::from(k) / 4.0, number as f64);
            Point::between(
                x,
                (x + shift).sin() + shift,
                (x + shift).sin() + 0.8 * shift,
                (x + shift).sin() + 1.2 * shift,
            )
        };
        let dash = [Dash::Solid, Dash::Dashed, Dash::Dotted, Dash::DashDotted][number];
        Series::new(name, (0..40).map(point)).look(Look::curve(dash).band())
    };
    let names = ["solid", "dashed", "dotted", "dashes and dots"];
    Chart::new(Axis::linear("time *t*"), Axis::linear("height"), names.into_iter().enumerate().map(series).collect())
}

/// All markers, in the colours of the palette.
fn markers() -> Chart {
    use Marker::*;
    let all = [Circle, Square, Triangle, Diamond, Wedge, Plus, Star, Cross];
    let series = |(number, marker): (usize, Marker)| {
        let points = (0..5).map(|k| (f64::from(k), number as f64 + 0.2 * f64::from(k)));
        Series::new(format!("{marker:?}"), points).look(Look::line().marker(marker))
    };
    let series = all.into_iter().enumerate().map(series).collect();
    Chart { legend: Legend::Right, ..Chart::new(Axis::linear("*x*"), Axis::linear("*y*"), series) }
}

/// A parameter shown by color, and a logarithmic y axis with a linear x axis.
fn ordered() -> Chart {
    let series = |number: usize| {
        let points = (0..10).map(move |k| (f64::from(k), 10f64.powf(-f64::from(k) / (1.0 + number as f64))));
        Series::new(format!("*v* = {}", 4 << number), points).look(Look::line())
    };
    Chart {
        palette: Palette::Ordered,
        legend: Legend::Below,
        ..Chart::new(Axis::linear("epoch"), Axis::log("loss"), (0..6).map(series).collect())
    }
}

/// Bars side by side with errors, with names as ticks, some below zero.
fn bars() -> Chart {
    let series = |name: &str, scale: f64| {
        let values = [1.0, 2.5, -0.8].map(|value| value * scale);
        let points = (0..3).zip(values).map(|(k, y)| Point::between(f64::from(k), y, y - 0.3, y + 0.3));
        Series::new(name, points).look(Look::bars())
    };
    let names = ["CNN", "INN", "transformer"].map(String::from);
    Chart {
        legend: Legend::Inside(Corner::TopRight),
        ..Chart::new(
            Axis::linear("").ticks((0..3).map(f64::from).zip(names)),
            Axis::linear("gain"),
            vec![series("first", 1.0), series("second", 0.7)],
        )
    }
}

/// Names that are too long to fit side by side.
fn slanted() -> Chart {
    let names = ["convolutional", "inside network", "transformer", "a linear model", "nearest neighbour"];
    let points = (0..5).map(|k| (f64::from(k), 1.0 + f64::from(k * k)));
    let axis = Axis::linear("").ticks((0..5).map(f64::from).zip(names.map(String::from)));
    Chart::new(axis, Axis::log("parameters"), vec![Series::new("", points).look(Look::bars())])
}

/// Bars that touch.
fn histogram() -> Chart {
    let points = (0..20).map(|k| (f64::from(k), 100.0 * (-(f64::from(k) - 9.0).powi(2) / 20.0).exp()));
    let series = Series::new("lengths", points).look(Look::histogram().colour("#7a7a7a"));
    Chart { legend: Legend::Hidden, ..Chart::new(Axis::linear("length *d*"), Axis::linear("sentences"), vec![series]) }
}

/// Horizontal, vertical and sloped guides, on a reversed axis.
fn guides() -> Chart {
    Chart {
        guides: vec![
            Guide::horizontal(0.5, "half"),
            Guide::vertical(3.0, "*f*_c"),
            Guide::sloped(-0.2, (0.0, 1.0), "slope −1/5").between(1.0, 4.5),
        ],
        ..Chart::new(
            Axis::linear("*f*").range(5.0, 0.0),
            Axis::linear("*H*(*f*)").range(0.0, 1.2),
            vec![Series::new("measured", (0..=10).map(|k| (f64::from(k) / 2.0, 1.0 / (1.0 + f64::from(k)))))],
        )
    }
}

/// Points that cannot be shown interrupt the line, and everything outside the frame is clipped.
fn gaps() -> Chart {
    let broken =
        [(1.0, 1.0), (2.0, 4.0), (3.0, f64::NAN), (4.0, 2.0), (5.0, 30.0), (6.0, 3.0), (7.0, -1.0), (8.0, 2.0)];
    let outside = (1..=8).map(|k| Point::between(f64::from(k), 1.5 * f64::from(k), 0.01, 3.0 * f64::from(k)));
    Chart::new(
        Axis::log("*x*"),
        Axis::log("*y*").range(0.5, 10.0),
        vec![Series::new("gaps", broken), Series::new("cut", outside).look(Look::line().band())],
    )
}

/// All positions of a legend.
fn legends() -> Figure {
    let chart = |(legend, name): (Legend, &str)| {
        let series =
            |k: i32| Series::new(format!("series {k}"), (0..6).map(move |x| (f64::from(x), f64::from(k * x - 5))));
        let chart = Chart::new(Axis::linear(""), Axis::linear(""), (1..=3).map(series).collect());
        Panel::from(Chart { legend, title: Some(name.into()), ..chart })
    };
    let places = [
        (Legend::Auto, "found"),
        (Legend::Inside(Corner::TopLeft), "top left"),
        (Legend::Inside(Corner::TopRight), "top right"),
        (Legend::Inside(Corner::BottomLeft), "bottom left"),
        (Legend::Inside(Corner::BottomRight), "bottom right"),
        (Legend::Right, "right"),
        (Legend::Below, "below"),
        (Legend::Hidden, "hidden"),
    ];
    Figure::grid(3, places.map(chart).into())
}

/// True, spurious and blank cells with names and a key.
fn parser() -> Grid {
    let cell = |row: usize, column: usize, fill: Fill, text: &str| Cell { row, column, fill, text: text.into() };
    Grid {
        title: Some("A chart".into()),
        rows: ["*λ* = 5", "*λ* = 3", "*λ* = 2", "token"].map(String::from).into(),
        columns: (1..=5).map(|k| k.to_string()).collect(),
        row_label: "span".into(),
        column_label: "position".into(),
        cells: [
            vec![cell(0, 0, Fill::True, "*S*"), cell(1, 0, Fill::True, "*a*_1"), cell(1, 2, Fill::Spurious, "*b*_2")],
            vec![cell(2, 3, Fill::True, "*c*_3"), cell(2, 0, Fill::Spurious, "*a*_2"), cell(2, 1, Fill::Blank, "")],
            (0..5).map(|k| cell(3, k, Fill::True, "x")).collect(),
        ]
        .concat(),
        key: vec![(Fill::True, "true".into()), (Fill::Spurious, "spurious".into()), (Fill::Blank, "nothing".into())],
        ..Grid::default()
    }
}

/// Numbers as colors, including a NaN.
fn heat(side: usize, texts: bool) -> Grid {
    let cell = |k: usize| {
        let (row, column) = (k / side, k % side);
        let number = if k == 3 { f64::NAN } else { (row as f64 - column as f64) / side as f64 };
        let text = if texts { format!("{number:.1}") } else { String::new() };
        Cell { row, column, fill: Fill::Heat(number), text }
    };
    Grid {
        rows: (0..side).map(|k| k.to_string()).collect(),
        columns: (0..side).map(|k| format!("*p*_{{{k}}}")).collect(),
        row_label: "row".into(),
        column_label: "column".into(),
        cells: (0..side * side).map(cell).collect(),
        heat_label: "difference".into(),
        ..Grid::default()
    }
}

/// All marks of a drawing.
fn drawing() -> Drawing {
    let mut drawing = Drawing::new(200.0, 120.0);
    for (child, dash) in [(40.0, &[][..]), (100.0, &[4.0, 3.0][..]), (160.0, &[0.1, 4.0][..])] {
        drawing.line((100.0, 20.0), (child, 70.0), Stroke { colour: "#0072b2", width: 2.0, dash });
        drawing.disc((child, 70.0), 4.0, "#222222");
    }
    drawing.disc((100.0, 20.0), 6.0, Paint::from("#ffffff").edge(Stroke::solid("#0072b2", 2.0)));
    drawing.bold((110.0, 16.0), 12.0, Anchor::Start, "#0072b2", "class z_1");
    drawing.with_note("half a box", |part| {
        part.bar((10.0, 80.0), (60.0, 18.0), Paint { opacity: 0.5, .."#d55e00".into() });
        part.text((40.0, 93.0), 11.0, Anchor::Middle, "#222222", "a ∈ b");
    });
    drawing.frame((80.0, 80.0), (110.0, 30.0), Stroke::solid("#888888", 1.0));
    drawing.arrow((20.0, 20.0), (80.0, 20.0), Stroke { colour: "#222222", width: 1.4, dash: &[4.0, 3.0] });
    drawing.text((186.0, 100.0), 11.0, Anchor::End, "#222222", "*P*(*d*) = 3/16");
    drawing
}

/// Italics, stacked scripts, rare symbols, escaped names, and characters that XML does not allow.
fn markup() -> Chart {
    let names = ["*α*_1 ∝ *x*^{-1}", "*R*_3^{(2)} → *abc*", "10⁻³ ≤ *m*₂ ≪ ∞", "a<b & \"c\"", &plain("my_file*v2^3")];
    let series = |(k, name): (u32, &str)| Series::new(name, [(1.0, f64::from(k)), (2.0, f64::from(2 * k))]);
    let series = (1..).zip(names).map(series);
    Chart {
        title: Some("Title with *v* ∈ {8, 16} and 2^{*l*}".into()),
        legend: Legend::Right,
        ..Chart::new(Axis::linear("⟨*s*⟩^{*L*}/2"), Axis::log("SNR^{-1}(*P*^*)"), series.collect())
    }
}

/// All kinds of panels under a title.
fn panels() -> Figure {
    let panels =
        vec![power_laws().into(), parser().into(), heat(5, false).into(), drawing().titled("A drawing").into()];
    Figure { title: Some("Panels of all kinds".into()), ..Figure::grid(2, panels) }
}
