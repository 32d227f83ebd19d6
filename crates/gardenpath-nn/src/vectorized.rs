//! Loops as wide as the processor allows, chosen when the program runs.

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
