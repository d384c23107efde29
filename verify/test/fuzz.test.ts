// Every operation of the published description, called with every kind of key, as it is described
// and as it is not: each answer is one that the description names, and none is a fault of ours.
//
//   PARLEY_FUZZ_SEED=1 npm test -- verify/test/fuzz.test
//
// `npm run soak` sends ten thousand. A failure names its seed and is shrunk to one request.

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { describedBy, type Operation } from './fuzz/description.ts';
import { type Caller, startFuzzMarket } from './fuzz/market.ts';
import { type Draft, isReadable, type Request } from './fuzz/requests.ts';
import { type Asked, shown, trying } from './fuzz/trying.ts';

const wanted = Number(process.env.PARLEY_FUZZ_REQUESTS ?? 500);
const seed = Number(process.env.PARLEY_FUZZ_SEED ?? randomInt(2 ** 31));
const limits = { timeout: 1_800_000 };

const market = await startFuzzMarket();
after(() => market.close(), limits);
const document = { method: 'GET', url: '/v1/openapi.json', headers: {}, body: null } as const;
const description = describedBy(JSON.parse((await market.ask(document)).text));
const { operations } = description;
const trial = trying<Caller>({
  ...market,
  description,
  headersOf: async ({ headers }) => headers,
  faults: faultsOfAccess,
});
const nameOf = ({ method, path }: Operation) => `${method} ${path}`;

test(
  'no request is answered with a fault of ours, or as the description does not say',
  limits,
  async (t) => {
    t.diagnostic(`seed ${seed}`);
    for (let round = 0; trial.sent() < wanted; round += 1) {
      for (const [at, operation] of operations.entries()) {
        for (const [nth, caller] of callersOf(round + at).entries()) {
          await trial.once(operation, caller, seedOf(round, at, nth));
        }
      }
    }
    t.diagnostic(`${trial.sent()} requests: ${trial.summary()}`);
    assert.deepEqual(market.faults, []);
  },
);

// With so few requests each, chance alone left 25 of 48 operations without success.
test('a third of the described operations succeed, in a long run nearly all', () => {
  const never = operations.filter((each) => !trial.succeeded.has(each));
  const most = trial.sent() < 10_000 ? (operations.length * 2) / 3 : 2;
  assert.ok(never.length <= most, `${never.map(nameOf)}`);
});

test(
  'without nodes only what needs one fails, with 503 or 504 and the code of a chain',
  limits,
  async () => {
    const able = market.callers.slice(0, 2);
    const writes = operations.filter(({ method }) => method === 'POST');
    const send = async (caller: Caller, request: Request) => {
      const answer = await market.askWithoutNodes(request);
      const reached = description.reached(request.method, request.url);
      const faults = description.faults(reached, request.url, answer);
      const code = String(answer.headers['x-parley-error']);
      if (answer.status >= 500 && !code.startsWith('chain_')) faults.push('no chain');
      assert.deepEqual(faults, [], shown(request, caller, answer));
      return answer.status;
    };
    const tryOut = async (operation: Operation, caller: Caller, draft: Draft) => {
      await send(caller, await trial.requestOf(operation, caller, draft));
    };
    for (let round = 0; round < Math.ceil(wanted / 200); round += 1) {
      for (const [at, operation] of writes.entries()) {
        const caller = able[(round + at) % able.length] as Caller;
        const drafts = trial.draftsOf(operation);
        const property = fc.asyncProperty(drafts, (draft) => tryOut(operation, caller, draft));
        await fc.assert(property, { numRuns: 1, seed: seedOf(round, at, -1) });
      }
    }
    // Chance alone may send nothing that needs a node.
    const broadcast = writes.find(({ path }) => path === '/v1/tx/broadcast') as Operation;
    const [initiator] = able as [Caller];
    const body = Buffer.from(JSON.stringify(await market.prepare(broadcast, initiator)));
    const headers = { ...initiator.headers, 'content-type': 'application/json' };
    const signed = { method: 'POST', url: broadcast.path, headers, body };
    assert.match(`${await send(initiator, signed)}`, /^50[34]$/);
    assert.deepEqual(market.faults, []);
  },
);

/** The callers of this turn: all who may, those who trade most often, and two who may not. */
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
