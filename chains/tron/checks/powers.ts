// Checks of powers, by the names of functions in the code that runs.

import { scanCode } from '../../tokens/code.ts';
import { type Finding, found, type PowerRules, passed, powers } from '../../tokens/inspection.ts';
import type { Owner } from '../../tokens/owner.ts';
import {
  judgePower,
  namesIn,
  type Plain,
  plainPowers,
  powerSignals,
  type Signals,
  stoppedNow,
  successionFlag,
  successor,
  successorSignals,
  switchSignals,
  userOf,
} from '../../tokens/powers.ts';
import { dataOf } from '../../tokens/words.ts';
import type { Fork } from '../fork/fork.ts';
import { bareAddress } from '../plan.ts';
import { flagOf, type Look, numberOf, shown, view } from './ask.ts';
import { controlOf, hiddenKeeper, type Program, programOf } from './program.ts';

export type PowersSeen = {
  readonly findings: readonly Finding[];
  readonly selectors: ReadonlySet<string>;
  /** Somebody could have stopped transfers, or has not yet begun them, and could let them go. */
  readonly mayBeStopped: boolean;
};

type Subject = {
  readonly fork: Fork;
  readonly token: string;
  readonly program: Program;
  readonly owner: Owner;
  readonly rules: PowerRules;
};

export async function checkPowers(look: Look, rules: PowerRules): Promise<PowersSeen> {
  const { token } = look;
  const fork = await look.forks.fork();
  const program = await programOf(look, fork);
  const { selectors, change } = program;
  const owner = await controlOf(look, fork, { selectors, changes: change !== null });
  const subject: Subject = { fork, token, program, owner, rules };
  const findings: Finding[] = [];
  for (const power of plainPowers) findings.push(await plainPower(power, subject));
  findings.push(await upgradeable(subject));
  const switches = namesIn(switchSignals, selectors).length > 0;
  const mayBeStopped = switches && (await user(switchSignals, subject)) !== null;
  return { findings, selectors, mayBeStopped };
}

/** Where the powers could not be looked at. */
export async function unknownPowers(
  { token, forks: { source } }: Look,
  reason: string,
): Promise<PowersSeen> {
  const findings = powers.map((check) => found(check, 'wait', reason));
  const code = (await source.code(bareAddress(token).slice(2))) ?? '';
  return { findings, selectors: scanCode(`0x${code}`).selectors, mayBeStopped: false };
}

async function plainPower(power: Plain, subject: Subject): Promise<Finding> {
  const { fork, token, program, rules } = subject;
  const now = power === 'pausable' ? await stoppedNow(flagOf(fork, token)) : null;
  const names = namesIn(powerSignals[power], program.selectors);
  const anybody = power === 'mintable' && names.length > 0 && (await anybodyMints(fork, token));
  const others = names.length === 0 ? null : await user(powerSignals[power], subject);
  return judgePower(power, { names, who: anybody ? 'anybody' : others, now }, rules[power]);
}

const user = (signals: Signals, { fork, token, program, owner }: Subject) =>
  userOf(signals, program.selectors, owner, (used) => hiddenKeeper(fork, token, used));

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

async function upgradeable(subject: Subject): Promise<Finding> {
  const check = 'upgradeable';
  const { program, rules } = subject;
  const outcome = rules[check];
  const change = program.change ?? (await succession(subject));
  if (change === null || outcome === 'pass') return passed(check);
  return found(check, change.sure ? outcome : 'wait', `its code ${change.how}`);
}

async function succession(subject: Subject): Promise<Program['change']> {
  const { fork, token, program } = subject;
  if (namesIn(successorSignals, program.selectors).length === 0) return null;
  const who = await user(successorSignals, subject);
  if (who !== null) return { sure: true, how: `can be replaced by ${successor}: ${who} may` };
  // What the successor may do, and who rules it, is not looked into.
  if (numberOf(await view(fork, token, dataOf(successionFlag))) !== 1n) return null;
  return { sure: false, how: `hands its calls on to a successor: ${successionFlag} answers true` };
}
