//! Validates Parquet metadata before the Parquet crate decodes them.
//!
//! That crate decodes known fields by their expected type, skips unknown fields by their claimed type, and spends no
//! input on the items of a list of booleans: six damaged bytes can claim two billion of them. Here every known field
//! must have its expected type and every item must take at least one byte of input, so decoding takes at most as many
//! steps as there are bytes.

use std::io::{self, ErrorKind, Read};

/// The type of a field.
#[derive(Clone, Copy)]
pub enum Kind {
    Bool,
    Byte,
    Integer,
    Double,
    Binary,
    List(&'static Kind),
    Struct(&'static [(i16, Kind)]),
}

use Kind::{Binary, Bool, Byte, Double, Integer, List, Struct};

const EMPTY: Kind = Struct(&[]);

const STATISTICS: Kind = Struct(&[
    (1, Binary),
    (2, Binary),
    (3, Integer),
    (4, Integer),
    (5, Binary),
    (6, Binary),
    (7, Bool),
    (8, Bool),
    (9, Integer),
]);

/// The header of a page.
pub const PAGE_HEADER: Kind = Struct(&[
    (1, Integer),
    (2, Integer),
    (3, Integer),
    (4, Integer),
    (5, Struct(&[(1, Integer), (2, Integer), (3, Integer), (4, Integer), (5, STATISTICS)])),
    (6, EMPTY),
    (7, Struct(&[(1, Integer), (2, Integer), (3, Bool)])),
    (8, DATA_PAGE_V2),
]);

const DATA_PAGE_V2: Kind = Struct(&[
    (1, Integer),
    (2, Integer),
    (3, Integer),
    (4, Integer),
    (5, Integer),
    (6, Integer),
    (7, Bool),
    (8, STATISTICS),
]);

/// The footer of a file.
pub const FILE: Kind = Struct(&[
    (1, Integer),
    (2, List(&SCHEMA_ELEMENT)),
    (3, Integer),
    (4, List(&ROW_GROUP)),
    (5, List(&Struct(&[(1, Binary), (2, Binary)]))),
    (6, Binary),
    (7, List(&Struct(&[(1, EMPTY), (2, EMPTY)]))),
]);

const SCHEMA_ELEMENT: Kind = Struct(&[
    (1, Integer),
    (2, Integer),
    (3, Integer),
    (4, Binary),
    (5, Integer),
    (6, Integer),
    (7, Integer),
    (8, Integer),
    (9, Integer),
    (10, LOGICAL_TYPE),
]);

const LOGICAL_TYPE: Kind = Struct(&[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, Struct(&[(1, Integer), (2, Integer)])),
    (6, EMPTY),
    (7, TIME),
    (8, TIME),
    (10, Struct(&[(1, Byte), (2, Bool)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
    (16, Struct(&[(1, Byte)])),
    (17, Struct(&[(1, Binary)])),
    (18, Struct(&[(1, Binary), (2, Integer)])),
]);

const TIME: Kind = Struct(&[(1, Bool), (2, Struct(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)]))]);

const ROW_GROUP: Kind = Struct(&[
    (1, List(&COLUMN_CHUNK)),
    (2, Integer),
    (3, Integer),
    (4, List(&Struct(&[(1, Integer), (2, Bool), (3, Bool)]))),
    (5, Integer),
    (6, Integer),
    (7, Integer),
]);

const COLUMN_CHUNK: Kind =
    Struct(&[(1, Binary), (2, Integer), (3, COLUMN), (4, Integer), (5, Integer), (6, Integer), (7, Integer)]);

const COLUMN: Kind = Struct(&[
    (1, Integer),
    (2, List(&Integer)),
    (3, List(&Binary)),
    (4, Integer),
    (5, Integer),
    (6, Integer),
    (7, Integer),
    (9, Integer),
    (10, Integer),
    (11, Integer),
    (12, STATISTICS),
    (13, List(&Struct(&[(1, Integer), (2, Integer), (3, Integer)]))),
    (14, Integer),
    (15, Integer),
    (16, Struct(&[(1, Integer), (2, List(&Integer)), (3, List(&Integer))])),
    (17, Struct(&[(1, BOX), (2, List(&Integer))])),
]);

const BOX: Kind =
    Struct(&[(1, Double), (2, Double), (3, Double), (4, Double), (5, Double), (6, Double), (7, Double), (8, Double)]);

/// The bytes of a structure of this kind at the start of `input`. Fails if there is none, or if it has more than
/// `limit` bytes.
pub fn read(input: impl Read, kind: Kind, limit: usize) -> io::Result<Vec<u8>> {
    let mut walk = Walk { input, bytes: Vec::new(), limit };
    walk.value(STRUCT, Some(kind), DEPTH)?;
    Ok(walk.bytes)
}

/// Maximum nesting of structures, which bounds the recursion; Parquet's own metadata nest far less.
const DEPTH: u32 = 64;

const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

struct Walk<R> {
    input: R,
    /// All bytes read so far.
    bytes: Vec<u8>,
    limit: usize,
}

fn damaged() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "the metadata are damaged")
}

impl<R: Read> Walk<R> {
    /// Reads a value of a type, which must match the kind if it is known.
    fn value(&mut self, of: u8, kind: Option<Kind>, depth: u32) -> io::Result<()> {
        let fits = match kind {
            None => true,
            Some(Bool) => matches!(of, 1 | 2),
            Some(Byte) => of == 3,
            Some(Integer) => (4..=6).contains(&of),
            Some(Double) => of == 7,
            Some(Binary) => of == 8,
            Some(List(_)) => of == LIST,
            Some(Struct(_)) => of == STRUCT,
        };
        if !fits || depth == 0 {
            return Err(damaged());
        }
        match of {
            // As a field, a boolean is part of its header.
            1 | 2 => Ok(()),
            3 => self.skip(1),
            4..=6 => self.number().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.number()?;
                self.skip(length)
            }
            LIST | SET => {
                let item = if let Some(List(&item)) = kind { Some(item) } else { None };
                self.list(item, depth - 1)
            }
            MAP => self.map(depth - 1),
            STRUCT => self.fields(if let Some(Struct(fields)) = kind { fields } else { &[] }, depth - 1),
            13 => self.skip(16),
            _ => Err(damaged()),
        }
    }

    fn fields(&mut self, known: &[(i16, Kind)], depth: u32) -> io::Result<()> {
        let mut last = 0i16;
        loop {
            let header = self.byte()?;
            let (step, of) = (header >> 4, header & 15);
            if of == 0 {
                return Ok(());
            }
            last = match step {
                0 => {
                    let number = self.number()?;
                    ((number >> 1) as i64 ^ -((number & 1) as i64)) as i16
                }
                _ => last.checked_add(i16::from(step)).ok_or_else(damaged)?,
            };
            let kind = known.iter().find(|(id, _)| *id == last).map(|&(_, kind)| kind);
            self.value(of, kind, depth)?;
        }
    }

    fn list(&mut self, kind: Option<Kind>, depth: u32) -> io::Result<()> {
        let header = self.byte()?;
        // Some programs encode an empty list this way.
        if header == 0 {
            return Ok(());
        }
        let count = if header >> 4 == 15 { self.number()? } else { u64::from(header >> 4) };
        self.items(count, &[(header & 15, kind)], depth)
    }

    fn map(&mut self, depth: u32) -> io::Result<()> {
        let count = self.number()?;
        if count == 0 {
            return Ok(());
        }
        let types = self.byte()?;
        self.items(count, &[(types >> 4, None), (types & 15, None)], depth)
    }

    fn items(&mut self, count: u64, types: &[(u8, Option<Kind>)], depth: u32) -> io::Result<()> {
        if types.iter().any(|(of, _)| matches!(of, 1 | 2)) {
            return Err(damaged());
        }
        for _ in 0..count {
            types.iter().try_for_each(|&(of, kind)| self.value(of, kind, depth))?;
        }
        Ok(())
    }

    /// A variable-length integer, seven bits per byte.
    fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(number);
            }
        }
        Err(damaged())
    }

    fn byte(&mut self) -> io::Result<u8> {
        self.skip(1)?;
        self.bytes.last().copied().ok_or_else(damaged)
    }

    fn skip(&mut self, count: u64) -> io::Result<()> {
        if count > (self.limit - self.bytes.len()) as u64 {
            return Err(damaged());
        }
        let read = self.input.by_ref().take(count).read_to_end(&mut self.bytes)?;
        if read as u64 == count { Ok(()) } else { Err(damaged()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(bytes: &[u8]) -> Option<usize> {
        read(bytes, PAGE_HEADER, 1000).ok().map(|bytes| bytes.len())
    }

    #[test]
    fn what_is_read_ends_where_it_ends() {
        // Three integers, one of two bytes; the fields of a data page; an unknown field with a map.
        let good = [0x15, 0, 0x15, 0x80, 1, 0x15, 2, 0x2c, 0x15, 2, 0x15, 0, 0, 0x4b, 1, 0x58, 3, 1, 65, 0];
        assert_eq!(header(&good), Some(good.len()));
        assert_eq!(header(&[&good[..], &[1, 2, 3]].concat()), Some(good.len()));
        assert!((0..good.len()).all(|end| header(&good[..end]).is_none()), "every cut is noticed");
        assert!(read(&good[..], PAGE_HEADER, good.len() - 1).is_err());
        assert_eq!(header(&[0]), Some(1));
    }

    #[test]
    fn nothing_is_longer_than_its_bytes() {
        let huge = [0xff, 0xff, 0xff, 0xff, 7];
        for of in 1..=13 {
            for list in [LIST, SET] {
                let bytes = [&[0xf0 | list, 0xf0 | of][..], &huge, &[0; 20]].concat();
                assert_eq!(header(&bytes), None, "a list of items of type {of}");
            }
            let bytes = [&[0xf0 | MAP][..], &huge, &[0x30 | of], &[0; 20]].concat();
            assert_eq!(header(&bytes), None, "a map to values of type {of}");
        }
        assert_eq!(header(&[&[0xf8][..], &huge, &[0; 20]].concat()), None, "a text");
        assert_eq!(header(&[0xff; 20]), None, "a number without end");
        assert_eq!(header(&[0xfc; 900]), None, "a structure without end");
    }

    #[test]
    fn known_fields_have_their_types() {
        assert_eq!(header(&[0x15, 0, 0]), Some(3));
        assert_eq!(header(&[0x18, 0, 0]), None, "a text in the place of a number");
        assert_eq!(header(&[0x5c, 0x11, 0, 0]), None, "a truth value in the place of a number");
        // The third field of a dictionary page is one.
        assert_eq!(header(&[0x7c, 0x31, 0, 0]), Some(4));
        assert_eq!(header(&[0x05, 2, 0, 0]), Some(4), "the number of a field can be written out");
        assert_eq!(header(&[0x08, 2, 0, 0]), None);
    }
}
