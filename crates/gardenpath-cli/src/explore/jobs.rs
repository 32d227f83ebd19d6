//! Long work and its news, as server-sent events. A job lives while somebody listens.

use super::access::secret;
use super::reply::Refusal;
use super::work::{Ending, Stopper, Workers};
use anyhow::Result;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::body::{Body, Frame};
use serde::Serialize;
use serde_json::json;
use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// The most jobs at work.
pub const JOBS: usize = 4;

/// How long a new job waits for its first listener.
const FIRST_LISTENER: Duration = Duration::from_secs(10);

/// How long a job goes on without listeners: a page may be loaded again.
const GRACE: Duration = Duration::from_secs(5);

/// How long an ended job is remembered.
const MEMORY: Duration = Duration::from_secs(60);

/// How often a job looks for listeners.
const LOOK: Duration = Duration::from_millis(250);

/// How often listeners are sent something, so that those who have gone are noticed.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// The least time between two lines of progress.
const PROGRESS: Duration = Duration::from_millis(100);

/// All jobs that are remembered.
#[derive(Clone, Default)]
pub struct Jobs {
    all: Arc<Mutex<HashMap<String, Arc<Job>>>>,
}

/// A job and its news so far.
pub struct Job {
    started: Instant,
    log: Mutex<Log>,
    /// Counts what was said.
    said: watch::Sender<u64>,
    listeners: AtomicUsize,
    stopper: OnceLock<Stopper>,
}

#[derive(Default)]
struct Log {
    /// Events, written out.
    events: Vec<String>,
    /// The last line of progress, and its number: older ones interest nobody.
    progress: Option<(u64, String)>,
    progress_time: Option<Instant>,
    ended: Option<Instant>,
}

/// What a job at work can say.
#[derive(Clone)]
pub struct Voice(Arc<Job>);

/// A line of progress.
#[derive(Serialize)]
pub struct Progress {
    /// For people.
    pub line: String,
    /// The share of the work that is done, if it is known.
    pub done: Option<f64>,
    /// The step of a network.
    pub step: Option<u64>,
    /// The running mean of the training loss of a network.
    pub loss: Option<f64>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Voice {
    /// Seconds since the job was started.
    pub fn seconds(&self) -> f64 {
        self.0.started.elapsed().as_secs_f64()
    }

    /// Says something that is remembered.
    pub fn say(&self, event: &str, news: &impl Serialize) {
        // What a job says is made of numbers and texts, which are always JSON.
        let data = serde_json::to_string(news).unwrap_or_default();
        let mut log = lock(&self.0.log);
        if log.ended.is_none() {
            let number = log.events.len();
            log.events.push(format!("event: {event}\nid: {number}\ndata: {data}\n\n"));
            self.tell();
        }
    }

    /// Says how far the work is, unless it said so just now.
    pub fn progress(&self, progress: impl FnOnce() -> Progress) {
        let mut log = lock(&self.0.log);
        if log.ended.is_some() || log.progress_time.is_some_and(|time| time.elapsed() < PROGRESS) {
            return;
        }
        let mut news = json!(progress());
        news["seconds"] = json!(self.seconds());
        let number = log.progress.as_ref().map_or(0, |(number, _)| number + 1);
        log.progress = Some((number, format!("event: progress\ndata: {news}\n\n")));
        log.progress_time = Some(Instant::now());
        self.tell();
    }

    fn end(&self, how: &str, line: &str) {
        self.say("end", &json!({ "how": how, "line": line, "seconds": self.seconds() }));
        lock(&self.0.log).ended = Some(Instant::now());
        self.tell();
    }

    fn tell(&self) {
        self.0.said.send_modify(|number| *number += 1);
    }
}

impl Jobs {
    /// Starts a job, and returns its name. It ends with the line that `work` returns.
    pub fn start(
        &self,
        workers: &Workers,
        work: impl FnOnce(&Voice) -> Result<String> + Send + 'static,
    ) -> Result<String, Refusal> {
        let mut all = lock(&self.all);
        if all.values().filter(|job| job.is_running()).count() >= JOBS {
            let line = format!("{JOBS} jobs are at work already; stop one, or close the page that started it");
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, line));
        }
        let job = Arc::new(Job {
            started: Instant::now(),
            log: Mutex::default(),
            said: watch::Sender::new(0),
            listeners: AtomicUsize::new(0),
            stopper: OnceLock::new(),
        });
        let (voice, own) = (Voice(job.clone()), Voice(job.clone()));
        let end = move |ending: Ending<Result<String>>| match ending {
            Ending::Done(Ok(line)) => voice.end("done", &line),
            Ending::Done(Err(error)) => voice.end("failed", &gardenpath_lab::message::one_line(&format!("{error:#}"))),
            Ending::Stopped => voice.end("stopped", "stopped"),
            Ending::Panicked(message) => voice.end("failed", &format!("a fault of the program: {message}")),
        };
        let id = secret()?;
        let stopper = workers.start(move || work(&own), end)?;
        let _ = job.stopper.set(stopper);
        all.insert(id.clone(), job.clone());
        tokio::spawn(self.clone().watch(id.clone(), job));
        Ok(id)
    }

    /// The job of this name.
    pub fn find(&self, id: &str) -> Result<Arc<Job>, Refusal> {
        lock(&self.all).get(id).cloned().ok_or_else(|| Refusal::not_found("there is no such job (any more)"))
    }

    /// Stops a job that nobody listens to, and forgets it some time after it has ended.
    async fn watch(self, id: String, job: Arc<Job>) {
        let (mut alone_since, mut patience) = (Instant::now(), FIRST_LISTENER);
        loop {
            tokio::time::sleep(LOOK).await;
            if job.listeners.load(Ordering::Relaxed) > 0 {
                (alone_since, patience) = (Instant::now(), GRACE);
            }
            let ended = lock(&job.log).ended;
            match ended {
                None if alone_since.elapsed() > patience => {
                    job.stop();
                }
                Some(time) if time.elapsed() > MEMORY => break,
                _ => {}
            }
        }
        lock(&self.all).remove(&id);
    }

    /// Stops all jobs.
    pub fn stop(&self) {
        for job in lock(&self.all).values() {
            job.stop();
        }
    }
}

impl Job {
    /// Stops the job, and says whether it was at work.
    pub fn stop(&self) -> bool {
        self.stopper.get().is_some_and(Stopper::stop)
    }

    fn is_running(&self) -> bool {
        lock(&self.log).ended.is_none()
    }

    /// What the job has said since an event, and will say until it ends.
    pub fn listen(self: Arc<Self>, after: Option<usize>) -> EventStream {
        let (sender, events) = mpsc::channel(16);
        self.listeners.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(speak(Listener(self), after.map_or(0, |number| number.saturating_add(1)), sender));
        EventStream { events }
    }

    /// What somebody has not heard who knows so many events and this line of progress, and whether there is more to come.
    fn news(&self, known: &mut usize, progress: &mut Option<u64>) -> (String, bool) {
        let log = lock(&self.log);
        let mut text = log.events.get(*known..).unwrap_or_default().concat();
        *known = (*known).max(log.events.len());
        if let Some((number, line)) = log.progress.as_ref().filter(|(number, _)| Some(*number) != *progress)
            && log.ended.is_none()
        {
            text += line;
            *progress = Some(*number);
        }
        (text, log.ended.is_none())
    }
}

/// Counts itself.
struct Listener(Arc<Job>);

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.listeners.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Tells a listener everything, until it has gone or the job has ended.
async fn speak(listener: Listener, mut known: usize, sender: mpsc::Sender<Bytes>) {
    let job = &listener.0;
    let (mut said, mut progress) = (job.said.subscribe(), None);
    // The headers are sent with the first bytes.
    let mut text = ":\n\n".to_owned();
    loop {
        said.mark_unchanged();
        let (news, more) = job.news(&mut known, &mut progress);
        text += &news;
        if !text.is_empty() && sender.send(std::mem::take(&mut text).into()).await.is_err() || !more {
            return;
        }
        if tokio::time::timeout(HEARTBEAT, said.changed()).await.is_err() {
            text += ":\n\n";
        }
    }
}

/// The body of a reply that consists of events.
pub struct EventStream {
    events: mpsc::Receiver<Bytes>,
}

impl Body for EventStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.events.poll_recv(context).map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}
