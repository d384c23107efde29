// Rows of the matrix: what people are told, by mail and in a chat, and of what they are reminded.

import assert from 'node:assert/strict';
import { insertLoginOf } from '../../server/db/logins.ts';
import { insertOutbox } from '../../server/db/outbox.ts';
import { insertPayout } from '../../server/db/payouts.ts';
import { insertLogin, setLeaving, walletsOf } from '../../server/db/wallets.ts';
import { handOut } from '../../server/messages/hand-out.ts';
import { resealMessages } from '../../server/messages/sealed.ts';
import { uuidv7 } from '../../server/ports/ids.ts';
import type { Party } from '../sim/state.ts';
import type { Play, Row } from './matrix.ts';
import { pass, type Work } from './pass.ts';
import { leaseMs } from './request.ts';
import { forgetOldKey, starting, under } from './start-rows.ts';
import { agree, deliverAll, must, openTraders, type Traders } from './trade.ts';
import type { World } from './world.ts';

const dayMs = 86_400_000;
const chatOf = ({ accountId }: Party) => `chat of ${accountId}`;
const mailboxOf = ({ accountId }: Party) => `${accountId}@mail.example`;

/** From now on the party hears by mail and in a chat. */
async function reach(world: World, party: Party): Promise<void> {
  const { deps } = world.market;
  const { accountId } = party;
  const login = { accountId, passkey: null, at: new Date(world.nowMs) };
  const add = (more: Omit<Parameters<typeof insertLoginOf>[1], keyof typeof login | 'id'>) =>
    insertLoginOf(world.real, { ...login, ...more, id: uuidv7(world.nowMs, deps.randomBytes) });
  const subject = mailboxOf(party);
  await add({ way: 'email', issuer: '', subject, label: subject, chatId: null });
  const issuer = 'https://telegram.example';
  const chatId = chatOf(party);
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

const tell: Work = ({ messaging }) => messaging.pass();

/** Everything that is told arrives at last, and by one id only one thing does. */
const arrives = (wanted: number): NonNullable<Play['right']> => {
  return async ({ told }) => {
    const texts = new Map(told.map(({ id, to, subject }) => [id, `${to} ${subject}`]));
    const repeats = told.filter(({ id, to, subject }) => texts.get(id) !== `${to} ${subject}`);
    const count = new Set(texts.values()).size;
    return [
      ...(repeats.length > 0 ? ['two things were told by one id'] : []),
      ...(count === wanted ? [] : [`${count} things were told, not ${wanted}`]),
      ...(texts.size === count ? [] : ['one thing was told by two ids']),
    ];
  };
};

const plain = (text: string, values: readonly unknown[]) => ({ name: '', text, values });

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
const tellAfter = (work: Work): Partial<Play> => ({
  after: async (world) => {
    await work(world.market, world);
    for (let again = 0; again < 2; again += 1) {
      world.nowMs += leaseMs;
      await world.market.messaging.pass();
    }
  },
});

const lookAtDeadlines: Work = ({ reminding }) => reminding.deadlines();
const lookAtKeys: Work = ({ reminding }) => reminding.keys();

const lookAtHolds: Work = ({ passing }) => passing.look();

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

export const messageRows: readonly Row[] = [
  pass('messaging.pass', 'new keys, by mail and chat', tell, withNews, { right: arrives(4) }),
  pass(
    'messaging.pass',
    'a chat that is over',
    tell,
    async (world) => {
      const { taker } = await withNews(world);
      world.endedChats.add(chatOf(taker));
    },
    // Its own key by mail, that the chat is over by mail, and the other's key twice.
    { right: arrives(4) },
  ),
  pass(
    'reminding.deadlines',
    'who is to fund',
    lookAtDeadlines,
    async (world) => {
      const made = await reached(world, (each) => agree(each));
      const url = `/v1/swaps/${made.swapId}`;
      const { deadlines } = await must(world, { method: 'GET', url, by: made.taker });
      world.nowMs = (deadlines.initiatorFundBy - 600) * 1_000;
    },
    { ...tellAfter(lookAtDeadlines), right: arrives(2) },
  ),
  pass(
    'reminding.keys',
    'two that end',
    lookAtKeys,
    async (world) => {
      await reached(world, (each) => openTraders(each));
      const ends = new Date(world.nowMs + 10 * dayMs);
      const began = new Date(world.nowMs - 80 * dayMs);
      const text = 'update api_keys set created_at = $1, expires_at = $2';
      await world.real.rows(plain(text, [began, ends]));
    },
    { ...tellAfter(lookAtKeys), right: arrives(4) },
  ),
  pass('passing.look', 'wallets that count and one that leaves', lookAtHolds, withHolds, {
    ...tellAfter(lookAtHolds),
    // The end of both waits, each by mail and in a chat, and of a removal.
    right: arrives(6),
  }),
  starting(
    'resealMessages',
    'what waits to be told is sealed anew',
    under(resealMessages),
    async (world) => {
      await withNews(world);
      await handOut(world.market.deps, new Set(['email', 'telegram'] as const));
    },
    {
      after: async (world) => {
        forgetOldKey(world);
        await world.market.messaging.pass();
        world.nowMs += leaseMs;
        await world.market.messaging.pass();
      },
      right: arrives(4),
    },
  ),
];
