//! Progress on a terminal.
#![cfg(unix)]

mod common;

use common::Lab;
use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// The program with its standard error on a terminal.
struct Terminal {
    child: Child,
    text: Receiver<Vec<u8>>,
    shown: String,
}

impl Terminal {
    fn run(lab: &Lab, arguments: &str) -> Self {
        Self::of_width(lab, arguments, 100)
    }

    fn of_width(lab: &Lab, arguments: &str, columns: u16) -> Self {
        let (mut master, mut slave) = (0, 0);
        let mut size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: all pointers are to local variables, or null where that is allowed.
        let opened = unsafe {
            libc::openpty(&mut master, &mut slave, std::ptr::null_mut(), std::ptr::null_mut(), &raw mut size)
        };
        assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
        // SAFETY: both were just opened and are not used elsewhere.
        let (mut master, slave) = unsafe { (File::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) };
        let mut command = lab.command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(slave).env("TERM", "xterm");
        let child = command.spawn().unwrap();
        // The command still holds the other end of the terminal, and must not.
        drop(command);
        let (sender, text) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = master.read(&mut buffer) {
                if sender.send(buffer[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        Terminal { child, text, shown: String::new() }
    }

    /// Waits until a text is shown.
    fn wait_for(&mut self, wanted: &str) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.shown.contains(wanted) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.text.recv_timeout(left) {
                Ok(bytes) => self.shown += &String::from_utf8_lossy(&bytes),
                Err(_) => panic!("{wanted:?} was not shown: {:?}", self.shown),
            }
        }
    }

    /// Everything that is shown until the program ends.
    fn finish(mut self) -> String {
        for bytes in self.text.iter() {
            self.shown += &String::from_utf8_lossy(&bytes);
        }
        assert!(self.child.wait().unwrap().success(), "{}", self.shown);
        std::mem::take(&mut self.shown)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_bar_is_there_before_the_first_step_ends() {
    let lab = Lab::new();
    // One grammar alone takes many seconds.
    let mut terminal = Terminal::run(&lab, "snr --vocab 48 --depth 3 --grammars 4 --threads 1");
    terminal.wait_for("measuring grammars");
    terminal.wait_for("0/4 in");
    assert!(!terminal.shown.contains("left"), "nothing is known of the time left: {}", terminal.shown);
}

#[test]
fn large_grammars_are_announced() {
    let lab = Lab::new();
    let mut terminal = Terminal::run(&lab, "grammar sample --vocab 255 --depth 2 -o g.pcfg");
    terminal.wait_for("sampling the grammar");
}

#[test]
fn the_learner_says_what_it_does_and_nothing_else() {
    let lab = Lab::with_grammar("--vocab 6 --depth 2 --fraction 0.25 --seed 1");
    let shown = Terminal::run(&lab, "learn --grammar g.pcfg --samples 200000").finish();
    assert!(shown.contains("learning"), "{shown}");
    assert!(!shown.contains(" 0 in ") && !shown.contains(" 0 0s"), "a number that counts nothing: {shown}");
}

/// The longest line between two cursor movements, in characters.
fn longest(shown: &str) -> usize {
    let lines = shown.split(['\r', '\n']).map(|line| {
        // Without terminal escape sequences: ESC [ … letter.
        let mut parts = line.split('\u{1b}');
        let first = parts.next().unwrap_or_default().chars().count();
        first + parts.map(|part| part.chars().skip_while(|c| !c.is_ascii_alphabetic()).skip(1).count()).sum::<usize>()
    });
    lines.max().unwrap_or(0)
}

#[test]
fn everything_fits_60_columns() {
    let lab = Lab::with_grammar("--vocab 8 --depth 3 --fraction 0.5 --seed 7");
    for command in [
        "corpus sample g.pcfg --samples 3e5 -o c.jsonl",
        "corpus info g.pcfg --samples 3e6",
        "entropy --vocab 8 --depth 3 --fraction 0.5 --grammars 10",
        "snr --vocab 16 --depth 2 --grammars 10",
        "train --model cnn --vocab 8 --depth 2 --samples 4096 --width 32 --max-steps 200 --min-steps 100",
    ] {
        let shown = Terminal::of_width(&lab, command, 60).finish();
        assert!(!shown.is_empty() && longest(&shown) <= 60, "{command}: {} columns: {shown:?}", longest(&shown));
    }
    for command in [
        "corpus info c.jsonl",
        "entropy --vocab 4 --depth 2,3 --fraction 0.25,0.5,1 --grammars 2 --samples 20",
        "theory lengths --depth 7",
        "theory fraction --depth 6",
        "theory entropy --fraction 0.1,0.5,1",
        "train --model cnn --vocab 4 --depth 2 --samples 400 --width 16 --max-steps 100",
    ] {
        let text = lab.run(command);
        let wide = text.lines().find(|line| line.chars().count() > 60);
        assert!(wide.is_none(), "{command}: {wide:?}");
    }
}
