// The people who fill the book: they ask, cancel, agree, and let RFQs expire. A market that is gone
// is no fault here.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashlockOf, parseSecret } from '@parley/core/hashlock.ts';
import { type ParleyClient, parleyClient } from '@parley/sdk/client.ts';
import { ParleyApiError } from '@parley/sdk/errors.ts';
import { linkWallet, mintKey } from '@parley/sdk/keys.ts';
import type { Rfq } from '@parley/sdk/types.ts';
import { bitcoinWallet } from '@parley/sdk/wallets/bitcoin.ts';
import { evmWallet } from '@parley/sdk/wallets/evm.ts';
import type { Chance } from '../sim/chance.ts';

export type Person = {
  readonly client: ParleyClient;
  readonly key: string;
  readonly userId: string;
  readonly evmAddress: string;
};

/** The ids of a coin of Bitcoin, and of a coin and a token of EVM. */
export type Ids = { readonly btc: string; readonly eth: string; readonly usd: string };

/** Signed in by EVM, and may give bitcoin too. No chain is asked. */
export async function join(baseUrl: string): Promise<Person> {
  const secret = () => randomBytes(32).toString('hex');
  const rpcUrl = 'http://127.0.0.1:1';
  const evm = evmWallet({ privateKey: `0x${secret()}`, chainId: 31_337, rpcUrl });
  const { key } = await mintKey({ baseUrl }, evm);
  const client = parleyClient({ baseUrl, key });
  await linkWallet(client, bitcoinWallet({ privateKey: secret(), network: 'regtest' }), evm);
  const { userId } = await client.me();
  return { client, key, userId, evmAddress: evm.address };
}

export type Counts = Record<'posted' | 'private' | 'cancelled' | 'agreed' | 'refused', number>;

const mostOpen = 300;
const price = '65000000';
const ttl = { least: 30, most: 240 };

export function crowdOf(
  people: readonly Person[],
  watching: readonly Person[],
  ids: Ids,
  chance: Chance,
) {
  const open = new Map<string, Person>();
  const counts: Counts = { posted: 0, private: 0, cancelled: 0, agreed: 0, refused: 0 };
  const codes = new Map<string, number>();

  const post = async (by: Person) => {
    const other = chance.pick([ids.eth, ids.usd]);
    const [base, quote] = chance.hits(0.7) ? [ids.btc, other] : [other, ids.btc];
    const isPrivate = chance.hits(0.1);
    const targetAddress = chance.pick(watching).evmAddress;
    const rfq = await by.client.createRfq({
      direction: chance.pick(['sell_base', 'buy_base'] as const),
      baseAssetId: base,
      quoteAssetId: quote,
      baseAmount: base === ids.btc ? '100000' : base === ids.eth ? '100000000000000000' : price,
      ttlSeconds: chance.int(ttl.least, ttl.most),
      ...(isPrivate ? { visibility: 'private' as const, targetAddress } : {}),
    });
    open.set(rfq.id, by);
    counts.posted += 1;
    if (isPrivate) counts.private += 1;
  };

  const cancel = async (id: string, by: Person) => {
    open.delete(id);
    await by.client.cancelRfq(id);
    counts.cancelled += 1;
  };

  const agree = async (rfq: Rfq, taker: Person) => {
    open.delete(rfq.id);
    const maker = chance.pick(people.filter((each) => each !== taker));
    const amount = rfq.quoteAssetId === ids.btc ? '100000' : price;
    const quoteAmount = rfq.quoteAssetId === ids.eth ? '20000000000000000' : amount;
    const { id: threadId, initiator } = await maker.client.quote(rfq.id, quoteAmount);
    const hashlock = hashlockOf(parseSecret(chance.hex(32)));
    for (const [side, by] of [
      ['taker', taker],
      ['maker', maker],
    ] as const) {
      const words = initiator === side ? { hashlock } : {};
      await by.client.accept(threadId, { quoteAmount, ...words });
    }
    counts.agreed += 1;
  };

  const act = async (keep: number) => {
    const some = open.size === 0 ? undefined : chance.pick([...open]);
    if (some === undefined || (open.size < keep && chance.hits(0.6))) {
      return post(chance.pick(people));
    }
    const [id, by] = some;
    if (chance.hits(0.9)) return cancel(id, by);
    const rfq = await by.client.rfq(id);
    if (rfq.visibility === 'public') await agree(rfq, by);
  };

  return {
    counts,
    codes,
    /** Acts until `over` says so, one thing after the other. */
    lane: async (over: () => boolean, busy: () => boolean) => {
      while (!over()) {
        try {
          await act(busy() ? mostOpen / 2 : mostOpen);
        } catch (error) {
          if (!(error instanceof ParleyApiError)) throw error;
          counts.refused += 1;
          codes.set(error.code, (codes.get(error.code) ?? 0) + 1);
          if (error.status === 0) await sleep(100);
        }
        if (!busy()) await sleep(chance.int(0, 60));
      }
    },
  };
}
