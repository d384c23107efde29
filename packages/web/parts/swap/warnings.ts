// The warnings to a person before it costs, the worst first. Pure.

import type { Doubt, DoubtCode } from '@parley/sdk/evidence/judge.ts';
import type { Health, Problem, RescueFileState, SwapView, VaultState } from '../../engine/types.ts';
import { mostClockOffSeconds } from '../../market/config.ts';
import { formatAmount } from '../../texts/people.ts';
import { factsOf, fundByOf, gasUrgency, type Seen, sidesOf, situationOf } from './situation.ts';

const warningKinds = [
  'terms',
  'wrong_network',
  'other_tab',
  'store',
  'private',
  'clock',
  'near',
  'gas',
  'phrase',
  'chain_stands',
  'nodes_disagree',
  'answer_refused',
  'node_ahead',
  'node_behind',
  'node_silent',
  'node',
  'market_lied',
  'market',
  'settle',
  'rescue',
  'unpromised',
] as const;

export type WarningKind = (typeof warningKinds)[number];

export type Warning = {
  readonly kind: WarningKind;
  readonly weight: 'bad' | 'warn' | 'info';
  /** The SDK's sentence, in English with the numbers in it; null: the text says all. */
  readonly sentence: string | null;
};

export type About = Seen & {
  readonly isOtherTab: boolean;
  readonly health: Health;
  readonly vault: VaultState['kind'];
  readonly rescue: RescueFileState;
};

/** A payment of a slow wallet or exchange takes as long. */
const nearSeconds = 15 * 60;

const weights: Readonly<Record<WarningKind, Warning['weight']>> = {
  terms: 'bad',
  wrong_network: 'bad',
  store: 'bad',
  private: 'bad',
  other_tab: 'warn',
  clock: 'warn',
  near: 'warn',
  gas: 'warn',
  phrase: 'warn',
  node: 'warn',
  chain_stands: 'warn',
  nodes_disagree: 'warn',
  answer_refused: 'warn',
  node_ahead: 'warn',
  node_behind: 'info',
  node_silent: 'info',
  market_lied: 'warn',
  market: 'info',
  settle: 'warn',
  rescue: 'info',
  unpromised: 'info',
};

/** The one that is displayed large comes first. */
const danger: readonly Warning['weight'][] = ['bad', 'warn', 'info'];

const decimalsOf: Readonly<Record<string, number>> = { wei: 18, sun: 6, lamports: 9, sats: 8 };

/**
 * A sentence of the SDK with base units of a chain's own coin, in whole coins of that symbol.
 * Sats are bitcoin whatever the symbol.
 */
export function inCoins(sentence: string, symbol: string): string {
  const coins = (_: string, amount: string, unit: string) => {
    const whole = formatAmount(BigInt(amount), decimalsOf[unit] ?? 0);
    return `${whole}\u00a0${unit === 'sats' ? 'BTC' : symbol}`;
  };
  return sentence.replace(/\b(\d+) (wei|sun|lamports|sats)\b/g, coins);
}

/** A swap that has ended has no warnings: its coins are no longer at risk. */
export function warningsOf(about: About): Warning[] {
  const { swap, health, vault, rescue } = about;
  if (swap.phase === 'ended') return [];
  const found = new Map<WarningKind, string | null>();
  for (const problem of swap.problems) found.set(kindOf(problem), problem.sentence);
  for (const [code, sentence] of doubtsOf(about)) found.set(code, sentence);
  if (about.isOtherTab) found.set('other_tab', null);
  const stored = storeWarning(health);
  // A person who has saved the newest file, or is asked to, need not be asked once more.
  const isCovered = stored === 'unpromised' && rescue.swaps > 0;
  if (stored !== null && !isCovered) found.set(stored, health.storeSentence);
  const { clockOffSeconds } = health;
  if (clockOffSeconds !== null && Math.abs(clockOffSeconds) > mostClockOffSeconds) {
    found.set('clock', found.get('clock') ?? null);
  }
  if (isNear(about)) found.set('near', null);
  if (vault !== 'checked') found.set('phrase', null);
  if (rescue.swaps > 0 && !rescue.isSaved) found.set('rescue', null);
  // The page that decides about it says so in full.
  if (situationOf(about) === 'decide_extra') found.delete('settle');
  const all = warningKinds.flatMap((kind): Warning[] => {
    const sentence = found.get(kind);
    const isLost = kind === 'gas' && gasUrgency(swap) === 'collect';
    const weight = isLost ? 'bad' : weights[kind];
    return sentence === undefined ? [] : [{ kind, weight, sentence }];
  });
  return all.toSorted((one, other) => danger.indexOf(one.weight) - danger.indexOf(other.weight));
}

/** The step that waits while no answer of the nodes is sure. */
type Held = 'lock' | 'reveal' | 'end';

export function heldBy({ state, role }: SwapView): Held {
  switch (state) {
    case 'preparing':
    case 'waiting_to_fund':
    case 'funding':
      return 'lock';
    case 'funded':
    case 'revealing':
      return role === 'initiator' ? 'reveal' : 'end';
    default:
      return 'end';
  }
}

function kindOf({ kind, code }: Problem): WarningKind {
  // Nodes that differ have answered.
  if (code === 'sources_disagree') return 'nodes_disagree';
  return code === 'wrong_network' ? 'wrong_network' : kind;
}

/** The faults of the nodes of both chains, by their code. */
function doubtsOf({ swap: { legs } }: Seen): Map<DoubtCode, string> {
  const doubts = [legs.a, legs.b].flatMap((leg) => leg.doubts ?? []);
  const all = Map.groupBy(doubts, ({ code }) => code);
  const said = (of: readonly Doubt[]) => of.map(({ sentence }) => sentence).join('; ');
  return new Map([...all].map(([code, of]) => [code, said(of)]));
}

function storeWarning({ store }: Health): WarningKind | null {
  switch (store) {
    case 'opening':
    case 'persisted':
      return null;
    case 'unpromised':
      return 'unpromised';
    case 'ephemeral':
      return 'private';
    default:
      return 'store';
  }
}

/** The own payment is due, and its time nearly over. */
function isNear(seen: Seen): boolean {
  const { own } = sidesOf(seen.swap);
  const left = fundByOf(seen.swap) - seen.now;
  const situation = situationOf(seen);
  const isDue = situation === 'pay' || situation === 'pay_again' || situation === 'fund';
  return isDue && factsOf(own).funded === null && left >= 0 && left < nearSeconds;
}
