// Checks `pausable`, `blacklist`, `mintable` and `upgradeable`: powers by the names of functions in
// the code that runs in the token's name. Each is moot where nobody is left who could use it.

import { scanCode } from '../../evm/checks/opcodes.ts';
import { namesIn, powerSignals, upgradeSignals } from '../../evm/checks/signals.ts';
import { type Finding, found, type PowerRules, passed, powers } from '../../inspection.ts';
import { addressIn, proxySlots, selectorOf } from '../../token-code.ts';
import type { Fork } from '../fork/fork.ts';
import { bareAddress } from '../plan.ts';
import { dataOf, type Look, numberOf, shown, view } from './ask.ts';
import { type Control, controlOf, hiddenKeeper, isNobodys } from './control.ts';
import { stoppedNow } from './switches.ts';

type Plain = keyof typeof powerSignals;

const can: Readonly<Record<Plain, string>> = {
  pausable: 'can stop all transfers',
  blacklist: 'can stop the transfers of single holders',
  mintable: 'can make more of it',
};
/** Names that are quoted. */
const mostNames = 3;
const transfer = selectorOf('transfer(address,uint256)');
/** By which TRON's USDT hands its calls on to a successor. */
const successor = 'deprecate()';

export type PowersSeen = {
  readonly findings: readonly Finding[];
  /** Somebody could have stopped transfers, and could let them go again. */
  readonly mayBeStopped: boolean;
};

type Subject = {
  readonly fork: Fork;
  readonly token: string;
  readonly seen: Seen;
  readonly control: Control;
  readonly rules: PowerRules;
};

export async function checkPowers(look: Look, rules: PowerRules): Promise<PowersSeen> {
  const { token } = look;
  const fork = await look.forks.fork();
  const seen = await codeOf(look, fork);
  const control = await controlOf(look, fork, seen.selectors);
  const subject: Subject = { fork, token, seen, control, rules };
  const findings: Finding[] = [];
  for (const power of ['pausable', 'blacklist', 'mintable'] as const) {
    findings.push(await plainPower(power, subject));
  }
  findings.push(await upgradeable(subject));
  const pauses = namesIn(powerSignals.pausable, seen.selectors).length > 0;
  const mayBeStopped = pauses && (await user('pausable', subject)) !== null;
  return { findings, mayBeStopped };
}

/** Where the powers could not be looked at. */
export function unknownPowers(reason: string): PowersSeen {
  const findings = powers.map((check) => found(check, 'wait', reason));
  return { findings, mayBeStopped: false };
}

async function plainPower(power: Plain, subject: Subject): Promise<Finding> {
  const { fork, token, seen, rules } = subject;
  const now = power === 'pausable' ? await stoppedNow(fork, token) : null;
  const names = namesIn(powerSignals[power], seen.selectors);
  const who = names.length === 0 ? null : await user(power, subject);
  const outcome = rules[power];
  if (who !== null && outcome !== 'pass') {
    const sentence = `${who} ${can[power]}: its code has ${names.slice(0, mostNames).join(', ')}`;
    return found(power, outcome, now === null ? sentence : `${sentence}; ${now} now`);
  }
  return now === null
    ? passed(power)
    : found(power, 'wait', `its transfers are stopped: ${now} now`);
}

/** Who could use it, for the beginning of a sentence; null: nobody. */
async function user(power: Plain, { fork, token, seen, control }: Subject): Promise<string | null> {
  if (power === 'mintable' && (await anybodyMints(fork, token))) return 'anybody';
  if (!control.gone) return control.who;
  const used = [...powerSignals[power].keys()].filter((each) => seen.selectors.has(each));
  const keeper = await hiddenKeeper(fork, token, used);
  return keeper === null ? null : `${keeper}, whom its owner() does not name,`;
}

async function anybodyMints(fork: Fork, token: string): Promise<boolean> {
  const anybody = fork.stranger();
  const held = dataOf('balanceOf(address)', anybody);
  for (const data of [
    dataOf('mint(address,uint256)', anybody, 1_000n),
    dataOf('mint(uint256)', 1_000n),
  ]) {
    await fork.state.checkpoint();
    await fork.call({ from: shown(anybody), to: token, data });
    const minted = numberOf(await view(fork, token, held));
    await fork.state.revert();
    if (minted === 1_000n) return true;
  }
  return false;
}

async function upgradeable({ fork, seen, control, rules }: Subject): Promise<Finding> {
  const check = 'upgradeable';
  const how = await replacement(fork, seen, control);
  const outcome = rules[check];
  return how === null || outcome === 'pass'
    ? passed(check)
    : found(check, outcome, `its code ${how}`);
}

/** Addresses are 20 bytes in hex. */
type Seen = {
  /** Of all code that runs in the token's name. */
  readonly selectors: ReadonlySet<string>;
  readonly delegates: boolean;
  /** What the slots of proxies hold. */
  readonly slots: readonly { readonly kind: string; readonly holds: string; readonly at: string }[];
  /** Code elsewhere that runs in its name although nothing fixes that it does. */
  readonly loose: readonly string[];
};

async function codeOf({ token, forks: { source } }: Look, fork: Fork): Promise<Seen> {
  const here = bareAddress(token).slice(2);
  const slots: { kind: string; holds: string; at: string }[] = [];
  for (const { kind, slot, holds } of proxySlots) {
    const at = addressIn(await source.storage(here, slot));
    if (at !== null) slots.push({ kind, holds, at });
  }
  const named = slots.filter(({ holds }) => holds === 'implementation').map(({ at }) => at);
  const scanAt = async (address: string) => scanCode(`0x${(await source.code(address)) ?? ''}`);
  const own = await scanAt(here);
  if (own.delegates) {
    // What a transfer runs is what counts: a proxy of any make shows what it stands for.
    await view(fork, token, dataOf('balanceOf(address)', fork.stranger()));
    await view(fork, token, dataOf('transfer(address,uint256)', fork.stranger(), 0n));
  }
  const elsewhere = new Set([...named, ...fork.delegated]);
  elsewhere.delete(here);
  const all = [own];
  for (const address of elsewhere) all.push(await scanAt(address));
  // A constant of some code that runs cannot be pointed elsewhere; a clone's target is one.
  const fixed = new Set(all.flatMap(({ addresses }) => addresses));
  const loose = [...fork.delegated].filter(
    (each) => each !== here && !named.includes(each) && !fixed.has(`0x${each}`),
  );
  const selectors = new Set(all.flatMap(({ selectors: some }) => [...some]));
  return { selectors, delegates: own.delegates, slots, loose };
}

/** How the code can be replaced, after "its code "; null: not as far as is seen. */
async function replacement(
  fork: Fork,
  { selectors, delegates, slots, loose }: Seen,
  control: Control,
) {
  const [beacon, admin, implementation] = (['beacon', 'admin', 'implementation'] as const).map(
    (what) => slots.find(({ holds }) => holds === what),
  );
  const by = namesIn(upgradeSignals, selectors);
  if (by.includes(successor) && !control.gone) {
    return `can be replaced by ${successor}: ${control.who} may`;
  }
  if (beacon !== undefined && !(await isNobodys(fork, beacon.at))) {
    return `is behind a proxy (${beacon.kind}): what the beacon ${shown(beacon.at)} names runs`;
  }
  if (admin !== undefined && !(await isNobodys(fork, admin.at))) {
    return `is behind a proxy (${admin.kind}): ${shown(admin.at)} may put other code there`;
  }
  if (beacon === undefined && admin === undefined && implementation !== undefined) {
    // Who may is not looked into: a proxy that nobody can change is made otherwise.
    const how = by.length > 0 ? `, by ${by.slice(0, mostNames).join(', ')}` : '';
    return `is behind a proxy (${implementation.kind}) whose code can be replaced${how}`;
  }
  const [first] = beacon === undefined ? loose : [];
  if (first !== undefined) return `runs other code that it looks up, now that of ${shown(first)}`;
  const isWhole = selectors.has(transfer) || slots.length > 0;
  return delegates && !isWhole ? 'is kept elsewhere, and where could not be found' : null;
}
