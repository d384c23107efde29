// Calls of the system program. Instruction data is built in aligned words and passed from the byte
// where it begins.

use crate::account::Account;
use crate::key::Key;
use crate::syscalls::{invoke, Instruction, Seeds};

const CREATE_ACCOUNT: u64 = 0;
const ASSIGN: u64 = 1;
const TRANSFER: u64 = 2;
const ALLOCATE: u64 = 8;
const ALLOCATE_WITH_SEED: u64 = 9;
/// An instruction number has four bytes, and ends the first word.
const NUMBER_BYTES: u64 = 4;

/// "vault/v1": with the escrow's address as base it makes the address of its vault.
const VAULT_SEED: u64 = 0x3176_2f74_6c75_6176;
const VAULT_SEED_LEN: u64 = 8;

pub struct System<'a> {
    pub program: Account,
    pub funder: Account,
    pub escrow: Account,
    /// What the program signs with for the escrow.
    pub seeds: &'a Seeds,
}

impl System<'_> {
    /// Makes the escrow an account of this program that has gained the lamports. Whoever sent
    /// something to its address before cannot hinder that: it only adds to what is there.
    #[inline(always)]
    pub fn open(&self, lamports: u64, len: u64, owner: &Key) {
        if self.escrow.lamports() == 0 {
            let [a, b, c, d] = owner.0;
            self.with_funder(&[CREATE_ACCOUNT << 32, lamports, len, a, b, c, d], Some(self.seeds));
        } else {
            self.with_funder(&[TRANSFER << 32, lamports], None);
            let [a, b, c, d] = owner.0;
            self.with_escrow(&[ALLOCATE << 32, len]);
            self.with_escrow(&[ASSIGN << 32, a, b, c, d]);
        }
    }

    /// Makes the vault an account of the token program, and gives it the lamports out of the escrow.
    #[inline(always)]
    pub fn open_vault(&self, vault: &Account, lamports: u64, len: u64, owner: &Key) {
        self.escrow.set_lamports(self.escrow.lamports() - lamports);
        vault.set_lamports(vault.lamports() + lamports);
        let base = self.escrow.key().0;
        let data = [
            ALLOCATE_WITH_SEED << 32,
            base[0],
            base[1],
            base[2],
            base[3],
            VAULT_SEED_LEN,
            VAULT_SEED,
            len,
            owner.0[0],
            owner.0[1],
            owner.0[2],
            owner.0[3],
        ];
        let metas = [vault.write(), self.escrow.sign()];
        let infos = [vault.info(), self.escrow.info()];
        let instruction = self.instruction(&metas, &data);
        invoke(&instruction, infos.as_ptr(), 2, Some(self.seeds));
    }

    /// All lamports of an address that is no account of this program, to the funder.
    #[inline(always)]
    pub fn return_all(&self) {
        let metas = [self.escrow.write_and_sign(), self.funder.write()];
        let infos = [self.escrow.info(), self.funder.info()];
        let data = [TRANSFER << 32, self.escrow.lamports()];
        invoke(&self.instruction(&metas, &data), infos.as_ptr(), 2, Some(self.seeds));
    }

    #[inline(always)]
    fn with_funder<const N: usize>(&self, data: &[u64; N], signer: Option<&Seeds>) {
        let metas = match signer {
            Some(_) => [self.funder.write_and_sign(), self.escrow.write_and_sign()],
            None => [self.funder.write_and_sign(), self.escrow.write()],
        };
        let infos = [self.funder.info(), self.escrow.info()];
        invoke(&self.instruction(&metas, data), infos.as_ptr(), 2, signer);
    }

    #[inline(always)]
    fn with_escrow<const N: usize>(&self, data: &[u64; N]) {
        let metas = [self.escrow.write_and_sign()];
        let infos = [self.escrow.info()];
        invoke(&self.instruction(&metas, data), infos.as_ptr(), 1, Some(self.seeds));
    }

    #[inline(always)]
    fn instruction<const M: usize, const N: usize>(
        &self,
        metas: &[crate::syscalls::Meta; M],
        data: &[u64; N],
    ) -> Instruction {
        Instruction {
            program: self.program.key(),
            metas: metas.as_ptr(),
            metas_count: M as u64,
            data: unsafe { (data.as_ptr() as *const u8).add(NUMBER_BYTES as usize) },
            data_len: 8 * N as u64 - NUMBER_BYTES,
        }
    }
}
