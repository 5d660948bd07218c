// languages.rs - a known chain of Rust calls, for tests/targets/languages.py: rust_chain, then
// demo::outer, which works in demo::spin and then calls the function that it was given.
pub mod demo {
    #[inline(never)]
    pub fn spin(n: u64) -> u64 {
        let mut x = n;
        for i in 0..n {
            x = std::hint::black_box(x.wrapping_mul(31).wrapping_add(i));
        }
        x
    }

    #[inline(never)]
    pub fn outer<T: Into<u64>>(n: T, back: extern "C" fn(i64, usize) -> i64, then: usize) -> i64 {
        let n = n.into();
        let sum = spin(n);
        back(n as i64, then).wrapping_add(sum as i64)
    }
}

#[no_mangle]
pub extern "C" fn rust_chain(n: u32, back: extern "C" fn(i64, usize) -> i64, then: usize) -> i64 {
    std::hint::black_box(demo::outer(n, back, then)).wrapping_add(1)
}
