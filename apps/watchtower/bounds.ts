// Limits of the watchtower, so that nothing of it holds up anything else.

/** How long a lease of a gas key lasts: all of one signature, and the commit that keeps it. */
export const leaseMs = 10_000;
/** A request for a relay waits this long for it. */
export const requestPatienceMs = 2_500;
/** A job waits out a whole lease of somebody else's; then it is looked at again. */
export const jobPatienceMs = 12_000;
/** Between two tries to have it. */
export const leasePollMs = 50;
/** Between two questions of a request whether a block has what is in flight. */
export const busyPollMs = 250;
/** Requests that wait for it on a chain, in one process; a promised one always may. */
export const mostWaiting = 24;
/** The share of one account, so that a few accounts do not take all places. */
export const mostWaitingOf = 4;
/** A hostile token or a slow node costs its own job this much, and no other. */
export const jobMs = 20_000;
/** The share for the gates of a funding: a chain that is silent leaves time to act. */
export const gatesMs = 8_000;
/** All that is read and signed under one lease: a later answer is not signed. */
export const signMs = 4_000;

/** The share for a node to say a nonce, twice: one that hangs leaves time to sign. */
export const countMs = 1_000;

/** Jobs of a chain looked at in one pass; the rest in the next. */
export const jobsAPass = 20;
/** Jobs at once. */
export const lanes = 4;
/** Lanes for requests of one account to a watchtower in a process of its own. */
export const lanesOfAccount = 2;
/** Swaps or escrows taken up by one statement. */
export const takenUpAtOnce = 200;

/**
 * Without nonces: jobs of a chain with something signed that no block has. Where a chain counts
 * nonces it is one, whatever it is for.
 */
export const mostUnderWay = 16;
/** All but claims of public secrets have one part of so many of a cap, and of the places. */
export const partBesideClaims = 2n;
/** Nonces of a gas key above all that is stored that a block may have: it was used by hand. */
export const mostUnknownNonces = 20;
/** Missing nonces that one pass frees. */
export const mostGaps = 8;

/**
 * Signatures for one nonce at most, as long as blocks take less than it offers: each pays an
 * eighth more. Where they take more it follows them.
 */
export const mostReplacements = 16;
/** Signed transactions that are asked about side by side. */
export const askedAtOnce = 8;
/** A replaced one is asked about for so long, and later again. */
export const oldestMs = 5_000;

/** Between two searches for what is due, while a job of any chain is open. */
export const pauseMs = 1_000;
/**
 * While none is, and escrows are followed: a job that another process made, or time made due,
 * begins as late. Where none is followed the server's usual poll is often enough.
 */
export const idlePauseMs = 2_000;
/** The pause of loops that are rung for when a job is due. */
export const unrungPauseMs = 600_000;

/** A job in hand is due again after this, should its process have died. */
export const inHandSeconds = 30;
/** One that waits for a block or for depth is read again after this. */
export const lookAgainSeconds = 5;
/** One that waits for what is in flight: new requests come after it. */
export const busySeconds = 1;
/** Failures put a job off for 10 s, twice as long each time. A refund has time. */
export const firstBackoffSeconds = 10;
export const longestBackoffSeconds = {
  relay: 10,
  fund: 30,
  secret: 300,
  refund: 3_600,
} as const;
/** Transactions of one job that blocks took without effect. */
export const mostFailed = 5;
/** The same of one funding: its signature was cancelled or used, or the money is gone. */
export const mostFailedFunding = 1;
/** Once a request was refused, what is in flight is made to land for it for so long. */
export const wantedSeconds = 60;
/** A job that the cap or the balance put off. */
export const poorSeconds = 60;

/** How long the same fee is offered: a part of the time left, within these. */
export const bumpSeconds = { least: 20, most: 600, part: 16 } as const;
/**
 * Nonces that nodes say wait in mempools, and that we know nothing of, are left alone for so long
 * while something of ours waits behind them: a node that lies hides what is missing no longer. A
 * nonce that two nodes name may be a promise from before a backup was restored: it waits longer.
 */
export const unknownSeconds = 300;
export const vouchedSeconds = 3_600;
/** Before a party that has only half done it is helped: its own transaction is in no block. */
export const stuckSeconds = 600;

/**
 * The time that a relay needs before its deadline to be sent at all, crashes included: where
 * transactions die by themselves, the whole life of one and the time until a final block shows that
 * it is over.
 */
export const relayLeadSeconds = { evm: 60, tron: 240, solana: 270 } as const;

/**
 * This part of the most that a transaction could cost stays counted whatever one node alone says:
 * one that lies stretches a day's cap so many times and no further. Honest nodes are above it as a
 * rule: half of the gas limit is used or more, at half of what is offered.
 */
export const leastPaidPart = 8n;

/** The time that a funding needs before it would come too late, to be sent at all. EVM. */
export const fundingLeadSeconds = 60;

/** How often jobs are looked for of swaps that a process without a key has taken up. */
export const missedEverySeconds = 15;

/** How often the balance is read for the metric and the warning. */
export const balanceEveryMs = 30_000;

/** So long a server without gas keys waits for an answer; then it takes its request back. */
export const apartPatienceMs = 4_000;
/** How often it reads whether there is one. */
export const apartPollMs = 200;
/** A watchtower that has said nothing of itself for so long is not asked. */
export const postSeconds = 120;
/** How often it does. */
export const tellEveryMs = 30_000;
