//! A run as bytes, from which it goes on elsewhere: head and state behind a magic word, a length
//! and a sum that any change of a byte changes.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::scenario::{Resolved, Scenario};

const MAGIC: &[u8; 8] = b"burst\x00ck";

/// Goes up with every change of what is stored or how.
const FORMAT: u64 = 43;

/// Magic word, format, length of the rest, and its sum.
const PREFIX: usize = 32;

/// Where the sum begins (Fowler, Noll, Vo).
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Why a run cannot be stored, or bytes are not the run they should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointError {
    /// The problem.
    pub problem: String,
    /// The fix.
    pub fix: String,
}

impl CheckpointError {
    pub(crate) fn new(problem: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { problem: problem.into(), fix: fix.into() }
    }

    pub(crate) fn damaged(problem: &str) -> Self {
        Self::new(problem, "delete it; the replication then starts at the beginning")
    }

    /// It is a run, but not this one: of another `what`.
    fn other(what: &str, problem: String) -> Self {
        Self::new(
            problem,
            format!("go on with the {what} it was written by, or use another directory"),
        )
    }
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  fix: {}", self.problem, self.fix)
    }
}

impl std::error::Error for CheckpointError {}

/// Which run it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    version: String,
    /// The resolved scenario as JSON, but for its seed, its number of replications, the memory
    /// that it may take, and its surgery, which the run knows.
    scenario: String,
    pub(crate) seed: u64,
    pub(crate) replication: u64,
}

impl Head {
    pub(crate) fn new(resolved: &Resolved, seed: u64, replication: u64) -> Self {
        let mut scenario: Scenario = resolved.scenario.clone();
        (scenario.run.seed, scenario.run.replications) = (0, 1);
        scenario.run.max_memory = None;
        scenario.surgery = Vec::new();
        let scenario = serde_json::to_string(&scenario).expect("a scenario can be written");
        Self { version: VERSION.into(), scenario, seed, replication }
    }

    /// Whether a run with the head `found` goes on as this one.
    fn accepts(&self, found: &Self) -> Result<(), CheckpointError> {
        let differ = |what: &str, theirs: &dyn fmt::Display, ours: &dyn fmt::Display| {
            let text = format!("it is of {what} {theirs}, and this run is of {what} {ours}");
            Err(CheckpointError::other(what, text))
        };
        if found.version != self.version {
            return differ("version", &found.version, &self.version);
        }
        if found.scenario != self.scenario {
            let read = |text: &str| serde_json::from_str(text).unwrap_or_default();
            let (theirs, ours): (Value, Value) = (read(&found.scenario), read(&self.scenario));
            let (path, theirs, ours) = difference("", &theirs, &ours).unwrap_or_default();
            let text = format!(
                "it is of another scenario: {path} is {theirs} there, and {ours} in this one"
            );
            return Err(CheckpointError::other("scenario", text));
        }
        if found.seed != self.seed {
            return differ("seed", &found.seed, &self.seed);
        }
        if found.replication != self.replication {
            return differ("replication", &found.replication, &self.replication);
        }
        Ok(())
    }
}

/// The first place where two values differ, and the values there.
fn difference(path: &str, theirs: &Value, ours: &Value) -> Option<(String, String, String)> {
    let shown = |value: &Value| match value.to_string() {
        text if value.is_null() || text.is_empty() => "not given".to_string(),
        text => text.chars().take(80).collect(),
    };
    match (theirs, ours) {
        (Value::Object(left), Value::Object(right)) => {
            let more = right.keys().filter(|key| !left.contains_key(*key));
            left.keys().chain(more).find_map(|key| {
                let dot = if path.is_empty() { "" } else { "." };
                difference(&format!("{path}{dot}{key}"), &theirs[key], &ours[key])
            })
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let mut pairs = left.iter().zip(right).enumerate();
            pairs.find_map(|(at, (left, right))| difference(&format!("{path}[{at}]"), left, right))
        }
        _ => (theirs != ours).then(|| (path.to_string(), shown(theirs), shown(ours))),
    }
}

/// The steps of FNV-1a, 64 bits (Fowler, Noll, Vo), each of which takes a word of eight bytes, and
/// at the end a byte: each is one to one, so that no single byte can change without the sum.
fn sum(bytes: &[u8]) -> u64 {
    let step = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().map(|&word| u64::from_le_bytes(word)).fold(OFFSET, step);
    rest.iter().map(|&byte| u64::from(byte)).fold(hash, step)
}

/// Head and state as bytes.
pub(crate) fn write(head: &Head, state: &impl Serialize) -> Vec<u8> {
    let mut bytes = vec![0; PREFIX];
    bytes = postcard::to_extend(head, bytes).expect("memory takes all that is written");
    bytes = postcard::to_extend(state, bytes).expect("memory takes all that is written");
    let (prefix, payload) = bytes.split_at_mut(PREFIX);
    let words = [FORMAT, payload.len() as u64, sum(payload)];
    prefix[..8].copy_from_slice(MAGIC);
    for (place, word) in prefix[8..].chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// The encoded state of the run `head`, if `bytes` are of that run, whole and unharmed.
pub(crate) fn checked<'a>(head: &Head, bytes: &'a [u8]) -> Result<&'a [u8], CheckpointError> {
    let Some((prefix, payload)) = bytes.split_at_checked(PREFIX) else {
        return Err(CheckpointError::damaged("it is cut short, or no checkpoint"));
    };
    let word = |at: usize| {
        prefix[8 * at..8 * at + 8].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
    };
    if prefix[..8] != MAGIC[..] {
        return Err(CheckpointError::damaged("it is no checkpoint"));
    }
    if word(1) != FORMAT {
        let problem = format!("its format is {}, and this burstlab reads {FORMAT}", word(1));
        return Err(CheckpointError::other("version", problem));
    }
    if word(2) != payload.len() as u64 {
        let problem = format!("it is cut: {} of {} bytes are there", payload.len(), word(2));
        return Err(CheckpointError::damaged(&problem));
    }
    if word(3) != sum(payload) {
        return Err(CheckpointError::damaged("it is damaged: its sum is not that of its bytes"));
    }
    let (found, state) =
        postcard::take_from_bytes::<Head>(payload).map_err(|error| unreadable(&error))?;
    head.accepts(&found)?;
    Ok(state)
}

/// The state of the run `head`.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(
    head: &Head,
    bytes: &[u8],
) -> Result<T, CheckpointError> {
    match postcard::take_from_bytes(checked(head, bytes)?) {
        Ok((state, [])) => Ok(state),
        Ok(_) => Err(CheckpointError::damaged("it has more bytes than a run")),
        Err(error) => Err(unreadable(&error)),
    }
}

fn unreadable(error: &postcard::Error) -> CheckpointError {
    CheckpointError::damaged(&format!("it cannot be read ({error})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_named() {
        let resolved = Scenario::default().resolve().expect("the defaults are valid");
        let ours = Head::new(&resolved, 1, 0);
        let theirs = Head { version: "0.0.9".into(), ..ours.clone() };
        let error = checked(&ours, &write(&theirs, &())).expect_err("another version");
        let says = format!("it is of version 0.0.9, and this run is of version {VERSION}");
        assert_eq!(error.problem, says);
        assert_eq!(checked(&ours, &write(&ours, &())), Ok(&[][..]));
    }

    #[test]
    fn what_the_encoding_holds_comes_back() {
        let head = Head { version: VERSION.into(), scenario: "{}".into(), seed: 1, replication: 2 };
        type Held =
            (f64, f64, u128, Option<i64>, std::collections::VecDeque<(u8, bool)>, Box<[u64]>);
        let held: Held = (
            f64::NEG_INFINITY,
            f64::from_bits(1),
            u128::MAX - 1,
            Some(i64::MIN),
            [(255, true), (0, false)].into(),
            Box::new([u64::MAX, 0]),
        );
        let bytes = write(&head, &held);
        assert_eq!(read::<Held>(&head, &bytes), Ok(held.clone()));
        let error = read::<(Held, u8)>(&head, &bytes).expect_err("too few bytes");
        assert!(error.problem.contains("cannot be read"), "{error}");
        let error = read::<f64>(&head, &bytes).expect_err("too many bytes");
        assert!(error.problem.contains("more bytes"), "{error}");
    }
}
