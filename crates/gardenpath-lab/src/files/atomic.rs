//! Atomic writes: a final name only ever holds a complete file.

use super::SystemError;
use crate::process::Owner;
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

/// A file being written under a temporary name next to its final one.
///
/// [`Output::finish`] makes it durable and renames it. If the program fails or is interrupted, the temporary file is
/// removed; if it is killed, a hidden file remains, but never a partial file under the final name.
pub struct Output {
    path: PathBuf,
    writer: BufWriter<Target>,
}

enum Target {
    Temporary(NamedTempFile),
    /// A device or pipe, which must not be replaced by a file.
    Special(File),
}

impl Output {
    /// Starts writing the file `path`.
    pub fn create(path: &Path) -> Result<Self> {
        let target = open(path).with_context(|| path.display().to_string())?;
        Ok(Output { path: path.to_owned(), writer: BufWriter::with_capacity(1 << 18, target) })
    }

    /// Flushes everything and renames the file.
    pub fn finish(self) -> Result<()> {
        let Output { path, writer } = self;
        let target = writer.into_inner().map_err(|e| failed(&path, e.into_error()))?;
        if let Target::Temporary(file) = target {
            file.as_file().sync_all().map_err(|e| failed(&path, e))?;
            let name = file.path().to_owned();
            file.persist(destination(&path)).map_err(|e| failed(&path, e.error))?;
            temporary().retain(|other| *other != name);
        }
        Ok(())
    }
}

/// Writes a whole file.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut output = Output::create(path)?;
    output.write_all(bytes).with_context(|| path.display().to_string())?;
    output.finish()
}

/// Writes a small file that need not be durable. A symlink in its place is replaced, not followed.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    small(path, bytes, |file| file.persist(path))
}

/// Writes a small file that need not be durable. Fails with [`io::ErrorKind::AlreadyExists`] if it exists.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    small(path, bytes, |file| file.persist_noclobber(path))
}

fn small(
    path: &Path,
    bytes: &[u8],
    persist: impl FnOnce(NamedTempFile) -> Result<File, tempfile::PersistError>,
) -> io::Result<()> {
    let mut file = temporary_file(path.parent().unwrap_or(Path::new(".")))?;
    let name = file.path().to_owned();
    let written = file.write_all(bytes).and_then(|()| Ok(persist(file).map(drop)?));
    temporary().retain(|other| *other != name);
    written
}

/// Fails early, before any work is done, if the file could not be written.
pub fn check(path: &Path) -> Result<()> {
    place(path)
        .and_then(|place| match place {
            Place::Special => Ok(()),
            Place::Directory(directory) => {
                let file = temporary_file(&directory).map_err(|e| SystemError::about("cannot write", e))?;
                temporary().retain(|other| other != file.path());
                Ok(())
            }
        })
        .with_context(|| path.display().to_string())
}

/// Fails early if the file could not be written or does not have this extension.
pub fn check_name(path: &Path, extension: &str) -> Result<()> {
    if path.extension().is_none_or(|found| found != extension) {
        bail!("{}: expected a name ending in .{extension}", path.display());
    }
    check(path)
}

/// The error of a write to `path`. It keeps the cause, which identifies a closed pipe.
fn failed(path: &Path, error: io::Error) -> anyhow::Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return error.into();
    }
    SystemError::about(format!("{}: cannot write", path.display()), error)
}

/// The final path of the file. A symlink is followed, and its target replaced.
fn destination(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Where a file is written.
enum Place {
    /// A device or pipe.
    Special,
    /// The directory of the temporary file.
    Directory(PathBuf),
}

fn place(path: &Path) -> Result<Place> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(SystemError(io::ErrorKind::IsADirectory.into()).into()),
        Ok(found) if !found.is_file() => return Ok(Place::Special),
        _ => {}
    }
    let place = destination(path);
    let directory = place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !directory.is_dir() {
        let words = format!("no directory {}", directory.display());
        return Err(SystemError::said(io::ErrorKind::NotFound, words));
    }
    Ok(Place::Directory(directory.to_owned()))
}

fn open(path: &Path) -> Result<Target> {
    match place(path)? {
        Place::Special => {
            let file = File::options().write(true).open(path).map_err(SystemError)?;
            Ok(Target::Special(file))
        }
        Place::Directory(directory) => {
            let file = temporary_file(&directory).map_err(|e| SystemError::about("cannot write", e))?;
            Ok(Target::Temporary(file))
        }
    }
}

const PREFIX: &str = ".gardenpath-";
const SUFFIX: &str = ".tmp";

/// A new file whose name identifies its owner.
fn temporary_file(directory: &Path) -> io::Result<NamedTempFile> {
    let prefix = format!("{PREFIX}{}-", Owner::this());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The mode of any new file, to which the umask applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(directory)?;
    temporary().push(file.path().to_owned());
    Ok(file)
}

/// For a temporary file of this program: its owner, if its name has one.
pub(crate) fn temporary_owner(path: &Path) -> Option<Option<Owner>> {
    let name = path.file_name()?.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    Some(name.rsplit_once('-').and_then(|(owner, _)| owner.parse().ok()))
}

/// The files being written.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn temporary() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes files being written, because the program is about to exit.
pub fn remove_temporary() {
    for path in temporary().iter() {
        let _ = fs::remove_file(path);
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::Temporary(file) => file.write(bytes),
            Target::Special(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::Temporary(file) => file.flush(),
            Target::Special(file) => file.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_when_it_is_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        let mut output = Output::create(&path).unwrap();
        output.write_all(b"whole").unwrap();
        assert!(!path.exists());
        output.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");

        let mut abandoned = Output::create(&path).unwrap();
        abandoned.write_all(b"half").unwrap();
        drop(abandoned);
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "no temporary file remains");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut output = Output::create(&link).unwrap();
        output.write_all(b"new").unwrap();
        output.finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        Output::create(Path::new("/dev/null")).unwrap().finish().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |path: &Path| format!("{:#}", Output::create(path).err().unwrap());
        assert_eq!(message(Path::new("/no/dir/f")), "/no/dir/f: no directory /no/dir");
        let directory = tempfile::tempdir().unwrap();
        assert!(message(directory.path()).ends_with("is a directory, expected a file"));
    }
}
