// Limits of the keeper, so that nothing of it holds up anything else.

/** How long a turn to sign lasts: all of one signature, and the commit that keeps it. */
export const turnMs = 10_000;
/** A request for a relay waits this long for its turn. */
export const turnPatienceMs = 2_500;
/** A job waits out a whole turn of somebody else's, if not two; then it is looked at again. */
export const jobPatienceMs = 12_000;
/** A place in the queue for a turn, said again at every look, lapses after this. */
export const turnAwaitedMs = 1_000;
/** Between two looks whether it is one's turn, more often the nearer it is. */
export const turnPollMs = { least: 50, most: 250 } as const;
/** Requests for relays that wait for a turn on a chain; what was promised always may. */
export const mostWaiting = 24;
/** Of one account; so no few of them take all places. */
export const mostWaitingOf = 4;
/** A hostile token or a slow node costs its own job this much, and no other. */
export const jobMs = 20_000;
/** Of that, how long the gates of a funding may take: a chain that is silent leaves time to act. */
export const gatesMs = 8_000;
/** All that is read and signed in one turn: what does not come sooner is not signed. */
export const signMs = 4_000;

/** Of that, how long a node has to say a nonce, twice: one that hangs leaves time to sign. */
export const countMs = 1_000;

/** Jobs of a chain looked at in one pass; the rest in the next. */
export const jobsAPass = 20;
/** Of those that bring back what a claim left: new work is looked for between them. */
export const closesAPass = 4;
/** Of those at once. */
export const lanes = 4;
/** Swaps or escrows taken up by one statement. */
export const takenUpAtOnce = 200;

/** Jobs of a chain with something signed that no block has: nodes hold few of one sender. */
export const mostUnderWay = 8;
/** Receivers that one batch pays: each takes gas of its own, and one that fails reverts all. */
export const mostPayments = 4;

/** Relays beside them. */
export const mostRelays = 8;
/** Fundings by signature beside both: they take the places of neither. */
export const mostFundings = 4;
/** All that may be under way at once. */
export const mostPlaces = mostUnderWay + mostRelays + mostFundings;

/**
 * What one nonce is signed for at most, as long as blocks take less than it offers: each time pays
 * an eighth more. Where they take more it follows them.
 */
export const mostVersions = 16;
/** Versions of a nonce that are looked at side by side. */
export const fatesAtOnce = 8;
/** What became of those whose place another has taken is asked for so long, and later again. */
export const restMs = 5_000;

export const pauseMs = 1_000;
/** After failures of a whole pass. */
export const longestPauseMs = 30_000;

/** A job in hand is due again after this, should its process have died. */
export const inHandSeconds = 30;
/** One that waits for a block or for depth is looked at again after this. */
export const lookAgainSeconds = 5;
/** Failures put a job off for 10 s, twice as long each time. A refund has time. */
export const firstBackoffSeconds = 10;
export const longestBackoffSeconds = {
  relay: 10,
  fund: 30,
  secret: 300,
  refund: 3_600,
  close: 3_600,
} as const;
/** Transactions of one job that blocks took without effect. */
export const mostFailed = 5;
/** Of one funding: its signature was cancelled or used, or the money is gone. */
export const mostFailedFunding = 1;
/** Of all of one account in a UTC day, whether or not the escrow is funded all the same. */
export const mostFailedFundings = 2;
/** A job that the cap or the balance put off. */
export const poorSeconds = 60;

/** How long the same fee is offered: a part of the time left, within these. */
export const bumpSeconds = { least: 20, most: 600, part: 16 } as const;
/**
 * Nonces that nodes say wait in mempools, and that we know nothing of, are left alone for so long
 * while something of ours waits behind them: a node that lies hides what is missing no longer. What
 * two nodes say may be a promise from before a backup was restored, and is left for longer.
 */
export const unknownSeconds = 300;
export const vouchedSeconds = 3_600;
/** Before a party that has only half done it is helped: its own transaction is in no block. */
export const stuckSeconds = 600;

/**
 * What a relay needs before its deadline to be sent at all, crashes included: where transactions
 * die by themselves, the whole life of one and the time until a final block shows that it is over.
 */
export const relayLeadSeconds = { evm: 60, tron: 240, solana: 270 } as const;

/**
 * Of the most that a transaction could cost this part stays counted whatever one node alone says:
 * one that lies stretches a day's bounds so many times and no further. What honest ones say is
 * above it as a rule: half of the gas limit is used or more, at half of what is offered.
 */
export const leastPaidPart = 8n;
/** No account may use up more than this part of a day's cap. */
export const accountShare = 4n;
/** Nor all refunds together more than this part. */
export const refundShare = 2n;
/** Of the part of refunds, and of their places, what is left to those that bring a leg's money. */
export const closeShare = 2n;

/** What a funding needs before it would come too late, to be sent at all. EVM. */
export const fundingLeadSeconds = 60;

/** Relays of one account in a UTC day, where the operator gives no number. */
export const relaysPerAccount = 50;
/** EVM: gas at reserve fees, for 40 claims of the native coin at once, or 16 of a token. */
export const relayGas = 4_000_000n;
/** EVM, where one takes the most that the chain's policy allows: at least so many at once. */
export const dearRelays = 8n;
/** Fundings of one account in a UTC day, where the operator gives no number. */
export const fundsPerAccount = 10;
/** EVM: so many of the most gas that one may take, so that one account has room for one of them. */
export const dearFundings = 4n;
/** TRON, Solana: for some 16 claims of a token at once at reserve fees, sun and lamports. */
export const relayCap = { tron: 1_600_000_000n, solana: 80_000_000n } as const;
/** Receivers' token accounts made in a UTC day, where the operator gives no number. */
export const relayTokenAccounts = 12;
/** How often jobs are looked for of swaps that a server without a key has taken up. */
export const missedEverySeconds = 15;

/** How often the balance is read for the metric and the warning. */
export const balanceEveryMs = 30_000;
/** Rows of secrets sealed anew by one statement. */
export const resealBatch = 200;
