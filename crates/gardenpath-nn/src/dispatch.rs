//! Kernels as wide as the processor allows, chosen when the program runs.

/// The vector registers that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Registers {
    /// Those that every processor has, without fused multiply-adds.
    Plain,
    /// AVX2 with fused multiply-adds.
    Avx2,
    /// AVX-512: twice as wide.
    Avx512,
}

impl Registers {
    /// The widest that the processor has.
    #[inline]
    pub(crate) fn widest() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx2") && has!("fma") {
                let is_wider = has!("avx512f") && has!("avx512vl") && has!("avx512dq") && has!("avx512bw");
                return if is_wider { limited(Registers::Avx512) } else { limited(Registers::Avx2) };
            }
        }
        Registers::Plain
    }
}

#[cfg(all(target_arch = "x86_64", not(test)))]
#[inline(always)]
fn limited(registers: Registers) -> Registers {
    registers
}

#[cfg(all(target_arch = "x86_64", test))]
fn limited(registers: Registers) -> Registers {
    if tests::NARROW.load(std::sync::atomic::Ordering::Relaxed) { registers.min(Registers::Avx2) } else { registers }
}

/// Defines a function that calls `$kernel::<T, true>` compiled for AVX-512 or AVX2 with fused multiply-adds where the processor has them, and
/// `$kernel::<T, false>` elsewhere. The kernel and what it calls must be `#[inline(always)]`. Kernels that handle eight numbers at a time stop
/// at AVX2: with wider registers the compiler spends more time on joining eights than it saves.
///
/// The order of operations is the kernel's, and the compiler never changes it, so AVX2 and AVX-512 give the same bits.
macro_rules! dispatch {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) = $kernel:ident $(up to $most:ident)?) => {
        $(#[$attribute])*
        $visibility fn $name<T: Scalar>($($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
                fn widest<T: Scalar>($($argument: $type),*) {
                    $kernel::<T, true>($($argument),*);
                }
                #[target_feature(enable = "avx2,fma")]
                fn wide<T: Scalar>($($argument: $type),*) {
                    $kernel::<T, true>($($argument),*);
                }
                match crate::dispatch::Registers::widest()$(.min(crate::dispatch::Registers::$most))? {
                    // SAFETY: the processor has AVX-512, all that `widest` needs beyond a safe function.
                    crate::dispatch::Registers::Avx512 => return unsafe { widest($($argument),*) },
                    // SAFETY: the processor has AVX2 and FMA, all that `wide` needs beyond a safe function.
                    crate::dispatch::Registers::Avx2 => return unsafe { wide($($argument),*) },
                    crate::dispatch::Registers::Plain => {}
                }
            }
            $kernel::<T, false>($($argument),*);
        }
    };
}

pub(crate) use dispatch;

/// `factor * value + sum`, in one operation where there is one.
#[inline(always)]
pub(crate) fn multiply_add<T: crate::scalar::Scalar, const FUSED: bool>(factor: T, value: T, sum: T) -> T {
    if FUSED { factor.fused(value, sum) } else { factor * value + sum }
}

#[cfg(test)]
mod tests {
    use crate::engine::{Cpu, Engine, initial_state};
    use crate::{Architecture, Network, Optimizer, Task};
    use gardenpath::{Corpus, Ensemble, Seed, Symbol};
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Whether kernels leave out AVX-512. Tests that run at the same time see it too, and must not notice.
    pub static NARROW: AtomicBool = AtomicBool::new(false);

    /// The bits of the weights and losses after some steps. Widths are no multiples of registers or tiles.
    fn trained(task: Task, architecture: Architecture) -> Vec<u64> {
        let grammar = Ensemble::new(6, 2).fraction(0.17).sample(Seed::new(1)).unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(2), 0..70);
        let network = Network::for_task(task, 6, 6, grammar.shape(), 44, architecture).unwrap();
        let state = initial_state(&network, Seed::new(3));
        let mut engine = Cpu::new(&network, Optimizer::of_paper(&network), &state).unwrap();
        let sentences: Vec<&[Symbol]> = corpus.sentences().collect();
        let answers = match task {
            Task::Root => corpus.roots().to_vec(),
            task => sentences.iter().flat_map(|sentence| task.answers(6, sentence)).collect(),
        };
        let mut bits: Vec<u64> = (0..5).map(|_| engine.step(&sentences, &answers).unwrap().to_bits()).collect();
        for tensor in engine.state() {
            bits.extend(tensor.values.iter().map(|x| u64::from(x.to_bits())));
        }
        bits
    }

    #[test]
    fn wider_registers_give_the_same_bits() {
        let transformer = Architecture::Transformer { layers: 2, heads: 4, mlp: 72 };
        for (task, architecture) in [
            (Task::Root, Architecture::cnn()),
            (Task::Root, Architecture::inn()),
            (Task::Root, transformer),
            (Task::Next, transformer),
        ] {
            let widest = trained(task, architecture);
            NARROW.store(true, Ordering::Relaxed);
            let narrow = trained(task, architecture);
            NARROW.store(false, Ordering::Relaxed);
            assert!(widest == narrow, "{task:?} {}", architecture.name());
        }
    }
}
