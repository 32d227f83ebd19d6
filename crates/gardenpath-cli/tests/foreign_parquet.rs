//! Parquet corpora written by other programs: any integers, large lists, no roots, wrong columns.

use arrow_array::builder::{GenericListBuilder, PrimitiveBuilder};
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Int16Type, Int64Type, UInt8Type, UInt64Type};
use arrow_array::{ArrayRef, Int64Array, OffsetSizeTrait, RecordBatch, StringArray, UInt8Array};
use gardenpath::Corpus;
use gardenpath_lab::files::{NO_ROOT, corpus};
use parquet::arrow::ArrowWriter;
use std::fs::File;
use std::sync::Arc;

type Rows<T> = Vec<Option<Vec<Option<T>>>>;

fn lists<O: OffsetSizeTrait, T: ArrowPrimitiveType>(rows: Rows<T::Native>) -> ArrayRef {
    let mut builder = GenericListBuilder::<O, _>::new(PrimitiveBuilder::<T>::new());
    rows.into_iter().for_each(|row| builder.append_option(row));
    Arc::new(builder.finish())
}

/// Writes the columns and reads them as a corpus of 8 tokens.
fn read(columns: Vec<(&str, ArrayRef)>) -> Result<Corpus, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("c.parquet");
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let mut whole = Corpus::default();
    for piece in corpus::read(&path, 8).map_err(|e| format!("{e:#}"))? {
        whole.append(&piece.map_err(|e| format!("{e:#}"))?);
    }
    Ok(whole)
}

fn some<T>(rows: Vec<Vec<T>>) -> Rows<T> {
    rows.into_iter().map(|row| Some(row.into_iter().map(Some).collect())).collect()
}

#[test]
fn integers_of_all_widths_in_small_and_large_lists() {
    let roots: ArrayRef = Arc::new(Int64Array::from(vec![Some(3), None]));
    let mut expected = Corpus::default();
    expected.push(&[1, 2, 3], 3);
    expected.push(&[7], NO_ROOT);
    for tokens in [
        lists::<i32, UInt8Type>(some(vec![vec![1, 2, 3], vec![7]])),
        lists::<i32, Int16Type>(some(vec![vec![1, 2, 3], vec![7]])),
        lists::<i64, Int64Type>(some(vec![vec![1, 2, 3], vec![7]])),
        lists::<i64, UInt64Type>(some(vec![vec![1, 2, 3], vec![7]])),
    ] {
        let trees: ArrayRef = Arc::new(StringArray::from(vec!["(x)", "(y)"]));
        let columns = vec![("tree", trees), ("root", roots.clone()), ("tokens", tokens)];
        assert_eq!(read(columns).unwrap(), expected);
    }
    let unlabelled = read(vec![("tokens", lists::<i32, UInt8Type>(some(vec![vec![], vec![0]])))]).unwrap();
    assert_eq!(unlabelled.roots(), [NO_ROOT, NO_ROOT]);
}

#[test]
fn what_is_wrong_is_named() {
    let tokens = |rows: Rows<i64>| vec![("tokens", lists::<i32, Int64Type>(rows))];
    let root = |root: ArrayRef| vec![("tokens", lists::<i32, UInt8Type>(some(vec![vec![1]]))), ("root", root)];
    let flat: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let words: ArrayRef = Arc::new(StringArray::from(vec!["1 2", "3"]));
    for (columns, expected) in [
        (tokens(some(vec![vec![1], vec![2, 8]])), "sentence 2: token 8 at position 1 is not one of the 8 tokens"),
        (tokens(some(vec![vec![1], vec![2, 300]])), "sentence 2: a token is 300, expected 0 to 254"),
        (tokens(some(vec![vec![-1]])), "sentence 1: a token is -1, expected 0 to 254"),
        (tokens(vec![Some(vec![Some(1), None])]), "sentence 1: a token is null"),
        (tokens(vec![Some(vec![Some(1)]), None]), "sentence 2 is null"),
        (vec![("tokens", flat.clone())], "expected lists of integers"),
        (vec![("tokens", words)], "expected lists of integers"),
        (
            vec![("tokens", lists::<i32, Float32Type>(some(vec![vec![1.0]])))],
            "the column tokens has values of type Float32, expected integers",
        ),
        (root(Arc::new(UInt8Array::from(vec![255]))), "sentence 1: the root is 255"),
        (root(Arc::new(Int64Array::from(vec![-1]))), "sentence 1: the root is -1, expected 0 to 254"),
        (root(Arc::new(StringArray::from(vec!["A"]))), "the column root has values of type Utf8"),
        (vec![("text", flat.clone()), ("root", flat)], "no column tokens, only text, root"),
    ] {
        let message = read(columns).unwrap_err();
        assert!(message.contains("c.parquet: ") && message.contains(expected), "{message}");
    }
}
