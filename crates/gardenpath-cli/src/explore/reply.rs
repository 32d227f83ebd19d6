//! Answers, and refusals of one line.

use super::jobs::EventStream;
use bytes::Bytes;
use gardenpath_lab::message::one_line;
use http_body_util::{Either, Full};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Serialize;

/// What is sent: all at once, or event by event.
pub type Body = Either<Full<Bytes>, EventStream>;

/// What is sent, with its status and headers.
pub type Reply = Response<Body>;

/// Why a request is not answered.
#[derive(Debug)]
pub struct Refusal {
    /// The status.
    pub status: StatusCode,
    /// The reason in one line.
    pub line: String,
}

impl Refusal {
    /// A refusal with this status.
    pub fn new(status: StatusCode, line: impl AsRef<str>) -> Self {
        Refusal { status, line: one_line(line.as_ref()) }
    }

    /// That something is not there.
    pub fn not_found(line: impl AsRef<str>) -> Self {
        Refusal::new(StatusCode::NOT_FOUND, line)
    }
}

/// Whatever is wrong with what was asked.
impl From<anyhow::Error> for Refusal {
    fn from(error: anyhow::Error) -> Self {
        Refusal::new(StatusCode::BAD_REQUEST, format!("{error:#}"))
    }
}

/// The reply to a refused request.
impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Self {
        let body = serde_json::json!({ "error": refusal.line }).to_string();
        with_type(refusal.status, "application/json", body.into())
    }
}

/// A value as JSON.
pub fn json(value: &impl Serialize) -> Result<Reply, Refusal> {
    let text = serde_json::to_vec(value).map_err(anyhow::Error::from)?;
    Ok(with_type(StatusCode::OK, "application/json", text.into()))
}

/// Bytes of a type, which are not to be kept.
pub fn with_type(status: StatusCode, kind: &'static str, bytes: Bytes) -> Reply {
    let mut reply = Response::new(Either::Left(Full::new(bytes)));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}
