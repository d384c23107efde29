import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPowerRules, type Inspection } from '@parley/tokens/inspection.ts';
import { refuses } from '../testing/refusals.ts';
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
  'contract',
  'transfer',
  'rebase',
  'pausable',
  'blacklist',
  'mintable',
  'upgradeable',
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
  Fee: [/^transfer reject: a payment into the escrow of 10{21} units .*: 970{18}0 arrive$/],
  LongReason: [
    /^transfer wait: a payment into the escrow of 10{21} units fails: it says "x{100,}$/,
  ],
  Bytes32Names: [/^transfer wait: it cannot be tried: its chain shows no holder of it$/],
  ManyDecimals: [/^contract reject: it has 255 decimals; the most is 36$/, /^transfer wait/],
  Generous: [/^contract reject: it shows a balance of 5 for an address .* used$/, /^transfer wait/],
  Pausable: [/^pausable wait: its owner T\w{33} can stop all .* has paused\(\), pause\(\)/],
  Replaceable: [/^upgradeable reject: .* replaced by deprecate\(\): its owner T\w{33} may$/],
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

/** A clone of `target` (EIP-1167). */
async function cloneOf(target: Promise<string>): Promise<string> {
  const bare = bareAddress(await target).slice(2);
  return deploy(chain, `363d3d373d3d3d363d73${bare}5af43d82803e903d91602b57fd5bf3`);
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

/** Somebody bought some of a token whose owner alone can pass it on. */
async function bought(): Promise<string> {
  const token = await put('Honeypot');
  const buyer = bareAddress(newcomer()).slice(2).padStart(64, '0');
  await byOwner(chain, token, 'transfer(address,uint256)', buyer, '1'.padStart(64, '0'));
  return token;
}

const rows: readonly (readonly [string, () => Promise<string>, ...RegExp[]])[] = [
  ...Object.entries(matrix).map(
    ([name, found]) => [`${name} is found to be what it is`, () => put(name), ...found] as const,
  ),
  [
    'a trap that lets its maker go is found by who bought of it',
    bought,
    /^transfer wait: a payment into the escrow of 1 units fails: it says "TRANSFER_FAILED"$/,
  ],
  ['a power is moot once its owner is nobody', () => without(put('Pausable'))],
  ['a paused token waits', paused, /^transfer wait: .*it says "paused"$/, /^pausable wait/],
  [
    'the one who can replace the code behind a proxy is found',
    () => proxied('PlainBehind', funder.address),
    /^upgradeable reject: .* proxy whose implementation can be replaced \(EIP-1967\)$/,
  ],
  [
    'a proxy whose admin is a contract without an owner passes',
    () => proxied('PlainBehind', without(put('Pausable'))),
  ],
  [
    'a proxy by no standard is found',
    () => loose('PlainBehind'),
    /^upgradeable reject: its code is behind a proxy whose implementation lies in its storage$/,
  ],
  ['a clone of one contract for good passes', () => cloneOf(put('Plain')), empty],
  ['a power over a clone is moot where its owner is nobody', () => cloneOf(put('Pausable')), empty],
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
  ['an account', () => funder.address, /there is no contract/],
  ['an unused address', newcomer, /there is no contract/],
  ['a TRC-10 asset', () => '1002000', /TRC-10/],
  ['another contract', () => put('NotAToken'), /does not answer balanceOf/],
  ['the escrow contract', () => chain.deployment.contract, /does not answer totalSupply/],
];

for (const [what, token, words] of nothings) {
  test(`${what} is no token`, async () => {
    await assert.rejects(lookAt(await token()), refuses('not_a_token', words));
  });
}

/** Over a node that answers so at a path. */
const withLie = (where: string, lie: Lie) =>
  adapterOver((asked, forward) => (asked.path === where ? lie(asked, forward) : forward()));
const constantCalls = 'wallet/triggerconstantcontract';

const refusal = {
  body: { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'the method is not available' } },
};

test('a node without an index of events tries its maker, and knows no proxy', async () => {
  const by = await withLie('jsonrpc', () => refusal);
  assert.deepEqual(against(await lookAt(await put('Plain'), defaultPowerRules, by)), []);
  const looking = lookAt(await proxied('PlainBehind'), defaultPowerRules, by);
  await assert.rejects(looking, refuses('chain_unavailable', /the method is not available/));
});

test('a transfer that logs nothing has not arrived', async () => {
  const silent = await withLie(constantCalls, async (_, forward) => {
    const { body } = await forward();
    return { body: { ...(body as object), logs: [] } };
  });
  const found = against(await lookAt(await put('Plain'), defaultPowerRules, silent));
  assert.match(found.join(), /^transfer wait: a payment into the escrow .* logs no transfer$/);
});

test('a node that fails says nothing of a token, nor does a look that is out of time', async () => {
  const token = await put('Plain');
  for (const [lie, code, within] of [
    [() => ({ status: 500, body: {} }), 'chain_unavailable', signal()],
    [() => undefined, 'chain_timeout', AbortSignal.timeout(300)],
  ] as const) {
    let isWell = true;
    const by = await withLie(constantCalls, (_, forward) => (isWell ? forward() : lie()));
    const { inspect, open } = by;
    await open(signal());
    isWell = false;
    const looking = inspect?.(token, defaultPowerRules, within) ?? assert.fail();
    await assert.rejects(looking, { code });
  }
});
