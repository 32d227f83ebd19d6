//! Tables for terminals, and drawings of trees, charts, networks and procedures.

pub mod chart;
pub mod network;
pub mod reading;
pub mod steps;
pub mod table;
pub mod tree;
