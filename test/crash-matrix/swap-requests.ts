// Rows of the matrix: addresses of a swap, what is built for it, and what is sent to chains.

import { submit } from '../sim/chain.ts';
import type { Party } from '../sim/state.ts';
import { rawOf } from '../sim/transaction.ts';
import type { Play, Row } from './matrix.ts';
import { chainNamed } from './parts.ts';
import { leaseMs, request } from './request.ts';
import {
  type Agreed,
  agree,
  building,
  bury,
  deliverAll,
  fundBoth,
  type Gives,
  type Leg,
  look,
  must,
  openTraders,
  readSwap,
  sending,
  settleLeg,
  shortOf,
  sign,
  waitUntil,
} from './trade.ts';
import type { World } from './world.ts';

const bitcoinKey = (party: Party, at = 0) => party.wallets.get('sim-bitcoin')?.[at]?.pubkey;

const addresses: readonly Row[] = [
  request('the first', 'POST /v1/swaps/{id}/address', async (world) => {
    const made = await agree(world, 'btc', await openTraders(world, false));
    const chain = 'sim-bitcoin';
    const url = `/v1/swaps/${made.swapId}/address`;
    await must(world, { url, by: made.maker, body: { chain, address: bitcoinKey(made.maker) } });
    return { url, by: made.taker, body: { chain, address: bitcoinKey(made.taker) } };
  }),
  request('corrected', 'POST /v1/swaps/{id}/address', async (world) => {
    const made = await agree(world);
    const address = made.taker.wallets.get('sim-evm')?.[1]?.address;
    const body = { chain: 'sim-evm', address };
    return { url: `/v1/swaps/${made.swapId}/address`, by: made.taker, body };
  }),
];

/** A swap whose both legs are funded and past their timelocks. */
async function expired(world: World, gives: Gives = 'btc'): Promise<Agreed> {
  const made = await fundBoth(world, gives);
  const { deadlines } = await readSwap(world, made);
  await waitUntil(world, Math.max(deadlines.refundAt.a, deadlines.refundAt.b) + 7_200);
  await look(world);
  return made;
}

const long = (made: Agreed): Leg => made.long;

type Stage = (world: World) => Promise<Agreed>;

const onlyLong: Stage = async (world) => {
  const made = await agree(world);
  await settleLeg(world, made, 'fund', made.long);
  return made;
};

const revealed: Stage = async (world) => {
  const made = await fundBoth(world);
  await settleLeg(world, made, 'claim', shortOf(made));
  return made;
};

const steps = [
  ['fund', 'the long leg', agree, long],
  ['fund', 'the short leg', onlyLong, shortOf],
  ['claim', 'revealing', fundBoth, shortOf],
  ['claim', 'with the public secret', revealed, long],
  ['refund', 'the long leg', expired, long],
  ['refund', 'the short leg', expired, shortOf],
] as const;

const builds: readonly Row[] = [
  ...steps.map(([verb, detail, stage, leg]) =>
    request(detail, `POST /v1/swaps/{id}/legs/{leg}/${verb}`, async (world) => {
      const made = await stage(world);
      return building(made, verb, leg(made));
    }),
  ),
  request('a former escrow', 'POST /v1/swaps/{id}/legs/{leg}/refund', async (world) => {
    const { asked } = await strayed(world);
    return asked;
  }),
];

/** The long leg's funding went to an escrow that it moved off meanwhile, and time is up. */
async function strayed(world: World) {
  const made = await agree(world);
  const tx = await sign(world, made, 'fund', made.long);
  const chain = 'sim-bitcoin';
  const body = { chain, address: bitcoinKey(made.taker, 1) };
  await must(world, { url: `/v1/swaps/${made.swapId}/address`, by: made.taker, body });
  submit(chainNamed(world, chain), tx);
  await bury(world);
  await look(world);
  const { deadlines } = await readSwap(world, made);
  await waitUntil(world, deadlines.refundAt[made.long] + 7_200);
  await look(world);
  const { url, by } = building(made, 'refund', made.long);
  return { made, asked: { url: `${url}?escrow=${tx.escrow}`, by } };
}

/** After the chains have had time, and the market has looked. */
const settles: Play['after'] = async (world) => {
  await bury(world);
  await look(world);
  await world.market.settlement.passDue();
  world.nowMs += leaseMs;
  await deliverAll(world);
};

const sends: readonly Row[] = [
  ...steps.map(([verb, detail, stage, leg]) =>
    request(
      `${verb}, ${detail}`,
      'POST /v1/tx/broadcast',
      async (world) => {
        const made = await stage(world);
        const { by } = building(made, verb, leg(made));
        return sending(by, await sign(world, made, verb, leg(made)));
      },
      { after: settles, reading: { timeless: true } },
    ),
  ),
  request(
    'of nobody here',
    'POST /v1/tx/broadcast',
    async (world) => {
      const { taker } = await openTraders(world);
      const owner = taker.wallets.get('sim-evm')?.[0]?.address ?? '';
      const about = { chain: 'sim-evm', escrow: 'nobody', by: owner, coins: ['one'], fee: 5 };
      const signed = rawOf({ ...about, verb: 'move', amount: '0', secret: null });
      return { url: '/v1/tx/broadcast', by: taker, body: { chain: 'sim-evm', signed } };
    },
    { after: settles, reading: { timeless: true } },
  ),
];

export const swapRequests: readonly Row[] = [...addresses, ...builds, ...sends];
