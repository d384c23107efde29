// Empties an escrow, to the payout or back to the funder.

use crate::account::Account;
use crate::error::Error;
use crate::key::Key;
use crate::syscalls::{now, rent_rule, sha256, Bytes, Seeds};
use crate::terms::{State, CLAIMED, OPEN, RELEASED, STATE_LEN, TOMBSTONE_LEN};
use crate::token::{is_associated, keeps, Vault};
use crate::Call;

/// The state of an escrow that is not settled, or not in full.
#[inline(always)]
fn state_of(escrow: &Account, program: &Key) -> Result<&'static mut State, Error> {
    if !escrow.owner().is(program) || escrow.data_len() != STATE_LEN {
        return Err(Error::NotOpen);
    }
    Ok(unsafe { &mut *(escrow.data() as *mut State) })
}

/// Before the timelock, whoever sends it, to the agreed payout only: of tokens, to its associated
/// account, or to any of its accounts where it signs itself. The funder's account may be left out:
/// else a funder who can make its own account refuse lamports could stop the claim after the secret
/// was seen. Then the spare lamports wait for a refund.
#[inline(always)]
pub fn claim(call: &Call, bump: u8, secret: &Key) -> Result<(), Error> {
    let [escrow, second, third, mint, token, sixth, seventh] = call.accounts;
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
    let without_refund = if is_sol { 2 } else { 6 };
    if call.count != without_refund && call.count != without_refund + 1 {
        return Err(Error::BadAccounts);
    }
    let amount = state.terms.amount;
    let payout = if is_sol { second } else { sixth };
    if !payout.key().is(&state.terms.payout) {
        return Err(Error::WrongPayout);
    }
    if is_sol {
        escrow.set_lamports(escrow.lamports() - amount);
        payout.set_lamports(payout.lamports() + amount);
    } else {
        let (mint_key, owner) = (&state.terms.mint, &state.terms.payout);
        if !keeps(&second, &token, mint_key, owner) {
            return Err(Error::WrongPayout);
        }
        if !payout.is_signer() && !is_associated(&second, &token, mint_key, owner, bump) {
            return Err(Error::WrongPayout);
        }
        let (held, arrived) = empty_vault(state, escrow, third, mint, token, &second)?;
        if held < amount || arrived != held {
            return Err(Error::AmountNotPaid);
        }
    }
    state.head += CLAIMED - OPEN;
    if call.count == without_refund {
        return Ok(());
    }
    let refund = if is_sol { third } else { seventh };
    if !refund.key().is(&state.terms.refund) {
        return Err(Error::WrongRefund);
    }
    bury(&escrow, &refund);
    Ok(())
}

/// From the timelock on, whoever sends it, all that is there to the funder, and the account is gone:
/// tokens to its associated account, or to any of its accounts where it signs itself. After a claim
/// that left the funder's account out, also before, but for a tombstone.
///
/// A release is a refund that the payout signs, as the last account: it gives up its own claim only,
/// so it may at any time. Before the timelock it leaves a tombstone, since `fund` would take the
/// same terms again.
#[inline(always)]
pub fn refund(call: &Call, is_release: bool) -> Result<(), Error> {
    let [escrow, refund, destination, vault, mint, token, seventh] = call.accounts;
    if call.count == 0 {
        return Err(Error::BadAccounts);
    }
    let state = state_of(&escrow, unsafe { &*call.program })?;
    let is_open = state.head as u8 == OPEN as u8;
    let is_early = now() < state.terms.timelock;
    if is_release && !is_open {
        return Err(Error::NotOpen);
    }
    if !is_release && is_open && is_early {
        return Err(Error::TooEarly);
    }
    let has_tokens = is_open && !state.vault.is_zero();
    let without_payout = if has_tokens { 6 } else { 2 };
    if call.count != without_payout + is_release as u64 {
        return Err(Error::BadAccounts);
    }
    if !refund.key().is(&state.terms.refund) {
        return Err(Error::WrongRefund);
    }
    if is_release {
        let payout = if has_tokens { seventh } else { destination };
        if !payout.key().is(&state.terms.payout) {
            return Err(Error::WrongPayout);
        }
        if !payout.is_signer() {
            return Err(Error::NotSigned);
        }
    }
    if has_tokens {
        let (mint_key, owner) = (&state.terms.mint, &state.terms.refund);
        if !keeps(&destination, &token, mint_key, owner) {
            return Err(Error::WrongRefund);
        }
        // A refund names no bump. Half of all addresses have the first one.
        let mut bump = u8::MAX;
        while !refund.is_signer() && !is_associated(&destination, &token, mint_key, owner, bump) {
            if bump == 0 {
                return Err(Error::WrongRefund);
            }
            bump -= 1;
        }
        // What arrives is not checked, so that nothing can keep the funder from what is left.
        empty_vault(state, escrow, vault, mint, token, &destination)?;
    }
    if is_early {
        if is_release {
            state.head += RELEASED - OPEN;
        }
        bury(&escrow, &refund);
        return Ok(());
    }
    // `fund` takes no timelock that is near, so none that has passed: nothing need remain.
    escrow.close(&refund);
    Ok(())
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

/// Leaves the least account that can stay, one byte saying what it was, and gives the funder the
/// rest. What stays keeps the same terms from being funded again, and goes with `close`. So does
/// the rest where the runtime would refuse it to the funder's account, for want of that one's rent.
#[inline(always)]
fn bury(escrow: &Account, refund: &Account) {
    let rent = rent_rule();
    let spare = escrow.lamports().saturating_sub(rent.minimum(TOMBSTONE_LEN));
    if refund.lamports() + spare >= rent.minimum(refund.data_len()) {
        escrow.set_lamports(escrow.lamports() - spare);
        refund.set_lamports(refund.lamports() + spare);
    }
    escrow.shrink(TOMBSTONE_LEN);
}
