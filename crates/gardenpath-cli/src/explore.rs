//! The explorer: a page on 127.0.0.1, and the answers to what it asks for. `explorer/src/api.ts` is the contract between both.
//!
//! Requests carry the grammar they are about, so that the server keeps nothing but jobs. What is computed runs on threads of its own and is
//! left when nobody waits for it any more.

mod access;
mod choice;
mod jobs;
mod language;
mod learning;
mod page;
mod reading;
mod reply;
mod results;
mod routes;
mod server;
mod work;

pub use server::{Server, Settings};
