// Rows of the matrix: what a process does once, before it serves anybody. The next one that starts
// does it again.

import { seedAssets } from '../../server/market/assets.ts';
import { resealKept } from '../../server/start/watchtower.ts';
import { resealSecrets } from '../../server/webhooks/register.ts';
import { afterKeeping, forgottenClaim, keep, keeperReading } from './keeper-rows.ts';
import type { Play, Row } from './matrix.ts';
import { chainNamed, tokenChain } from './parts.ts';
import { pass, type Work } from './pass.ts';
import {
  acceptance,
  building,
  deliverAll,
  fundBoth,
  must,
  openRfq,
  openThread,
  openTraders,
  shortOf,
} from './trade.ts';
import { restart, type World } from './world.ts';

/** `of`: the call that a start makes. */
export function starting(
  of: string,
  detail: string,
  work: Work,
  prepare: (world: World) => Promise<unknown>,
  more: Partial<Play> = {},
): Row {
  return { ...pass('start', detail, work, prepare, more), of };
}

const newKey = '6b'.repeat(32);

/** As a server does that is started with the new key before the old one. */
export const under =
  (reseal: typeof resealKept): Work =>
  ({ deps }) => {
    const encryptionKey = `${newKey},${deps.settings.encryptionKey}`;
    return reseal({ ...deps, settings: { ...deps.settings, encryptionKey } });
  };

/** The old key is left out. */
export function forgetOldKey(world: World): void {
  world.encryptionKey = newKey;
  restart(world);
}

/** What both sides agree on afterwards is told under the new key alone. */
const webhooksResealed: Row = {
  name: 'start: secrets of webhooks are sealed anew',
  of: 'resealSecrets',
  prepare: async (world) => {
    const traders = await openTraders(world);
    const reseal = under(resealSecrets);
    return {
      act: async (copy) => {
        await reseal(copy.market, copy);
        return null;
      },
      after: async (copy) => {
        forgetOldKey(copy);
        const made = await openThread(copy, 'btc', traders);
        for (const party of [made.taker, made.maker]) await must(copy, acceptance(made, party));
        await deliverAll(copy);
      },
      right: async ({ hooks, receiver }) => {
        const deaf = [...hooks.keys()].filter((path) => receiver.heard(path).length === 0);
        return deaf.map((path) => `${path} heard nothing`);
      },
      reading: { timeless: true },
    };
  },
};

/** A claim that was promised and has not left. */
async function promised(world: World): Promise<void> {
  const made = await fundBoth(world);
  const asked = building(made, 'claim', shortOf(made));
  await must(world, { ...asked, body: { ...asked.body, relay: true }, once: 'once' });
  await deliverAll(world);
}

/** What the gas key has claimed. */
function claimsOf(world: World): readonly unknown[] {
  const { about } = chainNamed(world, tokenChain);
  return [...about.values()].flat().filter(({ tx, ok }) => ok && tx.verb === 'claim');
}

const lands = async (world: World) =>
  claimsOf(world).length === 1 ? [] : ['what was promised does not land'];

/** Signed with a key that the operator has replaced since, and lost by every node. */
async function ofAnotherKey(world: World): Promise<void> {
  await forgottenClaim(world);
  await keep(world.market);
  chainNamed(world, tokenChain).mempool.clear();
  const text = `update keeper_attempts set address = 'replaced', txid = 'of it: ' || txid`;
  await world.real.rows({ name: '', text, values: [] });
  await deliverAll(world);
}

async function sendable({ real }: World): Promise<string[]> {
  const text = `select 1 as one from keeper_attempts
    where address = 'replaced' and (fate <> 'gone' or sealed is not null)`;
  const rows = await real.rows({ name: '', text, values: [] });
  return rows.length === 0 ? [] : ['what another key signed may still be sent'];
}

export const startRows: readonly Row[] = [
  webhooksResealed,
  starting('resealKept', 'a promised claim is sealed anew', under(resealKept), promised, {
    after: async (world) => {
      forgetOldKey(world);
      await afterKeeping(world);
    },
    right: lands,
    reading: keeperReading,
  }),
  starting(
    'seedAssets',
    'curated assets come and go',
    ({ deps }) => {
      const named = { address: null, decimals: 8 };
      return seedAssets(deps.db, deps, [
        { chain: 'sim-bitcoin', symbol: 'BTC', ...named },
        { chain: 'sim-evm', symbol: 'USD', address: `0x${'d0'.repeat(20)}`, decimals: 6 },
      ]);
    },
    (world) => openRfq(world),
  ),
  pass('keeper.begin', 'another gas key', ({ keeper }) => keeper.begin(), ofAnotherKey, {
    after: afterKeeping,
    right: async (world) => [...(await lands(world)), ...(await sendable(world))],
    reading: keeperReading,
  }),
];
