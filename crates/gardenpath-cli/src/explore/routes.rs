//! What is answered where.

use super::access::Access;
use super::choice::{self, Cache, Chosen, GrammarChoice};
use super::jobs::{JOBS, Jobs};
use super::language::{self, EntropyRequest, LanguageRequest, PcfgRequest, RulesRequest};
use super::learning::{self, JobRequest};
use super::page::{Page, protect};
use super::reading::{self, AmbiguousRequest, ReadingRequest};
use super::reply::{Refusal, Reply, json, with_type};
use super::results::Shelf;
use super::work::Workers;
use anyhow::{Context, Result, anyhow};
use bytes::Bytes;
use http_body_util::{BodyExt, Either, Limited};
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, SET_COOKIE};
use hyper::{Method, Request, Response, StatusCode, Uri};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The most bytes of a request.
const BODY: usize = 1_000_000;

/// How long a browser may take to send them.
const SENDING: Duration = Duration::from_secs(10);

/// All that answers need.
pub struct State {
    /// Who may ask.
    pub access: Access,
    /// The page.
    pub page: Page,
    /// What GET /api/start answers.
    pub start: Value,
    /// The threads.
    pub workers: Workers,
    /// Grammars that were asked for just now.
    pub cache: Arc<Cache>,
    /// Jobs at work.
    pub jobs: Jobs,
    /// Results.
    pub shelf: Arc<Shelf>,
}

/// The limits that the page is told.
pub fn limits() -> Value {
    json!({
        "rules": choice::RULES,
        "longest": choice::LONGEST,
        "tokens": reading::TOKENS,
        "trees": reading::TREES,
        "sentences": language::SENTENCES,
        "jobs": JOBS,
        "job_sentences": learning::SENTENCES,
        "job_steps": learning::STEPS,
        "job_width": learning::WIDTH,
    })
}

/// Answers a request, whatever it is.
pub async fn answer(state: Arc<State>, request: Request<Incoming>) -> Reply {
    let is_page = request.uri().path() == "/";
    let mut reply = match route(&state, request).await {
        Ok(reply) => reply,
        // Somebody reads it in a browser, without the page.
        Err(Refusal { status, line }) if is_page => with_type(status, "text/plain; charset=utf-8", line.into()),
        Err(refusal) => refusal.into(),
    };
    protect(reply.headers_mut());
    reply
}

async fn route(state: &Arc<State>, request: Request<Incoming>) -> Result<Reply, Refusal> {
    let (head, body) = request.into_parts();
    let (method, uri, headers) = (&head.method, &head.uri, &head.headers);
    state.access.check_host(headers)?;
    let path = uri.path();
    if let (&Method::GET, "/", Some(key)) = (method, path, query(uri, "key")) {
        return exchange(state, key);
    }
    state.access.check(method, path, headers)?;
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    match (method, parts.as_slice()) {
        (&Method::GET, [""]) => Ok(state.page.html()),
        (&Method::GET, ["api", "start"]) => json(&state.start),
        (&Method::GET, ["api", "results"]) => {
            let shelf = state.shelf.clone();
            json(&state.workers.run(move || shelf.results()).await?)
        }
        (&Method::GET, ["api", "results", name]) => {
            let (shelf, name) = (state.shelf.clone(), (*name).to_owned());
            let scale = query(uri, "scale").map(str::to_owned);
            let chapter = state.workers.run(move || shelf.chapter(&name, scale.as_deref())).await?;
            json(&chapter.ok_or_else(|| Refusal::not_found("there is no such experiment, or no store"))?)
        }
        (&Method::GET, ["api", "jobs", id, "events"]) => events(state, id, headers),
        (&Method::DELETE, ["api", "jobs", id]) => json(&json!({ "stopped": state.jobs.find(id)?.stop() })),
        (&Method::POST, ["api", name]) if POSTED.contains(name) => {
            check_type(headers)?;
            posted(state, name, read(body).await?).await
        }
        (&Method::GET, [_]) => state.page.part(path).ok_or_else(|| unknown(method, &parts)),
        (_, parts) => Err(unknown(method, parts)),
    }
}

/// Routes that take JSON.
const POSTED: [&str; 7] = ["language", "rules", "pcfg", "entropy", "reading", "ambiguous", "jobs"];

async fn posted(state: &Arc<State>, name: &str, body: Bytes) -> Result<Reply, Refusal> {
    match name {
        "language" => about(state, body, |ask: &LanguageRequest| &ask.grammar, LanguageRequest::answer).await,
        "rules" => about(state, body, |ask: &RulesRequest| &ask.grammar, RulesRequest::answer).await,
        "pcfg" => {
            let text = |_: &PcfgRequest, chosen: &Chosen| Ok(json!({ "text": chosen.grammar.to_text() }));
            about(state, body, |ask: &PcfgRequest| &ask.grammar, text).await
        }
        "reading" => about(state, body, |ask: &ReadingRequest| &ask.grammar, ReadingRequest::answer).await,
        "ambiguous" => about(state, body, |ask: &AmbiguousRequest| &ask.grammar, AmbiguousRequest::answer).await,
        "entropy" => json(&state.workers.run(move || parse::<EntropyRequest>(&body)?.answer()).await?),
        _ => {
            let cache = state.cache.clone();
            let check = move || {
                let ask: JobRequest = parse(&body)?;
                let chosen = cache.choose(&ask.grammar)?;
                Ok((ask.check(&chosen)?, chosen))
            };
            let (job, chosen) = state.workers.run(check).await?;
            let id = state.jobs.start(&state.workers, move |voice| job.run(&chosen, voice))?;
            json(&json!({ "id": id }))
        }
    }
}

/// The answer to a request about a grammar.
async fn about<Q, A>(
    state: &Arc<State>,
    body: Bytes,
    grammar: fn(&Q) -> &GrammarChoice,
    answer: fn(&Q, &Chosen) -> Result<A>,
) -> Result<Reply, Refusal>
where
    Q: DeserializeOwned + 'static,
    A: Serialize + 'static,
{
    let cache = state.cache.clone();
    let work = move || {
        let ask: Q = parse(&body)?;
        // Written out here: large answers take a while, too.
        Ok(serde_json::to_vec(&answer(&ask, &*cache.choose(grammar(&ask))?)?)?)
    };
    let text = state.workers.run(work).await?;
    Ok(with_type(StatusCode::OK, "application/json", text.into()))
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).context("the request cannot be read")
}

/// Gives whoever has the secret a cookie, and shows the page.
fn exchange(state: &State, key: &str) -> Result<Reply, Refusal> {
    if !state.access.is_key(key) {
        let line = "this URL has another key: open the one that gardenpath explore has printed last";
        return Err(Refusal::new(StatusCode::FORBIDDEN, line));
    }
    let mut reply = with_type(StatusCode::SEE_OTHER, "text/plain", Bytes::new());
    let cookie = HeaderValue::try_from(state.access.cookie()).map_err(anyhow::Error::from)?;
    reply.headers_mut().insert(SET_COOKIE, cookie);
    reply.headers_mut().insert(LOCATION, HeaderValue::from_static("/"));
    Ok(reply)
}

/// The news of a job.
fn events(state: &State, id: &str, headers: &HeaderMap) -> Result<Reply, Refusal> {
    let heard = headers.get("last-event-id").map(|id| {
        let number = id.to_str().ok().and_then(|id| id.parse().ok());
        number.ok_or_else(|| anyhow!("Last-Event-ID is no number"))
    });
    let mut reply = Response::new(Either::Right(state.jobs.find(id)?.listen(heard.transpose()?)));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(reply)
}

/// A value of the query, which needs no decoding.
fn query<'u>(uri: &'u Uri, name: &str) -> Option<&'u str> {
    let mut pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(own, _)| *own == name).map(|(_, value)| value)
}

/// Pages of other sites can send forms and texts without asking, but no JSON.
fn check_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
        return Ok(());
    }
    let line = format!("the content type is {kind:?}, expected application/json");
    Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, line))
}

async fn read(body: Incoming) -> Result<Bytes, Refusal> {
    let late = |_| Refusal::new(StatusCode::REQUEST_TIMEOUT, "the request was not sent in time");
    match tokio::time::timeout(SENDING, Limited::new(body, BODY).collect()).await.map_err(late)? {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            let line = format!("the request has more than {BODY} bytes");
            Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, line))
        }
        Err(error) => Err(anyhow!("the request was cut off: {error}").into()),
    }
}

/// That there is nothing here, or nothing for this method.
fn unknown(method: &Method, parts: &[&str]) -> Refusal {
    let allowed = match parts {
        [""] | ["api", "start" | "results"] | ["api", "results", _] | ["api", "jobs", _, "events"] => "GET",
        ["api", name] if POSTED.contains(name) => "POST",
        ["api", "jobs", _] => "DELETE",
        _ => return Refusal::not_found("there is nothing here"),
    };
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, format!("expected {allowed} here, not {method}"))
}
