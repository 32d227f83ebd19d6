//! Every formula of the theory module against brute-force enumeration of trees, and every correction of the paper.

mod brute;
mod candidates;
mod complexity;
mod entropy;
mod errors;
mod fraction;
mod lengths;
mod splits;
mod trees;
