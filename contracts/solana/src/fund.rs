// Opens an escrow: only its funder can, once for one set of terms.

use crate::account::Account;
use crate::error::Error;
use crate::key::Key;
use crate::syscalls::{now, rent_rule, Bytes, Seeds};
use crate::system::System;
use crate::terms::{is_the_address, State, Terms, OPEN, STATE_LEN};
use crate::token::{amount_of, check_mint, Vault, ACCOUNT_LEN};
use crate::Call;

const SOL_ACCOUNTS: u64 = 3;
const TOKEN_ACCOUNTS: u64 = 7;

/// What the escrow's account is given at whatever rent: what its 184 bytes cost in 2026. SIMD-0437
/// lowers the rent to a tenth and SIMD-0438 puts it back: a claim has to leave its tombstone then.
const LEAST_DEPOSIT: u64 = (128 + STATE_LEN) * 6_960;

#[inline(always)]
pub fn fund(call: &Call, bump: u8, terms: &Terms) -> Result<(), Error> {
    let [funder, escrow, program, vault, source, mint, token] = call.accounts;
    let is_sol = terms.mint.is_zero();
    if call.count != if is_sol { SOL_ACCOUNTS } else { TOKEN_ACCOUNTS } {
        return Err(Error::BadAccounts);
    }
    if !funder.is_signer() {
        return Err(Error::NotSigned);
    }
    if !funder.key().is(&terms.refund) {
        return Err(Error::WrongFunder);
    }
    // A false one would get the funder's signature and the escrow's.
    if !program.key().is_zero() {
        return Err(Error::WrongSystemProgram);
    }
    terms.check(now())?;
    let owner = unsafe { &*call.program };
    let hash = terms.hash();
    if !is_the_address(escrow.key(), &hash, bump, owner) {
        return Err(Error::WrongEscrow);
    }
    // An open escrow and a settled one both belong to this program.
    if !escrow.owner().is_zero() {
        return Err(Error::AlreadyFunded);
    }
    let seeds = [Bytes::of(&hash), Bytes::of(&bump)];
    let seeds = Seeds { at: seeds.as_ptr(), count: 2 };
    let system = System { program, funder, escrow, seeds: &seeds };
    let rent = rent_rule();
    let deposit = rent.minimum(STATE_LEN).max(LEAST_DEPOSIT);
    if is_sol {
        // A sum that overflows is more than anyone can pay.
        system.open(deposit.saturating_add(terms.amount), STATE_LEN, owner);
        keep(&escrow, bump, terms, &Key::ZERO);
        return Ok(());
    }
    check_mint(&mint, &terms.mint, &token)?;
    let vault_rent = rent.minimum(ACCOUNT_LEN);
    system.open(deposit + vault_rent, STATE_LEN, owner);
    system.open_vault(&vault, vault_rent, ACCOUNT_LEN, token.key());
    keep(&escrow, bump, terms, vault.key());
    let vault = Vault { account: vault, mint, program: token, escrow, seeds: &seeds };
    vault.initialize();
    let before = amount_of(&vault.account);
    vault.take(&source, &funder, terms.amount);
    if amount_of(&vault.account) - before != terms.amount {
        return Err(Error::AmountNotGained);
    }
    Ok(())
}

#[inline(always)]
fn keep(escrow: &Account, bump: u8, terms: &Terms, vault: &Key) {
    let state = State { head: OPEN | (bump as u64) << 8, terms: *terms, vault: *vault };
    unsafe { *(escrow.data() as *mut State) = state };
}
