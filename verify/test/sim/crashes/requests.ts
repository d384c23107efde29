// Rows of the matrix that are requests: keys, wallets, webhooks and tokens; RFQs, quotes and
// acceptances; addresses of a swap, what is built for it, and what is sent to chains.

import {
  bitcoinWallet,
  evmWallet,
  solanaWallet,
  type TestWallet,
  tronWallet,
} from '@parley/market/edge/testing/signers.ts';
import { found, type Inspection, passed } from '@parley/tokens/inspection.ts';
import { rawOf, releaseWord, submit } from '../chain.ts';
import { signedClaims } from '../presigned.ts';
import { type Party, sql } from '../world.ts';
import type { World } from './copies.ts';
import { chainNamed, tokenChain } from './machine.ts';
import type { Row } from './matrix.ts';
import { leaseMs, requests } from './plays.ts';
import {
  type Agreed,
  type Answer,
  type Asked,
  acceptance,
  agree,
  ask,
  building,
  bury,
  deliverAll,
  expectAt,
  fundBoth,
  fundLong,
  get,
  longOf,
  must,
  openRfq,
  openThread,
  openTraders,
  pollAll,
  priceFor,
  rfqBody,
  sending,
  settled,
  settleLeg,
  shortOf,
  sign,
  tellEverybody,
  waitFor,
} from './trade.ts';

type By = Pick<Party, 'key'>;

/** A wallet's signature for a nonce that is asked for; `also`: another wallet that it is about. */
async function wordsOf(
  world: World,
  wallet: TestWallet,
  what: string,
  [url, by, also]: readonly [url: string, by?: By, also?: string],
) {
  const { nonce } = await get(world, url, by);
  const { address } = wallet;
  const named = also === undefined ? [] : [`Wallet: ${also}`];
  const lines = [`Parley - ${what}`, '', ...named, `Address: ${address}`, `Nonce: ${nonce}`];
  const message = lines.join('\n');
  return { address, message, signature: await wallet.sign(message) };
}

async function mintWith(world: World, wallet: TestWallet): Promise<Asked> {
  const words = await wordsOf(world, wallet, 'create an API key', ['/v1/keys/nonce']);
  return { url: '/v1/keys', body: { rail: wallet.family, ...words } };
}

const live = (row: Record<string, unknown>) => (row.revoked_at === null ? row : null);

/** The server keeps no key: a client without an answer takes a new nonce and mints another. */
const mintings = ([false, true] as const).map(
  (before): Row => ({
    name: `POST /v1/keys: ${before ? 'replaced' : 'first'}`,
    of: 'POST /v1/keys',
    prepare: async (world) => {
      const wallet = evmWallet();
      if (before) await must(world, await mintWith(world, wallet));
      const first = await mintWith(world, wallet);
      return {
        act: async (copy, tries) => ask(copy, tries === 0 ? first : await mintWith(copy, wallet)),
        after: async () => {},
        answer: ({ status, body }) => [status, body.name, body.scopes],
        reading: { only: { api_keys: live, outbox: () => null, nonces: () => null } },
        right: oneKey,
      };
    },
  }),
);

async function oneKey(world: World, answer: Answer | null): Promise<string[]> {
  const { key } = answer?.body ?? {};
  world.secrets.set(key, 'never');
  const { status } = await ask(world, { method: 'GET', url: '/v1/me', by: { key } });
  const [row] = await sql<{ keys: number; told: number; unused: number }>(
    world.real,
    `select (select count(*) from api_keys) as keys,
      (select count(*) from outbox where topic = 'key.created') as told,
      (select count(*) from nonces where used_at is null) as unused`,
  );
  return [
    ...(status === 200 ? [] : [`the key that was given out is answered ${status}`]),
    ...(row?.keys === row?.told ? [] : [`${row?.told} told of ${row?.keys} keys`]),
    // One that was cut off before it was shown to anybody may be left to its five minutes.
    ...((row?.unused ?? 0) <= 1 ? [] : [`${row?.unused} nonces are not used`]),
  ];
}

const proofOf = (world: World, by: By, wallet: TestWallet) =>
  wordsOf(world, wallet, 'link this wallet', ['/v1/wallets/nonce', by]);

const proving = (make: () => TestWallet) => async (world: World) => {
  const { taker } = await openTraders(world);
  const wallet = make();
  const body = await proofOf(world, taker, wallet);
  return { url: `/v1/wallets/${wallet.family}`, by: taker, body };
};

const wallets: readonly Row[] = [
  ...requests('POST /v1/wallets/evm', {
    '': proving(evmWallet),
    // A contract has no key, and its chain is asked.
    'a contract': proving(() => ({ ...evmWallet(), address: `0x${'c0'.padStart(40, '0')}` })),
  }),
  ...requests('POST /v1/wallets/bitcoin', { '': proving(bitcoinWallet) }),
  ...requests('POST /v1/wallets/solana', { '': proving(solanaWallet) }),
  ...requests('POST /v1/wallets/tron', {
    '': proving(tronWallet),
    authorised: async (world) => {
      const login = evmWallet();
      const by = { key: (await must(world, await mintWith(world, login))).key };
      const linked = tronWallet();
      const words = await proofOf(world, by, linked);
      const asked = ['/v1/wallets/nonce?purpose=authorize', by, linked.address] as const;
      const authorization = await wordsOf(world, login, 'authorise this wallet', asked);
      return { url: '/v1/wallets/tron', by, body: { ...words, authorization } };
    },
  }),
  ...requests('DELETE /v1/wallets/{address}', {
    '': async (world) => {
      const asked = await proving(solanaWallet)(world);
      await must(world, asked);
      return { method: 'DELETE', url: `/v1/wallets/${asked.body.address}`, by: asked.by };
    },
  }),
];

/** The taker's own, and what comes after its path. */
async function ownWebhook(world: World, tail = '') {
  const { taker: by } = await openRfq(world);
  const { webhooks } = await get(world, '/v1/webhooks', by);
  return { url: `/v1/webhooks/${webhooks[0].id}${tail}`, by };
}

const hooks: readonly Row[] = [
  ...requests(
    'POST /v1/webhooks',
    {
      '': async (world) => {
        const { taker } = await openTraders(world);
        const url = 'https://hooks.example.org/another';
        return { url: '/v1/webhooks', by: taker, body: { url, events: ['swap.agreed'] } };
      },
    },
    {
      after: async (world, answer) => {
        expectAt(world, answer?.body);
        await tellEverybody(world);
      },
    },
  ),
  ...requests('DELETE /v1/webhooks/{id}', {
    '': async (world) => ({ method: 'DELETE', ...(await ownWebhook(world)) }),
  }),
  ...requests('POST /v1/webhooks/{id}/ping', { '': (world) => ownWebhook(world, '/ping') }),
];

export const tokenAddress = `0x${'7e'.repeat(20)}`;
export const waits = found('pausable', 'wait', 'its owner can pause it');
export const refused = found('transfer', 'reject', '3 of 100 did not arrive');

/** The chain says of a token what was found. */
export function inspected(world: World, address: string, ...findings: Inspection['findings']) {
  const all = [passed('contract'), ...findings];
  world.tokens.set(address, {
    address,
    symbol: 'TKN',
    name: 'A token',
    decimals: 18,
    findings: all,
  });
}

export const wish = (by: By, address = tokenAddress): Asked => ({
  url: '/v1/assets',
  by,
  body: { chain: tokenChain, address },
});

const wishing = (...findings: Inspection['findings']) => {
  return async (world: World) => {
    const { taker } = await openTraders(world);
    inspected(world, tokenAddress, ...findings);
    return wish(taker);
  };
};

const assets = requests('POST /v1/assets', {
  listed: wishing(),
  wait: wishing(waits),
  reject: wishing(refused),
  reopened: async (world) => {
    const asked = await wishing()(world);
    const { asset } = await must(world, asked);
    const closings = { checks: { reasons: ['paused'], at: '2031-01-01T00:00:00.000Z' } };
    const text = 'update assets set closings = $2 where id = $1';
    await sql(world.real, text, [asset.id, JSON.stringify(closings)]);
    world.nowMs += leaseMs;
    return asked;
  },
});

const rfqs: readonly Row[] = [
  ...requests('POST /v1/rfqs', {
    public: async (world) => {
      const traders = await openTraders(world);
      return { url: '/v1/rfqs', by: traders.taker, body: rfqBody(traders) };
    },
    private: async (world) => {
      const traders = await openTraders(world);
      const targetAddress = `0x${'ab'.repeat(20)}`;
      const body = { ...rfqBody(traders), visibility: 'private', targetAddress };
      return { url: '/v1/rfqs', by: traders.taker, body };
    },
  }),
  ...requests('POST /v1/rfqs/{id}/cancel', {
    '': async (world) => {
      const { rfqId, taker } = await openThread(world);
      return { url: `/v1/rfqs/${rfqId}/cancel`, by: taker };
    },
  }),
];

const quoting = (open: typeof openRfq, quoteAmount: string) => async (world: World) => {
  const { rfqId, maker } = await open(world);
  return { url: `/v1/rfqs/${rfqId}/quotes`, by: maker, body: { quoteAmount } };
};

const quotes: readonly Row[] = [
  ...requests('POST /v1/rfqs/{id}/quotes', {
    first: quoting(openRfq, priceFor('btc')),
    'another price': quoting(openThread, '2100000'),
  }),
  {
    name: 'POST /v1/rfqs/{id}/quotes: without a key',
    of: 'POST /v1/rfqs/{id}/quotes',
    prepare: async (world) => {
      const asked = await quoting(openRfq, priceFor('btc'))(world);
      return {
        act: (copy) => ask(copy, asked),
        after: async () => {},
        // A maker without an answer quotes again: the same price, once more in the thread.
        answer: ({ body }) => [body.thread.quoteAmount, body.thread.proposedBy],
        reading: { only: { threads: withoutRepeats, outbox: () => null } },
        right: async (copy) => {
          const { threads } = await get(copy, asked.url.replace(/quotes$/, 'threads'), asked.by);
          const text = `select from outbox where topic = 'quote.created'`;
          const { length: told } = await sql(copy.real, text);
          const said = threads.flatMap(({ messages }: { messages: unknown[] }) => messages);
          return said.length === told ? [] : [`${told} told of ${said.length} quotes`];
        },
      };
    },
  },
];

/** One that is taken, and one that is refused. */
const manyQuotes = async (world: World) => {
  const { rfqId, maker } = await openRfq(world);
  const absent = '0193b5a0-0000-7000-8000-000000000000';
  const named = [rfqId, absent].map((each) => ({ rfqId: each, quoteAmount: priceFor('btc') }));
  return { url: '/v1/quotes', by: maker, body: { quotes: named } };
};

const publishing =
  (named: number) =>
  async (world: World): Promise<Asked> => {
    const traders = await openTraders(world);
    const { baseAssetId, baseAmount, quoteAssetId } = rfqBody(traders);
    const terms = { direction: 'sell_base', baseAmount, quoteAmount: priceFor('btc') };
    const level = { ...terms, validForSeconds: 3_600 };
    const body = { baseAssetId, quoteAssetId, levels: Array.from({ length: named }, () => level) };
    return { url: '/v1/levels', by: traders.maker, body };
  };

/** Their instants are of the database's clock. */
const levels: readonly Row[] = [
  ...requests(
    'POST /v1/levels',
    { '': publishing(2) },
    { reading: { timeless: true }, answer: ({ status, body }) => [status, body.published] },
  ),
  ...requests(
    'POST /v1/levels/withdraw',
    {
      '': async (world) => {
        const { by = null, ...asked } = await publishing(2)(world);
        await must(world, { ...asked, by });
        return { url: '/v1/levels/withdraw', by };
      },
    },
    { reading: { timeless: true } },
  ),
];

const withdrawals: readonly Row[] = [
  ...requests('POST /v1/quotes', { '': manyQuotes }),
  ...requests('POST /v1/threads/{id}/withdraw', {
    '': async (world) => {
      const { threadId, maker } = await openThread(world);
      return { url: `/v1/threads/${threadId}/withdraw`, by: maker };
    },
  }),
  ...requests('POST /v1/quotes/withdraw', {
    '': async (world) => {
      const { maker } = await openThread(world);
      return { url: '/v1/quotes/withdraw', by: maker, body: {} };
    },
  }),
];

const withoutRepeats = (row: Record<string, unknown>) => {
  const messages = row.messages as { quoteAmount: string }[];
  return { ...row, messages: [...new Set(messages.map(({ quoteAmount }) => quoteAmount))] };
};

/** The acceptance of the first or the last of both sides. */
const accepting = (who: 'initiator' | 'counterparty', isLast: boolean) => async (world: World) => {
  const made = await openThread(world, isLast && who === 'initiator' ? 'eth' : 'btc');
  const other = who === 'initiator' ? made.counterparty : made.initiator;
  if (isLast) await must(world, acceptance(made, other));
  return acceptance(made, made[who]);
};

const prices: readonly Row[] = [
  ...requests('POST /v1/threads/{id}/propose', {
    '': async (world) => {
      const { threadId, taker } = await openThread(world);
      const body = { quoteAmount: '2200000' };
      return { url: `/v1/threads/${threadId}/propose`, by: taker, body };
    },
  }),
  ...requests('POST /v1/threads/{id}/accept', {
    'the initiator, first': accepting('initiator', false),
    'the counterparty, first': accepting('counterparty', false),
    'the counterparty, last': accepting('counterparty', true),
    'the initiator, last': accepting('initiator', true),
  }),
];

const walletOf = (party: Party, on: string, at = 0) => {
  const { pubkey, address } = party.wallets.get(on)?.[at] ?? {};
  return pubkey ?? address;
};

/** Where a party of a swap is paid. */
const addressing = ({ swapId }: Agreed, by: Party, chain: string, at = 0, how = {}): Asked => ({
  url: `/v1/swaps/${swapId}/address`,
  by,
  body: { chain, address: walletOf(by, chain, at), ...how },
});

const addresses = requests('POST /v1/swaps/{id}/address', {
  'the first': async (world) => {
    const made = await agree(world, 'btc', await openTraders(world, false));
    await must(world, addressing(made, made.maker, 'sim-bitcoin'));
    return addressing(made, made.taker, 'sim-bitcoin');
  },
  corrected: async (world) => {
    const made = await agree(world);
    return addressing(made, made.taker, 'sim-evm', 1);
  },
});

/** A swap whose both legs are funded and past their timelocks. */
async function expired(world: World): Promise<Agreed> {
  const made = await fundBoth(world);
  await waitFor(world, made);
  return made;
}

async function revealed(world: World): Promise<Agreed> {
  const made = await fundBoth(world);
  await settleLeg(world, made, 'claim', shortOf(made));
  return made;
}

const steps = [
  ['fund', 'the long leg', agree, longOf],
  ['fund', 'the short leg', fundLong, shortOf],
  ['claim', 'revealing', fundBoth, shortOf],
  ['claim', 'with the public secret', revealed, longOf],
  ['refund', 'the long leg', expired, longOf],
  ['refund', 'the short leg', expired, shortOf],
] as const;

const builds: readonly Row[] = [
  ...steps.flatMap(([verb, detail, stage, leg]) =>
    requests(`POST /v1/swaps/{id}/legs/{leg}/${verb}`, {
      [detail]: async (world) => {
        const made = await stage(world);
        return building(made, verb, leg(made));
      },
    }),
  ),
  ...requests('POST /v1/swaps/{id}/legs/{leg}/refund', {
    // The long leg's funding went to an escrow that it moved off meanwhile, and time is up.
    'a former escrow': async (world) => {
      const made = await agree(world);
      const tx = await sign(world, made, 'fund', made.long);
      await must(world, addressing(made, made.taker, 'sim-bitcoin', 1));
      submit(chainNamed(world, 'sim-bitcoin'), tx);
      await settled(world);
      await waitFor(world, made, made.long);
      const { url, by } = building(made, 'refund', made.long);
      return { url: `${url}?escrow=${tx.escrow}`, by };
    },
  }),
];

const sends = requests(
  'POST /v1/tx/broadcast',
  {
    ...Object.fromEntries(
      steps.map(([verb, detail, stage, leg]) => [
        `${verb}, ${detail}`,
        async (world: World) => {
          const made = await stage(world);
          const { by } = building(made, verb, leg(made));
          return sending(by, await sign(world, made, verb, leg(made)));
        },
      ]),
    ),
    'of nobody here': async (world) => {
      const { taker } = await openTraders(world);
      const by = walletOf(taker, 'sim-evm') ?? '';
      const about = { chain: 'sim-evm', escrow: 'nobody', by, coins: ['one'], fee: 5 };
      return sending(taker, { ...about, verb: 'move', amount: '0', secret: null });
    },
  },
  {
    // The chains have had time, and the market has polled.
    after: async (world) => {
      await bury(world);
      await pollAll(world);
      await world.market.settlement.passDue();
      world.nowMs += leaseMs;
      await deliverAll(world);
    },
    reading: { timeless: true },
  },
);

/** The long leg is funded, and its funder has signed two refunds of it. */
export async function signedRefunds(world: World) {
  const made = await fundLong(world);
  const { chain, escrow } = (await get(world, `/v1/swaps/${made.swapId}`, made.taker)).legs[
    made.long
  ];
  const coins = (chainNamed(world, chain).holdings.get(escrow) ?? []).map(({ txid }) => txid);
  const about = {
    chain,
    verb: 'refund' as const,
    escrow,
    by: walletOf(made.initiator, chain) ?? '',
  };
  const transactions = [5, 9].map((fee) =>
    rawOf({ ...about, coins, amount: '0', secret: null, fee }),
  );
  const url = `/v1/swaps/${made.swapId}/legs/${made.long}/refund/scheduled`;
  return { made, asked: { url, by: made.initiator, body: { transactions } } };
}

/** Both legs are funded, and the counterparty has signed claims of the long one. */
export async function leftClaims(world: World) {
  const made = await fundBoth(world);
  const { swapId, taker, long, counterparty } = made;
  const { chain, escrow } = (await get(world, `/v1/swaps/${swapId}`, taker)).legs[long];
  const transactions = signedClaims(chainNamed(world, chain), escrow);
  const url = `/v1/swaps/${swapId}/legs/${long}/claim/scheduled`;
  return { made, asked: { url, by: counterparty, body: { transactions } } };
}

/** Both legs are funded, and the initiator gives the short one up. */
async function releasing(world: World, isSigned: boolean): Promise<Asked> {
  const made = await fundBoth(world);
  const leg = shortOf(made);
  const { payoutAddress, escrow } = (await get(world, `/v1/swaps/${made.swapId}`, made.taker)).legs[
    leg
  ];
  const url = `/v1/swaps/${made.swapId}/legs/${leg}/release`;
  const body = isSigned ? { signature: releaseWord(`${payoutAddress}`, escrow) } : {};
  return { url, by: made.initiator, body };
}

const releases = requests('POST /v1/swaps/{id}/legs/{leg}/release', {
  'a wish': (world) => releasing(world, false),
  signed: (world) => releasing(world, true),
});

/** Chains of the simulation have no lanes: it is refused, and changes nothing. */
const lanes = requests('POST /v1/swaps/{id}/legs/{leg}/lane', {
  '': async (world) => {
    const made = await agree(world);
    return { url: `/v1/swaps/${made.swapId}/legs/${made.long}/lane`, by: made.counterparty };
  },
});

/** The funded long leg is of Taproot, its payee has given it up, and its funder asks for it. */
async function asking(world: World) {
  const made = await agree(world);
  for (const by of [made.maker, made.taker]) {
    await must(world, addressing(made, by, 'sim-bitcoin', 0, { form: 'p2tr' }));
  }
  await settleLeg(world, made, 'fund', made.long);
  const { swapId, long, initiator, counterparty, taker } = made;
  const path = `/v1/swaps/${swapId}/legs/${long}`;
  await must(world, { url: `${path}/release`, by: counterparty });
  const {
    escrow,
    amount,
    fundTx: txid,
    refundAddress: paysTo,
  } = (await get(world, `/v1/swaps/${swapId}`, taker)).legs[long];
  const spend = { verb: 'refund', outputs: [{ txid, vout: 0, amount }], feeSats: '200', paysTo };
  const body = { request: { escrow, ...spend, nonces: ['02'.repeat(66)] } };
  return { made, asked: { url: `${path}/cosign`, by: initiator, body } };
}

const cosigned = requests('POST /v1/swaps/{id}/legs/{leg}/cosign', {
  'a request': async (world) => (await asking(world)).asked,
  'an answer': async (world) => {
    const { made, asked } = await asking(world);
    const { id } = (await must(world, asked)).exchange.refund;
    const answer = { id, nonces: ['03'.repeat(66)], signatures: ['04'.repeat(32)] };
    return { url: asked.url, by: made.counterparty, body: { answer } };
  },
});

const announced = requests('POST /v1/swaps/{id}/legs/{leg}/claim/announce', {
  '': async (world) => {
    const made = await fundBoth(world);
    const url = `/v1/swaps/${made.swapId}/legs/${shortOf(made)}/claim/announce`;
    return { url, by: made.initiator };
  },
});

const scheduled = [
  ...requests('POST /v1/swaps/{id}/legs/{leg}/refund/scheduled', {
    '': async (world) => (await signedRefunds(world)).asked,
  }),
  ...requests('POST /v1/swaps/{id}/legs/{leg}/claim/scheduled', {
    '': async (world) => (await leftClaims(world)).asked,
  }),
];

export const requestRows: readonly Row[] = [
  mintings,
  wallets,
  hooks,
  assets,
  rfqs,
  quotes,
  levels,
  withdrawals,
  prices,
  addresses,
  builds,
  sends,
  lanes,
  releases,
  cosigned,
  announced,
  scheduled,
].flat();
