// What a person accepts: examined in the page, kept before it is said, and watched until the other
// side accepts too or the acceptance has lapsed.

import type { AppChain } from '../../core/app-chain.ts';
import type { Deadlines } from '../../core/deadlines.ts';
import type { ChainKey } from '../../core/families.ts';
import type { BaseUnits, UnixSeconds } from '../../core/nominal.ts';
import type { LegName, Role } from '../../core/trade.ts';
import { accept, examine as examineThread } from '../../sdk/agree.ts';
import type { ParleyClient } from '../../sdk/client.ts';
import { messageOf, RulesError, VerificationError } from '../../sdk/errors.ts';
import type { PhraseKeys } from '../../sdk/rescue/derive.ts';
import type { PhraseStore } from '../../sdk/rescue/store.ts';
import type { ChainSource } from '../../sdk/settle.ts';
import { readKept, writeKept } from '../../sdk/stores/store.ts';
import {
  type ChainViews,
  givenLeg,
  type OwnTrade,
  ownLegs,
  type VerifiedLeg,
  type VerifiedSwap,
} from '../../sdk/trade.ts';
import type { Kept } from './kept.ts';
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
import { keyWallet } from './wallets.ts';

/** One that was accepted, or is about to be. */
export type Entry = {
  readonly threadId: string;
  readonly swapId: string | null;
  /** Bitcoin: where claim and refund are paid. */
  readonly payout: string | null;
  readonly acceptedAt: UnixSeconds;
  /** As it was expected at the acceptance; its id is that of the thread. */
  readonly expected: VerifiedSwap;
};

export type Deals = {
  examine(deal: Deal): Promise<Examined>;
  accept(deal: Deal): Promise<{ readonly swapId: string | null }>;
  entries(): Promise<readonly Entry[]>;
  /** null: it is over or in the store. */
  change(threadId: string, next: (entry: Entry) => Entry | null): Promise<void>;
};

export type DealsParts = {
  readonly client: ParleyClient;
  readonly chains: readonly AppChain[];
  readonly kept: Kept;
  readonly vault: OpenVault;
  readonly nodes: OpenNodes;
  readonly health: () => Health;
  readonly now: () => UnixSeconds;
  readonly phraseStore: () => Promise<PhraseStore>;
  /** What to do with a new entry, in whichever tab settles. */
  readonly onEntry: () => void;
};

const key = 'deals';
/** The key of the phrase for the next escrow on Bitcoin: one that no swap has. */
export const nextKey = 'next bitcoin key';
const mostEntries = 100;
const nodeMs = 15_000;
/** What accept and settle of the SDK tolerate is 120. */
const mostClockOffSeconds = 90;

type Examining = {
  readonly sources: ReadonlyMap<ChainKey, ChainSource>;
  readonly keys: PhraseKeys;
  readonly bitcoinKey: number;
};

export function dealsOf(parts: DealsParts): Deals {
  const entries = async (): Promise<readonly Entry[]> => {
    const text = await parts.kept.get(key);
    return text === null ? [] : readKept<{ all: Entry[] }>(text).all;
  };
  const changeAll = (next: (all: readonly Entry[]) => readonly Entry[]) =>
    parts.kept.change(key, (text) => {
      const all = next(text === null ? [] : readKept<{ all: Entry[] }>(text).all);
      if (all.length > mostEntries) {
        const sentence = `${mostEntries} acceptances wait for the other side: let some of them lapse`;
        throw new EngineError('failed_check', sentence);
      }
      return writeKept({ all });
    });
  return {
    entries,
    change: (threadId, next) =>
      changeAll((all) =>
        all.flatMap((each) => {
          const changed = each.threadId === threadId ? next(each) : each;
          return changed === null ? [] : [changed];
        }),
      ),
    examine: async (deal) => (await examined(parts, deal)).answer,
    accept: async (deal) => {
      const { answer, of, fitting, expected, userId } = await examined(parts, deal);
      const failed = answer.checks.find(({ ok }) => !ok);
      if (failed !== undefined) throw refusal(failed);
      if (of === null || expected === null || userId === null)
        throw new Error('nothing was examined');
      const entry: Entry = {
        threadId: deal.threadId,
        swapId: null,
        payout: payoutOf(parts, deal),
        acceptedAt: Math.floor(parts.now()),
        expected,
      };
      // Before a word is said: whoever closes the tab now finds it again.
      await changeAll((all) => [...all.filter((each) => each.threadId !== deal.threadId), entry]);
      const input = await inputOf(parts, fitting, of, userId);
      const { swapId } = await accept({ ...input, store: await parts.phraseStore() });
      parts.onEntry();
      return { swapId };
    },
  };
}

function refusal({ name, sentence }: Check): EngineError {
  const code =
    name === 'phrase' ? 'phrase_unchecked' : name === 'addresses' ? 'no_payout' : 'failed_check';
  return new EngineError(code, `nothing was accepted: ${sentence}`);
}

async function examined(parts: DealsParts, deal: Deal) {
  const checks: Check[] = [];
  const check = (name: CheckName, ok: boolean, sentence: string) =>
    checks.push({ name, ok, sentence });
  checkDevice(parts, check);
  const of = await opened(parts, deal, check);
  const none = { role: null, gives: null, deadlines: null } as const;
  const nothing = { of, fitting: deal, expected: null, userId: null };
  if (of === null) return { answer: { checks, isGood: false, ...none }, ...nothing };
  try {
    const { userId } = await parts.client.me();
    const found = await fit(parts, deal, of, userId);
    const { role, deadlines, trade } = found;
    check('terms', true, 'amounts, assets and price of the thread are what you see here');
    check('rules', true, 'formula, contracts and policies of the market are those of this app');
    check('timelocks', true, 'both timelocks and who begins follow from your own rules');
    const gives = givenLeg(trade.party);
    const isGood = checks.every(({ ok }) => ok);
    const expected = expectedOf(trade, viewsOf(of.sources), { role, deadlines, at: parts.now() });
    const answer = { checks, isGood, role, gives, deadlines };
    return { answer, of, fitting: found.deal, expected, userId };
  } catch (error) {
    check(nameOf(error), false, messageOf(error));
    return { answer: { checks, isGood: false, ...none }, ...nothing };
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

/** Nodes that answer, of the right chains; addresses that they can pay. null: one is missing. */
async function opened(parts: DealsParts, deal: Deal, check: Add): Promise<Examining | null> {
  const sources = new Map<ChainKey, ChainSource>();
  try {
    for (const { chain } of [deal.base, deal.quote]) {
      const source = await parts.nodes.source(chain);
      await source.adapter.heads(AbortSignal.timeout(nodeMs));
      sources.set(chain, source);
    }
    check(
      'nodes',
      true,
      `your nodes of ${[...sources.keys()].join(' and ')} answer, as who they are`,
    );
  } catch (error) {
    check('nodes', false, messageOf(error));
    return null;
  }
  if (parts.vault.state.now().kind === 'none') return null;
  const keys = await parts.vault.keys();
  const bitcoinKey = Number((await parts.kept.get(nextKey)) ?? 0);
  const of = { sources, keys, bitcoinKey };
  try {
    for (const [chain, source] of sources) await mustPay(of, source, deal.addresses[chain] ?? '');
    check('addresses', true, 'each of your addresses is one of its chain');
    return of;
  } catch (error) {
    check('addresses', false, messageOf(error));
    return null;
  }
}

async function mustPay({ keys, bitcoinKey }: Examining, source: ChainSource, address: string) {
  const { view, adapter } = source;
  if (address === '') {
    throw new EngineError('no_payout', `no address of yours is named for "${view.chain}"`);
  }
  if (view.family !== 'bitcoin') return void adapter.parseAddress(address);
  const key = keys.bitcoinKey(bitcoinKey);
  await keyWallet(source, key, address);
  if (address !== key.address) return;
  const sentence = 'that is the address of the escrow key itself: name one of your own wallet';
  throw new EngineError('no_payout', sentence);
}

const viewsOf = (sources: ReadonlyMap<ChainKey, ChainSource>): ChainViews =>
  new Map([...sources].map(([chain, { view }]) => [chain, view]));

async function inputOf(parts: DealsParts, deal: Deal, of: Examining, userId: string) {
  const { keys, bitcoinKey, sources } = of;
  const destinationOn = (chain: ChainKey) => {
    const isBitcoin = sources.get(chain)?.view.family === 'bitcoin';
    if (!isBitcoin) return { address: deal.addresses[chain] ?? '', pubkey: null };
    const { address, pubkey } = keys.bitcoinKey(bitcoinKey);
    return { address, pubkey };
  };
  const { client, now } = parts;
  return { ...deal, client, userId, views: viewsOf(sources), destinationOn, now };
}

/**
 * A market does not tell from which amount on it waits deeper. Waiting deeper than asked is safe, so
 * whichever of both depths gives the times of the thread is taken.
 */
async function fit(parts: DealsParts, deal: Deal, of: Examining, userId: string) {
  const given: readonly (BaseUnits | null)[] = [null, 0n];
  let first: unknown = null;
  for (const base of given) {
    for (const quote of given) {
      const as = {
        ...deal,
        base: { ...deal.base, highValueFrom: deal.base.highValueFrom ?? base },
        quote: { ...deal.quote, highValueFrom: deal.quote.highValueFrom ?? quote },
      };
      try {
        const found = await examineThread(await inputOf(parts, as, of, userId));
        return { ...found, deal: as };
      } catch (error) {
        first ??= error;
        if (nameOf(error) !== 'timelocks') throw error;
      }
    }
  }
  throw first;
}

function nameOf(error: unknown): CheckName {
  if (error instanceof RulesError) return 'rules';
  if (!(error instanceof VerificationError)) return 'terms';
  return /\.(long|timelockSeconds)$|initiator$/.test(error.field) ? 'timelocks' : 'terms';
}

function payoutOf({ chains }: DealsParts, { base, quote, addresses }: Deal): string | null {
  const isBitcoin = ({ chain, family }: AppChain) =>
    family === 'bitcoin' && (chain === base.chain || chain === quote.chain);
  const found = chains.find(isBitcoin);
  return found === undefined ? null : (addresses[found.chain] ?? null);
}

function expectedOf(
  trade: OwnTrade,
  views: ChainViews,
  of: { readonly role: Role; readonly deadlines: Deadlines; readonly at: UnixSeconds },
): VerifiedSwap {
  const own = ownLegs(trade, views);
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
    ...{ id: trade.threadId, party: trade.party, role: of.role, hashlock: '' },
    ...{ agreedAt: Math.floor(of.at), deadlines: of.deadlines },
    legs: { a: leg('a'), b: leg('b') },
  };
}
