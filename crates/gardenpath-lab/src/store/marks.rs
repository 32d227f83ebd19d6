//! Marks of cells being measured, so that other workers start with other cells.
//!
//! A mark is not a lock: it names the worker of a cell, so that others can avoid duplicate work. A mark that is not
//! renewed, or whose process has ended, is ignored. If two workers measure the same cell, they write the same bytes, so
//! only time is lost.

use crate::files::atomic;
use crate::process::Owner;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// An older mark was left by a dead worker, since live ones renew theirs. Several times [`RENEWAL`], so that a slow file
/// system does not make a live mark stale.
const STALE: Duration = Duration::from_secs(45);

/// How often a worker renews its marks.
pub const RENEWAL: Duration = Duration::from_secs(10);

/// Files left by processes of other machines are removed after this time.
const ABANDONED: Duration = Duration::from_secs(3600);

/// The directory of the marks.
#[derive(Clone, Debug)]
pub struct Marks {
    directory: PathBuf,
}

impl Marks {
    /// The marks in a directory.
    pub fn new(directory: PathBuf) -> Self {
        Marks { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Whether a worker holds a cell.
    pub fn is_held(&self, name: &str) -> bool {
        is_held(&self.path(name))
    }

    /// Marks a cell, unless another worker holds it. Failure to write a mark is ignored.
    pub fn claim(&self, name: &str) -> bool {
        let path = self.path(name);
        // A new file with its content, never the target of a symlink.
        match atomic::create(&path, Owner::this().to_string().as_bytes()) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if is_held(&path) {
                    return false;
                }
                let _ = atomic::replace(&path, Owner::this().to_string().as_bytes());
                // Another worker may have claimed it at the same time.
                owner(&path).is_none_or(|owner| owner == Owner::this())
            }
            Err(_) => true,
        }
    }

    /// Renews the mark.
    pub fn renew(&self, name: &str) {
        let path = self.path(name);
        if owner(&path).is_none_or(|owner| owner == Owner::this()) {
            let _ = atomic::replace(&path, Owner::this().to_string().as_bytes());
        }
    }

    /// Removes the mark of this process.
    pub fn release(&self, name: &str) {
        let path = self.path(name);
        if owner(&path) == Some(Owner::this()) {
            let _ = fs::remove_file(path);
        }
    }

    /// Removes all marks of this process.
    pub fn release_all(&self) {
        for path in files(&self.directory).filter(|path| owner(path) == Some(Owner::this())) {
            let _ = fs::remove_file(path);
        }
    }

    /// Removes marks of workers that cannot be alive.
    pub fn clean(&self) {
        for path in files(&self.directory) {
            let gone = owner(&path).is_some_and(|owner| owner.is_gone());
            if gone || age(&path).is_some_and(|age| age > ABANDONED) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Removes temporary files in a directory that no live process can be writing.
pub fn clean_temporary(directory: &Path) {
    for path in files(directory) {
        let Some(owner) = atomic::temporary_owner(&path) else { continue };
        let abandoned = match owner {
            Some(owner) if owner.is_gone() => true,
            _ => age(&path).is_some_and(|age| age > ABANDONED),
        };
        if abandoned {
            let _ = fs::remove_file(path);
        }
    }
}

fn files(directory: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// The owner of a mark; symlinks are not followed.
fn owner(path: &Path) -> Option<Owner> {
    let data = fs::symlink_metadata(path).ok()?;
    if data.is_file() { fs::read_to_string(path).ok()?.parse().ok() } else { None }
}

fn age(path: &Path) -> Option<Duration> {
    let data = fs::symlink_metadata(path).ok()?;
    SystemTime::now().duration_since(data.modified().ok()?).ok()
}

fn is_held(path: &Path) -> bool {
    // Older versions of this program leave marks without an owner.
    fs::symlink_metadata(path).is_ok_and(|data| data.is_file())
        && age(path).is_some_and(|age| age < STALE)
        && !owner(path).is_some_and(|owner| owner.is_gone())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn marks() -> (tempfile::TempDir, Marks) {
        let directory = tempfile::tempdir().unwrap();
        let marks = Marks::new(directory.path().to_owned());
        (directory, marks)
    }

    /// A process of this machine that has ended.
    fn dead() -> String {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let (pid, this) = (child.id(), Owner::this().to_string());
        child.wait().unwrap();
        this.replacen(&format!("-{}-", std::process::id()), &format!("-{pid}-"), 1)
    }

    fn make_old(path: &Path, seconds: u64) {
        let time = SystemTime::now() - Duration::from_secs(seconds);
        fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn a_mark_is_believed_while_its_worker_lives() {
        let (_directory, marks) = marks();
        assert!(!marks.is_held("a"));
        assert!(marks.claim("a") && marks.is_held("a"));
        assert!(!marks.claim("a"), "somebody works on it");
        make_old(&marks.path("a"), 60);
        assert!(!marks.is_held("a"), "it was not renewed");
        marks.renew("a");
        assert!(marks.is_held("a"));
        marks.release("a");
        assert!(!marks.path("a").exists());
        fs::write(marks.path("b"), dead()).unwrap();
        assert!(!marks.is_held("b") && marks.claim("b"), "its worker is dead");
        fs::write(marks.path("c"), "01234567-1-1").unwrap();
        assert!(marks.is_held("c") && !marks.claim("c"), "a worker of another machine");
        marks.release("c");
        marks.renew("c");
        assert_eq!(fs::read_to_string(marks.path("c")).unwrap(), "01234567-1-1", "the mark of somebody else stays");
    }

    #[test]
    fn marks_do_not_follow_links() {
        let (directory, marks) = marks();
        let target = directory.path().join("precious");
        fs::write(&target, "precious").unwrap();
        for name in ["a", "b", "c"] {
            std::os::unix::fs::symlink(&target, marks.path(name)).unwrap();
        }
        assert!(!marks.is_held("a"));
        assert!(marks.claim("a"));
        marks.renew("b");
        marks.release("c");
        assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
        assert!(fs::symlink_metadata(marks.path("a")).unwrap().is_file(), "a mark takes the place of the link");
    }

    #[test]
    fn only_what_nobody_can_be_writing_is_removed() {
        let (directory, marks) = marks();
        let (gone, far) = (dead(), "01234567-1-1");
        for (name, owner) in [("dead", gone.as_str()), ("far", far), ("old", far)] {
            fs::write(marks.path(name), owner).unwrap();
        }
        make_old(&marks.path("old"), 4000);
        marks.claim("mine");
        marks.clean();
        let left = |directory: &Path| {
            let mut names: Vec<String> = files(directory).map(|path| path.display().to_string()).collect();
            names.iter_mut().for_each(|name| *name = name.split_off(directory.display().to_string().len() + 1));
            names.sort();
            names
        };
        assert_eq!(left(directory.path()), ["far", "mine"]);

        let cells = tempfile::tempdir().unwrap();
        let temporary = |owner: &str| format!(".gardenpath-{owner}-x.tmp");
        let mut kept =
            [temporary(&Owner::this().to_string()), temporary(far), ".gardenpath-x.tmp".into(), "r.json".into()];
        for name in kept.iter().chain([&temporary(&gone), &temporary("old")]) {
            fs::write(cells.path().join(name), "half").unwrap();
        }
        make_old(&cells.path().join(temporary("old")), 4000);
        make_old(&cells.path().join("r.json"), 4000);
        clean_temporary(cells.path());
        kept.sort();
        assert_eq!(left(cells.path()), kept);
    }
}
