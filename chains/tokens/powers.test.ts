import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  accessSignals,
  judgePower,
  namesIn,
  powerSignals,
  rebaseSignals,
  type Signals,
  successor,
  switchSignals,
  upgradeSignals,
} from './powers.ts';
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
  [switchSignals, '8456cb59', 'pause()'],
];

test('functions are told by the selectors that code has', () => {
  for (const [table, selector, name] of bySelector) assert.equal(table.get(selector), name);
});

/** Functions that some token in use has: no table forgets one. */
const inUse: readonly (readonly [Signals, string])[] = [
  [
    powerSignals.pausable,
    `pause() unpause() pause(bool) setPaused(bool) setPause(bool) pauseTransfers() stop()
    freezeTransfers() setTradingEnabled(bool) setTradingStatus(bool) setTransfersEnabled(bool)
    enableTransfers(bool) disableTransfers(bool) paused() stopped() togglePause() globalFreeze()`,
  ],
  [switchSignals, 'enableTrading() openTrading() pause() setTradingEnabled(bool)'],
  [
    powerSignals.blacklist,
    `addBlackList(address) removeBlackList(address) destroyBlackFunds(address)
    addBlacklist(address) removeBlacklist(address) addToBlacklist(address)
    addToBlackList(address) removeFromBlacklist(address) blacklist(address)
    blacklist(address,bool) unBlacklist(address) blacklistAddress(address,bool)
    blackList(address) setBlacklist(address,bool) setBlackList(address,bool)
    setBlacklisted(address,bool) blockAccount(address) blockUser(address) addBot(address)
    addBots(address[]) setBots(address[]) blockBots(address[]) setBot(address,bool)
    denylist(address) ban(address) freeze(address) freezeAccount(address)
    freezeAccount(address,bool) freezeAddress(address) lockAccount(address)
    wipeFrozenAddress(address) blacklistAddress(address)`,
  ],
  [
    powerSignals.mintable,
    `mint(address,uint256) mint(uint256) mint(address) mint(address,uint256,bytes)
    mintTo(address,uint256) mintTokens(address,uint256) mintToken(address,uint256)
    issue(uint256) issue(address,uint256) issueTokens(address,uint256) increaseSupply(uint256)
    configureMinter(address,uint256) addMinter(address) setMinter(address)`,
  ],
  [
    upgradeSignals,
    `upgradeTo(address) upgradeToAndCall(address,bytes) upgradeTo(string,address)
    upgradeToAndCall(string,address,bytes) setImplementation(address)
    updateImplementation(address) setTarget(address) deprecate(address)
    diamondCut((address,uint8,bytes4[])[],address,bytes)`,
  ],
  [
    accessSignals,
    `hasRole(bytes32,address) grantRole(bytes32,address) setAuthority(address) authority()
    rely(address) wards(address) addMinter(address) isMinter(address)
    configureMinter(address,uint256) setMinter(address) addPauser(address) isPauser(address)
    updatePauser(address) updateBlacklister(address) updateMasterMinter(address)
    transferOperator(address) operator() admin() governance() governor()`,
  ],
];

test('a table has the functions of tokens in use', () => {
  for (const [table, signatures] of inUse) {
    for (const each of signatures.split(/\s+/)) {
      assert.equal(table.get(selectorOf(each)), `${each.split('(')[0]}()`, each);
    }
  }
});

test('what lets transfers begin is no power to stop them', () => {
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

test('what is stopped now waits whatever the rule and whoever did it', () => {
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
