// One account as the loader lays it out before an instruction: 88 bytes of header, its data, room to
// grow, padding and one word. Everything is 8-aligned.

use crate::key::Key;
use crate::syscalls::{Info, Meta};

const ROOM_TO_GROW: u64 = 10_240;
const NOT_A_DUPLICATE: u8 = 0xff;

#[repr(C)]
struct Header {
    duplicate_of: u8,
    is_signer: u8,
    is_writable: u8,
    is_executable: u8,
    original_len: u32,
    key: Key,
    owner: Key,
    lamports: u64,
    data_len: u64,
}

#[derive(Clone, Copy)]
pub struct Account(*mut Header);

impl Account {
    pub const NONE: Account = Account(core::ptr::null_mut());

    /// The account at `at` and where the next one begins; None when it repeats an earlier one.
    #[inline(always)]
    pub unsafe fn parse(at: *mut u8) -> Option<(Account, *mut u8)> {
        let header = at as *mut Header;
        if (*header).duplicate_of != NOT_A_DUPLICATE {
            return None;
        }
        let padded = ((*header).data_len + 7) & !7;
        let room = core::mem::size_of::<Header>() as u64 + padded + ROOM_TO_GROW + 8;
        Some((Account(header), at.add(room as usize)))
    }

    #[inline(always)]
    pub fn key(&self) -> &Key {
        unsafe { &(*self.0).key }
    }

    #[inline(always)]
    pub fn owner(&self) -> &Key {
        unsafe { &(*self.0).owner }
    }

    #[inline(always)]
    pub fn is_signer(&self) -> bool {
        unsafe { (*self.0).is_signer != 0 }
    }

    #[inline(always)]
    pub fn lamports(&self) -> u64 {
        unsafe { (*self.0).lamports }
    }

    #[inline(always)]
    pub fn set_lamports(&self, lamports: u64) {
        unsafe { (*self.0).lamports = lamports }
    }

    #[inline(always)]
    pub fn data_len(&self) -> u64 {
        unsafe { (*self.0).data_len }
    }

    /// Only of an account of this program, and only to shrink it.
    #[inline(always)]
    pub fn shrink(&self, len: u64) {
        unsafe { (*self.0).data_len = len }
    }

    /// Only of an account of this program, which is gone once the transaction ends. Somebody could
    /// bring it lamports before that: so it keeps no data, and is the system program's.
    #[inline(always)]
    pub fn close(&self, into: &Account) {
        into.set_lamports(into.lamports() + self.lamports());
        self.set_lamports(0);
        self.shrink(0);
        unsafe { (*self.0).owner = Key::ZERO }
    }

    #[inline(always)]
    pub fn data(&self) -> *mut u8 {
        unsafe { self.0.add(1) as *mut u8 }
    }

    /// The word at an offset that is a multiple of 8 and below `data_len`.
    #[inline(always)]
    pub fn word(&self, offset: usize) -> u64 {
        unsafe { *(self.data().add(offset) as *const u64) }
    }

    /// The 32 bytes at an offset that is a multiple of 8, and ends within `data_len`.
    #[inline(always)]
    pub fn key_at(&self, offset: usize) -> &Key {
        unsafe { &*(self.data().add(offset) as *const Key) }
    }

    #[inline(always)]
    pub fn byte(&self, offset: u64) -> u8 {
        unsafe { *self.data().add(offset as usize) }
    }

    #[inline(always)]
    pub fn read(&self) -> Meta {
        Meta { key: self.key(), is_writable: false, is_signer: false }
    }

    #[inline(always)]
    pub fn write(&self) -> Meta {
        Meta { key: self.key(), is_writable: true, is_signer: false }
    }

    #[inline(always)]
    pub fn sign(&self) -> Meta {
        Meta { key: self.key(), is_writable: false, is_signer: true }
    }

    #[inline(always)]
    pub fn write_and_sign(&self) -> Meta {
        Meta { key: self.key(), is_writable: true, is_signer: true }
    }

    #[inline(always)]
    pub fn info(&self) -> Info {
        unsafe {
            Info {
                key: self.key(),
                lamports: &mut (*self.0).lamports,
                data_len: self.data_len(),
                data: self.data(),
                owner: self.owner(),
                rent_epoch: 0,
                is_signer: self.is_signer(),
                is_writable: (*self.0).is_writable != 0,
                is_executable: (*self.0).is_executable != 0,
            }
        }
    }
}
