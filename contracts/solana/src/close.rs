// Gives the funder, from the timelock on, what a claim has left, and what somebody sent to the
// address by mistake. By then `fund` refuses the terms for ever: nothing need stay to say so.

use crate::error::Error;
use crate::syscalls::{now, Bytes, Seeds};
use crate::system::System;
use crate::terms::{address, Terms, OPEN};
use crate::Call;

const ACCOUNTS: u64 = 3;

/// Whoever sends it. A tombstone does not know whose it is: the terms say it, and make its address.
#[inline(always)]
pub fn close(call: &Call, bump: u8, terms: &Terms) -> Result<(), Error> {
    let [escrow, refund, program, ..] = call.accounts;
    if call.count != ACCOUNTS {
        return Err(Error::BadAccounts);
    }
    // A false one would get the escrow's signature.
    if !program.key().is_zero() {
        return Err(Error::WrongSystemProgram);
    }
    if now() < terms.timelock {
        return Err(Error::TooEarly);
    }
    let owner = unsafe { &*call.program };
    let hash = terms.hash();
    // Under another bump it may be an address too: what somebody sent there goes the same way.
    if !address(&hash, &bump, owner).is(escrow.key()) {
        return Err(Error::WrongEscrow);
    }
    if !refund.key().is(&terms.refund) {
        return Err(Error::WrongRefund);
    }
    if !escrow.owner().is(owner) {
        if escrow.lamports() == 0 {
            return Err(Error::Empty);
        }
        let seeds = [Bytes::of(&hash), Bytes::of(&bump)];
        let seeds = Seeds { at: seeds.as_ptr(), count: 2 };
        System { program, funder: refund, escrow, seeds: &seeds }.return_all();
        return Ok(());
    }
    // What is open is refunded, with all it holds.
    if escrow.byte(0) == OPEN as u8 {
        return Err(Error::StillOpen);
    }
    escrow.close(&refund);
    Ok(())
}
