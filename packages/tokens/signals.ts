// Functions that give somebody a power over a token, by their usual names on EVM-like chains, and
// the ones among them that some code has. Pure.

import type { Power } from './inspection.ts';
import { selectorOf } from './words.ts';

/** Selector without `0x` -> the function's name. */
export type Signals = ReadonlyMap<string, string>;

function signals(text: string): Signals {
  const signatures = text.trim().split(/\s+/);
  return new Map(signatures.map((each) => [selectorOf(each), `${each.split('(')[0] ?? each}()`]));
}

export const plainPowers = ['pausable', 'blacklist', 'mintable'] as const satisfies Power[];
export type Plain = (typeof plainPowers)[number];

export const powerSignals: Readonly<Record<Plain, Signals>> = {
  pausable: signals(`
    paused() pause() unpause() pause(bool) setPaused(bool) setPause(bool) pauseTransfers()
    unpauseTransfers() pauseTransfer() unpauseTransfer() pauseContract() unpauseContract()
    pauseTrading() unpauseTrading() setTradingPaused(bool) stopped() stop() emergencyPause()
    emergencyStop() setTransferEnabled(bool) setTransfersEnabled(bool) enableTransfers(bool)
    enableTransfer(bool) disableTransfers() disableTransfers(bool) disableTrading()
    setTradingEnabled(bool) setTrading(bool) setTradingStatus(bool) setTradingOpen(bool)
    tradingStatus(bool) toggleTrading() togglePause() haltTrading() halt() lockTransfers()
    unlockTransfers() setLocked(bool) setTransferable(bool) globalFreeze() freezeAll()
    freezeToken() setFrozen(bool) freezeTransfers()
  `),
  blacklist: signals(`
    blacklist(address) blackList(address) unBlacklist(address) unblacklist(address)
    isBlacklisted(address) isBlackListed(address) _isBlacklisted(address) blacklisted(address)
    _blacklist(address) _isBlackListedBot(address) getBlackListStatus(address)
    addBlackList(address) removeBlackList(address) addToBlacklist(address)
    removeFromBlacklist(address) addToBlackList(address) removeFromBlackList(address)
    addBlacklist(address) removeBlacklist(address) setBlacklist(address,bool)
    setBlacklisted(address,bool) setBlackList(address,bool) setIsBlacklisted(address,bool)
    blacklist(address,bool) blacklistAddress(address,bool) blacklistAccount(address,bool)
    setBlacklist(address[],bool) blacklistMultiple(address[]) multiBlacklist(address[],bool)
    blacklistUpdate(address,bool) updateBlacklist(address,bool) manage_blacklist(address[],bool)
    isBlocked(address) blocked(address) block(address) unblock(address) blockAccount(address)
    unblockAccount(address) blockUser(address) unblockUser(address) addToBlockedList(address)
    removeFromBlockedList(address) blockAddress(address) setBlocked(address,bool)
    addBlockedAddress(address) blockList(address) addToBlocklist(address) blocklist(address)
    isFrozen(address) frozen(address) frozenAccount(address) freezeAccount(address,bool)
    freezeAccount(address) unfreezeAccount(address) freeze(address) unfreeze(address)
    freezeAddress(address) unfreezeAddress(address) freeze(address,uint256) frozenOf(address)
    denyList(address) isDenied(address) addToDenyList(address) denylist(address) deny(address)
    isDenylisted(address) setDenied(address,bool) isBanned(address) ban(address) unban(address)
    isSanctioned(address) isRestricted(address) setRestricted(address,bool) isBot(address)
    bots(address) addBot(address) delBot(address) addBots(address[]) delBots(address[])
    setBots(address[]) setBot(address,bool) blockBots(address[]) setBots(address[],bool)
    setAntiBot(address,bool) destroyBlackFunds(address) wipeFrozenAddress(address)
    wipeBlacklistedAddress(address) forceTransfer(address,address,uint256)
    forcedTransfer(address,address,uint256) seize(address) confiscate(address)
    burnBlackFunds(address) clawback(address,uint256) lockAccount(address)
    blacklistAddress(address)
  `),
  mintable: signals(`
    mint(address,uint256) mint(uint256) mint(address) mint() mint(uint256,address) issue(uint256)
    issue(address,uint256) mintTo(address,uint256) mintFor(address,uint256)
    mintToken(address,uint256) mintTokens(address,uint256) mintTokens(uint256)
    mint(address,uint256,bytes) mint(address,uint256,string) _mint(address,uint256)
    mintBatch(address[],uint256[]) batchMint(address[],uint256[]) bridgeMint(address,uint256)
    crosschainMint(address,uint256) operatorMint(address,uint256,bytes,bytes)
    generateTokens(address,uint256) increaseSupply(uint256) addSupply(uint256)
    createTokens(address,uint256) emitTokens(address,uint256) addMinter(address)
    setMinter(address) setMinter(address,bool) configureMinter(address,uint256) minter()
    isMinter(address) masterMinter() minters(address) MINTER_ROLE() finishMinting()
    mintingFinished() setMintingEnabled(bool) inflate(uint256)
    mintFreshToken(address,uint256) issueTokens(address,uint256) adminMint(address,uint256)
    ownerMint(address,uint256) ownerMint(uint256) devMint(uint256)
  `),
};

/** Somebody besides `owner()` may have a right, or an owner may come back. */
export const accessSignals = signals(`
  hasRole(bytes32,address) grantRole(bytes32,address) getRoleAdmin(bytes32) DEFAULT_ADMIN_ROLE()
  authority() setAuthority(address) wards(address) rely(address) minter() addMinter(address)
  setMinter(address) setMinter(address,bool) isMinter(address) minters(address) masterMinter()
  pauser() isPauser(address) addPauser(address) blacklister() governance() gov() governor() admin()
  getAdmin() isAdmin(address) operator() isOperator(address) operators(address) controller()
  controllers(address) manager() owners(address) isOwner(address) getOwners() authorize(address)
  isAuthorized(address) authorized(address) dev() deployer() superOwner() realOwner()
  unlock() lock(uint256) geUnlockTime() getUnlockTime() reclaimOwnership() claimOwnership()
  setOwner(address) takeOwnership() originalOwner() creator() getCreator() initializeOwner(address)
  configureMinter(address,uint256) updatePauser(address) updateBlacklister(address)
  updateMasterMinter(address) transferOperator(address)
`);

/** Balances that are a share of something, and so change by themselves. */
export const rebaseSignals = signals(`
  rebase(uint256,int256) rebase(int256) rebase(uint256) rebase() sharesOf(address)
  getSharesByPooledEth(uint256) getPooledEthByShares(uint256) getTotalShares() totalShares()
  scaledBalanceOf(address) scaledTotalSupply() gonsForBalance(uint256) gonsPerFragment()
  rebasingCreditsPerToken() creditsBalanceOf(address) reflectionFromToken(uint256,bool)
  tokenFromReflection(uint256) scaledBalanceToBalance(uint256)
`);

/** Replaces the code that answers, or the contract that keeps the balances. */
export const upgradeSignals = signals(`
  upgradeTo(address) upgradeToAndCall(address,bytes)
  diamondCut((address,uint8,bytes4[])[],address,bytes)
  setImplementation(address) changeImplementation(address) upgradeImplementation(address)
  upgrade(address) setTarget(address) deprecate(address) changeProxyAdmin(address,address)
  upgradeTo(string,address) upgradeToAndCall(string,address,bytes) updateImplementation(address)
`);

/** By which a token such as USDT hands its calls on to a successor. */
export const successor = 'deprecate()';
export const successorSignals: Signals = new Map(
  [...upgradeSignals].filter(([, name]) => name === successor),
);

/** Names of these functions in some code, most telling first. */
export function namesIn(found: Signals, selectors: ReadonlySet<string>): string[] {
  const names = [...found].flatMap(([selector, name]) => (selectors.has(selector) ? [name] : []));
  return [...new Set(names)];
}
