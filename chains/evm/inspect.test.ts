// What `inspect` finds, token by token, on a real node.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Hex, keccak256, stringToHex } from 'viem';
import { ParleyError } from '../../core/errors.ts';
import { evmDeployment } from './plan.ts';
import { accounts, deploy, startAnvil, type TestChain } from './testing/anvil.ts';
import { deployToken, mint } from './testing/swap.ts';
import { deployer, handsOn, notPassed, oneAddress, proxyArgs, slot1967 } from './testing/tokens.ts';

let chain: TestChain;
const { put, tell, pay, renounced, behind, clone, look } = handsOn(() => chain);
before(async () => {
  chain = await startAnvil();
});
after(() => chain.stop());

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

type Row = {
  readonly promise: string;
  readonly token: () => Promise<string>;
  readonly short: readonly string[];
  readonly reasons?: RegExp;
};

async function minted(name: 'DevDollar' | 'DevTether' | 'ReturnsFalse' | 'FeeToken') {
  const token = await deployToken(chain, name);
  await mint(chain, token, accounts[1]!.address, 10n ** 12n);
  return token;
}

const rows: readonly Row[] = [
  { promise: 'a plain token passes every check', token: () => put('Plain'), short: [] },
  {
    promise: 'DevDollar: anybody mints it, all else passes',
    token: () => minted('DevDollar'),
    short: ['mintable: wait'],
    reasons: /^anybody can make more of it: its code has mint\(\)$/,
  },
  {
    promise: 'DevTether, which returns nothing: anybody mints it, all else passes',
    token: () => minted('DevTether'),
    short: ['mintable: wait'],
    reasons: /^anybody can make/,
  },
  {
    promise: 'a token that answers false and moves is believed by its balances',
    token: () => minted('ReturnsFalse'),
    short: ['mintable: wait'],
  },
  {
    promise: 'a fee is rejected with its share',
    token: () => put('Fee'),
    short: ['transfer: reject'],
    reasons: /of 10{21} units is not exact: 970{18}0 arrive, so 3\.00 % are missing$/,
  },
  {
    promise: 'a fee on top is rejected with what the sender loses',
    token: () => put('FeeOnTop'),
    short: ['transfer: reject'],
    reasons: /the sender loses 110{19}0, and 10{21} arrive/,
  },
  {
    promise: 'a fee that contracts alone pay is found',
    token: () => put('FeeToContracts'),
    short: ['transfer: reject'],
    reasons: /5\.00 % are missing/,
  },
  {
    promise: 'a fee that plain accounts alone pay is found, by transactions',
    token: () => put('FeeFromAccounts'),
    short: ['transfer: reject'],
    reasons: /a transfer from one holder to another .* 5\.00 % are missing/,
  },
  {
    promise: 'a fee at its own market alone is found',
    token: () => put('FeeAtMarket'),
    short: ['transfer: reject'],
    reasons: /a sale to its market 0x\w{40} .* 20\.00 % are missing/,
  },
  {
    promise: 'a honeypot is rejected with its own words, without what would turn them around',
    token: () => put('Honeypot'),
    short: ['transfer: reject'],
    reasons: /^a transfer .* of \d+ units fails: it says "TRANSFER_FAILED"$/,
  },
  {
    promise: 'a honeypot that catches plain accounts alone is found, by transactions',
    token: () => put('AccountTrap'),
    short: ['transfer: reject'],
    reasons: /it says "only contracts"/,
  },
  {
    promise: 'a token that no spender can move funds no escrow',
    token: () => put('NoSpender'),
    short: ['transfer: reject'],
    reasons: /^a transfer to a contract by an approved spender .*"not for others"/,
  },
  {
    promise: 'a token that says yes and moves nothing is rejected',
    token: () => put('Pretender'),
    short: ['transfer: reject'],
    reasons: /: nothing of it arrives$/,
  },
  {
    promise: 'a token that never leaves a contract again is rejected at the claim',
    token: () => put('StuckInContracts'),
    short: ['transfer: reject'],
    reasons: /^the claim of an escrow of 10{21} units .*: nothing of it arrives$/,
  },
  {
    promise: 'a token of which escrows hold some already is weighed by what changes',
    token: async () => {
      const token = await put('Plain');
      await pay('Plain', token, evmDeployment(31_337).contract, 10n ** 20n);
      return token;
    },
    short: [],
  },
  {
    promise: 'a token whose market is not open yet waits',
    token: () => put('NotYetOpen'),
    short: ['transfer: wait'],
    reasons: /"not open yet"; tradingOpen\(\) answers false now/,
  },
  {
    promise: 'a token that somebody may let go again waits',
    token: () => put('SilentSwitch'),
    short: ['transfer: wait', 'pausable: wait'],
    reasons: /"not now"; somebody may let it go by setTransferEnabled\(\)/,
  },
  {
    promise: 'a limit on large transfers waits, with both amounts',
    token: () => put('Limited'),
    short: ['limit: wait'],
    reasons: /^it moves 10{21} and 1 units, but a transfer .* of 50{22} fails: .*over the limit/,
  },
  {
    promise: 'one transfer a block is a limit and no trap',
    token: () => put('OneABlock'),
    short: ['transfer: wait'],
    reasons: /"one a block"/,
  },
  {
    promise: 'a reason that fills the memory is no more than its selector',
    token: () => put('HugeRevert'),
    short: ['transfer: reject'],
    reasons: /^.{60,200}$/,
  },
  {
    promise: 'a long reason is quoted by its beginning',
    token: () => put('LongReason'),
    short: ['transfer: reject'],
    reasons: /units fails: it says "x{100,120}$/,
  },
  {
    promise: 'balances that lie in another contract are lent there',
    token: () => put('Elsewhere'),
    short: [],
  },
  {
    promise: 'who can pause is named',
    token: () => put('Pausable'),
    short: ['pausable: wait'],
    reasons: new RegExp(`^its owner ${deployer.address} can stop all transfers: .*pause\\(\\)`),
  },
  {
    promise: 'a token that nobody can pause any more passes',
    token: () => renounced('Pausable'),
    short: [],
  },
  {
    promise: 'a token that is paused now waits, and its transfers are not held against it',
    token: async () => {
      const token = await put('Pausable');
      await tell('Pausable', token, 'pause');
      return token;
    },
    short: ['transfer: wait', 'pausable: wait'],
    reasons: /"paused"; paused\(\) answers true now\n.*; paused\(\) answers true now$/,
  },
  {
    promise: 'an owner whom owner() does not name is found where the code looks for him',
    token: () => put('HiddenOwner'),
    short: ['pausable: wait'],
    reasons: new RegExp(`^${deployer.address}, whom its owner\\(\\) does not name,`),
  },
  {
    promise: 'a blacklist is found',
    token: () => put('Blacklisting'),
    short: ['blacklist: wait'],
    reasons: /single holders: its code has isBlackListed\(\), addBlackList\(\)/,
  },
  {
    promise: 'who can mint is named',
    token: () => put('Mintable'),
    short: ['mintable: wait'],
    reasons: /^its owner 0x\w{40} can make more of it/,
  },
  {
    promise: 'a token that nobody can mint any more passes',
    token: () => renounced('Mintable'),
    short: [],
  },
  {
    promise: 'roles outlive an owner',
    token: () => renounced('Roles'),
    short: ['mintable: wait'],
    reasons: /^who has a right by hasRole\(\) can make more/,
  },
  { promise: 'names of 32 bytes are read', token: () => put('Bytes32Names'), short: [] },
  {
    promise: 'a symbol of a megabyte is no symbol',
    token: () => put('HugeSymbol'),
    short: ['contract: wait'],
    reasons: /symbol\(\) gives no readable text/,
  },
  { promise: 'a long symbol is cut', token: () => put('LongSymbol'), short: [] },
  {
    promise: 'a symbol that reverts waits',
    token: () => put('RevertingSymbol'),
    short: ['contract: wait'],
  },
  {
    promise: 'a supply of nothing waits',
    token: () => put('NoSupply'),
    short: ['contract: wait'],
    reasons: /total supply is 0/,
  },
  {
    promise: 'a balance out of nothing is rejected',
    token: () => put('Generous'),
    short: ['contract: reject', 'rebase: wait'],
    reasons: /a balance of 5 for an address that nobody ever used/,
  },
  {
    promise: 'a token that loops for ever when it moves is rejected, within its gas',
    token: () => put('Loops'),
    short: ['transfer: reject'],
    reasons: /uses up 1\d{6} gas/,
  },
  {
    promise: 'balances that grow with time are rejected',
    token: () => put('Shares'),
    short: ['transfer: reject', 'rebase: reject'],
    reasons: /a balance of \d+ becomes \d+ within 30 days by itself/,
  },
  {
    promise: 'balances that are not what is written wait',
    token: () => put('Scaled'),
    short: ['transfer: reject', 'rebase: wait'],
  },
  { promise: 'a token that calls its receivers passes', token: () => put('Hooked'), short: [] },
  {
    promise: 'a token that sends again from within is rejected',
    token: () => put('Reentrant'),
    short: ['transfer: reject'],
    reasons: /the sender loses 10{21}, and 20{21} arrive/,
  },
  {
    promise: 'a proxy by EIP-1967 is rejected, and its implementation looked into',
    token: () => behind('Proxy', proxyArgs(slot1967), 'PausableBehind'),
    short: ['pausable: wait', 'upgradeable: reject'],
    reasons: /its code is behind a proxy whose implementation can be replaced \(EIP-1967\)/,
  },
  {
    promise: 'nothing is given up behind a proxy that can be replaced',
    token: async () => {
      const token = await behind('Proxy', proxyArgs(slot1967), 'PausableBehind');
      await tell('PausableBehind', token, 'renounceOwnership');
      return token;
    },
    short: ['pausable: wait', 'upgradeable: reject'],
    reasons: /^somebody can stop all transfers/,
  },
  {
    promise: 'a proxy by EIP-1822 is rejected',
    token: () => behind('Proxy', proxyArgs(keccak256(stringToHex('PROXIABLE')))),
    short: ['upgradeable: reject'],
    reasons: /EIP-1822/,
  },
  {
    promise: 'a proxy of the old form is rejected',
    token: () =>
      behind('Proxy', proxyArgs(keccak256(stringToHex('org.zeppelinos.proxy.implementation')))),
    short: ['upgradeable: reject'],
    reasons: /old form/,
  },
  {
    promise: 'a proxy with its target where nobody knows is rejected',
    token: () => behind('Proxy', proxyArgs(keccak256(stringToHex('elsewhere')))),
    short: ['upgradeable: reject'],
    reasons: /what says where its implementation is could not be found/,
  },
  {
    promise: 'a proxy whose admin is given up passes',
    token: async () => {
      const admin = await renounced('ProxyAdmin');
      return behind('Proxy', proxyArgs(slot1967, admin));
    },
    short: [],
  },
  {
    promise: 'a proxy whose admin has an owner is rejected',
    token: async () => behind('Proxy', proxyArgs(slot1967, await put('ProxyAdmin'))),
    short: ['upgradeable: reject'],
  },
  {
    promise: 'a proxy of a beacon is rejected',
    token: () =>
      put('PlainBehind')
        .then((target) => put('Beacon', oneAddress(target)))
        .then((beacon) => put('BeaconProxy', oneAddress(beacon)))
        .then(async (token) => {
          await tell('PlainBehind', token, 'begin');
          return token;
        }),
    short: ['upgradeable: reject'],
    reasons: /beacon/,
  },
  {
    promise: 'a diamond is rejected',
    token: () => behind('Diamond', oneAddress),
    short: ['upgradeable: reject'],
    reasons: /diamond whose 1 facets/,
  },
  {
    promise: 'a clone of one contract for good passes',
    token: () => clone('PlainBehind'),
    short: [],
  },
  {
    promise: 'a clone is looked into',
    token: () => clone('PausableBehind'),
    short: ['pausable: wait'],
  },
  {
    promise: 'a small proxy that asks another contract what to run is no clone',
    token: async () => {
      const beacon = await put('Beacon', oneAddress(await put('PlainBehind')));
      // Asks it for implementation(), and hands on the call to what it answers.
      const asks = `635c60da1b5f5260205f6004601c73${beacon.slice(2).toLowerCase()}5afa505f51`;
      const code = `${asks}365f5f375f5f365f845af43d5f5f3e603d573d5ffd5b3d5ff3`;
      const token = await deploy(
        chain,
        `0x60${(code.length / 2).toString(16)}8060093d393df3${code}`,
      );
      await tell('PlainBehind', token, 'begin');
      return token;
    },
    short: ['upgradeable: reject'],
  },
  {
    promise: 'a door for other code waits',
    token: () => put('BackDoor'),
    short: ['upgradeable: wait'],
    reasons: /DELEGATECALL/,
  },
  {
    promise: 'a token that works where gas is free is rejected',
    token: () => put('KnowsTrials'),
    short: ['transfer: reject'],
    reasons: /"only as a trial"/,
  },
  {
    promise: 'a token that keeps escrows where gas is paid for is rejected',
    token: () => put('KeepsEscrows'),
    short: ['transfer: reject'],
    reasons: /^the funding of an escrow of 10{21} units fails/,
  },
  {
    promise: 'a token that works for round prices and gas does not pass',
    token: () => put('KnowsRoundNumbers'),
    short: ['transfer: wait'],
    reasons: /"only for round numbers"/,
  },
  {
    promise: 'a token that works with more gas than wallets give does not pass',
    token: () => put('KnowsRichGas'),
    short: ['transfer: wait'],
    reasons: /"only for much gas"/,
  },
  {
    promise: 'a token that names no balance of a recent holder waits',
    token: () => put('RefusesOneHolder'),
    short: ['transfer: wait'],
    reasons: /nor a recent holder$/,
  },
  {
    promise: 'a token that burns all gas ends in a finding',
    token: () => put('BurnsAllGas'),
    short: ['transfer: reject'],
  },
  {
    promise: 'a token whose answers fill megabytes ends in a finding',
    token: () => put('Loud'),
    short: ['transfer: wait'],
  },
  {
    promise: 'a token that works for some hours only does not pass',
    token: () => put('TimeBomb'),
    short: ['transfer: wait'],
    reasons: /^a day from now, a transfer .*"too late"/,
  },
  {
    promise: 'a token that can destroy itself waits',
    token: () => put('Mortal'),
    short: ['upgradeable: wait'],
    reasons: /^its code can destroy itself \(SELFDESTRUCT\)/,
  },
  {
    promise: 'what a clone runs can destroy it',
    token: () => clone('MortalBehind'),
    short: ['upgradeable: wait'],
  },
  {
    promise: 'more decimals than anybody has are rejected',
    token: () => put('ManyDecimals'),
    short: ['contract: reject', 'transfer: reject'],
    reasons: /^it has 255 decimals; the most is 36/,
  },
];

for (const { promise, token, short, reasons = /^/ } of rows) {
  test(promise, async (t) => {
    const inspection = await look(await token());
    const bad = notPassed(inspection);
    t.diagnostic(`${bad.short.join(', ') || 'all pass'} | ${bad.reasons.replaceAll('\n', ' | ')}`);
    assert.deepEqual(bad.short, short, bad.reasons);
    assert.match(bad.reasons, reasons);
    const made = inspection.findings.map(({ check }) => check);
    assert.deepEqual(
      made,
      allChecks.filter((each) => made.includes(each)),
    );
    if (short.length === 0) assert.deepEqual(made, allChecks);
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
    await assert.rejects(look(await token()), (error: unknown) => {
      assert.ok(error instanceof ParleyError, String(error));
      assert.equal(error.code, 'not_a_token', error.message);
      assert.match(error.message, words);
      return true;
    });
  });
}

test('symbol, name and decimals are as the token says, cut and without control characters', async () => {
  const { symbol, name, decimals } = await look(await put('Bytes32Names'));
  assert.deepEqual([symbol, name, decimals], ['MKR', 'Maker', 18]);
  assert.equal((await look(await put('LongSymbol'))).symbol, 'A'.repeat(50));
});
