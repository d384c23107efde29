// A swap with a fault on one way at one moment of it: both sides go on as customers do, requests
// are answered meanwhile, and it ends right.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Family } from '../../core/families.ts';
import type { CoinName } from '../../scripts/demo/place.ts';
import type { ParleyClient } from '../../sdk/client.ts';
import type { Customer } from '../support/customers.ts';
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
} from '../support/deals.ts';
import type { Fault } from '../support/fault-proxy.ts';
import type { Stage } from '../support/stage.ts';
import type { Scene } from './scenario.ts';

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

type Holding = {
  readonly begin: () => void;
  readonly over: () => Promise<Probe[]>;
};

/** Begins the fault once, and heals it after a while; requests are sent all the time. */
function holding(stage: Stage, where: Where, fault: Fault, who: Customer, id: string): Holding {
  const proxies = where === 'database' ? [stage.database] : stage.nodes[where];
  let running: Promise<Probe[]> | null = null;
  const struck = () => [...proxies].reduce((sum, each) => sum + each.struck(), 0);
  const before = struck();
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
    over: async () => {
      const answers = await (running ?? assert.fail('the moment of the fault never came'));
      assert.ok(struck() > before, 'nothing met the fault');
      return answers;
    },
  };
}

/** The client, which says when a transaction of this chain is about to be sent. */
function sending(client: ParleyClient, on: string, held: Holding): ParleyClient {
  return {
    ...client,
    broadcast: (...args: Parameters<ParleyClient['broadcast']>) => {
      if (args[0] === on) held.begin();
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

export async function swapThrough(
  scene: Scene,
  where: Where,
  kind: keyof typeof faults,
  moment: Moment,
): Promise<void> {
  const { stage, pair } = scene;
  const deal = await agreed(stage, pair, ...pairs[where]);
  const [taker] = pair;
  const held = holding(stage, where, faults[kind], taker, deal.id);
  const end = moment === 'at the refund' ? 'refunded' : 'received';
  const ends = await (end === 'refunded'
    ? refunding(stage, deal, held)
    : settling(stage, deal, { where, moment, held }));
  mustBeClear(await held.over(), where);
  await endsRight(
    stage,
    deal,
    ends.map((each) => each.end),
    end,
  );
}

type Held = { readonly where: Where; readonly moment: Moment; readonly held: Holding };

/**
 * Whose transaction begins the fault, and on which chain: a leg is funded by one and claimed by the
 * other, and what is sent is sent on the way that fails.
 */
function sentAt(stage: Stage, { coins }: Deal, { where, moment }: Held) {
  const verb = { 'while the funding is sent': 'fund', 'while the claim is sent': 'claim' }[
    moment as string
  ];
  if (verb === undefined) return null;
  const chainOf = (leg: 'a' | 'b') => stage.place.coins[coins[leg]].chain;
  // Every transaction passes through the database: there it is the taker's.
  const taken = verb === 'fund' ? 'b' : 'a';
  const on = where === 'database' ? chainOf(taken) : stage.place[where].chain;
  assert.ok([chainOf('a'), chainOf('b')].includes(on), `nothing is sent on ${on}`);
  return { by: on === chainOf(taken) ? 'taker' : 'maker', on };
}

function settling(stage: Stage, deal: Deal, at: Held) {
  const { moment, held } = at;
  const sent = sentAt(stage, deal, at);
  const clientOf = (party: 'taker' | 'maker') => {
    const { client } = deal[party].who;
    return sent?.by === party ? sending(client, sent.on, held) : client;
  };
  const maker = run(stage, deal, 'maker', { client: clientOf('maker') });
  const taker = run(stage, deal, 'taker', {
    client: clientOf('taker'),
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
function mustBeClear(answers: readonly Probe[], where: Where): void {
  for (const { status, code, retryAfter, ms } of answers) {
    assert.ok(ms < answerLimitMs, `a request took ${ms} ms`);
    if (status === 200) continue;
    assert.equal(where, 'database', `a node failed, and a read was answered ${status} ${code}`);
    assert.deepEqual([status, code, retryAfter], [503, 'unavailable', '5']);
  }
}
