// SPL Token and Token-2022: which mints are safe, and the calls. Both programs share the layouts
// used here.

use crate::account::Account;
use crate::error::Error;
use crate::key::Key;
use crate::syscalls::{invoke, marked, sha256, Bytes, Instruction, Meta, Seeds, MARKER};

/// TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA
const TOKEN: Key = Key([
    0x93a1_65d7_e1f6_dd06,
    0xac79_ebce_46e1_cbd9,
    0x9137_5b5f_ed85_b41c,
    0xa900_ff7e_85f5_8c3a,
]);
/// TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb
const TOKEN_2022: Key = Key([
    0xde8f_75ee_e1f6_dd06,
    0xdacd_6ce4_bc5d_4218,
    0x270d_b983_4dfc_1ab6,
    0xfc8b_a1d8_28f9_bdfe,
]);

/// ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL
const ASSOCIATED_TOKEN: Key = Key([
    0xf189_244e_8f25_978c,
    0x830d_8e14_2910_3dbb,
    0x8410_ffda_9913_5a0b,
    0x59f8_e9db_d87b_8e04,
]);

pub const ACCOUNT_LEN: u64 = 165;
const ACCOUNT_MINT: usize = 0;
const ACCOUNT_OWNER: usize = 32;
const ACCOUNT_AMOUNT: usize = 64;
const MINT_LEN: u64 = 82;
const MINT_DECIMALS: u64 = 44;
/// A mint is padded to an account's length, one byte tells the two apart, then the extensions.
const EXTENSIONS: u64 = 166;

/// The extensions that cannot touch a balance, one bit each: a closing authority (a mint closes at
/// a supply of nothing only), metadata and groups with their pointers. All others are refused, the
/// unknown ones too: fee, hook, permanent delegate, default state, pause, confidential transfers,
/// no transfers; and interest and scaling, under which people see another number than the agreed.
const SAFE_EXTENSIONS: u64 = 1 << 3 | 1 << 18 | 1 << 19 | 1 << 20 | 1 << 21 | 1 << 22 | 1 << 23;

const TRANSFER_CHECKED: u64 = 12;
const CLOSE_ACCOUNT: u64 = 9;
const INITIALIZE_ACCOUNT_3: u64 = 18;

/// Refuses a mint which is not this one, or could do to the vault what nobody agreed to.
#[inline(always)]
pub fn check_mint(mint: &Account, agreed: &Key, program: &Account) -> Result<(), Error> {
    if !program.key().is(&TOKEN) && !program.key().is(&TOKEN_2022) {
        return Err(Error::WrongTokenProgram);
    }
    if !mint.key().is(agreed) || mint.data_len() < MINT_LEN {
        return Err(Error::WrongMint);
    }
    if !mint.owner().is(program.key()) {
        return Err(Error::WrongTokenProgram);
    }
    let mut at = EXTENSIONS;
    // An extension is its type, its length, and so many bytes. Type 0 ends the list.
    while at + 4 <= mint.data_len() {
        let kind = word16(mint, at);
        if kind == 0 {
            break;
        }
        if kind > 63 || (SAFE_EXTENSIONS >> kind) & 1 == 0 {
            return Err(Error::UnsafeMint);
        }
        at += 4 + word16(mint, at + 2);
    }
    Ok(())
}

#[inline(always)]
fn word16(account: &Account, at: u64) -> u64 {
    account.byte(at) as u64 | (account.byte(at + 1) as u64) << 8
}

/// A vault and what is needed to move what it holds.
pub struct Vault<'a> {
    pub account: Account,
    pub mint: Account,
    pub program: Account,
    pub escrow: Account,
    /// What the program signs with for the escrow, which owns the vault.
    pub seeds: &'a Seeds,
}

#[inline(always)]
pub fn amount_of(account: &Account) -> u64 {
    account.word(ACCOUNT_AMOUNT)
}

/// Whether an account keeps this mint for this owner.
#[inline(always)]
pub fn keeps(account: &Account, program: &Account, mint: &Key, owner: &Key) -> bool {
    account.owner().is(program.key())
        && account.data_len() >= ACCOUNT_LEN
        && account.key_at(ACCOUNT_MINT).is(mint)
        && account.key_at(ACCOUNT_OWNER).is(owner)
}

/// Whether a token account is the one that wallets look at: the associated one. Only its own
/// program signs for such an address, and does so for one bump only: any other has no account.
#[inline(always)]
pub fn is_associated(
    account: &Account,
    program: &Account,
    mint: &Key,
    owner: &Key,
    bump: u8,
) -> bool {
    let marker = MARKER;
    sha256(&[
        Bytes::of(owner),
        Bytes::of(program.key()),
        Bytes::of(mint),
        Bytes::of(&bump),
        Bytes::of(&ASSOCIATED_TOKEN),
        marked(&marker),
    ])
    .is(account.key())
}

impl Vault<'_> {
    #[inline(always)]
    pub fn initialize(&self) {
        let [a, b, c, d] = self.escrow.key().0;
        let metas = [self.account.write(), self.mint.read()];
        let infos = [self.account.info(), self.mint.info()];
        let data = [INITIALIZE_ACCOUNT_3 << 56, a, b, c, d];
        let instruction = self.instruction(&metas, &data, 33);
        invoke(&instruction, infos.as_ptr(), 2, None);
    }

    /// From an account of the funder, who signed the transaction.
    #[inline(always)]
    pub fn take(&self, source: &Account, funder: &Account, amount: u64) {
        self.transfer(source, &self.account, funder, amount, None);
    }

    /// All there is, then closes the vault into the escrow. Gives what was there and what arrived.
    #[inline(always)]
    pub fn empty(&self, destination: &Account) -> (u64, u64) {
        let held = amount_of(&self.account);
        let before = amount_of(destination);
        self.transfer(&self.account, destination, &self.escrow, held, Some(self.seeds));
        let arrived = amount_of(destination) - before;
        let metas = [self.account.write(), self.escrow.write(), self.escrow.sign()];
        let infos = [self.account.info(), self.escrow.info()];
        let instruction = self.instruction(&metas, &[CLOSE_ACCOUNT << 56], 1);
        invoke(&instruction, infos.as_ptr(), 2, Some(self.seeds));
        (held, arrived)
    }

    #[inline(always)]
    fn transfer(
        &self,
        from: &Account,
        to: &Account,
        authority: &Account,
        amount: u64,
        signer: Option<&Seeds>,
    ) {
        let metas = [from.write(), self.mint.read(), to.write(), authority.sign()];
        let infos = [from.info(), self.mint.info(), to.info(), authority.info()];
        let decimals = self.mint.byte(MINT_DECIMALS) as u64;
        let data = [TRANSFER_CHECKED << 56, amount, decimals];
        let instruction = self.instruction(&metas, &data, 10);
        invoke(&instruction, infos.as_ptr(), 4, signer);
    }

    /// The instruction's number is one byte, and ends the first word.
    #[inline(always)]
    fn instruction<const M: usize, const N: usize>(
        &self,
        metas: &[Meta; M],
        data: &[u64; N],
        data_len: u64,
    ) -> Instruction {
        Instruction {
            program: self.program.key(),
            metas: metas.as_ptr(),
            metas_count: M as u64,
            data: unsafe { (data.as_ptr() as *const u8).add(7) },
            data_len,
        }
    }
}
