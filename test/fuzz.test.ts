// Every operation of the published description, called with every kind of key, as it is described
// and as it is not: each answer is one that the description names, and none is a fault of ours.
//
//   PARLEY_FUZZ_SEED=1 npm test -- test/fuzz.test
//
// `npm run soak` sends ten thousand. A failure names its seed and is shrunk to one request.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type Description, describedBy } from './fuzz/description.ts';
import { type Caller, type FuzzMarket, startFuzzMarket } from './fuzz/market.ts';
import { isReadable } from './fuzz/requests.ts';
import { type Asked, shown, type Trying, trying } from './fuzz/trying.ts';

const wanted = Number(process.env.PARLEY_FUZZ_REQUESTS ?? 500);
const seed = Number(process.env.PARLEY_FUZZ_SEED ?? randomInt(2 ** 31));
const limits = { timeout: 1_800_000 };

let market: FuzzMarket;
let description: Description;
let trial: Trying<Caller>;

before(async () => {
  market = await startFuzzMarket();
  const url = '/v1/openapi.json';
  const { text } = await market.ask({ method: 'GET', url, headers: {}, body: null });
  description = describedBy(JSON.parse(text));
  const headersOf = async ({ headers }: Caller) => headers;
  trial = trying<Caller>({ ...market, description, headersOf, faults: faultsOfAccess });
}, limits);
after(() => market?.close(), limits);

test(
  'no request is answered with a fault of ours, or as the description does not say',
  limits,
  async (t) => {
    t.diagnostic(`seed ${seed}`);
    for (let round = 0; trial.sent() < wanted; round += 1) {
      for (const [at, operation] of description.operations.entries()) {
        for (const [nth, caller] of callersOf(round + at).entries()) {
          await trial.once(operation, caller, seedOf(round, at, nth));
        }
      }
    }
    t.diagnostic(`${trial.sent()} requests: ${trial.summary()}`);
    assert.deepEqual(market.faults, []);
  },
);

// With so few requests each, chance alone may leave a third of the operations without success.
test('what is described is also done: half of the operations, in a long run nearly all', () => {
  const never = description.operations.filter((each) => !trial.succeeded.has(each));
  const names = never.map(({ method, path }) => `${method} ${path}`);
  const most = trial.sent() < 10_000 ? description.operations.length / 2 : 2;
  assert.ok(names.length <= most, `${names}`);
});

test(
  'without nodes only what needs one fails, with 503 or 504 and the code of a chain',
  limits,
  async () => {
    const able = market.callers.slice(0, 2);
    const writes = description.operations.filter(({ method }) => method === 'POST');
    let unanswered = 0;
    for (let round = 0; round < Math.ceil(wanted / 200); round += 1) {
      for (const [at, operation] of writes.entries()) {
        const caller = able[(round + at) % able.length] as Caller;
        const property = fc.asyncProperty(trial.draftsOf(operation), async (draft) => {
          const request = await trial.requestOf(operation, caller, draft);
          const answer = await market.askWithoutNodes(request);
          const reached = description.reached(request.method, request.url);
          const faults = description.faults(reached, request.url, answer);
          if (answer.status >= 500) {
            unanswered += 1;
            if (!/^chain_/.test(String(answer.headers['x-parley-error']))) faults.push('no chain');
          }
          assert.deepEqual(faults, [], shown(request, caller, answer));
        });
        await fc.assert(property, { numRuns: 1, seed: seedOf(round, at, -1) });
      }
    }
    assert.ok(unanswered > 0);
    assert.deepEqual(market.faults, []);
  },
);

/** Who calls in this turn: all who may, those who trade most often, and two who may not. */
function callersOf(turn: number): Caller[] {
  const able = market.callers.filter(({ scopes }) => scopes !== null);
  const [initiator, counterparty] = able as [Caller, Caller];
  const not = market.callers.filter(({ scopes }) => scopes === null);
  const refused = [0, 1].map((each) => not[(2 * turn + each) % not.length] as Caller);
  return [...able, initiator, counterparty, counterparty, ...refused];
}

/** The property's own seed: neighbours of the run's seed share none. */
function seedOf(...parts: readonly number[]): number {
  return parts.reduce((so, part) => (Math.imul(so, 0x9e3779b1) + part + 1) | 0, seed);
}

/** A key that is not taken is 401, a scope that is missing 403; neither is said of others. */
function faultsOfAccess({ operation, caller, request, answer }: Asked<Caller>): string[] {
  const { scopes } = caller;
  const { status, headers } = answer;
  if (status === 429) return ['the budget is large enough for this'];
  if (!operation.needsKey || !isReadable(request) || status === 431) return [];
  if (scopes === null) return status === 401 ? [] : ['the key must not be taken'];
  if (status === 401) return ['the key is valid'];
  const { scope } = operation;
  const lacks = scope !== null && !(scopes as readonly string[]).includes(scope);
  const said = headers['x-parley-error'] === 'scope_missing';
  if (lacks !== said) return [`scopes: ${scopes}; needed: ${scope}`];
  return lacks && status !== 403 ? ['a missing scope is 403'] : [];
}
