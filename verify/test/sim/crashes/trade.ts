// The preparation of a row of the matrix: accounts, a negotiation, a swap up to some stage, each by
// the requests that a customer makes.

import { hash } from 'node:crypto';
import type { Material } from '@parley/chains/interface/material.ts';
import { seedAssets } from '@parley/market/market/assets.ts';
import { mine, rawOf, type SimTransaction, submit, tipOf } from '../chain.ts';
import { insideOf } from '../material.ts';
import { unsignedFunding } from '../node.ts';
import { newParty } from '../people.ts';
import { type Party, sql, type View } from '../world.ts';
import { secondsOf, type World } from './copies.ts';
import { chainNamed, quiet } from './machine.ts';

export type Answer = {
  readonly status: number;
  readonly code: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
  readonly body: any;
};

export type Asked = {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly by?: Pick<Party, 'key'> | null;
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

export async function must(world: World, asked: Asked): Promise<Answer['body']> {
  const { status, body } = await ask(world, asked);
  if (status < 300) return body;
  throw new Error(`${asked.url}: ${status} ${JSON.stringify(body)}`);
}

export const get = (world: World, url: string, by?: Pick<Party, 'key'>) =>
  must(world, { method: 'GET', url, ...(by && { by }) });

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
      const text = 'update wallets set pubkey = $1 where account_id = $2 and address = $3';
      await sql(world.real, text, [showsKeys ? pubkey : null, accountId, address]);
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

async function register(world: World, by: Party): Promise<void> {
  const body = { url: `https://hooks.example.org/${by.accountId}` };
  expectAt(world, await must(world, { url: '/v1/webhooks', by, body }));
}

/** The secret that was given out is the one that signs. */
export function expectAt(world: World, { webhook, secret }: Answer['body']): void {
  const { pathname } = new URL(webhook.url);
  world.receiver.expect(pathname, secret);
  world.hooks.set(pathname, secret);
  world.secrets.set(secret, 'never');
}

/** One event for everybody who has a webhook. */
export async function tellEverybody(world: World): Promise<void> {
  const text = `insert into outbox (topic, account_id, payload, created_at)
    select distinct 'swap.agreed', account_id, '{}'::jsonb, $1::timestamptz
    from webhooks order by 2`;
  await sql(world.real, text, [new Date(world.nowMs)]);
  await deliverAll(world);
}

/** The coin that the taker gives: bitcoin makes it the initiator, the other the counterparty. */
export type Gives = 'btc' | 'eth';

const prices = { btc: '1000000', eth: '2000000' } as const;
const otherOf = (gives: Gives) => (gives === 'btc' ? 'eth' : 'btc');

export const rfqBody = ({ assets }: Pick<Traders, 'assets'>, gives: Gives = 'btc') => ({
  direction: 'sell_base',
  baseAssetId: assets[gives],
  baseAmount: prices[gives],
  quoteAssetId: assets[otherOf(gives)],
  ttlSeconds: 7_200,
});

export const priceFor = (gives: Gives): string => prices[otherOf(gives)];

export type Negotiation = Awaited<ReturnType<typeof openThread>>;

export async function openRfq(world: World, gives: Gives = 'btc', traders?: Traders) {
  const own = traders ?? (await openTraders(world));
  const { rfq } = await must(world, { url: '/v1/rfqs', by: own.taker, body: rfqBody(own, gives) });
  return { ...own, rfqId: rfq.id as string };
}

export async function openThread(world: World, gives: Gives = 'btc', traders?: Traders) {
  const made = await openRfq(world, gives, traders);
  const { rfqId, taker, maker } = made;
  const quoteAmount = priceFor(gives);
  const asked = { url: `/v1/rfqs/${rfqId}/quotes`, by: maker, body: { quoteAmount } };
  const { thread } = await must(world, asked);
  const secret = world.chance.hex(32);
  world.secrets.set(secret, 'shown');
  const hashlock = hash('sha256', Buffer.from(secret, 'hex'));
  const [initiator, counterparty] = thread.initiator === 'taker' ? [taker, maker] : [maker, taker];
  const threadId = thread.id as string;
  return { ...made, threadId, quoteAmount, secret, hashlock, initiator, counterparty };
}

export const acceptance = (negotiation: Negotiation, by: Party): Asked => {
  const { threadId, quoteAmount, hashlock, initiator } = negotiation;
  const named = by === initiator ? { hashlock } : {};
  return { url: `/v1/threads/${threadId}/accept`, by, body: { quoteAmount, ...named } };
};

export type Agreed = Awaited<ReturnType<typeof agree>>;
export type Leg = 'a' | 'b';
export type Verb = 'fund' | 'claim' | 'refund';

export async function agree(world: World, gives: Gives = 'btc', traders?: Traders) {
  const made = await openThread(world, gives, traders);
  await must(world, acceptance(made, made.taker));
  const { swap } = await must(world, acceptance(made, made.maker));
  const long: Leg = swap.legs.a.long ? 'a' : 'b';
  return { ...made, swapId: swap.id as string, long };
}

export const longOf = ({ long }: Pick<Agreed, 'long'>): Leg => long;
export const shortOf = ({ long }: Pick<Agreed, 'long'>): Leg => (long === 'a' ? 'b' : 'a');

/** The request for what a party signs. */
export function building(made: Agreed, verb: Verb, leg: Leg) {
  const { initiator, counterparty, swapId, long, secret } = made;
  const isInitiator = (leg === long) === (verb !== 'claim');
  return {
    url: `/v1/swaps/${swapId}/legs/${leg}/${verb}`,
    by: isInitiator ? initiator : counterparty,
    ...(verb === 'claim' ? { body: { secret } } : {}),
  } satisfies Asked;
}

/** Built, and signed by what a party's wallet makes of it; not sent. */
export async function sign(
  world: World,
  made: Agreed,
  verb: Verb,
  leg: Leg,
): Promise<SimTransaction> {
  const asked = building(made, verb, leg);
  const material: Material = await must(world, asked);
  const inside = insideOf(material);
  if (inside !== null) return inside;
  const amount = BigInt((await readSwap(world, made)).legs[leg].amount);
  const address = asked.by.wallets.get(material.chain)?.[0]?.address ?? '';
  const refund = { address, pubkey: null };
  const escrow = 'escrow' in material ? material.escrow : '';
  const chain = chainNamed(world, material.chain);
  return unsignedFunding(chain, escrow, { refund, amount }, `for-${escrow}`);
}

export const sending = (by: Party, tx: SimTransaction): Asked => ({
  url: '/v1/tx/broadcast',
  by,
  body: { chain: tx.chain, signed: rawOf(tx) },
});

/** Past us: signed here, sent by a node of the party's own. */
export async function sendAlone(world: World, made: Agreed, verb: Verb, leg: Leg) {
  const tx = await sign(world, made, verb, leg);
  submit(chainNamed(world, tx.chain), tx);
}

export const readSwap = (world: World, { swapId, taker }: Agreed): Promise<View> =>
  get(world, `/v1/swaps/${swapId}`, taker);

/** As many blocks as everything needs to count, of all that pays what blocks want. */
export async function bury(world: World): Promise<void> {
  for (let block = 0; block < 9; block += 1) {
    world.nowMs += 60_000;
    for (const { chain } of world.nodes) {
      mine(chain, secondsOf(world), ({ tx }) => tx.fee >= chain.feeFloor);
    }
  }
}

export async function pollAll(world: World): Promise<void> {
  for (const { chain } of world.nodes) {
    while ((await world.market.settlement.pass(chain.chain)).left > 0);
  }
}

/** Blocks, and the market knows what is in them. */
export async function settled(world: World): Promise<void> {
  await bury(world);
  await pollAll(world);
}

/** Sends one leg's funding, claim or refund, and lets it become final. */
export async function settleLeg(world: World, made: Agreed, verb: Verb, leg: Leg): Promise<void> {
  const { by } = building(made, verb, leg);
  await must(world, sending(by, await sign(world, made, verb, leg)));
  await settled(world);
}

export async function fundLong(world: World, gives: Gives = 'btc'): Promise<Agreed> {
  const made = await agree(world, gives);
  await settleLeg(world, made, 'fund', made.long);
  return made;
}

export async function fundBoth(world: World, gives: Gives = 'btc'): Promise<Agreed> {
  const made = await fundLong(world, gives);
  await settleLeg(world, made, 'fund', shortOf(made));
  return made;
}

/** Until the clocks of both chains are so long past a leg's timelock, or past both, and known. */
export async function waitFor(world: World, made: Agreed, leg?: Leg, more = 7_200): Promise<void> {
  const { a, b } = (await readSwap(world, made)).deadlines.refundAt;
  const until = (leg === undefined ? Math.max(a, b) : { a, b }[leg]) + more;
  world.nowMs = Math.max(world.nowMs, until * 1_000);
  const isLate = () => world.nodes.some(({ chain }) => tipOf(chain).time < until);
  do await bury(world);
  while (isLate());
  await pollAll(world);
}

/** Everything that waits is told, wherever it is told. */
export async function deliverAll(world: World): Promise<void> {
  const { market } = world;
  await market.feed.sequence();
  await market.delivering.pass();
  await quiet(market);
}
