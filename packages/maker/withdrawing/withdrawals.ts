// Withdrawals as one process does them, which has the lock of the store: checked as a funding is,
// signed once, on disk before they are sent, and sent again until a block has them. No second
// payment is ever signed for one, but for versions of which a chain takes a single one.

import { setTimeout as wait } from 'node:timers/promises';
import { factsOf, has } from '@parley/core/families.ts';
import type { BaseUnits, Millis } from '@parley/core/nominal.ts';
import { nodesOf } from '@parley/sdk/chains.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { onItsWayMs } from '@parley/sdk/settle/hands/nonces.ts';
import { accountKey, ownSides } from '@parley/sdk/settle/record.ts';
import { type Kept, keptNow, type Store } from '@parley/sdk/stores/store.ts';
import { locked } from '@parley/sdk/waiting.ts';
import { Failure, needsYou } from '@parley/trader/failures.ts';
import {
  type PaymentState,
  raisedPayment,
  signedPayment,
  stateOfPayment,
  unsignPayment,
} from '@parley/trader/paying/signing.ts';
import type { OwnChain, OwnChains } from '../chains.ts';
import type { ChainConfig, Config } from '../config/config.ts';
import type { Deal } from '../journal.ts';
import type { Log } from '../log.ts';
import { type Commitment, type Costs, holdingOf, takenOf } from '../rules/inventory.ts';
import type { Stock } from '../stock.ts';
import { type Known, needsOf, refusalOf } from './rules.ts';
import { hasEnded, keep, mostOpen, openOnes, type Withdrawal } from './withdrawal.ts';

/** For one question to nodes, and for a signature. */
const limitMs = 20_000;
/** A Core node scans all outputs for the coins of a payment. */
const coinsLimitMs = 180_000;
/** For one that was signed before a start: settlement waits for it. */
const resumeMs = 5_000;
/** Between two looks at one that waits, and at one that is in a block. */
const waitingMs = 3_000;
const minedMs = 15_000;
/** A fee that no block takes is raised after so long: others of the account wait behind it. */
const patienceMs = 2 * 60_000;
const coinPatienceMs = 20 * 60_000;
/** Nodes may be a block apart for a moment. */
const agreeTries = 3;
const agreePauseMs = 1_500;

export type WithdrawalsInput = {
  readonly config: Pick<Config, 'store' | 'assets' | 'addresses' | 'chains'>;
  readonly chains: OwnChains;
  readonly store: Pick<Store, 'getSwap' | 'swapIds'>;
  /** Those that are open have coins of the wallet in their fundings. */
  readonly deals: ReadonlyMap<string, Deal>;
  readonly stock: Stock;
  readonly promises: {
    commitments(): readonly Commitment[];
    /** In the place of the same one as it was before. */
    withdrawing(of: Commitment): void;
    withdrawn(id: string): void;
  };
  readonly log: Log;
  /** The maker's clock, by which balances are read. */
  readonly now: () => Millis;
  readonly signal: AbortSignal;
  /** Before nodes that differ are asked again; default 1.5 s. */
  readonly agreePauseMs?: Millis;
};

const lateWords = 'it was not taken up in time';

type Own = OwnChain & { readonly of: ChainConfig };

/** `withdrawals` is counted in `commitments`. */
export function promisesWith(
  withdrawals: Map<string, Commitment>,
  commitments: () => readonly Commitment[],
): WithdrawalsInput['promises'] {
  return {
    commitments,
    withdrawing: (of) => void withdrawals.set(of.id, of),
    withdrawn: (id) => void withdrawals.delete(id),
  };
}

export type Withdrawals = ReturnType<typeof createWithdrawals>;

export function createWithdrawals(input: WithdrawalsInput) {
  const { config, promises, log, now, signal } = input;
  const dir = config.store;
  const startedMs = Date.now();
  const lookedMs = new Map<string, Millis>();
  /** Refusals that the disk has not taken yet. It may show them as signed: that is void. */
  const unkept = new Map<string, Withdrawal>();
  const limit = (ms = limitMs) => AbortSignal.any([signal, AbortSignal.timeout(ms)]);

  const note = async (withdrawal: Withdrawal): Promise<void> => {
    await keep(dir, withdrawal);
    const { id, state, asset, amount, name, to, kept, why } = withdrawal;
    const level = state === 'failed' ? 'error' : why === null ? 'info' : 'warn';
    log[level]('withdrawal', { id, state, asset, amount, name, to, txid: kept?.txid, why });
    // A paid one counts until a balance is read after it.
    if (state === 'refused' || state === 'failed') promises.withdrawn(id);
  };

  const refuse = async (asked: Withdrawal, why: string): Promise<void> => {
    const refused: Withdrawal = { ...asked, state: 'refused', why, kept: null };
    unkept.set(asked.id, refused);
    promises.withdrawn(asked.id);
    await note(refused);
    unkept.delete(asked.id);
  };

  const promise = (withdrawal: Withdrawal, costs: Costs | null, fundedAtMs: Millis | null) => {
    const none = { fund: 0n, claim: 0n, refund: 0n, deposit: 0n, settlesFromAmount: true };
    const before = needsOf(withdrawal, costs ?? none);
    const { id, amount } = withdrawal;
    const common = { id, kind: 'withdrawal', asset: '', amount } as const;
    promises.withdrawing({ ...common, fundedAtMs, before, after: new Map() });
  };

  const take = async (asked: Withdrawal): Promise<void> => {
    const own = ownOf(input, asked.chain);
    if (own === null) return refuse(asked, `the settings name no chain "${asked.chain}"`);
    if (Date.now() > asked.untilMs) return refuse(asked, lateWords);
    if (await isTooSoon(input, own, startedMs)) return;
    const { family, address } = own.wallet;
    const account = accountKey(asked.chain, family, address);
    const sign = () => locked(`nonces of ${account}`, () => signed(own, asked));
    try {
      await note({ ...asked, state: 'taken' });
      // On a slow disk its asker may have been told by now that nothing will be paid.
      if (Date.now() > asked.untilMs) throw needsYou('not_taken', lateWords);
      // No funding is chosen between the check and the signature.
      await locked(account, async () => {
        const known = await mustBeGood(input, own, asked, limit);
        const refusal = refusalOf(asked, known());
        if (refusal !== null) throw needsYou('short', refusal);
        promise(asked, known().costs, null);
        await send(own, await sign());
      });
    } catch (error) {
      if (!signal.aborted) await refuse(asked, messageOf(error));
    }
  };

  /** On disk, and nobody else has it yet. */
  const signed = async (own: Own, asked: Withdrawal): Promise<Withdrawal> => {
    const { chain, of, wallet } = { ...own, chain: asked.chain };
    const within = limit(has(wallet, 'coins') ? coinsLimitMs : limitMs);
    const kept = keptNow(await signedPayment({ chain, of, wallet }, asked, within));
    try {
      if (has(wallet, 'coins')) {
        await mustLeaveCoins(input, asked, (await wallet.spendable?.(within)) ?? 0n);
      }
      const whole: Withdrawal = { ...asked, state: 'signed', why: null, kept };
      await note(whole);
      return whole;
    } catch (error) {
      unsignPayment(wallet, kept);
      throw error;
    }
  };

  /** A failure is no end: it is sent again. */
  const send = async (
    { source }: Own,
    { id, kept }: Withdrawal,
    within = limit(),
  ): Promise<string | null> => {
    if (kept === null) return null;
    try {
      const read = await source.adapter.readSigned(kept.raw, within);
      await source.adapter.broadcast(read, within);
      return null;
    } catch (error) {
      const why = messageOf(error);
      if (!signal.aborted) log.warn('withdrawal_unsent', { id, txid: kept.txid, error: why });
      return why;
    }
  };

  /** A block has spent its coins, and this process signs no other payment with them. */
  const isSpent = async ({ wallet }: Own, withdrawal: Withdrawal): Promise<boolean> => {
    const { kept } = withdrawal;
    return kept !== null && (await raisedPayment(wallet, kept, withdrawal, limit())) === 'gone';
  };

  const tend = async (withdrawal: Withdrawal): Promise<void> => {
    const own = ownOf(input, withdrawal.chain);
    const { id, kept, minedAtMs } = withdrawal;
    if (own === null || kept === null) return;
    const { normal } = own.source.view.policy;
    const minedForMs = minedAtMs === null ? null : Date.now() - minedAtMs;
    const state = await stateOfPayment(own.wallet, kept, normal, minedForMs, limit());
    const isSettled = minedForMs !== null && minedForMs >= normal.settleSeconds * 1_000;
    const next = await nextOf({ own, withdrawal, kept, state, isSettled, limit });
    if (next.state !== withdrawal.state) {
      const costs = input.stock.costsOf(ruleOf(withdrawal));
      promise(next, costs, next.state === 'signed' ? null : now());
    }
    const isNews = next.state !== withdrawal.state || next.kept?.txid !== kept.txid;
    if (isNews) await note(next);
    const why = next.state === 'signed' || state === 'unseen' ? await send(own, next) : null;
    // Its receiver may have spent it by now, so that no output shows it.
    if (why !== null && state === 'unseen' && (await isSpent(own, next))) {
      await note({ ...next, state: 'mined', minedAtMs: next.minedAtMs ?? Date.now() });
    }
    lookedMs.set(id, Date.now());
    if (hasEnded(next)) lookedMs.delete(id);
  };

  const look = async (): Promise<void> => {
    for (const each of (await openOnes(dir)).slice(0, mostOpen)) {
      const pauseMs = each.state === 'mined' ? minedMs : waitingMs;
      const refused = unkept.get(each.id);
      if (refused !== undefined) await refuse(each, refused.why ?? '');
      else if (each.state === 'asked') await take(each);
      else if (each.state === 'taken') await refuse(each, 'its process ended before it was signed');
      else if (Date.now() - (lookedMs.get(each.id) ?? 0) >= pauseMs) {
        await tend(each).catch((error: unknown) => {
          signal.throwIfAborted();
          lookedMs.set(each.id, Date.now());
          log.warn('withdrawal_failed', { id: each.id, error: messageOf(error) });
        });
      }
    }
  };

  let running: Promise<void> = Promise.resolve();
  return {
    look: (): Promise<void> => {
      const pass = look();
      running = pass.catch(() => undefined);
      return pass;
    },
    /**
     * Once the pass under way has ended. The lock of the store is kept until then: the next process
     * would refuse one that is being written down as signed.
     */
    stopped: () => running,
    /**
     * Before anything else is signed: payments that an earlier process has signed keep their coins
     * and nonces. Throws where the settings do not name its chain any more.
     */
    resume: async (): Promise<void> => {
      await reserveFundings(input);
      const begun = (await openOnes(dir)).filter(({ kept }) => kept !== null);
      for (const each of begun) {
        const own = ownOf(input, each.chain);
        if (own === null) throw missing(each);
        promise(each, null, each.minedAtMs === null ? null : now());
        if (each.kept !== null) reserve(own, each.kept);
      }
      const sending = begun.map(async (each) => {
        const own = ownOf(input, each.chain);
        if (own !== null) await send(own, each, limit(resumeMs));
      });
      await Promise.all(sending);
    },
  };
}

function missing({ id, chain }: Withdrawal): Error {
  return new Error(
    `the settings name no chain "${chain}", and withdrawal ${id} is on its way there: ` +
      'the program did not start. Add [chains.NAME] again until that has ended',
  );
}

function ownOf({ chains, config }: WithdrawalsInput, chain: string): Own | null {
  const own = chains[chain];
  const of = config.chains.find((each) => each.chain === chain);
  return own === undefined || of === undefined ? null : { ...own, of };
}

/** Its costs are read by chain and token alone. */
function ruleOf({ chain, token, decimals }: Pick<Withdrawal, 'chain' | 'token' | 'decimals'>) {
  const unbounded = { mostOpen: null, mostADay: null, lean: null, sellDownTo: null, buyUpTo: null };
  return { name: '', chain, token, decimals, ...unbounded };
}

function reserve({ wallet }: OwnChain, { raw }: Kept): void {
  if (has(wallet, 'coins')) wallet.reserve?.(raw);
}

/** A settlement that has not begun yet would not have set them apart. */
async function reserveFundings({ deals, store, chains }: WithdrawalsInput): Promise<void> {
  for (const { swapId, end } of deals.values()) {
    const record = swapId === null || end !== null ? null : await store.getSwap(swapId);
    const funding = record?.funding;
    if (!record || !funding) continue;
    const { chain } = record.swap.legs[ownSides(record).gives];
    const own = chains[chain];
    if (own !== undefined) reserve(own, funding);
  }
}

/** A nonce may be on its way that an earlier process has signed with, and nobody has seen. */
async function isTooSoon({ store }: WithdrawalsInput, own: Own, startedMs: Millis) {
  if (!has(own.source.view, 'nonces') || Date.now() - startedMs > onItsWayMs) return false;
  return (await store.swapIds(startedMs - onItsWayMs)).length > 0;
}

/** The facts by balances of this moment, and by promises of later ones. Throws why not. */
async function mustBeGood(
  input: WithdrawalsInput,
  own: Own,
  asked: Withdrawal,
  limit: () => AbortSignal,
): Promise<() => Known> {
  const { config, stock } = input;
  const named = config.addresses.get(asked.name)?.[asked.chain];
  const to = named === undefined ? null : own.source.adapter.parseAddress(named);
  if (to !== asked.to) {
    const sentence = `[addresses.${asked.name}] of the maker that runs has ${to ?? 'no address'} on ${asked.chain}`;
    throw needsYou('other_settings', `${sentence}: start it again with the settings of now`);
  }
  await own.source.adapter.checkAmount(asked.token, asked.amount, limit());
  await mustAgree(own, asked, limit, input.agreePauseMs ?? agreePauseMs);
  await stock.read();
  return () => knownOf(input, own, asked);
}

export function knownOf(
  { config, stock, promises, now }: Omit<WithdrawalsInput, 'store' | 'deals' | 'chains'>,
  { of }: { readonly of: ChainConfig },
  asked: Parameters<typeof ruleOf>[0],
): Known {
  const all = config.assets.filter(({ chain }) => chain === asked.chain);
  const costs = all.flatMap((each) => stock.costsOf(each) ?? []);
  return {
    balances: stock.balances,
    reserves: stock.reserves,
    commitments: promises.commitments(),
    nowMs: now(),
    costs: stock.costsOf(ruleOf(asked)),
    dearest: costs.reduce<Costs | null>(
      (most, each) => (most && most.fund >= each.fund ? most : each),
      null,
    ),
    leastSwaps: of.warnBelowSwaps,
    coinDecimals: factsOf[of.family].coin.decimals,
  };
}

/** All nodes that answer say the same balances. On Bitcoin a coin counts where all have it. */
async function mustAgree(
  { source, wallet }: Own,
  { chain, token }: Withdrawal,
  limit: () => AbortSignal,
  pauseMs: Millis,
): Promise<void> {
  const nodes = nodesOf(source);
  if (nodes.length < 2 || has(wallet, 'coins')) return;
  const refund = { address: wallet.address, pubkey: null };
  let differ: string[] = [];
  for (let tries = 0; tries < agreeTries; tries += 1) {
    if (tries > 0) await wait(pauseMs);
    const asking = nodes.map(async (node) => {
      const coin = await node.held?.({ token: null, refund }, limit());
      return `${coin} and ${token === null ? coin : await node.held?.({ token, refund }, limit())}`;
    });
    const said = await Promise.allSettled(asking);
    differ = [...new Set(said.flatMap((each) => (each.status === 'fulfilled' ? each.value : [])))];
    if (differ.length === 1) return;
    const [first] = said;
    if (differ.length === 0 && first?.status === 'rejected') throw first.reason;
  }
  const sentence = `the nodes of ${chain} differ about the balances of ${wallet.address}`;
  throw new Failure('chain_unavailable', 'nodes_disagree', `${sentence}: ${differ.join(', or ')}`);
}

/** Its change cannot be spent before a block has it, and others are promised coins by then. */
async function mustLeaveCoins(
  { promises, now }: WithdrawalsInput,
  { id, chain }: Withdrawal,
  left: BaseUnits,
): Promise<void> {
  const others = promises.commitments().filter((each) => each.id !== id);
  const coin = holdingOf({ chain, token: null });
  const taken = takenOf(coin, { units: left, readAtMs: now() }, others);
  if (left >= taken) return;
  const sentence =
    `${left} sats would be left in confirmed coins until a block has the change, and ${taken} ` +
    'are promised: withdraw less, or wait until open swaps are funded';
  throw needsYou('short', sentence);
}

type Looked = {
  readonly own: Own;
  readonly withdrawal: Withdrawal;
  readonly kept: Kept;
  readonly state: PaymentState;
  /** In a block for as long as the policy's depth takes. */
  readonly isSettled: boolean;
  readonly limit: () => AbortSignal;
};

async function nextOf(looked: Looked): Promise<Withdrawal> {
  const { own, withdrawal, kept, state, isSettled, limit } = looked;
  const { minedAtMs } = withdrawal;
  switch (state) {
    case 'deep':
      return { ...withdrawal, state: 'paid', why: null, minedAtMs: minedAtMs ?? Date.now() };
    case 'mined':
      return { ...withdrawal, state: 'mined', why: null, minedAtMs: minedAtMs ?? Date.now() };
    case 'reverted':
    case 'lost':
      return { ...withdrawal, state: 'failed', why: lostWords(state, kept) };
    case 'unseen':
      if (minedAtMs !== null && !isSettled) return withdrawal;
      break;
    case 'waiting':
      break;
  }
  const waits: Withdrawal = { ...withdrawal, state: 'signed', minedAtMs: null };
  const patience = has(own.wallet, 'coins') ? coinPatienceMs : patienceMs;
  if (!isSettled && Date.now() - (kept.keptAtMs ?? 0) < patience) return waits;
  const raised = await raisedPayment(own.wallet, kept, withdrawal, limit());
  if (raised === 'gone') {
    return {
      ...withdrawal,
      state: isSettled ? 'paid' : 'mined',
      minedAtMs: minedAtMs ?? Date.now(),
    };
  }
  // A block takes one of both.
  return raised === null ? waits : { ...waits, kept: keptNow(raised) };
}

function lostWords(state: 'reverted' | 'lost', { txid }: Kept): string {
  return state === 'lost'
    ? `no block will ever take ${txid}, and nothing was paid`
    : `a block has ${txid}, which reverted: its fee was paid, and nothing else`;
}
