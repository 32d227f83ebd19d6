//! Drawings: tables, plots and trees in the terminal, and trees and charts as SVG.

pub mod chart_svg;
pub mod plot;
pub mod table;
pub mod tree_svg;
pub mod tree_text;
