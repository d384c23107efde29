// Rows of the matrix on what is sealed, signed or promised, and done later: claims and refunds of
// an operator's gas key and claims that a party has relayed, spends signed beforehand, messages to
// people, and what a process does with them before it serves anybody.

import assert from 'node:assert/strict';
import type { GasOutcome } from '@parley/chains/gas/account.ts';
import { insertLoginOf } from '@parley/market/db/logins.ts';
import { insertOutbox } from '@parley/market/db/outbox.ts';
import { insertPayout } from '@parley/market/db/payouts.ts';
import { insertLogin, setLeaving, walletsOf } from '@parley/market/db/wallets.ts';
import { seedAssets } from '@parley/market/market/assets.ts';
import { handOut } from '@parley/market/messages/hand-out.ts';
import { resealMessages } from '@parley/market/messages/sealed.ts';
import { uuidv7 } from '@parley/market/ports/ids.ts';
import { resealKept } from '@parley/market/start/watchtower.ts';
import { resealSecrets } from '@parley/market/webhooks/register.ts';
import { takeKey } from '@parley/watchtower/db/keys.ts';
import { submit } from '../chain.ts';
import { type Party, sql } from '../world.ts';
import { restart, type World } from './copies.ts';
import { chainNamed, gasKey, tokenChain } from './machine.ts';
import type { Play, Row } from './matrix.ts';
import { again, leaseMs, passes, starting, type Work } from './plays.ts';
import { leftClaims, signedRefunds } from './requests.ts';
import { type Reading, rawTables, type Row as Stored } from './snapshot.ts';
import {
  type Agreed,
  agree,
  ask,
  building,
  deliverAll,
  fundBoth,
  must,
  openRfq,
  openTraders,
  pollAll,
  readSwap,
  sendAlone,
  settled,
  shortOf,
  sign,
  type Traders,
  tellEverybody,
  waitFor,
} from './trade.ts';

/**
 * How often a key signed again, and who had the lease, may differ; the mined transactions may not.
 */
const keeperReading: Reading = {
  timeless: true,
  only: {
    keeper_turns: () => null,
    chain_heads: () => null,
    keeper_jobs: ({ chain, escrow, verb, purpose, state }) => {
      return { chain, escrow, verb, purpose, state };
    },
  },
  sums: { keeper_attempts: sumsOf },
};

const liveOutcomes: readonly unknown[] = ['unknown', 'pending', 'mined'] satisfies GasOutcome[];

function sumsOf(attempts: readonly Stored[]) {
  const open = attempts.filter(({ outcome }) => liveOutcomes.includes(outcome)).length;
  return { open, charged: attempts.reduce((sum, { charged }) => sum + Number(charged), 0) };
}

const keep: Work = ({ keeper }) => keeper.pass(tokenChain);

/** Until what was signed is final and done with. */
const afterKeeping: Play['after'] = async (world, answer) => {
  await again(6, leaseMs, async () => {
    await keep(world.market, world);
    await settled(world);
  })(world, answer);
  await deliverAll(world);
};

/** The key's transactions on the chain. */
const minedOf = (world: World) =>
  [...chainNamed(world, tokenChain).about.values()].flat().filter(({ tx }) => tx.by === gasKey);

/**
 * The rest of the key's transactions may not land any more, and those that landed are charged,
 * once.
 */
async function isCharged(world: World): Promise<string[]> {
  const { open, charged } = sumsOf((await rawTables(world)).get('keeper_attempts') ?? []);
  const spent = minedOf(world).reduce((sum, { tx }) => sum + tx.fee, 0);
  return [
    ...(open === 0 ? [] : [`${open} that were signed may still be in a block`]),
    ...(charged === spent ? [] : [`${charged} are charged, and ${spent} were spent`]),
  ];
}

/** A claim by relay: asked for again after longer than a dead process's lease lasts. */
function relayed(detail: string, meanwhile: (world: World) => Promise<void>): Row {
  const of = 'POST /v1/swaps/{id}/legs/{leg}/claim';
  return {
    name: `${of}: ${detail}`,
    of,
    prepare: async (world) => {
      const asked = relaying(await fundBoth(world));
      await deliverAll(world);
      await meanwhile(world);
      return {
        act: (copy, tries) => {
          if (tries > 0) copy.nowMs += 11_000;
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

function relaying(made: Agreed) {
  const plain = building(made, 'claim', shortOf(made));
  return { ...plain, body: { ...plain.body, relay: true }, once: 'once' };
}

/** Another process has the lease of the key, for so long. */
const behind = (milliseconds: number) => async (world: World) => {
  const holder = '00000000-0000-4000-8000-000000000000';
  const lease = { holder, milliseconds, clock: new Date(world.nowMs) };
  if (!(await takeKey(world.real, tokenChain, lease))) throw new Error('somebody signs');
};

/** Longer than the same fee is offered for a claim. */
const patienceMs = 700_000;

/** The party's own: sent past us, seen, and lost by every node. Returns it. */
async function forgottenClaim(world: World) {
  const made = await fundBoth(world);
  const tx = await sign(world, made, 'claim', shortOf(made));
  const chain = chainNamed(world, tokenChain);
  const txid = submit(chain, tx);
  await pollAll(world);
  chain.mempool.delete(txid);
  world.nowMs += patienceMs;
  await settled(world);
  return tx;
}

/** Claimed with the gas key, in a mempool. Returns the party's own, that was lost before. */
async function sentClaim(world: World) {
  const own = await forgottenClaim(world);
  await keep(world.market, world);
  return own;
}

/** The key's first offer, where blocks take what is above their floor. */
const cost = 4;

/** Blocks want more than it offers, and come without it. */
async function outbidClaim(world: World) {
  const own = await sentClaim(world);
  chainNamed(world, tokenChain).feeFloor = cost + 1;
  world.nowMs += patienceMs;
  await settled(world);
  return own;
}

/** Everything is told before. */
const quietly = (prepare: (world: World) => Promise<unknown>) => async (world: World) => {
  await prepare(world);
  await deliverAll(world);
};

const keeping: readonly Row[] = [
  ...passes(
    'keeper.pass',
    keep,
    {
      'a claim whose transaction was lost': quietly(forgottenClaim),
      'a claim that is deep by now': quietly(async (world) => {
        await sentClaim(world);
        await settled(world);
      }),
      'a claim that blocks pass over': quietly(outbidClaim),
      'a claim that every node has lost': quietly(async (world) => {
        await sentClaim(world);
        chainNamed(world, tokenChain).mempool.clear();
        world.nowMs += leaseMs;
      }),
      // The gas key's transaction has no effect any more, and its nonce is still free.
      'a claim that the party has made after all': quietly(async (world) => {
        const own = await outbidClaim(world);
        submit(chainNamed(world, tokenChain), { ...own, fee: cost + 2 });
        await settled(world);
      }),
      'a refund': quietly(async (world) => {
        const made = await fundBoth(world);
        await waitFor(world, made, shortOf(made), 3_600);
      }),
    },
    { after: afterKeeping, right: isCharged, reading: keeperReading },
  ),
  relayed('relayed', async () => {}),
  relayed('relayed after a wait', behind(120)),
  // It is told to ask again, and does.
  relayed('relayed after a wait in vain', behind(10_000)),
];

const scheduled = passes(
  'scheduled.pass',
  ({ scheduled }) => scheduled.pass(),
  {
    '': quietly(async (world) => {
      const { made, asked } = await signedRefunds(world);
      await must(world, asked);
      await waitFor(world, made, made.long);
    }),
    'claims whose secret is public': quietly(async (world) => {
      const { made, asked } = await leftClaims(world);
      await must(world, asked);
      await sendAlone(world, made, 'claim', shortOf(made));
      await pollAll(world);
    }),
  },
  {
    after: async (world, answer) => {
      await again(5, 2 * leaseMs, async ({ market }) => {
        await market.scheduled.pass();
        await settled(world);
      })(world, answer);
      await deliverAll(world);
    },
    // The holder of its lease, and the mempool at the poll.
    reading: {
      timeless: true,
      only: {
        jobs: ({ id }) => ({ id }),
        scheduled_spends: ({ escrow, verb, bumps, version }) => {
          return { escrow, verb, bumps, version };
        },
      },
    },
  },
);

const dayMs = 86_400_000;
const chatOf = ({ accountId }: Party) => `chat of ${accountId}`;

/** From now on the party hears by mail and in a chat. */
async function reach(world: World, party: Party): Promise<void> {
  const { accountId } = party;
  const login = { accountId, passkey: null, at: new Date(world.nowMs) };
  const add = (more: Omit<Parameters<typeof insertLoginOf>[1], keyof typeof login | 'id'>) => {
    const id = uuidv7(world.nowMs, world.market.deps.randomBytes);
    return insertLoginOf(world.real, { ...login, ...more, id });
  };
  const subject = `${accountId}@mail.example`;
  await add({ way: 'email', issuer: '', subject, label: subject, chatId: null });
  const chatId = chatOf(party);
  const issuer = 'https://telegram.example';
  await add({ way: 'provider', issuer, subject: chatId, label: 'somebody', chatId });
}

/** Both parties are reached. */
async function reached<Made extends Traders>(
  world: World,
  make: (world: World) => Promise<Made>,
): Promise<Made> {
  const made = await make(world);
  for (const party of [made.taker, made.maker]) await reach(world, party);
  await deliverAll(world);
  return made;
}

/** Everything that is told arrives at last, and by one id only one thing does. */
const arrives = (wanted: number): Partial<Play> => ({
  right: async ({ told }) => {
    const texts = new Map(told.map(({ id, to, subject }) => [id, `${to} ${subject}`]));
    const repeats = told.filter(({ id, to, subject }) => texts.get(id) !== `${to} ${subject}`);
    const count = new Set(texts.values()).size;
    return [
      ...(repeats.length > 0 ? ['two things were told by one id'] : []),
      ...(count === wanted ? [] : [`${count} things were told, not ${wanted}`]),
      ...(texts.size === count ? [] : ['one thing was told by two ids']),
    ];
  },
});

/** Both parties are reached, and a new key of each is to be told. */
async function withNews(world: World): Promise<Traders> {
  const made = await reached(world, (each) => openTraders(each));
  const at = new Date(world.nowMs);
  for (const { accountId } of [made.taker, made.maker]) {
    const payload = { prefix: 'parley_test_abc123', name: null, scopes: ['read'] };
    await insertOutbox(world.real, [{ topic: 'key.created', accountId, payload, at }]);
  }
  return made;
}

/** After what reminds, what tells. */
const tellingAfter = (work: Work, wanted: number): Partial<Play> => ({
  ...arrives(wanted),
  after: async (world, answer) => {
    await work(world.market, world);
    await again(2, leaseMs, ({ market }) => market.messaging.pass())(world, answer);
  },
});

const deadlines: Work = ({ reminding }) => reminding.deadlines();
const keys: Work = ({ reminding }) => reminding.keys();
const holds: Work = ({ passing }) => passing.look();

/** The taker's new wallet, a payout choice of the maker and a removal by it have waited. */
async function withHolds(world: World): Promise<void> {
  const { taker, maker } = await reached(world, (each) => openTraders(each));
  const at = new Date(world.nowMs);
  const until = new Date(world.nowMs + 3 * dayMs);
  const wallet = { family: 'solana', address: 'waits', pubkey: null, at } as const;
  await insertLogin(world.real, { ...wallet, accountId: taker.accountId, waitsUntil: until });
  const [held] = await walletsOf(world.real, maker.accountId);
  assert.ok(held);
  const { family, address } = held;
  const own = { accountId: maker.accountId, family, address };
  const id = uuidv7(world.nowMs, world.market.deps.randomBytes);
  await insertPayout(world.real, { ...own, id, askedAt: at, fromAt: until, told: false });
  await setLeaving(world.real, { ...own, leavesAt: until });
  world.nowMs += 4 * dayMs;
}

const messages: readonly Row[] = [
  ...passes(
    'messaging.pass',
    ({ messaging }) => messaging.pass(),
    {
      'new keys, by mail and chat': withNews,
      // Its own key by mail, that the chat is over by mail, and the other's key twice.
      'a chat that is over': async (world) => {
        const { taker } = await withNews(world);
        world.endedChats.add(chatOf(taker));
      },
    },
    arrives(4),
  ),
  ...passes(
    'reminding.deadlines',
    deadlines,
    {
      'who is to fund': async (world) => {
        const made = await reached(world, (each) => agree(each));
        world.nowMs = ((await readSwap(world, made)).deadlines.initiatorFundBy - 600) * 1_000;
      },
    },
    tellingAfter(deadlines, 2),
  ),
  ...passes(
    'reminding.keys',
    keys,
    {
      'two that end': async (world) => {
        await reached(world, (each) => openTraders(each));
        const [began, ends] = [-80, 10].map((days) => new Date(world.nowMs + days * dayMs));
        await sql(world.real, 'update api_keys set created_at = $1, expires_at = $2', [
          began,
          ends,
        ]);
      },
    },
    tellingAfter(keys, 4),
  ),
  // The end of both waits, each by mail and in a chat, and of a removal.
  ...passes(
    'passing.look',
    holds,
    { 'wallets that count and one that leaves': withHolds },
    tellingAfter(holds, 6),
  ),
];

const newKey = '6b'.repeat(32);

/** As a server does that is started with the new key before the old one. */
const under =
  (reseal: typeof resealKept): Work =>
  ({ deps }) => {
    const encryptionKey = `${newKey},${deps.settings.encryptionKey}`;
    return reseal({ ...deps, settings: { ...deps.settings, encryptionKey } });
  };

/** The old key is left out. */
function forgetOldKey(world: World): void {
  world.encryptionKey = newKey;
  restart(world);
}

const lands = async (world: World) =>
  minedOf(world).filter(({ tx, ok }) => ok && tx.verb === 'claim').length === 1
    ? []
    : ['what was promised does not land'];

/** Signed with a key that the operator has replaced since, and lost by every node. */
async function ofAnotherKey(world: World): Promise<void> {
  await sentClaim(world);
  chainNamed(world, tokenChain).mempool.clear();
  const text = `update keeper_attempts set address = 'replaced', txid = 'of it: ' || txid`;
  await sql(world.real, text);
}

async function sendable({ real }: World): Promise<string[]> {
  const text = `select 1 as one from keeper_attempts
    where address = 'replaced' and (fate <> 'gone' or sealed is not null)`;
  const rows = await sql(real, text);
  return rows.length === 0 ? [] : ['what another key signed may still be sent'];
}

const starts: readonly Row[] = [
  ...starting(
    'resealSecrets',
    under(resealSecrets),
    { 'secrets of webhooks are sealed anew': (world) => openTraders(world) },
    {
      // Later events are signed with what the new key alone opens.
      after: async (world) => {
        forgetOldKey(world);
        await tellEverybody(world);
      },
      right: async ({ hooks, receiver }) => {
        const deaf = [...hooks.keys()].filter((path) => receiver.heard(path).length === 0);
        return deaf.map((path) => `${path} heard nothing`);
      },
    },
  ),
  ...starting(
    'resealKept',
    under(resealKept),
    {
      // It has not left.
      'a promised claim is sealed anew': quietly(async (world) => {
        await must(world, relaying(await fundBoth(world)));
      }),
    },
    {
      after: async (world, answer) => {
        forgetOldKey(world);
        await afterKeeping(world, answer);
      },
      right: lands,
      reading: keeperReading,
    },
  ),
  ...starting(
    'resealMessages',
    under(resealMessages),
    {
      'what waits to be told is sealed anew': async (world) => {
        await withNews(world);
        await handOut(world.market.deps, new Set(['email', 'telegram'] as const));
      },
    },
    {
      ...arrives(4),
      after: async (world) => {
        forgetOldKey(world);
        await world.market.messaging.pass();
        world.nowMs += leaseMs;
        await world.market.messaging.pass();
      },
    },
  ),
  ...starting(
    'seedAssets',
    ({ deps }) => {
      const btc = { chain: 'sim-bitcoin', symbol: 'BTC', address: null, decimals: 8 };
      const address = `0x${'d0'.repeat(20)}`;
      const usd = { chain: 'sim-evm', symbol: 'USD', address, decimals: 6 };
      return seedAssets(deps.db, deps, [btc, usd]);
    },
    { 'curated assets come and go': (world) => openRfq(world) },
  ),
  ...passes(
    'keeper.begin',
    ({ keeper }) => keeper.begin(),
    { 'another gas key': quietly(ofAnotherKey) },
    {
      after: afterKeeping,
      right: async (world) => [...(await lands(world)), ...(await sendable(world))],
      reading: keeperReading,
    },
  ),
];

export const keptRows: readonly Row[] = [...keeping, ...scheduled, ...messages, ...starts];
