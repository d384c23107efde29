import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Address, type Hex, keccak256, pad, stringToHex } from 'viem';
import { startAnvil, type TestChain } from './testing/anvil.ts';
import { deployer, handsOn, notPassed, oneAddress, proxyArgs, slot1967 } from './testing/tokens.ts';

let chain: TestChain;
const { put, tell, renounced, behind, look } = handsOn(() => chain);
before(async () => {
  chain = await startAnvil();
});
after(() => chain.stop());

const nobody = '0x000000000000000000000000000000000000dEaD';
const nobodysWord = pad(nobody);
/** Of EIP-1967. */
const adminSlot: Hex = '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103';

async function withAdmin(token: Address, value: Hex): Promise<string> {
  await chain.client.setStorageAt({ address: token, index: adminSlot, value });
  return token;
}

type Row = {
  readonly promise: string;
  readonly token: () => Promise<string>;
  readonly short: readonly string[];
  readonly reasons?: RegExp;
};

const rows: readonly Row[] = [
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

for (const { promise, token, short, reasons = /^/ } of rows) {
  test(promise, async () => {
    const bad = notPassed(await look(await token()));
    assert.deepEqual(bad.short, short, bad.reasons);
    assert.match(bad.reasons, reasons);
  });
}
