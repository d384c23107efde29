import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Address, type Hex, keccak256, pad, stringToHex } from 'viem';
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

/** What is found of each token of Tokens.sol; '': all passes. */
const zoo: Readonly<Record<string, readonly [short: string, reasons?: RegExp]>> = {
  Plain: [''],
  Fee: [
    'transfer: reject',
    /of 10{21} units is not exact: 970{18}0 arrive, so 3\.00 % are missing$/,
  ],
  FeeOnTop: ['transfer: reject', /the sender loses 110{19}0, and 10{21} arrive/],
  FeeToContracts: ['transfer: reject', /5\.00 % are missing/],
  FeeFromAccounts: [
    'transfer: reject',
    /a transfer from one holder to another .* 5\.00 % are missing/,
  ],
  FeeAtMarket: ['transfer: reject', /a sale to its market 0x\w{40} .* 20\.00 % are missing/],
  Honeypot: ['transfer: reject', /^a transfer .* of \d+ units fails: it says "TRANSFER_FAILED"$/],
  AccountTrap: ['transfer: reject', /it says "only contracts"/],
  NoSpender: [
    'transfer: reject',
    /^a transfer to a contract by an approved spender .*"not for others"/,
  ],
  Pretender: ['transfer: reject', /: nothing of it arrives$/],
  StuckInContracts: [
    'transfer: reject',
    /^the claim of an escrow of 10{21} units .*: nothing of it arrives$/,
  ],
  NotYetOpen: ['transfer: wait', /"not open yet"; tradingOpen\(\) answers false now/],
  SilentSwitch: [
    'transfer: wait, pausable: wait',
    /"not now"; somebody may let it go by setTransferEnabled\(\)/,
  ],
  Limited: [
    'limit: wait',
    /^it moves 10{21} and 1 units, but a transfer .* of 50{22} fails: .*over the limit/,
  ],
  OneABlock: ['transfer: wait', /"one a block"/],
  HugeRevert: ['transfer: reject', /^.{60,200}$/],
  LongReason: ['transfer: reject', /units fails: it says "x{100,120}$/],
  Elsewhere: [''],
  Pausable: [
    'pausable: wait',
    new RegExp(`^its owner ${deployer.address} can stop all transfers: .*pause\\(\\)`),
  ],
  HiddenOwner: [
    'pausable: wait',
    new RegExp(`^${deployer.address}, whom its owner\\(\\) does not name,`),
  ],
  Blacklisting: [
    'blacklist: wait',
    /single holders: its code has isBlackListed\(\), addBlackList\(\)/,
  ],
  Mintable: ['mintable: wait', /^its owner 0x\w{40} can make more of it/],
  Bytes32Names: [''],
  HugeSymbol: ['contract: wait', /symbol\(\) gives no readable text/],
  LongSymbol: [''],
  RevertingSymbol: ['contract: wait'],
  NoSupply: ['contract: wait', /total supply is 0/],
  Generous: [
    'contract: reject, rebase: wait',
    /a balance of 5 for an address that nobody ever used/,
  ],
  Loops: ['transfer: reject', /uses up 1\d{6} gas/],
  Shares: [
    'transfer: reject, rebase: reject',
    /a balance of \d+ becomes \d+ within 30 days by itself/,
  ],
  Scaled: ['transfer: reject, rebase: wait'],
  Hooked: [''],
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
const nobodysWord = pad(nobody);
/** Of EIP-1967. */
const adminSlot: Hex = '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103';

async function withAdmin(token: Address, value: Hex): Promise<string> {
  await chain.client.setStorageAt({ address: token, index: adminSlot, value });
  return token;
}

const rows: readonly Row[] = [
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
    promise: 'a token of which escrows hold some already is weighed by what changes',
    token: async () => {
      const token = await put('Plain');
      await pay('Plain', token, evmDeployment(31_337).contract, 10n ** 20n);
      return token;
    },
    short: [],
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
    promise: 'what a clone runs can destroy it',
    token: () => clone('MortalBehind'),
    short: ['upgradeable: wait'],
  },
  {
    promise: 'a proxy whose admin is an address without a key passes',
    token: () => behind('Proxy', proxyArgs(slot1967, nobody)),
    short: [],
  },
  {
    promise: 'a proxy without an admin left is rejected if the code beneath may replace itself',
    token: () => behind('Proxy', proxyArgs(slot1967, nobody), 'UpgradesItself'),
    short: ['upgradeable: reject'],
    reasons: /implementation can be replaced \(EIP-1967\), by upgradeTo\(\)$/,
  },
  {
    promise: 'nobody as the admin of one standard gives up nothing that another standard keeps',
    token: () => behind('Proxy', proxyArgs(keccak256(stringToHex('PROXIABLE')), nobody)),
    short: ['upgradeable: reject'],
    reasons: /EIP-1967, EIP-1822|EIP-1822, EIP-1967/,
  },
  {
    promise: 'nobody as the admin of a proxy gives up nothing that a beacon may do',
    token: async () => {
      const beacon = await put('Beacon', oneAddress(await put('PlainBehind')));
      const token = await put('BeaconProxy', oneAddress(beacon));
      await tell('PlainBehind', token, 'begin');
      return withAdmin(token, nobodysWord);
    },
    short: ['upgradeable: reject'],
    reasons: /whose beacon can replace it/,
  },
  {
    promise: 'a token that runs other code is a proxy if it has an admin, and is rejected',
    token: async () => withAdmin(await put('BackDoor'), nobodysWord),
    short: ['upgradeable: reject'],
    reasons: /DELEGATECALL/,
  },
  {
    promise: 'what lies in the place of an admin and is no address makes no proxy',
    token: async () => withAdmin(await put('BackDoor'), keccak256(stringToHex('no address'))),
    short: ['upgradeable: wait'],
    reasons: /DELEGATECALL/,
  },
  {
    promise: 'balances that grow behind a proxy are rejected',
    token: () => behind('Proxy', proxyArgs(slot1967, nobody), 'SharesBehind'),
    short: ['transfer: reject', 'rebase: reject'],
    reasons: /a balance of \d+ becomes \d+ within 30 days by itself/,
  },
  {
    promise: 'code behind a proxy that speaks of shares waits',
    token: () => behind('Proxy', proxyArgs(slot1967, nobody), 'NamesShares'),
    short: ['rebase: wait'],
    reasons: /^its balances may change by themselves: its code has sharesOf\(\)$/,
  },
  {
    promise: 'who can name a successor is found',
    token: () => put('Replaceable'),
    short: ['upgradeable: reject'],
    reasons: new RegExp(`by deprecate\\(\\): its owner ${deployer.address} may$`),
  },
  {
    promise: 'a token whose owner is gone gets no successor',
    token: () => renounced('Replaceable'),
    short: [],
  },
  {
    promise: 'a successor is found whom a keeper may name though the owner is gone',
    token: () => put('HiddenReplacer'),
    short: ['upgradeable: reject'],
    reasons: new RegExp(`${deployer.address}, whom its owner\\(\\) does not name, may$`),
  },
  {
    promise: 'a token that has a successor already waits, though its owner is gone',
    token: () => renounced('Replaced'),
    short: ['upgradeable: wait'],
    reasons: /it hands its calls on to a successor: deprecated\(\) answers true$/,
  },
  {
    promise: 'a token that takes nearly all the gas of every step is tried to the end',
    token: () => put('Dear'),
    short: [],
  },
  {
    promise: 'balances that take more gas than a trial gives them are none',
    token: () => put('TooDear'),
    short: ['transfer: reject'],
    reasons: /balanceOf\(\) does not answer$/,
  },
];

const each = Object.entries(zoo).map(
  ([name, [short, reasons]]): Row => ({
    promise: `${name}: ${short || 'all passes'}`,
    token: () => put(name),
    short: short === '' ? [] : short.split(', '),
    ...(reasons && { reasons }),
  }),
);

for (const { promise, token, short, reasons = /^/ } of [...each, ...rows]) {
  test(promise, async (t) => {
    const inspection = await look(await token());
    const bad = notPassed(inspection);
    t.diagnostic(`${bad.short.join(', ') || 'all pass'} | ${bad.reasons.replaceAll('\n', ' | ')}`);
    assert.deepEqual(bad.short, short, bad.reasons);
    assert.match(bad.reasons, reasons);
    const made = inspection.findings.map(({ check }) => check);
    assert.deepEqual(
      made,
      allChecks.filter((check) => made.includes(check)),
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
