// What comes before a row of the matrix: accounts, a negotiation, a swap up to some stage, each by
// the requests that a customer makes.

import { hash } from 'node:crypto';
import type { Material } from '../../chains/interface/material.ts';
import { seedAssets } from '../../server/market/assets.ts';
import { unsignedFunding } from '../sim/adapter.ts';
import { mine, tipOf } from '../sim/chain.ts';
import { insideOf } from '../sim/material.ts';
import { newParty } from '../sim/people.ts';
import type { Party, View } from '../sim/state.ts';
import { rawOf, type SimTransaction } from '../sim/transaction.ts';
import { quiet } from './machine.ts';
import { chainNamed } from './parts.ts';
import { secondsOf, type World } from './world.ts';

export type Answer = {
  readonly status: number;
  readonly code: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
  readonly body: any;
};

export type Asked = {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly by?: Party | null;
  readonly body?: unknown;
  /** The Idempotency-Key. */
  readonly once?: string | null;
};

export async function ask(world: World, asked: Asked): Promise<Answer> {
  const { method = 'POST', url, by = null, body, once = null } = asked;
  const headers = {
    ...(by === null ? {} : { authorization: `Bearer ${by.key}` }),
    ...(once === null ? {} : { 'idempotency-key': once }),
  };
  const payload = body === undefined ? {} : { payload: body as object };
  const app = await world.market.app();
  const reply = await app.inject({ method, url, headers, ...payload });
  const { 'x-parley-error': code } = reply.headers;
  return {
    status: reply.statusCode,
    code: typeof code === 'string' ? code : null,
    body: reply.body === '' ? null : reply.json(),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: see Answer
export async function must(world: World, asked: Asked): Promise<any> {
  const { status, body } = await ask(world, asked);
  if (status < 300) return body;
  throw new Error(`${asked.url}: ${status} ${JSON.stringify(body)}`);
}

export type Traders = {
  readonly taker: Party;
  readonly maker: Party;
  readonly assets: { readonly btc: string; readonly eth: string };
};

/** A taker and a maker with wallets, keys and a webhook each. */
export async function openTraders(world: World, showsKeys = true): Promise<Traders> {
  const named = { address: null, decimals: 8, highValueFrom: '4000000' };
  const [btc, eth] = await seedAssets(world.market.deps.db, world.market.deps, [
    { chain: 'sim-bitcoin', symbol: 'BTC', ...named },
    { chain: 'sim-evm', symbol: 'ETH', ...named },
  ]);
  const parties = { taker: await newTrader(world), maker: await newTrader(world) };
  for (const party of Object.values(parties)) await register(world, party);
  for (const { accountId, wallets } of Object.values(parties)) {
    for (const { address, pubkey } of wallets.get('sim-bitcoin') ?? []) {
      await world.real.rows({
        name: '',
        text: 'update wallets set pubkey = $1 where account_id = $2 and address = $3',
        values: [showsKeys ? pubkey : null, accountId, address],
      });
    }
  }
  return { ...parties, assets: { btc: btc?.id ?? '', eth: eth?.id ?? '' } };
}

async function newTrader(world: World): Promise<Party> {
  const party = await newParty(world, 'somebody', 'honest');
  world.parties.push(party);
  world.secrets.set(party.key, 'never');
  return party;
}

async function register(world: World, party: Party): Promise<void> {
  const path = `/${party.accountId}`;
  const url = `https://hooks.example.org${path}`;
  const { secret } = await must(world, { url: '/v1/webhooks', by: party, body: { url } });
  world.receiver.expect(path, secret);
  world.hooks.set(path, secret);
  world.secrets.set(secret, 'never');
}

/** What the taker gives: bitcoin makes it the initiator, the other the counterparty. */
export type Gives = 'btc' | 'eth';

export const prices = { btc: '1000000', eth: '2000000' } as const;

export const rfqBody = ({ assets }: Traders, gives: Gives) => ({
  direction: 'sell_base',
  baseAssetId: assets[gives],
  baseAmount: prices[gives],
  quoteAssetId: assets[gives === 'btc' ? 'eth' : 'btc'],
  ttlSeconds: 7_200,
});

export const priceFor = (gives: Gives): string => prices[gives === 'btc' ? 'eth' : 'btc'];

export type Negotiation = Traders & {
  readonly gives: Gives;
  readonly rfqId: string;
  readonly threadId: string;
  readonly quoteAmount: string;
  readonly secret: string;
  readonly hashlock: string;
  readonly initiator: Party;
  readonly counterparty: Party;
};

export async function openRfq(
  world: World,
  gives: Gives = 'btc',
  traders?: Traders,
): Promise<Traders & { rfqId: string }> {
  const own = traders ?? (await openTraders(world));
  const { rfq } = await must(world, { url: '/v1/rfqs', by: own.taker, body: rfqBody(own, gives) });
  return { ...own, rfqId: rfq.id };
}

export async function openThread(
  world: World,
  gives: Gives = 'btc',
  traders?: Traders,
): Promise<Negotiation> {
  const made = await openRfq(world, gives, traders);
  const quoteAmount = priceFor(gives);
  const { thread } = await must(world, {
    url: `/v1/rfqs/${made.rfqId}/quotes`,
    by: made.maker,
    body: { quoteAmount },
  });
  const secret = world.chance.hex(32);
  const [initiator, counterparty] =
    thread.initiator === 'taker' ? [made.taker, made.maker] : [made.maker, made.taker];
  world.secrets.set(secret, 'shown');
  const hashlock = hash('sha256', Buffer.from(secret, 'hex'));
  const about = { gives, threadId: thread.id, quoteAmount, secret, hashlock };
  return { ...made, ...about, initiator, counterparty };
}

export const acceptance = (negotiation: Negotiation, by: Party): Asked => {
  const { threadId, quoteAmount, hashlock, initiator } = negotiation;
  const named = by === initiator ? { hashlock } : {};
  return { url: `/v1/threads/${threadId}/accept`, by, body: { quoteAmount, ...named } };
};

export type Agreed = Negotiation & { readonly swapId: string; readonly long: Leg };
export type Leg = 'a' | 'b';

export async function agree(world: World, gives: Gives = 'btc', traders?: Traders) {
  const made = await openThread(world, gives, traders);
  await must(world, acceptance(made, made.taker));
  const { swap } = await must(world, acceptance(made, made.maker));
  const long: Leg = swap.legs.a.long ? 'a' : 'b';
  return { ...made, swapId: swap.id, long } satisfies Agreed;
}

export const shortOf = ({ long }: Agreed): Leg => (long === 'a' ? 'b' : 'a');

/** The request for what a party signs. */
export function building(made: Agreed, verb: 'fund' | 'claim' | 'refund', leg: Leg) {
  const { initiator, counterparty, swapId, long, secret } = made;
  const funder = leg === long ? initiator : counterparty;
  const other = leg === long ? counterparty : initiator;
  return {
    url: `/v1/swaps/${swapId}/legs/${leg}/${verb}`,
    by: verb === 'claim' ? other : funder,
    ...(verb === 'claim' ? { body: { secret } } : {}),
  } satisfies Asked;
}

/** What the party's wallet makes of what was built. */
export function signed(world: World, by: Party, material: Material, amount: string) {
  const inside = insideOf(material);
  if (inside !== null) return inside;
  const wallet = by.wallets.get(material.chain)?.[0];
  const refund = { address: wallet?.address ?? '', pubkey: null };
  const chain = chainNamed(world, material.chain);
  const escrow = 'escrow' in material ? material.escrow : '';
  return unsignedFunding(chain, escrow, { refund, amount: BigInt(amount) }, `for-${escrow}`);
}

/** Built and signed, not sent. */
export async function sign(
  world: World,
  made: Agreed,
  verb: 'fund' | 'claim' | 'refund',
  leg: Leg,
): Promise<SimTransaction> {
  const asked = building(made, verb, leg);
  const material = await must(world, asked);
  const view = await readSwap(world, made);
  return signed(world, asked.by, material, view.legs[leg].amount);
}

export const sending = (by: Party, tx: SimTransaction): Asked => ({
  url: '/v1/tx/broadcast',
  by,
  body: { chain: tx.chain, signed: rawOf(tx) },
});

export function readSwap(world: World, { swapId, taker }: Agreed): Promise<View> {
  return must(world, { method: 'GET', url: `/v1/swaps/${swapId}`, by: taker });
}

/** As many blocks as everything needs to count, of all that pays what blocks want. */
export async function bury(world: World, chains = ['sim-bitcoin', 'sim-evm']): Promise<void> {
  for (let block = 0; block < 9; block += 1) {
    world.nowMs += 60_000;
    for (const name of chains) {
      const chain = chainNamed(world, name);
      mine(chain, secondsOf(world), ({ tx }) => tx.fee >= chain.feeFloor);
    }
  }
}

export async function look(world: World): Promise<void> {
  for (const { chain } of world.nodes) {
    while ((await world.market.settlement.pass(chain.chain)).left > 0);
  }
}

/** Sends one leg's funding, claim or refund, and lets it become deep. */
export async function settleLeg(
  world: World,
  made: Agreed,
  verb: 'fund' | 'claim' | 'refund',
  leg: Leg,
): Promise<void> {
  const { by } = building(made, verb, leg);
  await must(world, sending(by, await sign(world, made, verb, leg)));
  await bury(world);
  await look(world);
}

export async function fundBoth(world: World, gives: Gives = 'btc'): Promise<Agreed> {
  const made = await agree(world, gives);
  await settleLeg(world, made, 'fund', made.long);
  await settleLeg(world, made, 'fund', shortOf(made));
  return made;
}

/** Until the clocks of both chains are past an instant. */
export async function waitUntil(world: World, seconds: number): Promise<void> {
  world.nowMs = Math.max(world.nowMs, seconds * 1_000);
  const isLate = () => world.nodes.some(({ chain }) => tipOf(chain).time < seconds);
  do await bury(world);
  while (isLate());
}

/** Everything that waits is told, wherever it is told. */
export async function deliverAll(world: World): Promise<void> {
  const { market } = world;
  await market.feed.sequence();
  await market.delivering.pass();
  await quiet(market);
}
