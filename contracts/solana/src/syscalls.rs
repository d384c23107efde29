// What the runtime does for a program. From sBPF v3 on a system call is a call to the Murmur3 hash
// of its name; before, the loader resolves the name.

use crate::key::Key;

macro_rules! syscall {
    ($name:ident, $hash:literal, ($($argument:ident: $type:ty),*)) => {
        #[cfg(any(target_arch = "bpf", target_feature = "static-syscalls"))]
        #[inline(always)]
        unsafe fn $name($($argument: $type),*) -> u64 {
            let call: extern "C" fn($($type),*) -> u64 = core::mem::transmute($hash as usize);
            call($($argument),*)
        }

        #[cfg(not(any(target_arch = "bpf", target_feature = "static-syscalls")))]
        extern "C" {
            fn $name($($argument: $type),*) -> u64;
        }
    };
}

syscall!(sol_sha256, 0x11f49d86u32, (parts: *const Bytes, count: u64, hash: *mut Key));
syscall!(sol_get_clock_sysvar, 0xd56b5fe9u32, (clock: *mut Clock));
syscall!(sol_get_rent_sysvar, 0xbf7188f6u32, (rent: *mut Rent));
syscall!(
    sol_curve_validate_point,
    0xaa2607cau32,
    (curve: u64, point: *const Key, unused: *mut u8)
);
syscall!(
    sol_invoke_signed_c,
    0xa22b9c85u32,
    (
        instruction: *const Instruction,
        infos: *const Info,
        infos_count: u64,
        signers: *const Seeds,
        signers_count: u64
    )
);

/// A range of memory, as system calls take it: a slice's own layout is not promised by Rust.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Bytes {
    pub at: *const u8,
    pub len: u64,
}

#[repr(C)]
pub struct Seeds {
    pub at: *const Bytes,
    pub count: u64,
}

#[repr(C)]
pub struct Instruction {
    pub program: *const Key,
    pub metas: *const Meta,
    pub metas_count: u64,
    pub data: *const u8,
    pub data_len: u64,
}

#[repr(C)]
pub struct Meta {
    pub key: *const Key,
    pub is_writable: bool,
    pub is_signer: bool,
}

#[repr(C)]
pub struct Info {
    pub key: *const Key,
    pub lamports: *mut u64,
    pub data_len: u64,
    pub data: *mut u8,
    pub owner: *const Key,
    pub rent_epoch: u64,
    pub is_signer: bool,
    pub is_writable: bool,
    pub is_executable: bool,
}

#[repr(C)]
struct Clock {
    slot: u64,
    epoch_start: i64,
    epoch: u64,
    leader_schedule_epoch: u64,
    unix_timestamp: i64,
}

#[repr(C)]
struct Rent {
    lamports_per_byte: u64,
    threshold_bits: u64,
    burn_percent: u8,
}

impl Bytes {
    #[inline(always)]
    pub fn of<T>(value: &T) -> Bytes {
        Bytes { at: value as *const T as *const u8, len: core::mem::size_of::<T>() as u64 }
    }
}

#[inline(always)]
pub fn sha256<const N: usize>(parts: &[Bytes; N]) -> Key {
    let mut hash = Key::ZERO;
    unsafe { sol_sha256(parts.as_ptr(), N as u64, &mut hash) };
    hash
}

/// "ProgramDerivedAddress", in words: the program has no read-only data.
pub const MARKER: [u64; 3] = [0x446d_6172_676f_7250, 0x6441_6465_7669_7265, 0x73_7365_7264];

/// What ends every program address before it is hashed.
#[inline(always)]
pub fn marked(marker: &[u64; 3]) -> Bytes {
    Bytes { at: marker.as_ptr() as *const u8, len: 21 }
}

/// Unix seconds of the chain's clock.
#[inline(always)]
pub fn now() -> i64 {
    let mut clock = core::mem::MaybeUninit::<Clock>::uninit();
    unsafe {
        sol_get_clock_sysvar(clock.as_mut_ptr());
        clock.assume_init_ref().unix_timestamp
    }
}

/// Whether an ed25519 public key could be these bytes.
#[inline(always)]
pub fn is_on_curve(point: &Key) -> bool {
    const EDWARDS: u64 = 0;
    unsafe { sol_curve_validate_point(EDWARDS, point, core::ptr::null_mut()) == 0 }
}

pub struct RentRule {
    lamports_per_byte: u64,
    doublings: u64,
}

/// The rule of the moment. The threshold is a float (2.0, and 1.0 once SIMD-0194 has put it into
/// the price), which this machine cannot multiply with: it is rounded up to a power of two, so that
/// no value of it could ever stop a claim.
#[inline(always)]
pub fn rent_rule() -> RentRule {
    let mut rent = core::mem::MaybeUninit::<Rent>::uninit();
    let rent = unsafe {
        sol_get_rent_sysvar(rent.as_mut_ptr());
        rent.assume_init_ref()
    };
    let exponent = (rent.threshold_bits >> 52).saturating_sub(1023);
    let has_fraction = rent.threshold_bits << 12 != 0;
    RentRule {
        lamports_per_byte: rent.lamports_per_byte,
        doublings: exponent + has_fraction as u64,
    }
}

impl RentRule {
    /// What an account of so many bytes must hold to stay: never nothing, whatever the price.
    #[inline(always)]
    pub fn minimum(&self, len: u64) -> u64 {
        const ACCOUNT_OVERHEAD: u64 = 128;
        let lamports = ((ACCOUNT_OVERHEAD + len) * self.lamports_per_byte) << (self.doublings & 63);
        lamports.max(1)
    }
}

/// Calls another program. A failure there ends this transaction: there is nothing to return.
#[inline(always)]
pub fn invoke(instruction: &Instruction, infos: *const Info, count: u64, signer: Option<&Seeds>) {
    let (signers, signers_count) = match signer {
        Some(seeds) => (seeds as *const Seeds, 1),
        None => (core::ptr::null(), 0),
    };
    unsafe { sol_invoke_signed_c(instruction, infos, count, signers, signers_count) };
}
