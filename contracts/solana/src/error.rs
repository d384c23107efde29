// Why an instruction was refused. The number is the custom error that the chain reports; layout.json
// lists them for TypeScript and a test compares the two. Numbers are never reused.

#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Error {
    BadInstruction = 1,
    BadAccounts = 2,
    NotSigned = 3,
    WrongFunder = 4,
    ZeroTerm = 5,
    PayoutIsRefund = 6,
    TimelockTooNear = 7,
    TimelockTooFar = 8,
    WrongEscrow = 9,
    AlreadyFunded = 10,
    WrongTokenProgram = 11,
    WrongMint = 12,
    UnsafeMint = 13,
    AmountNotGained = 14,
    NotOpen = 15,
    TooLate = 16,
    TooEarly = 17,
    WrongSecret = 18,
    WrongPayout = 19,
    WrongRefund = 20,
    WrongVault = 21,
    AmountNotPaid = 22,
    WrongSystemProgram = 23,
    StillOpen = 24,
    Empty = 25,
}
