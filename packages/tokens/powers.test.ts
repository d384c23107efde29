import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgePower } from './powers.ts';
import {
  accessSignals,
  namesIn,
  powerSignals,
  rebaseSignals,
  type Signals,
  successor,
  upgradeSignals,
} from './signals.ts';
import { selectorOf } from './words.ts';

/** As compilers and explorers have them. */
const bySelector: readonly (readonly [Signals, string, string])[] = [
  [powerSignals.pausable, '8456cb59', 'pause()'],
  [powerSignals.pausable, '5c975abb', 'paused()'],
  [powerSignals.blacklist, '0ecb93c0', 'addBlackList()'],
  [powerSignals.blacklist, 'f9f92be4', 'blacklist()'],
  [powerSignals.mintable, '40c10f19', 'mint()'],
  [powerSignals.mintable, 'cc872b66', 'issue()'],
  [accessSignals, '2f2ff15d', 'grantRole()'],
  [upgradeSignals, '3659cfe6', 'upgradeTo()'],
  [upgradeSignals, '4f1ef286', 'upgradeToAndCall()'],
  [upgradeSignals, '1f931c1c', 'diamondCut()'],
  [upgradeSignals, '0753c30c', successor],
  [rebaseSignals, 'f5eb42dc', 'sharesOf()'],
];

test('functions are known by the selectors that code has', () => {
  for (const [table, selector, name] of bySelector) assert.equal(table.get(selector), name);
});

test('a power to let transfers begin is none to stop them', () => {
  for (const each of ['enableTrading()', 'openTrading()']) {
    assert.equal(powerSignals.pausable.has(selectorOf(each)), false, each);
  }
});

test('two functions of one name are quoted once', () => {
  const both = new Set(
    ['mint(uint256)', 'mint(address,uint256)', 'issue(uint256)'].map(selectorOf),
  );
  assert.deepEqual(namesIn(powerSignals.mintable, both), ['mint()', 'issue()']);
});

const names = ['pause()', 'paused()', 'stop()', 'halt()'];
const use = { names, who: 'somebody', now: null };

test('a power that somebody can use is found as the rule says, by three names at the most', () => {
  const sentence = 'somebody can stop all transfers: its code has pause(), paused(), stop()';
  for (const outcome of ['wait', 'reject'] as const) {
    const finding = { check: 'pausable', outcome, reason: sentence };
    assert.deepEqual(judgePower('pausable', use, outcome), finding);
  }
  for (const none of [
    { ...use, who: null },
    { ...use, names: [] },
  ]) {
    assert.equal(judgePower('pausable', none, 'reject').outcome, 'pass');
  }
  assert.equal(judgePower('pausable', use, 'pass').outcome, 'pass');
});

test('a token that is stopped now waits whatever the rule and whoever did it', () => {
  const stopped = { ...use, now: 'paused() answers true' };
  assert.match(
    judgePower('pausable', stopped, 'reject').reason ?? '',
    /; paused\(\) answers true now$/,
  );
  for (const finding of [
    judgePower('pausable', stopped, 'pass'),
    judgePower('pausable', { ...stopped, who: null }, 'reject'),
  ]) {
    const reason = 'its transfers are stopped: paused() answers true now';
    assert.deepEqual(finding, { check: 'pausable', outcome: 'wait', reason });
  }
});
