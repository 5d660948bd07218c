// throwing.rs - a Rust function that exceptions of other languages pass through, dropping what it has: for
// tests/targets/throwing.py.
struct Held(i64);

impl Drop for Held {
    #[inline(never)]
    fn drop(&mut self) {
        std::hint::black_box(self.0);
    }
}

#[no_mangle]
pub extern "C-unwind" fn rust_pass(n: i64, to: extern "C-unwind" fn(i64) -> i64) -> i64 {
    let held = Held(n);
    to(held.0) + 1
}
