// Claims and refunds that are signed beforehand and sent later: are they right, and which one is
// due. No node can try a future lock time or an unknown secret, so each is made anew from terms and
// signatures, byte for byte. A second source, which gets them too, is asked before a refund as well:
// the first may have thrown a claim away.
//
// A signature does not cover the witness. So a signed claim lacks its secret alone, which is the
// second item of its witness, and can pay only where the payout key signed that it does.

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { smaller } from '@parley/core/amounts.ts';
import { type Fact, ParleyError } from '@parley/core/errors.ts';
import { opens } from '@parley/core/hashlock.ts';
import { refundableOf } from '@parley/core/remains.ts';
import type { Steps } from '@parley/core/steps.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { RawTx } from '@scure/btc-signer';
import type { WatchedEscrow } from '../interface/reading.ts';
import type { Bump, Ladder, ScheduledSpends, Tried, Verdict } from '../interface/scheduled.ts';
import type { BitcoinBackend } from './backend.ts';
import {
  coinbaseMaturity,
  type EscrowHistory,
  fundingPayment,
  isDeep,
  type Payment,
} from './escrow-facts.ts';
import {
  type Conflict,
  type FeeBounds,
  type FeeEstimate,
  feeAt,
  incrementOf,
  ladderRate,
  leastFee,
  mostBumps,
  mostFee,
  publicClaimBounds,
  rateOf,
  refundDeadline,
  replacementFee,
} from './fees.ts';
import { type BitcoinNetwork, paidAddress } from './networks.ts';
import { type Branch, escrowBytes, paidTo, spendPsbt, spendVsize, type Verb } from './plan.ts';
import { parseTx, type Tx } from './raw-transaction.ts';
import { assembling } from './signed-psbt.ts';
import { untaken } from './spending.ts';

/**
 * Payments that one may spend: twelve such transactions still fit a request. A claim takes the one
 * that funds the escrow.
 */
export const mostScheduledInputs = { claim: 1, refund: 10 } as const satisfies Record<Verb, number>;
/** For one transaction in hex: ten inputs are 4 800 characters. */
export const longestScheduledHex = 5_000;

/** A spend that no block took is replaced after so long, if a block came in the meantime. */
export const bumpSeconds = 20 * 60;

type About = {
  readonly verb: Verb;
  readonly terms: EscrowTerms;
  readonly network: BitcoinNetwork;
  readonly history: Pick<EscrowHistory, 'payments' | 'tip'>;
  readonly requiredConfirmations: number;
  readonly bounds: FeeBounds;
  readonly estimate: FeeEstimate;
  /** Those of this escrow, checked before: the same bytes are not verified again. */
  readonly known: readonly Bump[];
};

type Read = {
  readonly raw: string;
  readonly paysTo: string;
  readonly spent: readonly Payment[];
  readonly signatures: readonly string[];
  readonly feeSats: bigint;
  readonly outpoints: string;
  readonly vsize: number;
  readonly value: bigint;
};

function bad(at: number, sentence: string, facts: Record<string, Fact> = {}): ParleyError {
  return new ParleyError('bad_transaction', `transactions[${at}] ${sentence}`, { at, ...facts });
}

/** In steps, the dear ones last. Throws `bad_transaction`, `bad_fee_rate`, `nothing_there`. */
export function* checkSignedSpends(transactions: readonly string[], asked: About): Steps<Bump[]> {
  const about = { ...asked, bounds: boundsOf(asked.verb, asked.bounds) };
  const { length } = transactions;
  if (length < 1 || length > mostBumps) {
    throw new ParleyError('bad_field', `from 1 to ${mostBumps} transactions; got ${length}`, {});
  }
  yield;
  const { branches } = escrowBytes(about.terms, about.network);
  const read: Read[] = [];
  for (const [at, given] of transactions.entries()) {
    yield;
    const each = readSpend(given.toLowerCase(), at, branches[about.verb], about);
    const before = read[at - 1];
    if (before !== undefined && before.outpoints !== each.outpoints) {
      const sentence = `spends ${each.outpoints}, and the one before it ${before.outpoints}`;
      throw bad(at, sentence);
    }
    if (before !== undefined && before.paysTo !== each.paysTo) {
      throw bad(at, `pays ${each.paysTo}, and the one before it ${before.paysTo}`);
    }
    checkFee(each, at, before ?? null, about);
    read.push(each);
  }
  checkTop(read, about);
  const known = new Map(about.known.map((each) => [each.raw, each]));
  const bumps: Bump[] = [];
  for (const [at, each] of read.entries()) {
    const { raw, feeSats, vsize } = each;
    // The terms of an escrow and the amount of an outpoint never change.
    const txid = known.get(raw)?.txid ?? (yield* madeAnew(each, at, about));
    bumps.push({ txid, raw, feeSats, feeRateSatPerVbyte: rateOf(feeSats, vsize) });
  }
  return bumps;
}

/** No signed claim is sent before its secret is public. */
export function boundsOf(verb: Verb, bounds: FeeBounds): FeeBounds {
  return verb === 'claim' ? publicClaimBounds(bounds) : bounds;
}

type Decoded = ReturnType<typeof RawTx.decode>;

function decode(raw: string, at: number): Decoded {
  if (raw.length > longestScheduledHex) {
    throw bad(at, `has ${raw.length} characters, more than ${longestScheduledHex}`);
  }
  try {
    return RawTx.decode(hexToBytes(raw));
  } catch (cause) {
    throw new ParleyError(
      'bad_transaction',
      `transactions[${at}] is no transaction in hex`,
      { at },
      { cause },
    );
  }
}

function readSpend(raw: string, at: number, { witnessBytes }: Branch, about: About): Read {
  const { verb } = about;
  const { inputs, outputs, witnesses = [] } = decode(raw, at);
  const must = (holds: boolean, sentence: string, facts: Record<string, Fact> = {}) => {
    if (!holds) throw bad(at, sentence, facts);
  };
  must(
    inputs.length >= 1 && inputs.length <= mostScheduledInputs[verb],
    `has ${inputs.length} inputs, not 1 to ${mostScheduledInputs[verb]}`,
  );
  must(outputs.length === 1, `has ${outputs.length} outputs, not 1`, { outputs: outputs.length });
  must(witnesses.length === inputs.length, 'is not signed');
  const [output] = outputs;
  const paid = output?.amount ?? 0n;
  // Where it goes is said by the key, which signs the output. Mempools take these kinds.
  const to = output === undefined ? null : paidAddress(output.script, about.network);
  if (to === null) throw bad(at, 'pays no address (P2PKH, P2SH, P2WPKH, P2WSH or P2TR)');
  const spent = inputs.map(({ txid, index }) =>
    paymentOf(`${bytesToHex(txid)}:${index}`, at, about),
  );
  const outpoints = spent.map(outpointOf).sort();
  must(new Set(outpoints).size === outpoints.length, 'spends a payment twice');
  const value = spent.reduce((sum, { amount }) => sum + amount, 0n);
  const feeSats = value - paid;
  must(feeSats > 0n, `pays ${paid} sats of ${value}: no fee`);
  const signatures = witnesses.map(([signature = new Uint8Array()]) => bytesToHex(signature));
  const paysTo = to.address;
  const vsize = spendVsize(inputs.length, witnessBytes, to.script.length);
  return { raw, paysTo, spent, signatures, feeSats, outpoints: outpoints.join(), vsize, value };
}

function outpointOf({ txid, vout }: { readonly txid: string; readonly vout: number }): string {
  return `${txid}:${vout}`;
}

/** The payment of an outpoint: one to this escrow, deep enough to stay, that no block spends. */
function paymentOf(outpoint: string, at: number, about: About): Payment {
  const { verb, terms, history, requiredConfirmations: wanted } = about;
  const { payments, tip } = history;
  const found = payments.find((each) => outpointOf(each) === outpoint);
  if (found === undefined) {
    throw bad(at, `spends ${outpoint}, which the chain does not show as a payment to the escrow`);
  }
  if (verb === 'claim' && found !== fundingPayment(history, terms.amount)) {
    throw bad(at, `spends ${outpoint}, which is not the payment that funds the escrow`);
  }
  const gone = (why: string, facts: Record<string, Fact>) => {
    const sentence = `transactions[${at}] spends ${outpoint}, which ${why}`;
    return new ParleyError('nothing_there', sentence, { at, ...facts });
  };
  const { height, spend } = found;
  if (!isDeep(found, tip, wanted)) {
    const has = height === null ? 0 : tip - height + 1;
    const most = found.coinbase ? Math.max(wanted, coinbaseMaturity) : wanted;
    const why = `has ${has} of the ${most} confirmations that this escrow wants: try again later`;
    throw gone(why, { confirmations: has, requiredConfirmations: most });
  }
  if (spend !== null && spend.height !== null) {
    throw gone(`${spend.txid} has spent`, { txid: spend.txid });
  }
  return found;
}

/** Its txid, if the terms and its signatures come to these very bytes. */
function* madeAnew(
  { raw, paysTo, spent, feeSats, signatures }: Read,
  at: number,
  { verb, terms, network }: About,
): Steps<string> {
  try {
    yield;
    const paid = paidTo(terms, network, verb, paysTo);
    const psbtBase64 = spendPsbt(paid, network, verb, spent, feeSats);
    yield;
    const made = yield* assembling({ psbtBase64, signaturesHex: signatures }, verb);
    if (made.raw === raw) return made.txid;
  } catch (cause) {
    if (!(cause instanceof ParleyError)) throw cause;
    const sentence = `transactions[${at}]: ${cause.message}`;
    throw new ParleyError('bad_transaction', sentence, { at }, { cause });
  }
  const lockTime = verb === 'claim' ? 'nLockTime 0' : 'nLockTime of the timelock';
  const branch = verb === 'claim' ? 'claim branch with an empty secret' : 'refund branch';
  throw bad(
    at,
    `is not the ${verb} of these terms: it must have version 2, ${lockTime}, sequence 0xfffffffd, ` +
      `the ${branch}, and signatures in low-S DER with SIGHASH_ALL, or of BIP 340 in a leaf`,
  );
}

function badFee(at: number, sentence: string, facts: Record<string, Fact>): ParleyError {
  return new ParleyError('bad_fee_rate', `transactions[${at}] ${sentence}`, { at, ...facts });
}

function checkFee(each: Read, at: number, before: Read | null, { bounds, estimate }: About): void {
  const { feeSats, vsize, value } = each;
  const least = leastFee(bounds, vsize);
  const most = mostFee(bounds, vsize, value);
  if (feeSats < least || feeSats > most) {
    const sentence = `pays ${feeSats} sats for ${vsize} vbytes, outside ${least} to ${most} sats`;
    throw badFee(at, sentence, { feeSats, least, most });
  }
  if (before === null) return;
  const step = feeAt(vsize, incrementOf(estimate));
  if (feeSats >= before.feeSats + step) return;
  throw badFee(
    at,
    `pays ${feeSats} sats: to replace the one before it takes ${before.feeSats + step} sats`,
    { feeSats, least: before.feeSats + step, most },
  );
}

/** The highest must be enough if fees stay as they are now. */
function checkTop(read: readonly Read[], { bounds, estimate }: About): void {
  const last = read.at(-1);
  if (last === undefined) return;
  const { feeSats, vsize, value } = last;
  const most = mostFee(bounds, vsize, value);
  const least = smaller(feeAt(vsize, ladderRate(estimate, 0)), most);
  if (feeSats >= least) return;
  throw badFee(
    read.length - 1,
    `pays ${feeSats} sats, and the highest must pay at least ${least} sats at the rates of now`,
    { feeSats, least, most },
  );
}

export type Shown = {
  readonly history: Omit<EscrowHistory, 'leastRefund'>;
  readonly clock: number;
  readonly requiredConfirmations: number;
  readonly estimate: FeeEstimate;
  readonly now: number;
  readonly deadline: number;
  /** The unconfirmed spend in the way, as the mempool knows it. */
  readonly pending: Conflict | null;
};

/** The unconfirmed spend in the way of a schedule: the mempool is asked about it. */
export function pendingOf(
  { verb, bumps }: Pick<Ladder, 'verb' | 'bumps'>,
  history: Shown['history'],
): string | null {
  const spends = spentBy(bumps, history).flatMap(({ spend }) => (spend === null ? [] : [spend]));
  // A refund gives way to a claim. A claim replaces either.
  const waiting = spends.find(
    ({ height, by }) => height === null && (verb === 'claim' || by === 'refund'),
  );
  return waiting?.txid ?? null;
}

export function outpointsOf(bump: Bump): string[] {
  return inputsOf(bump).map(outpointOf);
}

function inputsOf({ raw }: Bump): { readonly txid: string; readonly vout: number }[] {
  const { inputs } = RawTx.decode(hexToBytes(raw));
  return inputs.map(({ txid, index }) => ({ txid: bytesToHex(txid), vout: index }));
}

function spentBy(bumps: readonly Bump[], { payments }: Shown['history']): Payment[] {
  const [first] = bumps;
  if (first === undefined) return [];
  return inputsOf(first).map((outpoint) => {
    const found = payments.find((each) => outpointOf(each) === outpointOf(outpoint));
    return found ?? { ...outpoint, amount: 0n, height: null, coinbase: false, spend: null };
  });
}

/**
 * docs/bitcoin-fees.md has the rules. A refund never before the timelock, nor against a waiting
 * claim; a claim never before its secret is public.
 */
export function decide(
  { verb, bumps, tried, secret }: Ladder,
  terms: EscrowTerms,
  shown: Shown,
): Verdict {
  const { history, clock } = shown;
  const { tip } = history;
  const wait = (why: string, calm = false, kept = tried): Verdict => {
    return { kind: 'wait', why, calm, tried: kept };
  };
  const payments = spentBy(bumps, history);
  const spends = payments.flatMap(({ spend }) => (spend === null ? [] : [spend]));
  const mined = spends.filter(({ height }) => height !== null);
  const [first] = mined;
  if (first !== undefined) {
    const deep = ({ height }: { height: number | null }) =>
      height !== null && tip - height + 1 >= shown.requiredConfirmations;
    if (mined.some(deep)) return { kind: 'over', txid: (mined.find(deep) ?? first).txid };
    return wait(`${first.txid} is mined and not yet deep`, true);
  }
  // A claim helps a payment that a reorganisation took back into the next block.
  const isGone = ({ height, amount }: Payment) =>
    height === null && (verb === 'refund' || amount === 0n);
  if (payments.some(isGone)) {
    return wait(`no block holds a payment that the ${verb}s spend`, true);
  }
  if (verb === 'claim') {
    if (secret === null) return wait('the secret is not public', true);
    const isRival = spends.some(({ by }) => by === 'refund');
    return choose({ bumps, tried, isRival }, shown, wait);
  }
  if (clock <= terms.timelock) {
    return wait(`median time past ${clock} is not beyond ${terms.timelock}`);
  }
  const claim = spends.find(({ by }) => by === 'claim');
  if (claim !== undefined) return wait(`the claim ${claim.txid} waits to be mined`);
  return choose({ bumps, tried, isRival: false }, shown, wait);
}

/** `isRival`: the pending spend pays the other side, and waiting for it loses the money. */
function choose(
  { bumps, tried, isRival }: Pick<Ladder, 'bumps' | 'tried'> & { readonly isRival: boolean },
  { pending, estimate, now, deadline, history }: Shown,
  wait: (why: string, calm?: boolean, kept?: Tried | null) => Verdict,
): Verdict {
  const { tip: height } = history;
  const wanted = ladderRate(estimate, deadline - now);
  const enough = bumps.findIndex(({ feeRateSatPerVbyte }) => feeRateSatPerVbyte >= wanted);
  const sensible = enough < 0 ? bumps.length - 1 : enough;
  if (pending === null) {
    // Other nodes may still have what this one forgot: never less than that.
    const former = bumps.findIndex(({ txid }) => txid === tried?.txid);
    return { kind: 'send', from: Math.max(sensible, former), height, over: null };
  }
  if (!isRival) {
    if (tried === null || tried.txid !== pending.txid) {
      const { txid } = pending;
      return wait(`${txid} waits to be mined`, false, { txid, at: now, height });
    }
    // Without a block no fee would have helped.
    if (now - tried.at < bumpSeconds || height <= tried.height) {
      return wait(`${pending.txid} waits to be mined`);
    }
  }
  const least = replacementFee(pending.vsize, [pending], incrementOf(estimate));
  const replaces = bumps.findIndex(({ feeSats }) => feeSats >= least);
  if (replaces < 0) return wait(`${pending.txid} pays as much as any of those that are kept`);
  return { kind: 'send', from: Math.max(replaces, sensible), height, over: pending.txid };
}

/**
 * The bytes to send: of a claim with its secret, which is the second item of the witness in every
 * form of the escrow. Throws `wrong_secret`.
 */
export function finished(
  { hashlock }: Pick<EscrowTerms, 'hashlock'>,
  raw: string,
  { verb, secret }: Pick<Ladder, 'verb' | 'secret'>,
): string {
  if (verb === 'refund') return raw;
  if (secret === null || !opens(secret, hashlock)) {
    throw new ParleyError('wrong_secret', `sha256(secret) is not ${hashlock}`, {});
  }
  const tx = RawTx.decode(hexToBytes(raw));
  const witnesses = (tx.witnesses ?? []).map(([signature = new Uint8Array(), _, ...rest]) => [
    signature,
    hexToBytes(secret),
    ...rest,
  ]);
  return bytesToHex(RawTx.encode({ ...tx, witnesses }));
}

/** How the chain is read: the escrow's whole history, a mempool, the rates. */
export type Reading = {
  readonly backend: Pick<BitcoinBackend, 'mempoolEntry' | 'rawOf' | 'spenders'>;
  readonly now: () => number;
  readonly estimate: (signal: AbortSignal) => Promise<FeeEstimate>;
  /** `clock`: median time past of the best block. */
  readonly history: (
    escrow: WatchedEscrow,
    signal: AbortSignal,
  ) => Promise<{ readonly history: EscrowHistory; readonly clock: number }>;
};

type ScheduledContext = Reading & {
  readonly network: BitcoinNetwork;
  readonly bounds: FeeBounds;
  readonly second: SecondSource | null;
};

export function scheduledSpends(context: ScheduledContext): ScheduledSpends {
  const { network, bounds, backend, second } = context;
  return {
    check: async (escrow, { verb, transactions, known, inTurns }, signal) => {
      const { history } = await context.history(escrow, signal);
      const estimate = await context.estimate(signal);
      const { terms, requiredConfirmations } = escrow;
      const own = { verb, terms, network, requiredConfirmations, known };
      const about = { ...own, history, bounds, estimate };
      return inTurns(checkSignedSpends(transactions, about), signal);
    },
    spendable: async (escrow, verb, signal) => {
      const { history } = await context.history(escrow, signal);
      const { tip, leastRefund } = history;
      const { terms, requiredConfirmations } = escrow;
      const funding = fundingPayment(history, terms.amount);
      const open = untaken(history).filter(
        (each) =>
          isDeep(each, tip, requiredConfirmations) && (verb === 'refund' || each === funding),
      );
      return {
        payments: verb === 'refund' ? refundableOf(open, leastRefund) : open,
        lastHourRate: ladderRate(await context.estimate(signal), 0),
      };
    },
    next: async (escrow, ladder, signal) => {
      const { history, clock } = await context.history(escrow, signal);
      const waiting = pendingOf(ladder, history);
      const now = context.now();
      const { terms, requiredConfirmations } = escrow;
      const isPublic = ladder.secret !== null || history.secret !== null;
      // A holder of the public secret may claim until the refund is mined.
      const refundBy = isPublic ? now : refundDeadline(terms.timelock, now);
      const claimBy = terms.timelock - Math.max(0, clock - now);
      return decide(ladder, terms, {
        history,
        clock,
        requiredConfirmations,
        estimate: await context.estimate(signal),
        now,
        deadline: ladder.verb === 'claim' ? claimBy : refundBy,
        pending: waiting === null ? null : await backend.mempoolEntry(waiting, signal),
      });
    },
    finished: ({ terms }, { raw }, ladder) => finished(terms, raw, ladder),
    rival: async (bump, over, signal) => {
      const own = [bump.txid, over];
      const outpoints = outpointsOf(bump);
      const until = AbortSignal.any([signal, AbortSignal.timeout(secondMs)]);
      const asking = second === null ? null : claimAt(second, outpoints, own, until);
      const claim = await asking?.catch(() => null);
      if (claim) return claim;
      // Last, so that nothing comes between its answer and the sending.
      const found = await backend.spenders(outpoints, signal);
      return found.find((txid) => !own.includes(txid)) ?? null;
    },
  };
}

/** For all that a second source is asked before one sending. Its silence holds up no refund. */
const secondMs = 3_000;

type SecondSource = Pick<BitcoinBackend, 'spenders' | 'rawOf'> & {
  /** Whether it shows the secret of an escrow that is followed; then it is known from now on. */
  readonly learn: (tx: Tx) => boolean;
};

/** The claim that waits there and that a refund would replace. */
async function claimAt(
  second: SecondSource,
  outpoints: readonly string[],
  own: readonly (string | null)[],
  signal: AbortSignal,
): Promise<string | null> {
  for (const txid of new Set(await second.spenders(outpoints, signal))) {
    if (own.includes(txid)) continue;
    const raw = await second.rawOf(txid, null, signal);
    // A claim shows the secret. Lower refunds, which show none, are in nobody's way.
    if (raw !== null && second.learn(parseTx(raw))) return txid;
  }
  return null;
}
