//! The input of the Parquet crate: a file or bytes whose metadata are checked before decoding.

use super::thrift;
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::io::{self, Cursor, ErrorKind, Read};

/// A source that shows the Parquet crate only page headers that it can decode in at most as many steps as they have
/// bytes.
pub struct Source<R>(R);

/// The last bytes of a file: the length of the footer, and the magic number.
const TAIL: u64 = 8;

/// The magic number of files without encryption.
const MARK: &[u8] = b"PAR1";

/// Maximum length of a page header. It contains numbers, and at most the statistics of other columns.
const LONGEST_HEADER: usize = 1 << 24;

impl<R: ChunkReader> Source<R> {
    /// A source with a well-formed footer. Other errors are left to the Parquet crate.
    pub fn new(input: R) -> Result<Self> {
        let source = Source(input);
        let Some(tail) = source.len().checked_sub(TAIL) else { return Ok(source) };
        let bytes = source.get_bytes(tail, TAIL as usize)?;
        let length = bytes[..4].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
        if &bytes[4..] == MARK
            && let Some(start) = tail.checked_sub(length)
        {
            let footer = source.get_bytes(start, length as usize)?;
            let checked = thrift::read(&footer[..], thrift::FILE, footer.len());
            checked.map_err(|_| ParquetError::General("the footer is damaged".into()))?;
        }
        Ok(source)
    }
}

impl<R: Length> Length for Source<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Source<R> {
    type T = Part<R::T>;

    /// The tail of the file, or the header of a page.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        let input = self.0.get_read(start)?;
        Ok(if start.checked_add(TAIL) == Some(self.len()) { Part::Tail(input) } else { Part::Header(input, None) })
    }

    /// Checks the size before allocating memory for it.
    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let len = self.len();
        if start.checked_add(length as u64).is_none_or(|end| end > len) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} of a file of {len}")));
        }
        self.0.get_bytes(start, length)
    }
}

/// A part of a file, read from its start.
pub enum Part<R> {
    /// The last bytes.
    Tail(R),
    /// The header of a page and, once read, its bytes.
    Header(R, Option<Cursor<Vec<u8>>>),
}

impl<R: Read> Read for Part<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (input, header) = match self {
            Part::Tail(input) => return input.read(buffer),
            Part::Header(input, header) => (input, header),
        };
        let header = match header {
            Some(header) => header,
            None => {
                let bytes = thrift::read(input, thrift::PAGE_HEADER, LONGEST_HEADER);
                header.insert(Cursor::new(bytes.map_err(|_| io::Error::other("the header of a page is damaged"))?))
            }
        };
        match header.read(buffer)? {
            // The Parquet crate would skip missing bytes in many small steps.
            0 if !buffer.is_empty() => Err(ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }
}
