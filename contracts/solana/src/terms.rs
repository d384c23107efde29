// What two parties agree on, and the account that keeps it. layout.json says the same for readers of
// the chain.

use crate::error::Error;
use crate::key::Key;
use crate::syscalls::{is_on_curve, marked, sha256, Bytes, MARKER};

pub const TIMELOCK_LEAST_SECONDS: i64 = 30 * 60;
pub const TIMELOCK_MOST_SECONDS: i64 = 30 * 24 * 60 * 60;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Terms {
    pub hashlock: Key,
    pub payout: Key,
    pub refund: Key,
    /// Zero for SOL.
    pub mint: Key,
    pub amount: u64,
    /// Unix seconds. Before it a claim or a release, from it on a refund.
    pub timelock: i64,
}

/// What an escrow account holds while it is open. One that was claimed or released keeps only the
/// first byte, and a refunded one is gone.
#[repr(C)]
pub struct State {
    /// Status in the lowest byte, the bump of the address in the next.
    pub head: u64,
    pub terms: Terms,
    /// The token account that holds the money; zero for SOL.
    pub vault: Key,
}

pub const STATE_LEN: u64 = core::mem::size_of::<State>() as u64;
pub const TOMBSTONE_LEN: u64 = 1;

pub const OPEN: u64 = 1;
pub const CLAIMED: u64 = 2;
pub const RELEASED: u64 = 3;

impl Terms {
    /// What no chain state can mend.
    #[inline(always)]
    pub fn check(&self, now: i64) -> Result<(), Error> {
        if self.amount == 0 || self.hashlock.is_zero() || self.payout.is_zero() {
            return Err(Error::ZeroTerm);
        }
        // The runtime would list the one account twice at a claim.
        if self.payout.is(&self.refund) {
            return Err(Error::PayoutIsRefund);
        }
        if self.timelock < now + TIMELOCK_LEAST_SECONDS {
            return Err(Error::TimelockTooNear);
        }
        if self.timelock > now + TIMELOCK_MOST_SECONDS {
            return Err(Error::TimelockTooFar);
        }
        Ok(())
    }

    #[inline(always)]
    pub fn hash(&self) -> Key {
        sha256(&[Bytes::of(self)])
    }
}

/// The address of a hash of terms under this bump.
#[inline(always)]
pub fn address(hash: &Key, bump: &u8, program: &Key) -> Key {
    let marker = MARKER;
    sha256(&[Bytes::of(hash), Bytes::of(bump), Bytes::of(program), marked(&marker)])
}

/// One set of terms has one address: the first off the curve, counting the bump down from 255. That
/// it is off the curve is checked by the runtime, when the program signs for it.
#[inline(always)]
pub fn is_the_address(escrow: &Key, hash: &Key, bump: u8, program: &Key) -> bool {
    if !address(hash, &bump, program).is(escrow) {
        return false;
    }
    let mut higher = bump;
    while higher < u8::MAX {
        higher += 1;
        if !is_on_curve(&address(hash, &higher, program)) {
            return false;
        }
    }
    true
}
