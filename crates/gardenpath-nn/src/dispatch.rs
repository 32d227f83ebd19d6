//! Kernels and loops as wide as the processor allows, chosen when the program runs.

/// Defines a function that calls `$kernel::<T, true>` compiled for AVX2 with fused multiply-adds where the processor has them, and
/// `$kernel::<T, false>` elsewhere. The kernel and what it calls must be `#[inline(always)]`.
macro_rules! dispatch {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) = $kernel:ident) => {
        $(#[$attribute])*
        $visibility fn $name<T: Scalar>($($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                #[target_feature(enable = "avx2,fma")]
                fn wide<T: Scalar>($($argument: $type),*) {
                    $kernel::<T, true>($($argument),*);
                }
                // SAFETY: the processor has AVX2 and FMA, all that `wide` needs beyond a safe function.
                return unsafe { wide($($argument),*) };
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

/// Runs a loop of arithmetic with AVX2 where the processor has it.
///
/// The closure is compiled a second time for wider registers. It must be all arithmetic: calls that are not inlined stay narrow.
/// Multiplications and additions are never fused here, so results are the same either way.
#[inline(always)]
pub fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn wide<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        // SAFETY: the processor has AVX2, all that `wide` needs beyond a safe function.
        return unsafe { wide(work) };
    }
    work()
}
