// Several nodes of one chain: where they disagree, nobody funds or reveals a secret by them. Claims
// with a public secret and refunds go on: waiting can only lose money there. Nodes that do not
// answer are left out: they are there so that one may fail.

import { type Fact, ParleyError } from '../../core/errors.ts';
import type { WatchedEscrow } from '../adapter.ts';
import type { Http } from './http.ts';
import { blockAt, headBlock } from './node.ts';
import { recordAt } from './read.ts';
import { once, type Watch } from './watch.ts';

/** A node that takes longer to name its block is left out, so that one alone cannot pause all. */
const mostHeadMs = 4_000;

/** A source by itself: no other is asked when it fails. */
function sourceAt({ http }: Watch, at: number): Http {
  return { ...http, call: (path, body, signal) => http.ask(at, path, body, signal) };
}

type Answer<T> = { readonly one: Http; readonly answer: T };

async function askEach<T>(
  watch: Watch,
  sources: readonly Http[],
  ask: (one: Http) => Promise<T>,
): Promise<Answer<T>[]> {
  const { chain } = watch;
  const asking = sources.map(async (one, at): Promise<Answer<T>[]> => {
    try {
      return [{ one, answer: await ask(one) }];
    } catch (error) {
      once(watch, `source_${at}_silent`, { chain, source: at, why: String(error) });
      return [];
    }
  });
  const answers = (await Promise.all(asking)).flat();
  // None answered: say why, as a plain call does.
  return answers.length > 0 ? answers : [{ one: watch.http, answer: await ask(watch.http) }];
}

/** Asks every source by itself. Throws as a plain call does when none answers. */
export function eachSource<T>(watch: Watch, ask: (one: Http) => Promise<T>): Promise<Answer<T>[]> {
  const sources = Array.from({ length: watch.http.sources }, (_, at) => sourceAt(watch, at));
  return askEach(watch, sources, ask);
}

function disagree(watch: Watch, sentence: string, facts: Record<string, Fact>): ParleyError {
  return new ParleyError(
    'sources_disagree',
    `the nodes of ${watch.chain} disagree, so nothing is funded or revealed: ${sentence}`,
    { chain: watch.chain, ...facts },
  );
}

/**
 * All must have the same block where the one that is least far has its newest solid one. Throws
 * `sources_disagree`. Returns the sources that answered.
 */
export async function mustAgreeOnHeads(watch: Watch, signal: AbortSignal): Promise<Http[]> {
  if (watch.http.sources < 2) return [];
  const soon = AbortSignal.any([signal, AbortSignal.timeout(mostHeadMs)]);
  const solids = await eachSource(watch, (one) =>
    headBlock(one, 'solid', one === watch.http ? signal : soon),
  );
  const height = Math.min(...solids.map(({ answer }) => answer.number));
  const sources = solids.map(({ one }) => one);
  const blocks = await askEach(watch, sources, (one) => blockAt(one, height, signal));
  const ids = new Set(blocks.flatMap(({ answer }) => (answer === null ? [] : [answer.id])));
  if (ids.size > 1) throw disagree(watch, `their blocks ${height} differ`, { height });
  return sources;
}

/** All must be on one chain and show the same solid record. Throws `sources_disagree`. */
export async function mustAgree(
  watch: Watch,
  escrow: WatchedEscrow,
  signal: AbortSignal,
): Promise<void> {
  const sources = await mustAgreeOnHeads(watch, signal);
  if (sources.length < 2) return;
  const shown = await askEach(watch, sources, async (one) => {
    const record = await recordAt({ ...watch, http: one }, escrow, 'solid', signal);
    const { status, fundedBlock, covered } = record;
    if (status === 'never') return 'no funding';
    return `${status} in block ${fundedBlock}${covered ? '' : ', without its tokens'}`;
  });
  const different = [...new Set(shown.map(({ answer }) => answer))];
  if (different.length < 2) return;
  const { address } = escrow;
  throw disagree(watch, `for ${address} one shows ${different.join(', another ')}`, {
    escrow: address,
  });
}
