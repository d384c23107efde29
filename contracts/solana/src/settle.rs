// Empties an escrow, to the payout or back to the funder.

use crate::account::Account;
use crate::error::Error;
use crate::key::Key;
use crate::syscalls::{now, rent_rule, sha256, Bytes, Seeds};
use crate::terms::{State, CLAIMED, OPEN, REFUNDED, STATE_LEN, TOMBSTONE_LEN};
use crate::token::{keeps, Vault};
use crate::Call;

/// The state of an escrow that is not settled, or not in full.
#[inline(always)]
fn state_of(escrow: &Account, program: &Key) -> Result<&'static mut State, Error> {
    if !escrow.owner().is(program) || escrow.data_len() != STATE_LEN {
        return Err(Error::NotOpen);
    }
    Ok(unsafe { &mut *(escrow.data() as *mut State) })
}

/// Before the timelock, whoever sends it, to the agreed payout only. The funder's account may be
/// left out: else a funder who can make its own account refuse lamports could stop the claim after
/// the secret was seen. Then the spare lamports wait for a refund.
#[inline(always)]
pub fn claim(call: &Call, secret: &Key) -> Result<(), Error> {
    let [escrow, payout, third, mint, token, sixth, _] = call.accounts;
    if call.count == 0 {
        return Err(Error::BadAccounts);
    }
    let state = state_of(&escrow, unsafe { &*call.program })?;
    if state.head as u8 != OPEN as u8 {
        return Err(Error::NotOpen);
    }
    if now() >= state.terms.timelock {
        return Err(Error::TooLate);
    }
    if !sha256(&[Bytes::of(secret)]).is(&state.terms.hashlock) {
        return Err(Error::WrongSecret);
    }
    let is_sol = state.vault.is_zero();
    let without_refund = if is_sol { 2 } else { 5 };
    if call.count != without_refund && call.count != without_refund + 1 {
        return Err(Error::BadAccounts);
    }
    let amount = state.terms.amount;
    if is_sol {
        if !payout.key().is(&state.terms.payout) {
            return Err(Error::WrongPayout);
        }
        escrow.set_lamports(escrow.lamports() - amount);
        payout.set_lamports(payout.lamports() + amount);
    } else {
        if !keeps(&payout, &token, &state.terms.mint, &state.terms.payout) {
            return Err(Error::WrongPayout);
        }
        let (held, arrived) = empty_vault(state, escrow, third, mint, token, &payout)?;
        if held < amount || arrived != held {
            return Err(Error::AmountNotPaid);
        }
    }
    state.head += CLAIMED - OPEN;
    if call.count == without_refund {
        return Ok(());
    }
    bury(&escrow, state, if is_sol { &third } else { &sixth })
}

/// From the timelock on, whoever sends it, all that is there to the funder. After a claim that left
/// the funder's account out, at any time.
#[inline(always)]
pub fn refund(call: &Call) -> Result<(), Error> {
    let [escrow, refund, destination, vault, mint, token, _] = call.accounts;
    if call.count == 0 {
        return Err(Error::BadAccounts);
    }
    let state = state_of(&escrow, unsafe { &*call.program })?;
    let is_open = state.head as u8 == OPEN as u8;
    if is_open && now() < state.terms.timelock {
        return Err(Error::TooEarly);
    }
    let has_tokens = is_open && !state.vault.is_zero();
    if call.count != if has_tokens { 6 } else { 2 } {
        return Err(Error::BadAccounts);
    }
    if has_tokens {
        if !keeps(&destination, &token, &state.terms.mint, &state.terms.refund) {
            return Err(Error::WrongRefund);
        }
        // What arrives is not checked, so that nothing can keep the funder from what is left.
        empty_vault(state, escrow, vault, mint, token, &destination)?;
    }
    if is_open {
        state.head += REFUNDED - OPEN;
    }
    bury(&escrow, state, &refund)
}

#[inline(always)]
fn empty_vault(
    state: &State,
    escrow: Account,
    vault: Account,
    mint: Account,
    program: Account,
    destination: &Account,
) -> Result<(u64, u64), Error> {
    if !vault.key().is(&state.vault) {
        return Err(Error::WrongVault);
    }
    if !vault.owner().is(program.key()) {
        return Err(Error::WrongTokenProgram);
    }
    if !mint.key().is(&state.terms.mint) {
        return Err(Error::WrongMint);
    }
    let hash = state.terms.hash();
    let bump = (state.head >> 8) as u8;
    let seeds = [Bytes::of(&hash), Bytes::of(&bump)];
    let seeds = Seeds { at: seeds.as_ptr(), count: 2 };
    Ok(Vault { account: vault, mint, program, escrow, seeds: &seeds }.empty(destination))
}

/// Leaves the least account that can stay, one byte saying how it ended, and gives the funder the
/// rest. What stays keeps the same terms from being funded again.
#[inline(always)]
fn bury(escrow: &Account, state: &State, refund: &Account) -> Result<(), Error> {
    if !refund.key().is(&state.terms.refund) {
        return Err(Error::WrongRefund);
    }
    let spare = escrow.lamports().saturating_sub(rent_rule().minimum(TOMBSTONE_LEN));
    escrow.set_lamports(escrow.lamports() - spare);
    refund.set_lamports(refund.lamports() + spare);
    escrow.shrink(TOMBSTONE_LEN);
    Ok(())
}
