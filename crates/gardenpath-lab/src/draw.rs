//! Drawings: tables, plots and trees in the terminal, and trees as SVG.

pub mod plot;
pub mod table;
pub mod tree_svg;
pub mod tree_text;
