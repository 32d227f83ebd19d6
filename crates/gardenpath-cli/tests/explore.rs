//! `explore`: what every route answers, who is refused, jobs and their events, and that nothing that is sent breaks the server.

#[path = "explore/access.rs"]
mod access;
#[path = "explore/answers.rs"]
mod answers;
#[path = "explore/bundle.rs"]
mod bundle;
#[path = "explore/client.rs"]
mod client;
mod common;
#[path = "explore/jobs.rs"]
mod jobs;
#[path = "explore/nonsense.rs"]
mod nonsense;
#[path = "explore/program.rs"]
mod program;
#[path = "explore/results.rs"]
mod results;
