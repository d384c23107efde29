import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Address, type Hex, keccak256, pad, stringToHex } from 'viem';
import { type Answer, hangingNode, type Lie, type Request, within } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import { defaultPowerRules, type Inspection } from '../tokens/inspection.ts';
import { evmDeployment } from './plan.ts';
import { accounts, deploy } from './testing/anvil.ts';
import { deployToken, mint } from './testing/swap.ts';
import { handsOn, notPassed, oneAddress, proxyArgs, slot1967 } from './testing/tokens.ts';
import { evmWorld } from './testing/world.ts';

const { chain, urlOf } = await evmWorld();
const { put, tell, pay, renounced, behind, clone, look } = handsOn(() => chain);

const allChecks = [
  'contract',
  'transfer',
  'limit',
  'rebase',
  'pausable',
  'blacklist',
  'mintable',
  'upgradeable',
];

async function minted(name: 'DevDollar' | 'DevTether' | 'ReturnsFalse' | 'FeeToken') {
  const token = await deployToken(chain, name);
  await mint(chain, token, accounts[1]!.address, 10n ** 12n);
  return token;
}

/** What is found of each token of Tokens.sol; '': all passes. */
const zoo: Readonly<Record<string, readonly [short: string, reasons?: RegExp]>> = {
  Plain: [''],
  Fee: ['transfer: reject', /not exact: 970{18}0 arrive, so 3\.00 % are missing$/],
  FeeOnTop: ['transfer: reject', /the sender loses 110{19}0, and 10{21} arrive/],
  FeeFromAccounts: ['transfer: reject', /from one holder to another .* 5\.00 % are missing/],
  FeeAtMarket: ['transfer: reject', /a sale to its market 0x\w{40} .* 20\.00 % are missing/],
  Honeypot: ['transfer: reject', /^a transfer .* of \d+ units fails: it says "TRANSFER_FAILED"$/],
  AccountTrap: ['transfer: reject', /it says "only contracts"/],
  NoSpender: ['transfer: reject', /to a contract by an approved spender .*"not for others"/],
  Pretender: ['transfer: reject', /: nothing of it arrives$/],
  StuckInContracts: ['transfer: reject', /^the claim of an escrow .*: nothing of it arrives$/],
  NotYetOpen: ['transfer: wait', /"not open yet"; tradingOpen\(\) answers false now/],
  SilentSwitch: ['transfer: wait, pausable: wait', /somebody may .* by setTransferEnabled\(\)/],
  Limited: ['limit: wait', /^it moves 10{21} and 1 .* of 50{22} fails: .*over the limit/],
  OneABlock: ['transfer: wait', /"one a block"/],
  HugeRevert: ['transfer: reject', /^.{60,200}$/],
  LongReason: ['transfer: reject', /units fails: it says "x{100,120}$/],
  Elsewhere: [''],
  Pausable: ['pausable: wait', /^its owner 0x\w{40} can stop all transfers: .*pause\(\)/],
  HiddenOwner: ['pausable: wait', /^0x\w{40}, whom its owner\(\) does not name,/],
  Blacklisting: ['blacklist: wait', /single holders: .* isBlackListed\(\), addBlackList\(\)/],
  Mintable: ['mintable: wait', /^its owner 0x\w{40} can make more of it/],
  Bytes32Names: [''],
  HugeSymbol: ['contract: wait', /symbol\(\) gives no readable text/],
  LongSymbol: [''],
  NoSupply: ['contract: wait', /total supply is 0/],
  Generous: ['contract: reject, rebase: wait', /of 5 for an address that nobody ever used/],
  Loops: ['transfer: reject', /uses up 1\d{6} gas/],
  Shares: ['transfer: reject, rebase: reject', /becomes \d+ within 30 days by itself/],
  Reentrant: ['transfer: reject', /the sender loses 10{21}, and 20{21} arrive/],
  BackDoor: ['upgradeable: wait', /DELEGATECALL/],
  KnowsTrials: ['transfer: reject', /"only as a trial"/],
  KeepsEscrows: ['transfer: reject', /^the funding of an escrow of 10{21} units fails/],
  KnowsRoundNumbers: ['transfer: wait', /"only for round numbers"/],
  KnowsRichGas: ['transfer: wait', /"only for much gas"/],
  RefusesOneHolder: ['transfer: wait', /nor a recent holder$/],
  BurnsAllGas: ['transfer: reject'],
  Loud: ['transfer: wait'],
  TimeBomb: ['transfer: wait', /^a day from now, a transfer .*"too late"/],
  Mortal: ['upgradeable: wait', /^its code can destroy itself \(SELFDESTRUCT\)/],
  ManyDecimals: ['contract: reject, transfer: reject', /^it has 255 decimals; the most is 36/],
};

const nobody = '0x000000000000000000000000000000000000dEaD';
const slotOf = (name: string) => keccak256(stringToHex(name));
const oldForm = 'org.zeppelinos.proxy.implementation';
/** Of EIP-1967. */
const adminSlot: Hex = '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103';

async function withAdmin(made: Promise<Address>, value: Hex = pad(nobody)): Promise<string> {
  const address = await made;
  await chain.client.setStorageAt({ address, index: adminSlot, value });
  return address;
}

/** A proxy whose target is where EIP-1967 says, and whose admin is nobody, unless given. */
const proxied = (name?: string, admin = nobody, slot: Hex = slot1967) =>
  behind('Proxy', proxyArgs(slot, admin), name);
const governed = (name?: string, slot: Hex = slot1967) => behind('Proxy', proxyArgs(slot), name);

async function beaconed(): Promise<Address> {
  const beacon = await put('Beacon', oneAddress(await put('PlainBehind')));
  const token = await put('BeaconProxy', oneAddress(beacon));
  await tell('PlainBehind', token, 'begin');
  return token;
}

async function told(name: string, verb: string, made: Promise<Address> = put(name)) {
  const token = await made;
  await tell(name, token, verb);
  return token;
}

/** A small proxy that asks another contract for implementation(), and hands on the call to it. */
async function asking(): Promise<string> {
  const beacon = await put('Beacon', oneAddress(await put('PlainBehind')));
  const asks = `635c60da1b5f5260205f6004601c73${beacon.slice(2).toLowerCase()}5afa505f51`;
  const code = `${asks}365f5f375f5f365f845af43d5f5f3e603d573d5ffd5b3d5ff3`;
  const init = `0x60${(code.length / 2).toString(16)}8060093d393df3${code}` as const;
  return told('PlainBehind', 'begin', deploy(chain, init));
}

async function heldByEscrows(): Promise<string> {
  const token = await put('Plain');
  await pay('Plain', token, evmDeployment(31_337).contract, 10n ** 20n);
  return token;
}

type Token = () => Promise<string>;
type Row = readonly [promise: string, token: Token, short: string, words?: RegExp];

const passing: readonly (readonly [string, Token])[] = [
  ['of which escrows hold some is weighed by what changes: it', heldByEscrows],
  ['that nobody can pause any more', () => renounced('Pausable')],
  ['that nobody can mint any more', () => renounced('Mintable')],
  ['whose owner, who could name a successor, is gone', () => renounced('Replaceable')],
  ['behind a proxy whose admin is an address without a key', () => proxied()],
  [
    'behind a proxy whose admin is given up',
    async () => proxied('PlainBehind', await renounced('ProxyAdmin')),
  ],
  ['that is a clone of one contract for good', () => clone('PlainBehind')],
  ['that takes nearly all the gas of a step is tried to the end: it', () => put('Dear')],
];

/** Of these somebody can put other code in the place of theirs. */
const replaceable: readonly (readonly [string, Token, RegExp])[] = [
  ['a proxy by EIP-1822', () => governed('PlainBehind', slotOf('PROXIABLE')), /EIP-1822/],
  ['a proxy of the old form', () => governed('PlainBehind', slotOf(oldForm)), /old form/],
  [
    'a proxy with its target where nobody knows',
    () => governed('PlainBehind', slotOf('elsewhere')),
    /what says where its implementation is could not be found/,
  ],
  [
    'a proxy whose admin has an owner',
    async () => proxied('PlainBehind', await put('ProxyAdmin')),
    /EIP-1967/,
  ],
  ['a proxy of a beacon', beaconed, /beacon/],
  ['a diamond', () => behind('Diamond', oneAddress), /diamond whose 1 facets/],
  ['a small proxy that asks what to run, which is no clone,', asking, /^/],
  [
    'a proxy without an admin left, if the code beneath may replace itself,',
    () => proxied('UpgradesItself'),
    /implementation can be replaced \(EIP-1967\), by upgradeTo\(\)$/,
  ],
  [
    'a proxy by two standards, of which one names nobody as its admin,',
    () => proxied('PlainBehind', nobody, slotOf('PROXIABLE')),
    /EIP-1967, EIP-1822|EIP-1822, EIP-1967/,
  ],
  [
    'a proxy of a beacon whose admin is nobody',
    () => withAdmin(beaconed()),
    /whose beacon can replace it/,
  ],
  ['a token that runs other code, and has an admin,', () => withAdmin(put('BackDoor')), /DELEGATE/],
  ['a token that can name a successor', () => put('Replaceable'), /by deprecate\(\): its owner 0x/],
  [
    'a token whose keeper may name a successor, though its owner is gone,',
    () => put('HiddenReplacer'),
    /0x\w{40}, whom its owner\(\) does not name, may$/,
  ],
];

const rows: readonly Row[] = [
  [
    'DevDollar: anybody mints it, all else passes',
    () => minted('DevDollar'),
    'mintable: wait',
    /^anybody can make more of it: its code has mint\(\)$/,
  ],
  ['DevTether, which returns nothing, is as good', () => minted('DevTether'), 'mintable: wait'],
  ['what answers false and moves is believed', () => minted('ReturnsFalse'), 'mintable: wait'],
  [
    'a token that is paused now waits, and its transfers are not held against it',
    () => told('Pausable', 'pause'),
    'transfer: wait, pausable: wait',
    /"paused"; paused\(\) answers true now\n.*; paused\(\) answers true now$/,
  ],
  ['roles outlive an owner', () => renounced('Roles'), 'mintable: wait', /right by hasRole\(\)/],
  [
    'a proxy by EIP-1967 is rejected, and its implementation looked into',
    () => governed('PausableBehind'),
    'pausable: wait, upgradeable: reject',
    /its code is behind a proxy whose implementation can be replaced \(EIP-1967\)/,
  ],
  [
    'nothing is given up behind a proxy that can be replaced',
    () => told('PausableBehind', 'renounceOwnership', governed('PausableBehind')),
    'pausable: wait, upgradeable: reject',
    /^somebody can stop all transfers/,
  ],
  ['a clone is looked into', () => clone('PausableBehind'), 'pausable: wait'],
  ['what a clone runs can destroy it', () => clone('MortalBehind'), 'upgradeable: wait'],
  [
    'what lies in the place of an admin and is no address makes no proxy',
    () => withAdmin(put('BackDoor'), slotOf('no address')),
    'upgradeable: wait',
    /DELEGATECALL/,
  ],
  [
    'balances that grow behind a proxy are rejected',
    () => proxied('SharesBehind'),
    'transfer: reject, rebase: reject',
    /a balance of \d+ becomes \d+ within 30 days by itself/,
  ],
  [
    'code behind a proxy that speaks of shares waits',
    () => proxied('NamesShares'),
    'rebase: wait',
    /^its balances may change by themselves: its code has sharesOf\(\)$/,
  ],
  [
    'a token that has a successor already waits, though its owner is gone',
    () => renounced('Replaced'),
    'upgradeable: wait',
    /it hands its calls on to a successor: deprecated\(\) answers true$/,
  ],
  [
    'balances that take more gas than a trial gives them are none',
    () => put('TooDear'),
    'transfer: reject',
    /balanceOf\(\) does not answer$/,
  ],
  ...passing.map(([what, token]) => [`a token ${what} passes`, token, ''] as const),
  ...replaceable.map(
    ([what, token, words]) => [`${what} is rejected`, token, 'upgradeable: reject', words] as const,
  ),
];

const each = Object.entries(zoo).map(
  ([name, [short, words = /^/]]): Row => [
    `${name}: ${short || 'all passes'}`,
    () => put(name),
    short,
    words,
  ],
);

for (const [promise, token, short, words = /^/] of [...rows, ...each]) {
  test(promise, async (t) => {
    const inspection = await look(await token());
    const bad = notPassed(inspection);
    t.diagnostic(`${bad.short.join(', ') || 'all pass'} | ${bad.reasons.replaceAll('\n', ' | ')}`);
    assert.equal(bad.short.join(', '), short, bad.reasons);
    assert.match(bad.reasons, words);
    const made = inspection.findings.map(({ check }) => check);
    const wanted = short === '' ? allChecks : allChecks.filter((check) => made.includes(check));
    assert.deepEqual(made, wanted);
  });
}

const nothings: readonly (readonly [string, () => Promise<string>, RegExp])[] = [
  ['an account', async () => accounts[3]!.address, /there is no contract/],
  ['an address whose contract is gone', () => put('DestroysItself'), /there is no contract/],
  ['a contract of another kind', () => put('NotAToken'), /does not answer balanceOf/],
  ['one that loops for ever', () => put('LoopsAlways'), /does not answer totalSupply/],
  [
    'an account with the code of a token lent to it',
    async () => {
      const token = await put('Plain');
      const address = '0x7702770277027702770277027702770277027702';
      await chain.client.setCode({ address, bytecode: `0xef0100${token.slice(2)}` as Hex });
      return address;
    },
    /account \(EIP-7702\)/,
  ],
];

for (const [what, token, words] of nothings) {
  test(`${what} is no token`, async () => {
    await assert.rejects(look(await token()), refuses('not_a_token', words));
  });
}

test('symbol, name and decimals are as the token says, cut and without control characters', async () => {
  const { symbol, name, decimals } = await look(await put('Bytes32Names'));
  assert.deepEqual([symbol, name, decimals], ['MKR', 'Maker', 18]);
  assert.equal((await look(await put('LongSymbol'))).symbol, 'A'.repeat(50));
});

test('rules decide what a power means; what is stopped now waits under any', async () => {
  const token = await put('Pausable');
  const rule = (pausable: 'pass' | 'reject') => ({ ...defaultPowerRules, pausable });
  assert.deepEqual(notPassed(await look(token, rule('pass'))).short, []);
  assert.deepEqual(notPassed(await look(token, rule('reject'))).short, ['pausable: reject']);
  await tell('Pausable', token, 'pause');
  const stopped = notPassed(await look(token, rule('pass'))).short;
  assert.deepEqual(stopped, ['transfer: wait', 'pausable: wait']);
  const proxy = await behind('Proxy', proxyArgs(slot1967));
  const lax = { ...defaultPowerRules, upgradeable: 'pass' } as const;
  assert.deepEqual(notPassed(await look(proxy, lax)).short, []);
});

const lookBy = async (lie: Lie, token: string): Promise<Inspection> =>
  look(token, defaultPowerRules, await urlOf(lie));

const unknownMethod = { error: { code: -32_601, message: 'the method does not exist' } };
const without =
  (...methods: string[]): Lie =>
  ({ method }, forward) =>
    methods.includes(method) ? unknownMethod : forward();
const lends = ({ method, params }: Request) => method === 'eth_call' && params.length > 2;

test('a node that lends nothing cannot try transfers, and the rest is found', async () => {
  const token = await put('Blacklisting');
  const refuse = { error: { code: -32_602, message: 'too many arguments' } };
  const found = notPassed(
    await lookBy((request, forward) => (lends(request) ? refuse : forward()), token),
  );
  assert.deepEqual(found.short, ['transfer: wait', 'blacklist: wait']);
  assert.match(found.reasons, /^it cannot be tried with this node, which takes no state overrides/);
});

test('a node that plays no transactions finds what one call can show', async () => {
  const lie = without('eth_simulateV1');
  const find = async (name: string) => notPassed(await lookBy(lie, await put(name))).short;
  assert.deepEqual(await find('Plain'), []);
  assert.deepEqual(await find('Fee'), ['transfer: reject']);
  assert.deepEqual(await find('Honeypot'), ['transfer: reject']);
  // Later steps may fail because they are made in one transaction.
  assert.deepEqual(await find('NoSpender'), ['transfer: wait']);
  assert.deepEqual(await find('OneABlock'), ['transfer: wait']);
  assert.deepEqual(await find('TimeBomb'), ['transfer: wait']);
  // There is gas for all of it.
  assert.deepEqual(await find('BurnsGas'), []);
});

test('a trial whose gas ends is a finding and no failure of the node', async () => {
  const lie: Lie = ({ method, params }, forward) =>
    method === 'eth_call' && JSON.stringify(params[0]).length > 1_000
      ? { error: { code: -32_003, message: 'EVM error OutOfGas' } }
      : forward();
  const found = notPassed(await lookBy(lie, await put('Plain')));
  assert.deepEqual(found.short, ['transfer: wait']);
  assert.match(found.reasons, /a round of transfers .* breaks the trial off: EVM error OutOfGas$/);
});

test('a node that breaks off a trial says nothing of the token', async () => {
  const lie: Lie = ({ method, params }, forward) =>
    method === 'eth_simulateV1' && JSON.stringify(params).length > 500
      ? { error: { code: -38_015, message: 'block gas limit reached' } }
      : forward();
  const found = notPassed(await lookBy(lie, await put('Plain')));
  assert.deepEqual(found.short, ['transfer: wait']);
  assert.match(found.reasons, /the node broke off/);
});

test('where balances cannot be lent, a recent holder is borrowed; else it waits', async () => {
  const lie = without('eth_createAccessList');
  const token = await put('Elsewhere');
  assert.deepEqual(notPassed(await lookBy(lie, token)).short, []);
  const blind = without('eth_createAccessList', 'eth_getLogs');
  const found = notPassed(await lookBy(blind, token));
  assert.deepEqual(found.short, ['transfer: wait']);
  assert.match(found.reasons, /nor a recent holder$/);
});

test('a borrowed holder whom a token bars makes it wait, where others can move it', async () => {
  const lie = without('eth_createAccessList');
  for (const [name, words] of [
    ['Barring', /^a transfer from one holder .* units fails: it says "not you"$/],
    ['Ignoring', /^a transfer from one holder .* units moves nothing$/],
  ] as const) {
    const token = await put(name);
    // A balance is lent to somebody else.
    assert.deepEqual(notPassed(await look(token)).short, [], name);
    // The one who holds all of it is borrowed.
    const found = notPassed(await lookBy(lie, token));
    assert.deepEqual(found.short, ['transfer: wait'], name);
    assert.match(found.reasons, words);
  }
});

test('a node that fails says nothing of the token', async (context) => {
  const token = await put('Plain');
  const busy: Answer = { error: { code: -32_000, message: 'daily request count exceeded' } };
  for (const least of [0, 1_000]) {
    const asked = lookBy(
      ({ method, params }, forward) =>
        method === 'eth_call' && JSON.stringify(params[0]).length > least ? busy : forward(),
      token,
    );
    await assert.rejects(asked, refuses('chain_unavailable'));
  }
  const hanging = await within(context, hangingNode());
  const soon = look(token, defaultPowerRules, hanging, AbortSignal.timeout(300));
  await assert.rejects(soon, refuses('chain_timeout'));
});
