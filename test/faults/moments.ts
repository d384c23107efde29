// A swap with a fault on one way at one moment of it: both sides go on as customers do, requests
// are answered meanwhile, and it ends right.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Family } from '../../core/families.ts';
import type { CoinName } from '../../scripts/demo/place.ts';
import type { ParleyClient } from '../../sdk/client.ts';
import {
  agreed,
  type Deal,
  deep,
  endsRight,
  isFunded,
  type Probe,
  probe,
  run,
  runUntil,
  shows,
} from './deals.ts';
import type { Fault } from './fault-proxy.ts';
import type { Customer } from './people.ts';
import type { Scene, Story } from './scenario.ts';
import type { Stage } from './stage.ts';

export const moments = [
  'before the funding',
  'while the funding is sent',
  'before the secret is shown',
  'while the claim is sent',
  'at the refund',
] as const;
export type Moment = (typeof moments)[number];

export const faults = {
  delay: { kind: 'delay', ms: 700 },
  cut: { kind: 'cut' },
  'half-open, deaf': { kind: 'deaf' },
  'half-open, mute': { kind: 'mute' },
  'half an answer': { kind: 'half', bytes: 60 },
  throttle: { kind: 'throttle', bytesPerSecond: 4_000 },
} as const satisfies Record<string, Fault>;

export type Where = Family | 'database';
/** Longer than the market waits for a node; of the database, than it takes to be noticed. */
const heldMs = 6_000;
/** What a request may take: the market's own limits, and a slow machine. */
const answerLimitMs = 40_000;

type Holding = { readonly begin: () => void; readonly over: () => Promise<Probe[]> };

/** Begins the fault once, and heals it after a while; requests are sent all the time. */
function holding(stage: Stage, where: Where, fault: Fault, who: Customer, id: string): Holding {
  const proxies = where === 'database' ? [stage.database] : stage.nodes[where];
  let running: Promise<Probe[]> | null = null;
  const hold = async () => {
    for (const each of proxies) each.fail(fault);
    const asked: Promise<Probe>[] = [];
    for (let passed = 0; passed < heldMs; passed += 500) {
      asked.push(probe(stage, who, `/v1/swaps/${id}`), probe(stage, who, '/v1/me'));
      await sleep(500);
    }
    // Answers come while it lasts: what a healed way brings would hide a wait without a limit.
    const answers = await Promise.all(asked);
    for (const each of proxies) each.heal();
    return answers;
  };
  return {
    begin: () => {
      running ??= hold();
      running.catch(() => {});
    },
    over: async () => running ?? assert.fail('the moment of the fault never came'),
  };
}

/** The client, which says when its n-th transaction is about to be sent. */
function sending(client: ParleyClient, at: number, begin: () => void): ParleyClient {
  let sent = 0;
  return {
    ...client,
    broadcast: (...args: Parameters<ParleyClient['broadcast']>) => {
      sent += 1;
      if (sent === at) begin();
      return client.broadcast(...args);
    },
  };
}

const pairs: Readonly<Record<Where, readonly [CoinName, CoinName]>> = {
  bitcoin: ['BTC', 'ETH'],
  evm: ['BTC', 'ETH'],
  tron: ['SOL', 'TRX'],
  solana: ['TRX', 'SOL'],
  database: ['SOL', 'ETH'],
};

/** The taker's transaction is the one on the way that fails, where that can be. */
export async function swapThrough(
  scene: Scene,
  where: Where,
  kind: keyof typeof faults,
  moment: Moment,
): Promise<Story> {
  const { stage, pair } = scene;
  const deal = await agreed(stage, pair, ...pairs[where]);
  const [taker] = pair;
  const held = holding(stage, where, faults[kind], taker, deal.id);
  const end = moment === 'at the refund' ? 'refunded' : 'received';
  const ends = await (end === 'refunded'
    ? refunding(stage, deal, held)
    : settling(stage, deal, moment, held));
  const answers = await held.over();
  await endsRight(stage, deal, ends, end);
  return {
    meanwhile: clear(answers, where),
    end: end === 'received' ? 'both paid' : 'both refunded',
  };
}

function settling(stage: Stage, deal: Deal, moment: Moment, held: Holding) {
  const { client } = deal.taker.who;
  const at = { 'while the funding is sent': 1, 'while the claim is sent': 2 }[moment as string];
  const maker = run(stage, deal, 'maker');
  const taker = run(stage, deal, 'taker', {
    client: at === undefined ? client : sending(client, at, held.begin),
    onProgress: (progress) => {
      if (moment === 'before the funding' && progress.step === 'verified') held.begin();
      const isDeep = deep('b')(progress);
      if (moment === 'before the secret is shown' && isDeep) held.begin();
    },
  });
  return Promise.all([taker, maker]);
}

async function refunding(stage: Stage, deal: Deal, held: Holding) {
  await Promise.all([
    runUntil(stage, deal, 'taker', isFunded),
    runUntil(stage, deal, 'maker', isFunded),
  ]);
  const { deadlines } = await shows(
    deal,
    'both are funded',
    ({ status }) => status === 'counterparty_funded',
  );
  await stage.move(Math.max(deadlines.refundAt.a, deadlines.refundAt.b) - stage.now() + 120);
  held.begin();
  return Promise.all([run(stage, deal, 'taker'), run(stage, deal, 'maker')]);
}

/** 200, or 503 with when to come again; of a node that fails a reader hears nothing at all. */
function clear(answers: readonly Probe[], where: Where): string {
  const counts = new Map<number, number>();
  for (const { status, code, retryAfter, ms } of answers) {
    counts.set(status, (counts.get(status) ?? 0) + 1);
    assert.ok(ms < answerLimitMs, `a request took ${ms} ms`);
    if (status === 200) continue;
    assert.equal(where, 'database', `a node failed, and a read was answered ${status} ${code}`);
    assert.deepEqual([status, code, retryAfter], [503, 'unavailable', '5']);
  }
  const slowest = Math.max(...answers.map(({ ms }) => ms));
  const list = [...counts].map(([status, count]) => `${count}x ${status}`).join(', ');
  return `reads ${list}, slowest ${slowest} ms`;
}
