// Every operation of `/account` as its description says, and as it does not: with a session, with
// one that is not fresh, without one, with a key, and from a page of another site. Each answer is
// one that the description names, and none is a fault of ours.
//
//   PARLEY_FUZZ_SEED=1 npm test -- verify/test/fuzz-accounts

import assert from 'node:assert/strict';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { after, test } from 'node:test';
import { startIdentityProvider } from '@parley/dev/devnet/people/identity-provider.ts';
import { insertLogin } from '@parley/market/db/wallets.ts';
import { startPeople } from '@parley/market/edge/testing/people.ts';
import { pageHeaders } from '@parley/market/edge/testing/session.ts';
import { openSession } from '@parley/market/people/sessions.ts';
import { type Proven, takeUp } from '@parley/market/people/sign-in.ts';
import { readSettings } from '@parley/market/settings/config.ts';
import { pino } from 'pino';
import { ask } from './fuzz/ask.ts';
import { type Answer, describedBy, type Json, type Operation } from './fuzz/description.ts';
import { createMemory } from './fuzz/memory.ts';
import { isReadable, type Request } from './fuzz/requests.ts';
import { type Asked, trying } from './fuzz/trying.ts';
import { insertTrader, someAddress } from './support/trading.ts';

const wanted = Math.ceil(Number(process.env.PARLEY_FUZZ_REQUESTS ?? 500) * 0.4);
const seed = Number(process.env.PARLEY_FUZZ_SEED ?? randomInt(2 ** 31));
/** Requests of one account, which may be deleted by one of them. */
const requestsOfAccount = 20;

const agent = new Agent({ keepAlive: true, maxSockets: 4 });
const memory = createMemory();
const faults: string[] = [];
const log = pino({ level: 'error' }, { write: (line: string) => void faults.push(line) });
const provider = await startIdentityProvider({ log: { error: assert.fail } as never });
const { issuer, label, client } = provider;
const own = { id: 'dev', label, issuer, clientId: client.id, clientSecret: client.secret };
const providers = [{ ...own, scopes: ['openid', 'email'], messages: false, nonce: true }];
const people = { ...readSettings({}).people, providers };
const settings = { people, mintLimit: 1_000_000, signInLimit: 1_000_000 };
const edge = await startPeople({ log, settings });
const port = await edge.port();
after(async () => {
  agent.destroy();
  await Promise.all([edge.close(), provider.stop()]);
});
const { key } = await insertTrader(
  edge.deps,
  ['read', 'taker', 'maker'],
  [{ family: 'evm', address: someAddress('evm') }],
);

let accountId = '';
/** Its login wallet: a session of another one would end at `not_a_wallet_session`. */
let address = '';

/** The headers of a page in a session of its own: one request may end it. */
async function pageOf(signedInAgoMs = 0): Promise<Record<string, string>> {
  const { deps } = edge;
  const browser = { hash: randomBytes(32), device: 'Firefox on Linux', place: '127.0.0.1' };
  const { token } = await deps.db.transaction(async (tx) => {
    if (trial.sent() % requestsOfAccount === 0 || accountId === '') {
      const proven: Proven = { way: 'email', address: `${randomUUID()}@example.org` };
      const { session } = await takeUp(tx, deps, proven, { purpose: 'sign-in' }, browser);
      accountId = session.accountId;
      address = someAddress('evm');
      const at = new Date(deps.now());
      await insertLogin(tx, { accountId, family: 'evm', address, pubkey: null, at });
    }
    const means =
      trial.sent() % 2 === 0
        ? ({ by: 'wallet', wallet: { family: 'evm', address } } as const)
        : ({ by: 'email', wallet: null } as const);
    const then = { ...deps, now: () => deps.now() - signedInAgoMs };
    return openSession(tx, then, { accountId, means, browser, isNew: true });
  });
  return pageHeaders(token, accountId);
}

type Caller = {
  readonly name: string;
  headers(): Promise<Record<string, string>>;
  /** The answer to every request, or to those that want a session. */
  readonly always?: string;
  readonly withoutSession?: string;
};
const nobody = { withoutSession: '401 session_missing' };
const callers: readonly Caller[] = [
  { name: 'a page', headers: () => pageOf() },
  { name: 'a page whose person signed in an hour ago', headers: () => pageOf(3_600_000) },
  { name: 'a page of nobody', ...nobody, headers: async () => pageHeaders(null) },
  {
    name: 'a key',
    ...nobody,
    headers: async () => ({ ...pageHeaders(null), authorization: `Bearer ${key}` }),
  },
  {
    name: 'a page of another site',
    always: '403 cross_site',
    headers: async () => ({ ...(await pageOf()), origin: 'https://evil.example' }),
  },
];
/** Half of the requests are of whom something may come. */
const turns = [0, 0, 0, 1, 2, 0, 3, 0, 1, 4].map((at) => callers[at] as Caller);

/** Bodies that are taken, by operation. */
const ofWallet = (more: Json): Json => ({ family: 'evm', address: someAddress('evm'), ...more });
const bodies: Readonly<Record<string, () => Json>> = {
  'POST /account/keys': () => ({ scopes: ['read'] }),
  'POST /account/email': () => ({ address: `${randomUUID()}@example.org`, purpose: 'sign-in' }),
  'POST /account/provider': () => ({ provider: 'dev', purpose: 'sign-in' }),
  'POST /account/payout': () => ofWallet({ paid: true }),
  'POST /account/wallet': () => ofWallet({ purpose: 'sign-in' }),
};
const nameOf = ({ method, path }: Operation) => `${method} ${path}`;

async function asked(request: Request): Promise<Answer> {
  const answer = await ask(port, agent, request);
  const isEnded = request.method === 'DELETE' && request.url === '/account/me';
  if (isEnded && answer.status < 300) accountId = '';
  return answer;
}

function faultsOfAccess({ operation, caller, request, answer }: Asked<Caller>): string[] {
  if (!isReadable(request) || answer.status === 431) return [];
  const expected = caller.always ?? (operation.needsKey ? caller.withoutSession : undefined);
  const said = `${answer.status} ${answer.headers['x-parley-error']}`;
  if (expected !== undefined) return said === expected ? [] : [`${said} instead of ${expected}`];
  return ['401 session_missing', '403 cross_site', '403 wrong_site'].includes(said) ? [said] : [];
}

const description = describedBy((await edge.call('GET', '/account/openapi.json')).body);
const trial = trying<Caller>({
  description,
  memory,
  prepares: (each) => nameOf(each) in bodies,
  prepare: async (operation) => bodies[nameOf(operation)]?.() ?? {},
  headersOf: (caller) => caller.headers(),
  ask: asked,
  faults: faultsOfAccess,
});

test('no request is answered with a fault of ours, or as the description does not say', async (t) => {
  t.diagnostic(`seed ${seed}`);
  const { operations } = description;
  for (let nth = 0; trial.sent() < wanted; nth += 1) {
    const operation = operations[nth % operations.length] as Operation;
    const caller = turns[Math.floor(nth / operations.length) % turns.length] as Caller;
    await trial.once(operation, caller, Math.imul(seed, 0x9e3779b1) + nth);
  }
  t.diagnostic(`${trial.sent()} requests: ${trial.summary()}`);
  assert.deepEqual(faults, []);
  assert.ok([...trial.succeeded].some(({ needsKey }) => needsKey));
  // With so few requests each, chance alone may leave one without success.
  const own = operations.filter(({ path }) => /^\/account\/(keys|feed-ticket)$/.test(path));
  if (trial.sent() >= 2_000)
    assert.deepEqual(
      own.filter((each) => !trial.succeeded.has(each)),
      [],
    );
});
