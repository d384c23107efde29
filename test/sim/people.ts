// Who trades: accounts with a wallet on every chain, and how they speak to the market over HTTP.
// Answers get lost, and requests arrive twice or late, as on any network.

import { hash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { addressesOfPubkey } from '../../chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '../../chains/bitcoin/networks.ts';
import type { Family } from '../../core/families.ts';
import type { LegName } from '../../core/trade.ts';
import { uuidv7 } from '../../server/ports/ids.ts';
import { issue } from './chain.ts';
import type { Chance } from './chance.ts';
import { unlessDead } from './process.ts';
import { type Habits, noteRelay } from './relay.ts';
import { aServer, noteDeaths } from './servers.ts';
import { count, later, tell, type World } from './world.ts';

/** `hasty`: pays a Bitcoin escrow a second time, with a fee that nobody takes for hours. */
export type Kind = 'honest' | 'sleepy' | 'absent' | 'greedy' | 'hasty' | 'malicious';

export type Wallet = {
  readonly chain: string;
  readonly address: string;
  /** Bitcoin only. */
  readonly pubkey: string | null;
};

export type Party = {
  readonly name: string;
  readonly kind: Kind;
  readonly accountId: string;
  readonly key: string;
  /** By chain: the login's, then others that may be paid too. */
  readonly wallets: ReadonlyMap<string, readonly Wallet[]>;
  /** Writes carry an Idempotency-Key. */
  readonly usesKeys: boolean;
  readonly chance: Chance;
  webhook: string | null;
};

/** One side of a deal, and when it is woken. */
export type Side = {
  readonly party: Party;
  readonly role: 'initiator' | 'counterparty';
  /** When it looks next, milliseconds; null = not before something stirs it. */
  wakesAt: number | null;
  plots: boolean;
  /** Until when a step that was taken is left alone, by its name. */
  readonly busyUntil: Map<string, number>;
  /** From when to when it does nothing, Unix seconds; null = not at all, and for ever. */
  goneAt: number | null;
  backAt: number | null;
  /** Where there are gas keys. */
  habits: Habits | null;
  wake: () => Promise<void>;
};

export type Deal = {
  readonly name: string;
  readonly secret: string;
  readonly hashlock: string;
  readonly taker: Party;
  readonly maker: Party;
  readonly sides: readonly Side[];
  readonly chains: readonly [string, string];
  readonly base: { readonly id: string; readonly amount: bigint };
  readonly quote: { readonly id: string; readonly amount: bigint };
  readonly direction: 'sell_base' | 'buy_base';
  readonly long: LegName;
  id: string | null;
  stage: string;
  threadId: string | null;
  rfqId: string | null;
  closed: boolean;
  /** When a party last asked to accept, milliseconds, whatever came of it. */
  readonly acceptedAt: Map<Party, number>;
  /** Until when its RFQ may be agreed, milliseconds; null = it has none yet. */
  openUntil: number | null;
  /** Seconds that pass before its last acceptance; 0 = none to speak of. */
  pause: number;
  /** Steps towards its agreement. */
  tries: number;
  /** Somebody was told that the secret is public. */
  revealed: boolean;
  view: View | null;
  /** Every escrow that a party was ever shown as one of its legs. */
  readonly escrows: Set<string>;
};

/** Signed refunds of an escrow, as their funder reads of them. */
type Kept = { readonly count: number; readonly sentTxid: string | null };

export type LegView = {
  chain: string;
  amount: string;
  status: string;
  timelock: number;
  escrow: string | null;
  balance: string;
  formerEscrows: { escrow: string; balance: string; scheduledRefunds: Kept | null }[];
  claimTx: string | null;
  claimedBy: string | null;
  refundTx: string | null;
  refundedBy: string | null;
  scheduledRefunds: Kept | null;
};

export type StepView = {
  by: string;
  action: string;
  leg: LegName;
  before: number | null;
  why: string;
};

/** A swap as a party reads it. */
export type View = {
  id: string;
  status: string;
  secret: string | null;
  role: string;
  legs: { a: LegView; b: LegView };
  deadlines: {
    initiatorFundBy: number;
    expiresAt: number;
    counterpartyFundBy: number;
    revealBy: number;
    refundAt: { a: number; b: number };
  };
  next: StepView[];
};

export const legOf = (deal: Deal, side: 'long' | 'short'): LegName =>
  (side === 'long') === (deal.long === 'a') ? 'a' : 'b';

/** The leg that a side funds. */
export const ownLeg = (deal: Deal, role: Side['role']): LegName =>
  legOf(deal, role === 'initiator' ? 'long' : 'short');

/** A key is dear to make: the same ones serve in every market, each once. */
const bitcoinWallets: { readonly address: string; readonly pubkey: string }[] = [];

function bitcoinWallet(at: number) {
  const known = bitcoinWallets[at];
  if (known !== undefined) return known;
  const key = hash('sha256', `wallet ${at}`, 'buffer');
  const pubkey = Buffer.from(secp256k1.getPublicKey(key, true)).toString('hex');
  const { p2wpkh } = addressesOfPubkey(pubkey, bitcoinNetworks.regtest);
  bitcoinWallets[at] = { address: p2wpkh, pubkey };
  return { address: p2wpkh, pubkey };
}

function walletOn(family: Family, chain: string, chance: Chance, at: number): Wallet {
  if (family === 'bitcoin') return { chain, ...bitcoinWallet(at) };
  const lead = { evm: '0x', tron: 'T', solana: 'S' }[family];
  return { chain, address: `${lead}${chance.hex(20)}`, pubkey: null };
}

const plenty = 10n ** 12n;
const walletsEach = 3;

/** An account with its wallets and key, straight into the database. */
export async function newParty(
  world: Pick<World, 'chance' | 'real' | 'nowMs' | 'nodes' | 'parties'> &
    Partial<Pick<World, 'drill'>>,
  name: string,
  kind: Kind,
): Promise<Party> {
  const chance = world.chance.fork();
  const { real, nowMs } = world;
  const at = new Date(nowMs);
  const accountId = uuidv7(nowMs, (bytes) => chance.bytes(bytes));
  const key = `parley_test_${`${chance.hex(22)}`.slice(0, 43)}`;
  const run = (text: string, values: unknown[]) => real.rows({ name: '', text, values });
  await run(`insert into accounts (id, kind, created_at) values ($1, 'wallet', $2)`, [
    accountId,
    at,
  ]);
  const wallets = new Map<string, Wallet[]>();
  for (const { chain } of world.nodes) {
    const first = world.parties.length * walletsEach;
    const own = Array.from({ length: walletsEach }, (_, at) =>
      walletOn(chain.family, chain.chain, chance, first + at),
    );
    wallets.set(chain.chain, own);
    // A login that shows no key has to be asked for it.
    const shows = chain.family !== 'bitcoin' || chance.hits(0.7);
    for (const [index, { address, pubkey }] of own.entries()) {
      issue(chain, address, plenty);
      await run(
        `insert into wallets (account_id, family, address, standing, authorised, pubkey, proven_at)
          values ($1, $2, $3, $4, true, $5, $6)`,
        [
          accountId,
          chain.family,
          address,
          index === 0 ? 'login' : 'proven',
          shows ? pubkey : null,
          at,
        ],
      );
    }
  }
  await run(
    `insert into api_keys (id, account_id, hash, prefix, scopes, created_at, expires_at)
      values ($1, $2, $3, $4, '{read,taker,maker}', $5, $6)`,
    [
      uuidv7(nowMs, (bytes) => chance.bytes(bytes)),
      accountId,
      hash('sha256', key, 'buffer'),
      key.slice(0, 18),
      at,
      new Date(nowMs + 400 * 86_400_000),
    ],
  );
  const usesKeys = chance.hits(0.6) || world.drill?.isKeyed === true;
  return { name, kind, accountId, key, wallets, usesKeys, chance, webhook: null };
}

export type Answer = {
  /** 0 = none came. */
  readonly status: number;
  readonly code: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: parties reach into answers of every shape
  readonly body: any;
};

const nothing: Answer = { status: 0, code: null, body: null };

export type Ask = {
  readonly method?: 'GET' | 'POST';
  readonly url: string;
  readonly body?: unknown;
  /** One for all tries of one write. */
  readonly once?: string;
};

/** Whatever comes of it: an answer may be lost. */
function noteAcceptance({ deals, nowMs }: World, party: Party, { method, url }: Ask): void {
  if (method !== 'POST' || !url.endsWith('/accept')) return;
  const deal = deals.find(({ threadId }) => threadId !== null && url.includes(threadId));
  deal?.acceptedAt.set(party, nowMs);
}

/** A request, as it is. */
export async function askPlainly(world: World, party: Party, asked: Ask): Promise<Answer> {
  const market = aServer(world)?.process ?? null;
  if (market === null) return nothing;
  const note = noteRelay(world, asked);
  const { method = 'GET', url, body, once } = asked;
  noteAcceptance(world, party, asked);
  const keyed = once !== undefined && party.usesKeys ? { 'idempotency-key': once } : {};
  const headers = { authorization: `Bearer ${party.key}`, ...keyed };
  const payload = body === undefined ? {} : { payload: body as object };
  const app = await market.app();
  const reply = await unlessDead(market, async () =>
    app.inject({ method, url, headers, ...payload }),
  );
  if (reply === 'dead') {
    noteDeaths(world);
    return nothing;
  }
  const { 'x-parley-error': code } = reply.headers;
  if (reply.statusCode === 500) tell(world, `500 for ${party.name} ${method} ${url}`);
  const answer: Answer = {
    status: reply.statusCode,
    code: typeof code === 'string' ? code : null,
    body: reply.body === '' ? null : reply.json(),
  };
  note(answer);
  return answer;
}

/** A request over a network that may lose its answer, double it, or bring it again later. */
export async function ask(world: World, party: Party, asked: Ask): Promise<Answer> {
  const { chance, calm, ending } = world;
  if (calm || ending || asked.method !== 'POST') return askPlainly(world, party, asked);
  if (chance.hits(0.04)) {
    count(world, 'request again later');
    later(world, chance.int(5, 7_200), async () => {
      await askPlainly(world, party, asked);
    });
  }
  if (chance.hits(0.05)) {
    count(world, 'request twice at once');
    const both = await Promise.all([
      askPlainly(world, party, asked),
      askPlainly(world, party, asked),
    ]);
    return both[chance.int(0, 1)] as Answer;
  }
  const answer = await askPlainly(world, party, asked);
  if (!chance.hits(0.02)) return answer;
  count(world, 'answer lost');
  return nothing;
}

/** Whether the same request may well pass a little later. */
export function mayPass({ status, code }: Answer): boolean {
  return status === 0 || status >= 500 || code === 'still_running' || code === 'sources_disagree';
}
