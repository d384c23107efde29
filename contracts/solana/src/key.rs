// Addresses and hashes: 32 bytes, always 8-aligned where this program reads them, compared a word
// at a time (four instructions a key; a byte-wise comparison would be a library call).

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Key(pub [u64; 4]);

impl Key {
    pub const ZERO: Key = Key([0; 4]);

    #[inline(always)]
    pub fn is(&self, other: &Key) -> bool {
        self.0[0] == other.0[0]
            && self.0[1] == other.0[1]
            && self.0[2] == other.0[2]
            && self.0[3] == other.0[3]
    }

    #[inline(always)]
    pub fn is_zero(&self) -> bool {
        self.0[0] | self.0[1] | self.0[2] | self.0[3] == 0
    }
}
