// The escrow of one swap leg. Anyone may claim to the agreed payout with the secret before the
// timelock, anyone may refund to the funder from it on, or close to him what is left; before it the
// payout's signature refunds too. Nothing else can happen: no owner, no fee, no pause, no way to
// fund the same terms twice. README.md has the rules, layout.json the bytes.

#![no_std]

mod account;
mod close;
mod error;
mod fund;
mod key;
mod settle;
mod syscalls;
mod system;
mod terms;
mod token;

use account::Account;
use error::Error;
use key::Key;
use terms::Terms;

const FUND: u64 = 0;
const CLAIM: u64 = 1;
const REFUND: u64 = 2;
const CLOSE: u64 = 3;
const RELEASE: u64 = 4;

const HEAD_LEN: u64 = 8;
const TERMS_LEN: u64 = HEAD_LEN + core::mem::size_of::<Terms>() as u64;
const CLAIM_LEN: u64 = HEAD_LEN + core::mem::size_of::<Key>() as u64;

const MOST_ACCOUNTS: usize = 7;

/// What an instruction came with.
struct Call {
    accounts: [Account; MOST_ACCOUNTS],
    count: u64,
    program: *const Key,
}

/// # Safety
/// The loader passes its own serialisation of the instruction.
#[no_mangle]
pub unsafe extern "C" fn entrypoint(input: *mut u8) -> u64 {
    match run(input) {
        Ok(()) => 0,
        Err(error) => error as u64,
    }
}

#[inline(always)]
unsafe fn run(input: *mut u8) -> Result<(), Error> {
    let count = *(input as *const u64);
    if count > MOST_ACCOUNTS as u64 {
        return Err(Error::BadAccounts);
    }
    let mut accounts = [Account::NONE; MOST_ACCOUNTS];
    let mut at = input.add(8);
    for slot in accounts.iter_mut().take(count as usize) {
        (*slot, at) = Account::parse(at).ok_or(Error::BadAccounts)?;
    }
    let data_len = *(at as *const u64);
    let data = at.add(8);
    if data_len < HEAD_LEN {
        return Err(Error::BadInstruction);
    }
    // The verb in the lowest byte; the bump of an address in the next; all else is zero.
    let head = *(data as *const u64);
    let bump = (head >> 8) as u8;
    let verb = head & !0xff00;
    let body = data.add(HEAD_LEN as usize);
    let call = Call { accounts, count, program: data.add(data_len as usize) as *const Key };
    if verb == FUND && data_len == TERMS_LEN {
        fund::fund(&call, bump, &*(body as *const Terms))
    } else if verb == CLAIM && data_len == CLAIM_LEN {
        settle::claim(&call, bump, &*(body as *const Key))
    } else if (head == REFUND || head == RELEASE) && data_len == HEAD_LEN {
        settle::refund(&call, head == RELEASE)
    } else if verb == CLOSE && data_len == TERMS_LEN {
        close::close(&call, bump, &*(body as *const Terms))
    } else {
        Err(Error::BadInstruction)
    }
}

#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // Nothing here can panic: link.ts refuses an object that calls anything but the runtime.
    loop {}
}
