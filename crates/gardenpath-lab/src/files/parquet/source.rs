//! Where Parquet is read from: a file or bytes whose metadata were checked before they are decoded.

use super::thrift;
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::io::{self, Cursor, ErrorKind, Read};

/// A source of which the Parquet crate only sees headers of pages that it decodes in no more steps than they have bytes.
pub struct Source<R>(R);

/// The bytes at the end of a file: the length of the footer, and a mark.
const TAIL: u64 = 8;

/// The last of them, if the footer is not encrypted.
const MARK: &[u8] = b"PAR1";

/// The longest header of a page. It holds some numbers, and texts of other columns than ours at most.
const LONGEST_HEADER: usize = 1 << 24;

impl<R: ChunkReader> Source<R> {
    /// A source whose footer has the right form. Whatever else is wrong with it is left to the Parquet crate.
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

    /// Checks the size before memory is allocated for it.
    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let len = self.len();
        if start.checked_add(length as u64).is_none_or(|end| end > len) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} of a file of {len}")));
        }
        self.0.get_bytes(start, length)
    }
}

/// A part of a file that is read from its beginning.
pub enum Part<R> {
    /// The last bytes.
    Tail(R),
    /// The header of a page and, once it is read, its bytes.
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
            // The Parquet crate would skip what is not there in many small steps.
            0 if !buffer.is_empty() => Err(ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }
}
