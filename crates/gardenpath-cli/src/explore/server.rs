//! The server itself: connections on 127.0.0.1, one thread for all of them.

use super::access::Access;
use super::choice::Cache;
use super::jobs::Jobs;
use super::page::Page;
use super::results::Shelf;
use super::routes::{self, State};
use super::work::Workers;
use anyhow::{Context, Result, anyhow};
use gardenpath_lab::store::Store;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};

/// The most connections at a time. A browser has six for requests, and one for the events of each job.
const CONNECTIONS: usize = 100;

/// How long the head of a request may take, and how long a connection may be idle.
const HEAD: Duration = Duration::from_secs(60);

/// The most bytes of the head of a request.
const HEAD_BYTES: usize = 1 << 16;

/// What is to be served.
pub struct Settings {
    /// The grammar that is shown first: its name and its text.
    pub grammar: Option<(String, String)>,
    /// The results.
    pub store: Option<Store>,
    /// The port; any free one if it is 0.
    pub port: u16,
}

/// A server that listens and does not answer yet.
pub struct Server {
    listener: TcpListener,
    state: Arc<State>,
}

impl Server {
    /// Listens. A port that somebody else has is an error.
    pub fn new(settings: Settings) -> Result<Self> {
        let port = settings.port;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| match error.kind() {
            ErrorKind::AddrInUse => anyhow!("port {port} is in use; choose another one, or none for any that is free"),
            ErrorKind::PermissionDenied => anyhow!("port {port} is not allowed; choose one from 1024 on"),
            _ => anyhow!("cannot listen on port {port} of 127.0.0.1: {error}"),
        })?;
        listener.set_nonblocking(true)?;
        let access = Access::new(listener.local_addr()?.port())?;
        let shelf = Arc::new(Shelf::new(settings.store));
        let start = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "grammar": settings.grammar.map(|(name, text)| json!({ "name": name, "text": text })),
            "store": shelf.directory().map(|directory| directory.display().to_string()),
            "threads": rayon::current_num_threads(),
            "limits": routes::limits(),
        });
        let state = State {
            access,
            page: Page::new(),
            start,
            workers: Workers::new(),
            cache: Arc::new(Cache::default()),
            jobs: Jobs::default(),
            shelf,
        };
        Ok(Server { listener, state: Arc::new(state) })
    }

    /// The URL that opens the page.
    pub fn url(&self) -> String {
        self.state.access.url()
    }

    /// Answers until `stop` is sent or dropped. Jobs at work are stopped then.
    pub fn run(self, stop: oneshot::Receiver<()>) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("cannot start the server")?;
        let (state, shelf) = (self.state.clone(), self.state.shelf.clone());
        std::thread::spawn(move || shelf.prepare());
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener).context("cannot start the server")?;
            tokio::spawn(accept(listener, self.state));
            let _ = stop.await;
            anyhow::Ok(())
        })?;
        state.jobs.stop();
        // Requests that are still computed need not be waited for.
        runtime.shutdown_background();
        Ok(())
    }
}

async fn accept(listener: tokio::net::TcpListener, state: Arc<State>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = room.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, most likely: some will be closed.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let state = state.clone();
        tokio::spawn(async move {
            let answer = |request: Request<Incoming>| {
                let reply = routes::answer(state.clone(), request);
                async { Ok::<_, Infallible>(reply.await) }
            };
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(HEAD_BYTES);
            // Browsers close connections as they like; that is no error.
            let _ = http.serve_connection(TokioIo::new(stream), service_fn(answer)).await;
            drop(place);
        });
    }
}
