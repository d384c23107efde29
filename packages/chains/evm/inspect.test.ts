import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPowerRules, type Inspection } from '@parley/tokens/inspection.ts';
import { type Address, type Hex, keccak256, stringToHex } from 'viem';
import { type Answer, hangingNode, type Lie, within } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
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

/** The findings about each token of Tokens.sol; '': all passes. */
const zoo: Readonly<Record<string, readonly [short: string, reasons?: RegExp]>> = {
  Plain: [''],
  Fee: ['transfer: reject', /^the funding of an escrow .* gain 970{18}0 instead of 10{21}: a fee/],
  FeeFromContracts: ['transfer: wait', /^passing on what a claim paid of 10{21} units fails/],
  Honeypot: ['transfer: wait', /^the funding of an escrow .* it says "TRANSFER_FAILED"$/],
  Pretender: ['transfer: reject', /gain 0 instead of/],
  StuckInContracts: ['transfer: reject', /^the claim of an escrow .* lose 0 instead of 10{21}$/],
  LongReason: ['transfer: wait', /^the funding of an escrow of 10{21} units fails: .{100,120}$/],
  Elsewhere: [''],
  Pausable: ['pausable: wait', /^its owner 0x\w{40} can stop all transfers: .*pause\(\)/],
  Blacklisting: ['blacklist: wait', /single holders: .* isBlackListed\(\), addBlackList\(\)/],
  Mintable: ['mintable: wait', /^its owner 0x\w{40} can make more of it/],
  HugeSymbol: ['contract: wait', /symbol\(\) gives no readable text/],
  NoSupply: ['contract: wait', /total supply is 0/],
  Generous: ['contract: reject', /of 5 for an address that nobody ever used/],
  BackDoor: ['upgradeable: wait', /DELEGATECALL/],
  Mortal: ['upgradeable: wait', /^its code can destroy itself \(SELFDESTRUCT\)/],
  ManyDecimals: ['contract: reject, transfer: wait', /^it has 255 decimals; the most is 36/],
};

const nobody = '0x000000000000000000000000000000000000dEaD';
const slotOf = (name: string) => keccak256(stringToHex(name));
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
  ['whose owner, who could name a successor, is gone', () => renounced('Replaceable')],
  ['behind a proxy whose admin is an address without a key', () => proxied()],
  [
    'behind a proxy whose admin is given up',
    async () => proxied('PlainBehind', await renounced('ProxyAdmin')),
  ],
  ['that is a clone of one contract for good', () => clone('PlainBehind')],
];

/** Some account can replace the code of these. */
const replaceable: readonly (readonly [string, Token, RegExp])[] = [
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
  ['a token that can name a successor', () => put('Replaceable'), /by deprecate\(\): its owner 0x/],
];

const rows: readonly Row[] = [
  [
    'DevDollar: somebody may mint it, all else passes',
    () => minted('DevDollar'),
    'mintable: wait',
    /^somebody can make more of it: its code has mint\(\)$/,
  ],
  ['DevTether, which returns nothing, is as good', () => minted('DevTether'), 'mintable: wait'],
  [
    'a token that answers false and moves is believed',
    () => minted('ReturnsFalse'),
    'mintable: wait',
  ],
  [
    'a token that is paused now waits, and its transfers are not held against it',
    () => told('Pausable', 'pause'),
    'transfer: wait, pausable: wait',
    /"paused"\n.*; paused\(\) answers true now$/,
  ],
  ['roles outlive an owner', () => renounced('Roles'), 'mintable: wait', /right by hasRole\(\)/],
  [
    'a proxy by EIP-1967 is rejected, and its implementation looked into',
    () => governed('PausableBehind'),
    'pausable: wait, upgradeable: reject',
    /its code is behind a proxy whose implementation can be replaced \(EIP-1967\)/,
  ],
  [
    'no power is given up behind a proxy that can be replaced',
    () => told('PausableBehind', 'renounceOwnership', governed('PausableBehind')),
    'pausable: wait, upgradeable: reject',
    /^somebody can stop all transfers/,
  ],
  ['a clone is looked into', () => clone('PausableBehind'), 'pausable: wait'],
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

const lookBy = async (lie: Lie, token: string): Promise<Inspection> =>
  look(token, defaultPowerRules, await urlOf(lie));

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
