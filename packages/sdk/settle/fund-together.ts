// Fundings of several swaps by one key in one transaction: EVM and TRON. Each swap passes its own
// gates and keeps the transaction as its own funding before it is sent. The contract takes all or
// none, and a leg that it refuses goes alone.

import { mostInBatch } from '@parley/chains/escrows/calls.ts';
import type { BuiltBatch } from '@parley/chains/interface/batches.ts';
import { isOfPayee } from '@parley/chains/interface/lanes.ts';
import { sleep } from '@parley/chains/nodes/turn.ts';
import { type Resolvers, withResolvers } from '@parley/core/engines.ts';
import { fundBy } from '@parley/core/gates.ts';
import type { Millis } from '@parley/core/nominal.ts';
import { messageOf } from '../errors.ts';
import { type Kept, keptNow } from '../stores/store.ts';
import { aborted } from '../waiting.ts';
import { type Context, type FundsTogether, ownLeg, sourceOf, walletOf } from './context.ts';
import { fundOnce, sendApprovals } from './fund.ts';
import type { Signing } from './hands/hand.ts';
import { handOf } from './hands/of.ts';
import { claimPayerOf } from './owed.ts';
import { accountKey } from './record.ts';
import { lookedAfter, overdue, send } from './send.ts';
import { freshMs, fundingGate, mostSnapshots, type Still } from './sign.ts';

export type FundedTogether = {
  readonly chain: string;
  readonly swapIds: readonly string[];
  readonly txid: string;
};

type Member = {
  readonly context: Context;
  /** Whether all before the signature is done; false: it ended before that. */
  readonly ready: Resolvers<boolean>;
  /** Whether the batch was sent with it; false: it goes alone. */
  readonly sent: Resolvers<boolean>;
  /** Its own way up to the signature, which may end after the batch. */
  prepared: Promise<void>;
};

/** A batch that fails, or that no block takes, leaves time for a raise and a funding alone. */
const patiences = 2;

/**
 * `withinMs`: how long the first funding waits for others. Those that come while it waits for an
 * earlier one of the account go with it.
 */
export function fundingsTogether({
  withinMs,
  onSent = () => {},
}: {
  readonly withinMs: Millis;
  readonly onSent?: (sent: FundedTogether) => void;
}): FundsTogether {
  const open = new Map<string, Member[]>();
  const lead = async (key: string, members: Member[], { context }: Member) => {
    const close = () => {
      if (open.get(key) === members) open.delete(key);
    };
    try {
      await handOf(context, ownLeg(context)).alone(async () => {
        await sleep(withinMs, context.signal);
        close();
        if (members.length > 1) await sendReady(members, onSent);
      });
    } catch (error) {
      context.signal?.throwIfAborted();
      context.waits(ownLeg(context), `funds alone: ${messageOf(error)}`);
    } finally {
      close();
      for (const { sent } of members) sent.resolve(false);
    }
  };
  return {
    fund: async (context) => {
      const key = await keyOf(context, withinMs);
      if (key === null) return false;
      const member = newMember(context);
      const members = open.get(key);
      if (members === undefined) {
        const first = [member];
        open.set(key, first);
        await lead(key, first, member);
      } else {
        members.push(member);
        if (members.length >= mostInBatch) open.delete(key);
      }
      const isSent = await member.sent.promise;
      await member.prepared;
      return isSent;
    },
  };
}

function newMember(context: Context): Member {
  const sent = withResolvers<boolean>();
  // It may fail before anything waits for it.
  sent.promise.catch(() => {});
  return { context, ready: withResolvers<boolean>(), sent, prepared: Promise.resolve() };
}

/** Those of one key may share a transaction. null: this funding goes alone. */
async function keyOf(context: Context, withinMs: Millis): Promise<string | null> {
  const { record, fundingWays } = context;
  const leg = ownLeg(context);
  const { terms } = leg.escrow;
  const wallet = walletOf(context, leg.chain);
  const { adapter } = sourceOf(context, leg.chain);
  const hand = handOf(context, leg);
  const isPlain = wallet.asks === undefined && !hand.sends && !hand.paysByHand;
  const key = accountKey(leg.chain, leg.family, wallet.address);
  const isOwn = key === accountKey(leg.chain, leg.family, terms.refund.address);
  const mayApprove = terms.token === null || (fundingWays?.includes('approval') ?? true);
  const isBegun = Boolean(record.asked) || Boolean(record.approval);
  if (adapter.buildBatch === undefined || !isPlain || !isOwn || !mayApprove || isBegun) return null;
  if (terms.lane === undefined || isOfPayee(terms.lane)) return null;
  const leftMs = (fundBy(record.swap, leg) - (await context.now())) * 1_000;
  if (leftMs < patiences * context.replaceAfterMs(leg.family) + withinMs) return null;
  return `${key} ${terms.lane.contract}`;
}

/** A member that is slow or fails holds up no other. */
async function sendReady(
  members: readonly Member[],
  onSent: (sent: FundedTogether) => void,
): Promise<void> {
  const inTime: Member[] = [];
  for (const member of members) member.prepared = prepare(member, inTime);
  const [first] = members;
  if (first === undefined) return;
  const all = Promise.all(members.map(({ ready }) => ready.promise));
  await Promise.race([all, aborted(first.context.limit())]);
  await sendTogether([...inTime], onSent);
}

async function prepare(member: Member, inTime: Member[]): Promise<void> {
  const { context, ready, sent } = member;
  try {
    await fundOnce(context, async () => {
      inTime.push(member);
      ready.resolve(true);
      await sent.promise;
    });
    sent.resolve(true);
  } catch (error) {
    sent.reject(error);
  } finally {
    ready.resolve(false);
  }
}

type How = { readonly mayApprove: boolean; readonly snapshots: number };

async function sendTogether(
  members: readonly Member[],
  onSent: (sent: FundedTogether) => void,
  { mayApprove, snapshots }: How = { mayApprove: true, snapshots: 1 },
): Promise<void> {
  const [first] = members;
  if (first === undefined || members.length === 1) return first?.sent.resolve(false);
  const { context } = first;
  const leg = ownLeg(context);
  const hand = handOf(context, leg);
  const built = await builtFor(members);
  const signings = built === null ? [] : hand.signFunding(built.material);
  const sign = signings.at(-1);
  if (sign === undefined || (signings.length > 1 && !mayApprove)) {
    // The contract would take none: the one that is refused is found by halves.
    const middle = Math.ceil(members.length / 2);
    await sendTogether(members.slice(0, middle), onSent);
    return sendTogether(members.slice(middle), onSent);
  }
  if (signings.length > 1) {
    await sendApprovals(context, signings);
    return sendTogether(members, onSent, { mayApprove: false, snapshots });
  }
  const stills = await gated(members);
  const good = members.filter((each) => stills.has(each));
  if (good.length < members.length) {
    return sendTogether(good, onSent, { mayApprove, snapshots });
  }
  const kept = await keepTogether(good, sign, stills);
  if (kept === null) {
    if (snapshots >= mostSnapshots) return;
    return sendTogether(good, onSent, { mayApprove, snapshots: snapshots + 1 });
  }
  await sendKept(good, kept);
  onSent({ chain: leg.chain, swapIds: kept.batch ?? [], txid: kept.txid });
  await hand.untilMined(kept);
}

/** null: the contract would refuse them. */
async function builtFor(members: readonly Member[]): Promise<BuiltBatch | null> {
  const [first] = members;
  if (first === undefined) return null;
  const { context } = first;
  const { chain, escrow } = ownLeg(context);
  const { adapter } = sourceOf(context, chain);
  const legs = members.map((each) => ({ terms: ownLeg(each.context).escrow.terms }));
  const from = escrow.terms.refund.address;
  try {
    return (await adapter.buildBatch?.({ verb: 'fund', legs }, from, context.limit())) ?? null;
  } catch (error) {
    context.signal?.throwIfAborted();
    context.waits(ownLeg(context), `no ${members.length} at once: ${messageOf(error)}`);
    return null;
  }
}

/** Each leg's gate by its own nodes, right before the signature. */
async function gated(members: readonly Member[]): Promise<Map<Member, Still>> {
  const stills = new Map<Member, Still>();
  const asking = members.map(async (member) => {
    try {
      stills.set(member, await fundingGate(member.context));
    } catch (error) {
      member.sent.reject(error);
    }
  });
  await Promise.all(asking);
  return stills;
}

/** null: the lock came late, and the gates are asked again. */
async function keepTogether(
  members: readonly Member[],
  sign: Signing,
  stills: ReadonlyMap<Member, Still>,
): Promise<Kept | null> {
  const [first] = members;
  if (first === undefined) return null;
  const takenAtMs = performance.now();
  const hand = handOf(first.context, ownLeg(first.context));
  return hand.keeping(async () => {
    if (performance.now() - takenAtMs > freshMs) return null;
    const signed = await sign();
    try {
      for (const still of stills.values()) await still();
      const kept = keptNow({ ...signed, batch: members.map(({ context }) => context.swapId) });
      await keepAll(members, kept);
      return kept;
    } catch (error) {
      hand.forget();
      throw error;
    }
  }, false);
}

/** A record that keeps it alone, after a crash or a full disk, sends nothing (`isWhole`). */
async function keepAll(members: readonly Member[], funding: Kept): Promise<void> {
  const tried: Context[] = [];
  try {
    for (const { context } of members) {
      tried.push(context);
      await context.keep({ funding, asked: null, owedBy: claimPayerOf(context) });
    }
  } catch (error) {
    await Promise.allSettled(tried.map((context) => context.keep({ funding: null })));
    throw error;
  }
}

async function sendKept(members: readonly Member[], kept: Kept): Promise<void> {
  const [first] = members;
  if (first === undefined) return;
  try {
    await send(first.context, ownLeg(first.context), kept);
  } catch (error) {
    for (const { sent } of members) sent.reject(error);
    throw error;
  }
  for (const { context, sent } of members) {
    const leg = ownLeg(context);
    lookedAfter(context, kept);
    overdue(context, leg, kept);
    const text = `sent the funding of leg ${leg.leg} with those of ${members.length - 1} others`;
    context.emit('funded', leg.leg, text, kept.txid);
    sent.resolve(true);
  }
}
