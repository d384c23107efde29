// The traders: accounts with a wallet on every chain, and how they speak to the market over HTTP.
// Answers get lost, and requests arrive twice or late, as on any network.

import { hash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { addressesOfPubkey } from '@parley/chains/bitcoin/keys.ts';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import type { Family } from '@parley/core/families.ts';
import type { LegName } from '@parley/core/trade.ts';
import { uuidv7 } from '@parley/market/ports/ids.ts';
import { issue } from './chain.ts';
import type { Chance } from './chance.ts';
import { unlessDead } from './process.ts';
import { aServer, noteDeaths } from './servers.ts';
import {
  type Answer,
  type Ask,
  type Asked,
  count,
  type Kind,
  later,
  type Party,
  ringKeeper,
  sql,
  tell,
  violate,
  type Wallet,
  type World,
} from './world.ts';

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
  const newId = () => uuidv7(nowMs, (bytes) => chance.bytes(bytes));
  const accountId = newId();
  const key = `parley_test_${chance.hex(22).slice(0, 43)}`;
  const opening = `insert into accounts (id, kind, created_at) values ($1, 'wallet', $2)`;
  await sql(real, opening, [accountId, at]);
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
      const standing = index === 0 ? 'login' : 'proven';
      const text = `insert into wallets
          (account_id, family, address, standing, authorised, pubkey, proven_at)
        values ($1, $2, $3, $4, true, $5, $6)`;
      const shown = shows ? pubkey : null;
      await sql(real, text, [accountId, chain.family, address, standing, shown, at]);
    }
  }
  const text = `insert into api_keys (id, account_id, hash, prefix, scopes, created_at, expires_at)
    values ($1, $2, $3, $4, '{read,taker,maker}', $5, $6)`;
  const digest = hash('sha256', key, 'buffer');
  const ends = new Date(nowMs + 400 * 86_400_000);
  await sql(real, text, [newId(), accountId, digest, key.slice(0, 18), at, ends]);
  const usesKeys = chance.hits(0.6) || world.drill?.isKeyed === true;
  return { name, kind, accountId, key, wallets, usesKeys, chance, webhook: null };
}

const nothing: Answer = { status: 0, code: null, body: null };

/** The party may have accepted, whatever comes of it: an answer may be lost. */
function noteAcceptance({ deals, nowMs }: World, party: Party, { method, url }: Ask): void {
  if (method !== 'POST' || !url.endsWith('/accept')) return;
  const deal = deals.find(({ threadId }) => threadId !== null && url.includes(threadId));
  deal?.acceptedAt.set(party, nowMs);
}

export function askedOf(world: World, hashlock: string): Asked {
  const { asked } = world.keeper as NonNullable<World['keeper']>;
  const found = asked.get(hashlock) ?? { open: 0, refused: 0, promised: new Map() };
  asked.set(hashlock, found);
  return found;
}

const claimUrl = /^\/v1\/swaps\/([^/]+)\/legs\/([ab])\/claim$/;

/** Said before anything is stored. */
const beforehand = ['overloaded', 'chain_timeout', 'chain_unavailable', 'sources_disagree'];

/** After which nothing is left of a request; other answers leave it open. */
const isRefusal = ({ status, code }: Answer) =>
  code !== null &&
  (beforehand.includes(code) || (status >= 400 && status < 500 && code !== 'still_running'));

/** Every request to relay, whoever sends it again: its outcome is written down. */
function noteRelay(world: World, { url, body }: Ask): (answer: Answer) => void {
  const [, id, leg] = claimUrl.exec(url) ?? [];
  const deal = world.deals.find((each) => each.id !== null && each.id === id);
  const wanted = body as { relay?: boolean; secret?: string } | undefined;
  if (world.keeper === null || deal === undefined || wanted?.relay !== true) return () => {};
  const asked = askedOf(world, deal.hashlock);
  asked.open += 1;
  count(world, 'relays asked');
  return (answer) => {
    if (isRefusal(answer)) {
      asked.open -= 1;
      asked.refused += 1;
      count(world, 'relays refused');
    } else if (answer.status === 200) {
      asked.open -= 1;
      asked.promised.set(answer.body.txid, leg as LegName);
      ringKeeper(world);
      if (wanted.secret !== deal.secret) violate(world, 'no claim with a wrong secret', deal.name);
      count(world, 'relays promised');
    }
  };
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
    const twice = [1, 2].map(() => askPlainly(world, party, asked));
    const both = await Promise.all(twice);
    return both[chance.int(0, 1)] as Answer;
  }
  const answer = await askPlainly(world, party, asked);
  if (!chance.hits(0.02)) return answer;
  count(world, 'answer lost');
  return nothing;
}

/** A write, over such a network. */
export function post(
  world: World,
  party: Party,
  url: string,
  about: Pick<Ask, 'body' | 'once'> = {},
): Promise<Answer> {
  return ask(world, party, { method: 'POST', url, ...about });
}

/** Whether the same request may well pass a little later. */
export function mayPass({ status, code }: Answer): boolean {
  return status === 0 || status >= 500 || code === 'still_running' || code === 'sources_disagree';
}
