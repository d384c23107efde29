// An agreement that a person accepts: examined in the page, and kept before the market is told. It
// is watched until the other side accepts too, or the acceptance has lapsed.

import type { Deadlines } from '@parley/core/deadlines.ts';
import { type ChainKey, has } from '@parley/core/families.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import type { Destination } from '@parley/core/terms.ts';
import type { LegName, Role } from '@parley/core/trade.ts';
import { accept } from '@parley/sdk/agree.ts';
import type { ChainSource, Chains, PartyChain } from '@parley/sdk/chains.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { messageOf, ParleyApiError, RulesError } from '@parley/sdk/errors.ts';
import type { BitcoinKey, PhraseKeys } from '@parley/sdk/rescue/derive.ts';
import type { PhraseStore } from '@parley/sdk/rescue/store.ts';
import { readKept, writeKept } from '@parley/sdk/stores/store.ts';
import {
  givenLeg,
  type OwnTrade,
  ownLegs,
  sourceIn,
  type VerifiedLeg,
  type VerifiedSwap,
} from '@parley/sdk/trade.ts';
import { mustHaveDecimals } from '@parley/trader/coins.ts';
import { fitted, isOfTimes } from '@parley/trader/fitting.ts';
import { mostClockOffSeconds } from '../market/config.ts';
import { standingOf } from '../market/prices.ts';
import { roomFault } from './drive.ts';
import { dealsKey, type Kept } from './keeping.ts';
import type { OpenNodes } from './nodes.ts';
import {
  type Check,
  type CheckName,
  type Deal,
  EngineError,
  type Examined,
  type Health,
} from './types.ts';
import type { OpenVault } from './vault.ts';
import { payoutWallet } from './wallets.ts';

/** One that was accepted, or is about to be. */
export type Entry = {
  readonly threadId: string;
  readonly swapId: string | null;
  /** Bitcoin: where claim and refund are paid. */
  readonly payout: string | null;
  readonly leavesClaims: boolean;
  readonly acceptedAt: UnixSeconds;
  /** As it was expected at the acceptance; its id is that of the thread. */
  readonly expected: VerifiedSwap;
};

export type Deals = ReturnType<typeof dealsOf>;

export type DealsParts = {
  readonly client: ParleyClient;
  readonly kept: Kept;
  readonly vault: OpenVault;
  readonly nodes: OpenNodes;
  readonly health: () => Health;
  readonly now: () => UnixSeconds;
  readonly phraseStore: () => Promise<PhraseStore>;
  /** How many swaps of this browser are not over. */
  readonly open: () => Promise<number>;
  /** Called with a new entry, in whichever tab settles. */
  readonly onEntry: () => void;
};

/** One key for all escrows on Bitcoin: the market pays only keys that the account has linked. */
export const escrowKey = 0;
const nodeMs = 15_000;
/** For so long an acceptance is looked at that the market does not know, or no more. */
const lapsedSeconds = 1_800;

type Examining = {
  readonly chains: Chains;
  readonly keys: PhraseKeys;
  readonly userId: string;
};

export function dealsOf(parts: DealsParts) {
  const entries = async (): Promise<readonly Entry[]> => {
    const text = await parts.kept.get(dealsKey);
    return text === null ? [] : readKept<{ all: Entry[] }>(text).all;
  };
  const changeAll = (next: (all: readonly Entry[]) => readonly Entry[]) =>
    parts.kept.change(dealsKey, (text) => {
      const all = text === null ? [] : readKept<{ all: Entry[] }>(text).all;
      return writeKept({ all: next(all) });
    });
  return {
    entries,
    /** null: it is over or in the store. */
    change: (threadId: string, next: (entry: Entry) => Entry | null) =>
      changeAll((all) =>
        all.flatMap((each) => {
          const changed = each.threadId === threadId ? next(each) : each;
          return changed === null ? [] : [changed];
        }),
      ),
    /** The meaning of an acceptance, and the browser's checks. Tells the market nothing. */
    examine: async (deal: Deal): Promise<Examined> =>
      (await examined(parts, deal, await entries())).answer,
    /**
     * Accepts, and cannot be taken back. Throws EngineError `no_phrase`, `phrase_unchecked`,
     * `no_payout`, `failed_check`, and what `accept` of the SDK throws. The swap is driven from then
     * on: `swapId` is null until the other side accepts too.
     */
    accept: async (deal: Deal) => {
      const { answer, good } = await examined(parts, deal, await entries());
      const failed = answer.checks.find(({ ok }) => !ok);
      if (failed !== undefined) throw refusal(failed);
      if (good === null) throw new Error('the app examined no price');
      const entry: Entry = {
        threadId: deal.threadId,
        swapId: null,
        payout: payoutOf(parts, deal),
        leavesClaims: deal.leavesClaims ?? true,
        acceptedAt: Math.floor(parts.now()),
        expected: good.expected,
      };
      // Before a word is said: a person who closes the tab now finds it again.
      await changeAll((all) => [...all.filter((each) => each.threadId !== deal.threadId), entry]);
      const { swapId } = await accept({ ...good.dealing, store: await parts.phraseStore() });
      parts.onEntry();
      return { swapId };
    },
  };
}

/** The outcome of an acceptance. It binds for as long as the market has it, by its settings. */
export async function cameOf(
  client: Pick<ParleyClient, 'thread'>,
  { threadId, acceptedAt, expected }: Pick<Entry, 'threadId' | 'acceptedAt' | 'expected'>,
  now: UnixSeconds,
): Promise<{ readonly swapId: string | null; readonly isOver: boolean }> {
  const none = (isOver: boolean) => ({ swapId: null, isOver });
  const isLapsed = now > acceptedAt + lapsedSeconds;
  try {
    const standing = standingOf(await client.thread(threadId), expected.party, now * 1_000);
    if (standing.is === 'agreed') return { swapId: standing.swapId, isOver: false };
    return none(isLapsed && standing.is !== 'waits_for_them');
  } catch (error) {
    if (!(error instanceof ParleyApiError)) throw error;
    return none(isLapsed && error.status === 404);
  }
}

function refusal({ name, sentence, code = 'failed_check' }: Check): EngineError {
  const why = name === 'phrase' ? 'phrase_unchecked' : code;
  return new EngineError(why, `the app accepted nothing: ${sentence}`);
}

async function examined(parts: DealsParts, deal: Deal, entries: readonly Entry[]) {
  const checks: Check[] = [];
  const check: Add = (name, ok, sentence) => void checks.push({ name, ok, sentence });
  const failed = (name: CheckName, error: unknown) => {
    const code = error instanceof EngineError ? { code: error.code } : {};
    checks.push({ name, ok: false, sentence: messageOf(error), ...code });
    const answer = { checks, isGood: false, role: null, gives: null, deadlines: null };
    return { answer, good: null };
  };
  checkDevice(parts, check);
  const waiting = entries.filter(({ threadId }) => threadId !== deal.threadId).length;
  const full = roomFault(await parts.open(), waiting);
  check('room', full === null, full ?? 'this browser settles it beside what is open');
  let step: CheckName = 'nodes';
  try {
    const chains = await openedChains(parts, deal);
    check(step, true, answering(parts, Object.keys(chains)));
    step = 'addresses';
    const of = await mustBePayable(parts, deal, chains);
    check(step, true, 'each of your addresses is one of its chain');
    step = 'terms';
    for (const asset of [deal.base, deal.quote]) {
      const source = sourceIn(chains, asset.chain);
      await mustHaveDecimals(source, asset, AbortSignal.timeout(nodeMs));
    }
    const { role, deadlines, trade, dealing } = await fitted(inputOf(parts, deal, of));
    check('terms', true, 'amounts, assets and price of the thread are what you see here');
    check('rules', true, 'formula, contracts and policies of the market are those of this app');
    check('timelocks', true, 'both timelocks and who begins follow from your own rules');
    const isGood = checks.every(({ ok }) => ok);
    const expected = expectedOf(trade, chains, { role, deadlines, at: parts.now() });
    const answer = { checks, isGood, role, gives: givenLeg(trade.party), deadlines };
    return { answer, good: { dealing, expected } };
  } catch (error) {
    return failed(step === 'terms' ? nameOf(error) : step, error);
  }
}

type Add = (name: CheckName, ok: boolean, sentence: string) => void;

function checkDevice({ vault, health }: DealsParts, check: Add): void {
  const { kind } = vault.state.now();
  const said = {
    none: 'there is no rescue phrase yet: make one and type it back first',
    unchecked: 'the rescue phrase was not typed back yet: do that first',
    checked: 'the rescue phrase is on this device, and was typed back',
  };
  check('phrase', kind === 'checked', said[kind]);
  const { store, storeSentence, clockOffSeconds } = health();
  const isKept = /^(persisted|unpromised|ephemeral)$/.test(store);
  check(
    'store',
    isKept,
    storeSentence ?? 'this browser keeps what the swap needs, tabs take turns',
  );
  const off = clockOffSeconds ?? 0;
  const isRight = Math.abs(off) <= mostClockOffSeconds;
  const how = `this device's clock is ${Math.abs(off)} seconds ${off > 0 ? 'ahead of' : 'behind'}`;
  const mend = isRight ? '' : `; at most ${mostClockOffSeconds} are allowed: set it right`;
  check('clock', isRight, `${how} the market's${mend}`);
}

/** Nodes that answer, as who they are. */
async function openedChains({ nodes }: DealsParts, { base, quote }: Deal): Promise<Chains> {
  const chains: Record<ChainKey, PartyChain> = {};
  for (const { chain } of [base, quote]) {
    const source = await nodes.source(chain);
    await source.adapter.heads(AbortSignal.timeout(nodeMs));
    chains[chain] = { source };
  }
  return chains;
}

/**
 * The sentence names the owner of the nodes: a market that lies could name nodes that lie with it.
 */
function answering({ nodes }: DealsParts, chains: readonly ChainKey[]): string {
  const named = chains.map((chain) => {
    const isOwn = nodes.chains.now().find((each) => each.chain === chain)?.isOwn === true;
    return `of ${chain} those that ${isOwn ? 'you' : 'this market'} named`;
  });
  const all = `the nodes answer, as who they are: ${named.join(', ')}`;
  const isAllOwn = named.every((each) => each.endsWith('you named'));
  return isAllOwn ? all : `${all}. Checks are as good as nodes: you can name your own`;
}

/** Addresses that nodes and market can pay, and the phrase's key for Bitcoin. */
async function mustBePayable(
  { client, vault }: DealsParts,
  deal: Deal,
  chains: Chains,
): Promise<Examining> {
  const keys = await vault.keys();
  const { userId, wallets } = await client.me();
  const of = { chains, keys, userId };
  const all = Object.values(chains).map(({ source }) => source);
  for (const each of all) await mustPay(of, each, deal.addresses[each.view.chain] ?? '');
  const isBitcoin = all.some(({ view }) => has(view, 'coins'));
  const { address } = keys.bitcoinKey(escrowKey);
  const { login, proven } = wallets.bitcoin;
  if (isBitcoin && login !== address && !proven.includes(address)) {
    const sentence = `the market does not know ${address}, the key of your escrows: link it first`;
    throw new EngineError('key_unknown', sentence);
  }
  return of;
}

async function mustPay({ keys }: Examining, source: ChainSource, address: string) {
  const { view, adapter } = source;
  if (address === '') {
    throw new EngineError('no_payout', `no address of yours is named for "${view.chain}"`);
  }
  if (!has(view, 'coins')) {
    adapter.parseAddress(address);
    return;
  }
  await payoutWallet(source, keys.bitcoinKey(escrowKey), address);
}

function inputOf(parts: DealsParts, deal: Deal, of: Examining) {
  const { keys, chains, userId } = of;
  const destinationOn = (chain: ChainKey) => {
    const isBitcoin = has(chains[chain]?.source.view, 'coins');
    if (!isBitcoin) return { address: deal.addresses[chain] ?? '', pubkey: null };
    return destinationOfKey(keys.bitcoinKey(escrowKey), deal);
  };
  const { client, now } = parts;
  const { rfq, addresses: _, leavesClaims: __, form: ___, ...seen } = deal;
  const { id: rfqId, direction } = rfq;
  const asked = { rfqId, direction, baseAmount: BigInt(rfq.baseAmount) };
  return { ...seen, ...asked, client, userId, chains, destinationOn, now };
}

export function destinationOfKey(
  { address, pubkey }: Pick<BitcoinKey, 'address' | 'pubkey'>,
  { form = 'p2tr' }: Pick<Deal, 'form'>,
): Destination {
  return { address, pubkey, ...(form === 'p2tr' && { form }) };
}

function nameOf(error: unknown): CheckName {
  if (error instanceof RulesError) return 'rules';
  return isOfTimes(error) ? 'timelocks' : 'terms';
}

function payoutOf({ nodes }: DealsParts, { base, quote, addresses }: Deal): string | null {
  const isBitcoin = (chain: ChainKey) => has(nodes.of(chain), 'coins');
  const found = [base.chain, quote.chain].find(isBitcoin);
  return found === undefined ? null : (addresses[found] ?? null);
}

function expectedOf(
  trade: OwnTrade,
  chains: Chains,
  of: { readonly role: Role; readonly deadlines: Deadlines; readonly at: UnixSeconds },
): VerifiedSwap {
  const own = ownLegs(trade, chains);
  const leg = (name: LegName): VerifiedLeg => ({
    leg: name,
    chain: own[name].asset.chain,
    family: own[name].view.family,
    assetId: own[name].asset.id,
    amount: own[name].amount,
    funder: name === 'a' ? 'maker' : 'taker',
    long: own.long === name,
    timelock: of.deadlines.refundAt[name],
    requiredConfirmations: own[name].view.policy.normal.confirmations,
    escrow: null,
  });
  return {
    id: trade.threadId,
    party: trade.party,
    role: of.role,
    hashlock: '',
    agreedAt: Math.floor(of.at),
    deadlines: of.deadlines,
    legs: { a: leg('a'), b: leg('b') },
  };
}
