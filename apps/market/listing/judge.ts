// One look at a token from all sides: the facts that its chain shows, the names it could be taken
// for, and the reports of markets. On chain first: a token that can never be listed costs no call
// elsewhere. Knows nothing of candidates and listings; decide.ts makes something of it.

import { ParleyError } from '@parley/core/errors.ts';
import { looksLike } from '@parley/core/look-alikes.ts';
import {
  type Finding,
  found,
  type Inspection,
  type Outcome,
  passed,
} from '@parley/tokens/inspection.ts';
import { curatedSymbols } from '../db/assets.ts';
import type { Deps } from '../ports/deps.ts';
import { type Markets, noMarkets, type Purpose, type Token } from '../ports/markets.ts';
import { mostSymbolLength } from './bounds.ts';

export type Known = {
  readonly id: string;
  readonly symbol: string;
  readonly decimals: number;
};

/** The worst of all findings. A token that passes was read whole. */
type Verdict =
  | { readonly outcome: 'pass'; readonly symbol: string; readonly decimals: number }
  | { readonly outcome: Exclude<Outcome, 'pass'> };

export type Judgement = Verdict & {
  /** The asset that was looked at, by the rules for it; null: a token that was none yet. */
  readonly assetId: string | null;
  /** When the look began: the later of two knows better. */
  readonly beganAt: Date;
  /** `<check>: <sentence>`, what is for ever first. */
  readonly reasons: readonly string[];
  /** Checks that are off, because nothing is configured to answer them. */
  readonly notChecked: readonly string[];
};

/** Throws `bad_chain`, `not_a_token` of what is not listed, and what adapters throw. */
export async function judge(
  deps: Deps,
  { chain, address }: Token,
  known: Known | null,
  signal: AbortSignal,
): Promise<Judgement> {
  const adapter = deps.adapters.get(chain);
  if (adapter?.inspect === undefined) throw withoutTokens(chain, adapter !== undefined);
  const look = { assetId: known?.id ?? null, beganAt: new Date(deps.now()) };
  let inspection: Inspection;
  try {
    inspection = await adapter.inspect(address, deps.settings.listingRules.powers, signal);
  } catch (error) {
    const isGone = error instanceof ParleyError && error.code === 'not_a_token';
    if (known === null || !isGone) throw error;
    return { ...look, outcome: 'wait', reasons: [`contract: ${error.message}`], notChecked: [] };
  }
  const curated = await curatedSymbols(deps.db, known?.id ?? null);
  const { symbol, decimals } = inspection;
  const told = [nameFinding(symbol, known, curated), decimalsFinding(decimals, known)];
  const findings = [...inspection.findings, ...told];
  const purpose: Purpose = known === null ? 'list' : 'keep';
  const markets = await marketsOf(deps, { chain, address }, purpose, findings, signal);
  const { outcome, reasons } = worstOf([...findings, ...markets.findings]);
  const judged = { ...look, reasons, notChecked: markets.notChecked };
  if (outcome !== 'pass') return { ...judged, outcome };
  if (symbol === null || decimals === null) throw new Error('an unread fact has passed');
  return { ...judged, outcome, symbol, decimals };
}

/**
 * A token that its chain forbids for ever needs no market; one that its chain lets wait does not
 * either.
 */
async function marketsOf(
  deps: Deps,
  token: Token,
  purpose: Purpose,
  findings: readonly Finding[],
  signal: AbortSignal,
): Promise<Awaited<ReturnType<Markets['look']>>> {
  const none = { findings: [], notChecked: [] };
  if (findings.some(({ outcome }) => outcome === 'reject')) return none;
  try {
    return await (deps.markets ?? noMarkets).look(token, purpose, signal);
  } catch (error) {
    const isAway = error instanceof ParleyError && error.code === 'market_data_unavailable';
    if (isAway && findings.some(({ outcome }) => outcome === 'wait')) return none;
    throw error;
  }
}

export function withoutTokens(chain: string, isServed: boolean): ParleyError {
  const sentence = isServed
    ? `"${chain}" has no tokens to list, only its native coin`
    : `no chain "${chain}" is served here`;
  return new ParleyError('bad_chain', sentence, { chain });
}

function worstOf(findings: readonly Finding[]): {
  readonly outcome: Outcome;
  readonly reasons: readonly string[];
} {
  const of = (wanted: Outcome) =>
    findings
      .filter(({ outcome }) => outcome === wanted)
      .map(({ check, reason }) => `${check}: ${reason}`);
  const rejects = of('reject');
  const waits = of('wait');
  const outcome = rejects.length > 0 ? 'reject' : waits.length > 0 ? 'wait' : 'pass';
  return { outcome, reasons: [...rejects, ...waits] };
}

/** A page that shows a symbol without care would take it for its own. */
const markup = /[<>&"'`\\]/;
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u;

/** A listed token is never delisted for its name, which can be changed back. */
function nameFinding(
  symbol: string | null,
  known: Known | null,
  curated: readonly string[],
): Finding {
  const outcome = known === null ? 'reject' : 'wait';
  if (symbol === null) return found('symbol', 'wait', 'it could not be read');
  if (symbol === '') return found('symbol', 'wait', 'it has none');
  if (known !== null && symbol !== known.symbol) {
    const now = unseen.test(symbol) ? 'another' : `"${symbol}"`;
    return found('symbol', 'wait', `it was "${known.symbol}" when it was listed and is ${now} now`);
  }
  if ([...symbol].length > mostSymbolLength) {
    const length = [...symbol].length;
    return found(
      'symbol',
      outcome,
      `it has ${length} characters; at most ${mostSymbolLength} are listed`,
    );
  }
  if (unseen.test(symbol)) {
    return found('symbol', outcome, 'it holds characters that are not drawn');
  }
  if (markup.test(symbol)) return found('symbol', outcome, 'it holds signs of markup');
  const like = looksLike(symbol, curated);
  if (like === null) return passed('symbol');
  return found('symbol', outcome, `"${symbol}" would be taken for the curated asset ${like}`);
}

/** Amounts that were agreed on mean something else with other decimals. */
function decimalsFinding(decimals: number | null, known: Known | null): Finding {
  if (decimals === null) return found('decimals', 'wait', 'they could not be read');
  if (known === null || decimals === known.decimals) return passed('decimals');
  const was = `it had ${known.decimals} when it was listed and has ${decimals} now`;
  return found('decimals', 'reject', was);
}
