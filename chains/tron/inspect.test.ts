import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../testing/refusals.ts';
import { defaultPowerRules, type Inspection } from '../tokens/inspection.ts';
import { selectorOf } from '../tokens/words.ts';
import { tronHex } from './address.ts';
import { bareAddress } from './plan.ts';
import { deploy, funder, newcomer, signal } from './testing/chain.ts';
import type { Lie } from './testing/nodes.ts';
import { byOwner, deployProxy, deployToken } from './testing/tokens.ts';
import { tronWorld } from './testing/world.ts';

const { chain, adapterOf, adapterOver } = await tronWorld();
const put = (name: string, ...given: string[]) => deployToken(chain, name, ...given);
const lookAt = (token: string, rules = defaultPowerRules, by = adapterOf()): Promise<Inspection> =>
  (by.inspect ?? assert.fail())(token, rules, signal());

function against({ findings }: Inspection): string[] {
  return findings
    .filter(({ outcome }) => outcome !== 'pass')
    .map(({ check, outcome, reason }) => `${check} ${outcome}: ${reason}`);
}

const checks = [
  ...['contract', 'transfer', 'limit', 'rebase'],
  ...['pausable', 'blacklist', 'mintable', 'upgradeable'],
];

test('a good token passes every check, and is named as it names itself', async () => {
  const token = await put('Plain');
  assert.deepEqual(await lookAt(token), {
    address: token,
    symbol: 'PLAIN',
    name: 'Plain Token',
    decimals: 18,
    findings: checks.map((check) => ({ check, outcome: 'pass', reason: null })),
  });
  // In hex it is the same token.
  assert.equal((await lookAt(tronHex(token))).address, token);
});

const matrix: Readonly<Record<string, readonly RegExp[]>> = {
  Plain: [],
  AnswersFalse: [],
  Shared: [/^rebase wait: it shows a balance of \d+ where \d+ is written/],
  HugeSymbol: [/^contract wait: .*symbol\(\) gives no readable text/],
  Fee: [/^transfer reject: .* the escrow gets 970{19}, 30{19} or 3\.00 % less$/],
  Kept: [/^transfer reject: .* passed on by who received it: it says "Bought is bought"$/],
  TimeTrap: [/^transfer reject: it refuses a claim of 1 out of the escrow: it says "over"$/],
  StopsNow: [/^transfer reject: .* into the escrow: it reverts with the error 0x[0-9a-f]{8} /],
  PausesAndLoops: [/^transfer reject: .* more than the 1000000 energy of a trial$/, /^pausable/],
  LoopsInBalance: [/^contract reject: its balanceOf.* more than the 1000000 energy of a trial$/],
  ManyDecimals: [/^contract reject: it has 255 decimals; the most is 36$/, /^transfer reject/],
  Generous: [
    /^contract reject: it shows a balance of 5 for an address that nobody ever used$/,
    /^transfer reject: it moves more than it is told to: for 1 the receiver of a claim gets 6$/,
    /^rebase wait/,
  ],
  Limited: [/^limit wait: it moves 1 and 10{21} .* a payment of 50{22}.*"over the limit"$/],
  NotYetOpen: [/^transfer wait: .*"not open yet"$/],
  HiddenOwner: [/^pausable wait: T\w{33}, whom its owner\(\) does not name, can stop/],
  AnybodyMints: [/^mintable wait: anybody can make more of it: its code has mint\(\)$/],
  SharesBehind: [/^transfer reject: it moves more/, /^rebase reject: .* becomes \d+ within 30/],
  TwoBooks: [/^transfer wait: .* no balance of it could be lent/],
  ReadsALot: [
    /^transfer wait: it could not be looked at whole: it reads more than 400 words/,
    /^rebase wait/,
  ],
  Pausable: [/^pausable wait: its owner T\w{33} can stop all .* has paused\(\), pause\(\)/],
};

const nobody = 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb';
const upgradeable = /^upgradeable reject/;
const empty = /^contract wait: its total supply is 0/;

async function without(token: Promise<string>): Promise<string> {
  await byOwner(chain, await token, 'renounceOwnership()');
  return token;
}

const proxied = async (name: string, admin: string | Promise<string> = nobody) =>
  deployProxy(chain, await put(name), await admin);

/** A clone of `target` (EIP-1167) that runs something before, which leaves the stack empty. */
async function cloneOf(target: Promise<string>, first = '', behind = ''): Promise<string> {
  const jump = (0x2b + first.length / 2).toString(16).padStart(2, '0');
  const bare = bareAddress(await target).slice(2);
  const start = `${first}363d3d373d3d3d363d73${bare}5af43d82803e903d91`;
  return deploy(chain, `${start}60${jump}57fd5bf3${behind}`);
}

/** Somebody may become its owner. */
function heir(): Promise<string> {
  const asks = `5f3560e01c63${selectorOf('pendingOwner()')}14603b57`;
  const answers = `5b73${bareAddress(funder.address).slice(2)}5f5260205ff3`;
  return cloneOf(put('Pausable'), asks, answers);
}

/** What it runs replaces itself, and its admin is nobody's. */
async function upgrading(): Promise<string> {
  const first = `63${selectorOf('upgradeTo(address)')}50`;
  const target = await cloneOf(put('PlainBehind'), first);
  return deployProxy(chain, target, await without(put('Pausable')));
}

async function loose(name: string, begins = true): Promise<string> {
  const token = await put('LooseProxy', await put(name));
  if (begins) await byOwner(chain, token, 'begin()');
  return token;
}

async function paused(): Promise<string> {
  const token = await put('Pausable');
  await byOwner(chain, token, 'pause()');
  return token;
}

const refusal = 'it refuses a payment of 1 into the escrow: it says "paused"$';

const rows: readonly (readonly [string, () => Promise<string>, ...RegExp[]])[] = [
  ...Object.entries(matrix).map(
    ([name, found]) => [`${name} is found to be what it is`, () => put(name), ...found] as const,
  ),
  ['a power is moot once its owner is nobody', () => without(put('Pausable'))],
  ['what is paused waits', paused, new RegExp(`^transfer wait: ${refusal}`), /^pausable wait/],
  [
    'what is paused, and nobody can let go, is rejected',
    () => without(paused()),
    new RegExp(`^transfer reject: ${refusal}`),
    /^pausable wait: its transfers are stopped: paused\(\) answers true now$/,
  ],
  [
    'who can replace the code behind a proxy is found',
    () => proxied('PlainBehind', funder.address),
    new RegExp(`^upgradeable reject: .*: ${funder.address} may put other code there$`),
  ],
  [
    'a proxy of nobody may replace its code all the same',
    () => proxied('PlainBehind'),
    /^upgradeable reject: its code is behind a proxy .* whose code can be replaced$/,
  ],
  [
    'a proxy whose admin is a contract without an owner passes',
    () => proxied('PlainBehind', without(put('Pausable'))),
  ],
  [
    'a proxy by no standard is found',
    () => loose('PlainBehind'),
    /^upgradeable reject: its code runs other code that it looks up/,
  ],
  ['a clone of one contract for good passes', () => cloneOf(put('Plain')), empty],
  [
    'a clone that can look elsewhere waits',
    () => cloneOf(put('Plain'), '5f5450'), // SLOAD
    empty,
    /^upgradeable wait: its code can run the code of other/,
  ],
  [
    'code that may replace itself is found behind an admin that nobody rules',
    upgrading,
    /^upgradeable reject: .* can be replaced, by upgradeTo\(\)$/,
  ],
  ['a power over a clone is moot where its owner is nobody', () => cloneOf(put('Pausable')), empty],
  [
    'nothing is given up while somebody may become the owner',
    heir,
    empty,
    new RegExp(`^pausable wait: its owner ${funder.address} can stop`),
    /^upgradeable wait/,
  ],
  [
    'a successor may be named by an owner',
    () => put('Replaceable'),
    /^upgradeable reject: .* replaced by deprecate\(\): its owner T\w{33} may$/,
  ],
  [
    'a successor that was named stays, though its owner is gone',
    () => without(put('Replaced')),
    /^upgradeable wait: .*: deprecated\(\) answers true$/,
  ],
  [
    'balances that grow are tried through a proxy',
    () => proxied('SharesBehind'),
    /^transfer reject/,
    /^rebase reject: a balance of \d+ becomes \d+ within 30 days by itself$/,
    upgradeable,
  ],
  ['shares are, too', () => proxied('Shared'), /^rebase wait: it shows a/, upgradeable],
  [
    'powers of what a proxy stands for are powers over it',
    () => loose('Mintable', false),
    empty,
    /^mintable wait/,
    upgradeable,
  ],
];

for (const [promise, token, ...expected] of rows) {
  test(promise, async () => {
    const found = against(await lookAt(await token()));
    assert.equal(found.length, expected.length, found.join('\n'));
    for (const [at, each] of found.entries()) assert.match(each, expected[at] ?? /^$/);
  });
}

test('behind a proxy a token is named as what it stands for names it', async () => {
  assert.equal((await lookAt(await proxied('PlainBehind'))).symbol, 'PLAIN');
});

const nothings: readonly (readonly [string, () => string | Promise<string>, RegExp])[] = [
  ['an account', () => funder.address, /it is an account without a contract/],
  ['an unused address', newcomer, /the address was never used/],
  ['a TRC-10 asset', () => '1002000', /TRC-10/],
  ['another contract', () => put('NotAToken'), /does not answer balanceOf/],
  ['the escrow contract', () => chain.deployment.contract, /does not answer totalSupply/],
];

for (const [what, token, words] of nothings) {
  test(`${what} is no token`, async () => {
    await assert.rejects(lookAt(await token()), refuses('not_a_token', words));
  });
}

test('the rules say what becomes of a power', async () => {
  const token = await put('Mintable');
  const by = async (mintable: 'pass' | 'reject') =>
    against(await lookAt(token, { ...defaultPowerRules, mintable })).join();
  assert.equal(await by('pass'), '');
  assert.match(await by('reject'), /^mintable reject/);
});

/** Over a node that answers so to JSON-RPC, by which storage is read. */
const withLie = (lie: Lie) =>
  adapterOver((asked, forward) => (asked.path === 'jsonrpc' ? lie(asked, forward) : forward()));

test('a node whose storage is not what its contracts see speaks for and against nothing', async () => {
  const token = await put('Pausable');
  // As java-tron answered for what CREATE2 made: an owner of nobody, and a supply of nothing.
  const zeros = { jsonrpc: '2.0', id: 1, result: `0x${'0'.repeat(64)}` };
  const seen = await lookAt(token, defaultPowerRules, await withLie(() => ({ body: zeros })));
  const { symbol, name, decimals } = seen;
  assert.deepEqual([symbol, name, decimals], [null, null, null], 'what was not read is told');
  const found = against(seen);
  assert.equal(found.length, 5, found.join('\n'));
  for (const each of found) assert.match(each, / wait: .*does not show this contract's storage/);
});

test('a node that refuses to read storage lets a token wait, with the reason', async () => {
  const error = { code: -32601, message: 'the method is not available' };
  const by = await withLie(() => ({ body: { jsonrpc: '2.0', id: 1, error } }));
  const [found = ''] = against(await lookAt(await put('Plain'), defaultPowerRules, by));
  assert.match(found, /^contract wait: .*refuses to read storage: the method is not/);
});

test('a node that fails says nothing of a token, nor does a look that is out of time', async (t) => {
  const token = await put('Plain');
  for (const [lie, code, within] of [
    [() => ({ status: 500, body: {} }), 'chain_unavailable', signal()],
    [() => ({ body: { result: '0x12' } }), 'chain_unavailable', signal()],
    [() => undefined, 'chain_timeout', AbortSignal.timeout(300)],
  ] as const) {
    const { inspect, open } = await withLie(lie);
    await open(signal());
    const looking = inspect?.(token, defaultPowerRules, within) ?? assert.fail();
    await assert.rejects(looking, { code });
  }
  const { inspect, open } = adapterOf();
  await open(signal());
  const abort = new AbortController();
  const loops = await put('LoopsInBalance');
  const looking = inspect?.(loops, defaultPowerRules, abort.signal) ?? assert.fail();
  // By a clock that runs 51 ms ahead a step, longer than a look works before it rests: a fast
  // machine would be done before. The process does other work then, or the abort never came.
  let readMs = performance.now();
  t.mock.method(performance, 'now', () => (readMs += 51));
  setTimeout(() => abort.abort(), 10);
  await assert.rejects(looking, { code: 'chain_timeout' });
});
