// A digest is of one plan, one account and one set of arguments, for a short time; it is done once,
// and goes on after a crash.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { codeOf, ParleyApiError } from '@parley/sdk/errors.ts';
import { z } from 'zod';
import type { Desk } from './desk.ts';
import { openPlans } from './plans.ts';
import { Refusal } from './refusal.ts';
import { outcome } from './schemas.ts';
import { type Prepared, tradeTool } from './tool.ts';
import { createTurns } from './turns.ts';
import { noWait } from './waiting.ts';

let dir: string;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'parley-mcp-plans-'));
});
after(() => rm(dir, { recursive: true }));

const done = z.object({ effect: z.number() });
const args = { price: '1' };

/** A tool whose order, fee and act a test decides; `desk` as another process would have it. */
function stage(folder: string) {
  const at = { now: 1_000, account: 'alice', order: { price: '1', from: '2' }, fee: 100n };
  const acts: string[] = [];
  let became: { effect: number } | null = null;
  let refusal: Error | null = null;
  const inTurn = createTurns();
  let act: Prepared['act'] = async (key) => {
    acts.push(key);
    return { effect: acts.length };
  };
  const tool = tradeTool({
    name: 'try',
    title: 'Try',
    about: 'Tries.',
    destructive: true,
    done,
    input: z.object({ price: z.string() }),
    output: outcome(done),
    prepare: async () => {
      if (refusal !== null) throw refusal;
      return {
        words: ['it is tried'],
        order: at.order,
        most: { chain: `${at.fee}` },
        moves: ['from'],
        act: (key) => act(key),
      };
    },
    became: async () => became,
  });
  const desk = () =>
    ({
      userId: at.account,
      session: { now: () => at.now, profile: { market: 'https://m.example' } },
      plans: openPlans(join(dir, folder), () => at.now),
      inTurn,
    }) as unknown as Desk;
  const call = (given: object) => tool.run(desk(), given as never, noWait) as Promise<Answer>;
  const planned = async () => (await call(args)).plan?.digest ?? assert.fail('no plan');
  return {
    at,
    acts,
    call,
    planned,
    does: (work: Prepared['act']) => {
      act = work;
    },
    shows: (effect: typeof became, error: Error) => {
      became = effect;
      refusal = error;
    },
  };
}
type Answer = {
  readonly is: string;
  readonly plan: { readonly digest: string; readonly most: object } | null;
  readonly done: object | null;
  readonly again: boolean;
};
const code = (wanted: string) => (error: unknown) => codeOf(error) === wanted;

test('the first call does nothing, the second does it, and a third says what was done', async () => {
  const { call, planned, acts } = stage('once');
  const digest = await planned();
  assert.deepEqual(acts, []);
  const said = await call({ ...args, digest });
  assert.deepEqual(said, { is: 'done', plan: null, done: { effect: 1 }, again: false });
  assert.deepEqual(await call({ ...args, digest }), { ...said, again: true });
  assert.deepEqual(acts, [digest]);
  const two = await planned();
  assert.notEqual(two, digest);
  const both = await Promise.all([1, 2].map(() => call({ ...args, digest: two })));
  assert.deepEqual(both.map(({ again }) => again).sort(), [false, true]);
  assert.equal(acts.length, 2);
});

test('other arguments, another account, an ended plan and a strange digest do nothing', async () => {
  const { at, call, planned, acts } = stage('refused');
  const digest = await planned();
  await assert.rejects(call({ price: '2', digest }), code('other_arguments'));
  at.account = 'bob';
  await assert.rejects(call({ ...args, digest }), code('other_account'));
  at.account = 'alice';
  await assert.rejects(call({ ...args, digest: '0'.repeat(64) }), code('unknown_digest'));
  at.now += 301;
  await assert.rejects(call({ ...args, digest }), code('digest_expired'));
  at.now -= 1;
  assert.equal((await call({ ...args, digest })).is, 'done');
  assert.equal(acts.length, 1);
  // A plan that somebody rewrote is another plan.
  const other = await planned();
  const file = join(dir, 'refused', `${other}.json`);
  await writeFile(file, (await readFile(file, 'utf8')).replace('"price":"1"', '"price":"9"'));
  await assert.rejects(call({ ...args, digest: other }), code('unknown_digest'));
  await writeFile(file, '{"digest":');
  await assert.rejects(call({ ...args, digest: other }), code('bad_plan'));
  assert.ok(await planned(), 'a damaged plan is in the way of no other');
});

test('facts that changed refuse the act; fees may rise to what was shown, and no further', async () => {
  const { at, call, planned, acts } = stage('facts');
  const digest = await planned();
  at.order = { price: '2', from: '2' };
  await assert.rejects(call({ ...args, digest }), code('facts_changed'));
  at.order = { price: '1', from: '1' };
  await assert.rejects(call({ ...args, digest }), code('facts_changed'));
  at.order = { price: '1', from: '2' };
  at.fee = 151n;
  await assert.rejects(call({ ...args, digest }), code('facts_changed'));
  assert.deepEqual(acts, []);
  at.fee = 150n;
  assert.equal((await call({ ...args, digest })).is, 'done');
});

test('an act that nobody saw the end of goes on under its key, of the same deal and for a day', async () => {
  const { at, call, planned, acts, does } = stage('crash');
  const digest = await planned();
  const keys: string[] = [];
  does(async (key) => {
    keys.push(key);
    throw new ParleyApiError({ status: 0, code: 'no_answer', message: 'no answer' });
  });
  await assert.rejects(call({ ...args, digest }), code('no_answer'));
  at.now += 360;
  // A market that was silent could show less for the same price.
  at.order = { price: '2', from: '2' };
  await assert.rejects(call({ ...args, digest }), code('facts_changed'));
  at.order = { price: '1', from: '1' };
  at.fee = 900n;
  at.now = 1_000 + 86_401;
  await assert.rejects(call({ ...args, digest }), code('digest_expired'));
  at.now -= 1;
  does(async (key) => {
    keys.push(key);
    return { effect: 7 };
  });
  assert.deepEqual((await call({ ...args, digest })).done, { effect: 7 });
  assert.deepEqual([keys, acts], [[digest, digest], []]);
});

test('an act that was taken is told as done, though it would be refused now, and is not done again', async () => {
  const { call, planned, acts, does, shows } = stage('taken');
  const ended = new Refusal('needs_you', 'price_ended', 'the price ended');
  const other = await planned();
  const digest = await planned();
  does(async (key) => {
    acts.push(key);
    throw new ParleyApiError({ status: 0, code: 'no_answer', message: 'no answer' });
  });
  await assert.rejects(call({ ...args, digest }), code('no_answer'));
  // The chain shows no sign of it: then it is as if nobody had asked.
  shows(null, ended);
  await assert.rejects(call({ ...args, digest }), code('price_ended'));
  shows({ effect: 5 }, ended);
  const said = { is: 'done', plan: null, done: { effect: 5 }, again: true };
  for (const _ of [1, 2]) assert.deepEqual(await call({ ...args, digest }), said);
  // One that was never begun has done nothing, whatever is shown.
  await assert.rejects(call({ ...args, digest: other }), code('price_ended'));
  assert.deepEqual(acts, [digest]);
});

test('a refusal of the market leaves the plan as it was', async () => {
  const { call, planned, does } = stage('refusal');
  const digest = await planned();
  does(async () => {
    throw new ParleyApiError({ status: 409, code: 'terms_moved', message: 'moved' });
  });
  await assert.rejects(call({ ...args, digest }), code('terms_moved'));
  const kept = JSON.parse(await readFile(join(dir, 'refusal', `${digest}.json`), 'utf8'));
  assert.equal((kept as { state: string }).state, 'planned');
});
