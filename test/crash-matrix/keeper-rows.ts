// Rows of the matrix: what an operator's gas key claims and refunds, and claims that a party has
// relayed. How often it signed again, and who had the lease, may differ; what lands may not.

import type { GasFate } from '../../chains/gas/account.ts';
import { takeKey } from '../../watchtower/db/keys.ts';
import { type SimChain, submit } from '../sim/chain.ts';
import type { SimTransaction } from '../sim/transaction.ts';
import type { Machine } from './machine.ts';
import type { Row } from './matrix.ts';
import { chainNamed, gasKey, tokenChain } from './parts.ts';
import { type Reading, rawTables, type Row as Signed } from './snapshot.ts';
import {
  ask,
  building,
  bury,
  deliverAll,
  fundBoth,
  look,
  readSwap,
  shortOf,
  sign,
  waitUntil,
} from './trade.ts';
import type { World } from './world.ts';

export const keeperReading: Reading = {
  timeless: true,
  only: {
    keeper_turns: () => null,
    chain_heads: () => null,
    keeper_jobs: ({ chain, escrow, verb, purpose, state }) => ({
      chain,
      escrow,
      verb,
      purpose,
      state,
    }),
  },
  sums: { keeper_attempts: sumsOf },
};

const liveFates: readonly unknown[] = ['unknown', 'pending', 'mined'] satisfies GasFate[];

function sumsOf(attempts: readonly Signed[]) {
  const open = attempts.filter(({ fate }) => liveFates.includes(fate)).length;
  return { open, charged: attempts.reduce((sum, { charged }) => sum + Number(charged), 0) };
}

export const keep = ({ keeper }: Machine) => keeper.pass(tokenChain);

/** Until what was signed is deep and done with. */
export const afterKeeping = async (world: World): Promise<void> => {
  for (let again = 0; again < 6; again += 1) {
    world.nowMs += 31_000;
    await keep(world.market);
    await bury(world);
    await look(world);
  }
  await deliverAll(world);
};

function pass(detail: string, prepare: (world: World) => Promise<unknown>): Row {
  return {
    name: `keeper.pass: ${detail}`,
    of: 'keeper.pass',
    prepare: async (world) => {
      await prepare(world);
      await deliverAll(world);
      return {
        act: async ({ market }) => {
          await keep(market);
          return null;
        },
        after: afterKeeping,
        right: settled,
        reading: keeperReading,
      };
    },
  };
}

/** What the key offers at first, where blocks take what is above their floor. */
const cost = 4;

/** What the chain has taken of the key's coins. */
function spentOn({ about }: SimChain): number {
  const mined = [...about.values()].flat().filter(({ tx }) => tx.by === gasKey);
  return mined.reduce((sum, { tx }) => sum + tx.fee, 0);
}

/** Nothing that was signed may land any more, and what has landed is charged, once. */
async function settled(world: World): Promise<string[]> {
  const { open, charged } = sumsOf((await rawTables(world)).get('keeper_attempts') ?? []);
  const spent = spentOn(chainNamed(world, tokenChain));
  return [
    ...(open === 0 ? [] : [`${open} that were signed may still be in a block`]),
    ...(charged === spent ? [] : [`${charged} are charged, and ${spent} were spent`]),
  ];
}

/** Longer than a dead process's lease lasts. */
const leaseMs = 11_000;

function relayed(detail: string, meanwhile: (world: World) => Promise<void>): Row {
  const of = 'POST /v1/swaps/{id}/legs/{leg}/claim';
  return {
    name: `${of}: ${detail}`,
    of,
    prepare: async (world) => {
      const made = await fundBoth(world);
      const plain = building(made, 'claim', shortOf(made));
      const asked = { ...plain, body: { ...plain.body, relay: true }, once: 'once' };
      await deliverAll(world);
      await meanwhile(world);
      return {
        act: (copy, tries) => {
          if (tries > 0) copy.nowMs += leaseMs;
          return ask(copy, asked);
        },
        isKeyed: true,
        after: afterKeeping,
        answer: ({ status, body }) => [status, body.relayed],
        reading: keeperReading,
      };
    },
  };
}

/** Another process has the lease of the key, for so long. */
const behind = (milliseconds: number) => async (world: World) => {
  const holder = '00000000-0000-4000-8000-000000000000';
  const lease = { holder, milliseconds, clock: new Date(world.nowMs) };
  if (!(await takeKey(world.real, tokenChain, lease))) throw new Error('somebody signs');
};

/** The party's own: sent past us, seen, and lost by every node. */
export async function forgottenClaim(world: World): Promise<SimTransaction> {
  const made = await fundBoth(world);
  const tx = await sign(world, made, 'claim', shortOf(made));
  const chain = chainNamed(world, tokenChain);
  const txid = submit(chain, tx);
  await look(world);
  chain.mempool.delete(txid);
  world.nowMs += 700_000;
  await bury(world);
  await look(world);
  return tx;
}

/** Claimed with the gas key, in a mempool. Returns the party's own, that was lost before. */
async function sentClaim(world: World): Promise<SimTransaction> {
  const own = await forgottenClaim(world);
  await keep(world.market);
  return own;
}

/** Longer than the same fee is offered for a claim. */
const patienceMs = 700_000;

/** Blocks want more than it offers, and come without it. */
async function outbidClaim(world: World): Promise<SimTransaction> {
  const own = await sentClaim(world);
  chainNamed(world, tokenChain).feeFloor = cost + 1;
  world.nowMs += patienceMs;
  await bury(world);
  await look(world);
  return own;
}

export const keeperRows: readonly Row[] = [
  pass('a claim whose transaction was lost', forgottenClaim),
  pass('a claim that is deep by now', async (world) => {
    await sentClaim(world);
    await bury(world);
    await look(world);
  }),
  pass('a claim that blocks pass over', outbidClaim),
  pass('a claim that every node has lost', async (world) => {
    await sentClaim(world);
    chainNamed(world, tokenChain).mempool.clear();
    world.nowMs += 31_000;
  }),
  // What the gas key has signed has nothing to do any more, and its nonce is taken by nothing.
  pass('a claim that the party has made after all', async (world) => {
    const own = await outbidClaim(world);
    submit(chainNamed(world, tokenChain), { ...own, fee: cost + 2 });
    await bury(world);
    await look(world);
  }),
  pass('a refund', async (world) => {
    const made = await fundBoth(world);
    const { deadlines } = await readSwap(world, made);
    await waitUntil(world, deadlines.refundAt[shortOf(made)] + 3_600);
    await look(world);
  }),
  relayed('relayed', async () => {}),
  relayed('relayed after a wait', behind(120)),
  // It is told to ask again, and does.
  relayed('relayed after a wait in vain', behind(10_000)),
];
