//! A queue of bounded size.

use std::collections::VecDeque;

/// A queue.
///
/// It drops what is oldest.
#[derive(Debug, Clone)]
pub struct Queue<T> {
    items: VecDeque<T>,
}

pub trait Sink<T> {
    fn push(&mut self, item: T);
}

impl<T> Sink<T> for Queue<T> {
    /// Adds at the end.
    fn push(&mut self, item: T) {
        match self.items.len() {
            0 => {}
            _ => drop(self.items.pop_front()),
        }
        self.items.push_back(item);
    }
}

macro_rules! queue {
    ($($x:expr),*) => {
        Queue::from(vec![$($x),*])
    };
}

mod tests {
    #[test]
    fn pushes() {
        assert!(true);
    }
}
