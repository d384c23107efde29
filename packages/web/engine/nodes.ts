// Which nodes the page asks: the person's own where it has named some, else those that the market
// tells. Each is asked who it is before it is kept.

import type { AppChain } from '@parley/core/app-chain.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { ChainKey, Family, Network } from '@parley/core/families.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import type { ChainSource } from '@parley/sdk/chains.ts';
import { messageOf } from '@parley/sdk/errors.ts';
import { titleOf, worldFault, worldOf } from '@parley/trader/known.ts';
import { openSource } from '@parley/trader/sources.ts';
import { held, type Live } from '../live.ts';
import { asAgreed, type Kept } from './keeping.ts';
import { type ChainFacts, EngineError, type NodeCheck } from './types.ts';

export type OpenNodes = Awaited<ReturnType<typeof openNodes>>;

type NodesParts = {
  readonly chains: readonly AppChain[];
  /** Chains of open swaps: they stay as they are known. A dev network has none of them. */
  readonly atStake: ReadonlySet<ChainKey>;
  readonly network: Network;
  readonly kept: Kept;
  readonly now: () => UnixSeconds;
  /** By a market, whose content policy (apps/market/edge/web/routes.ts) lets it ask few by http. */
  readonly isServed: boolean;
  readonly onChange: (chain: ChainKey) => void;
};

/** A node that does not answer a trial in this time is not kept. */
const checkMs = 15_000;
/** Bitcoin is read by one node and a second one: a third would be kept and never asked. */
export const mostNodes: Readonly<Record<Family, number>> = {
  bitcoin: 2,
  evm: 5,
  tron: 5,
  solana: 5,
};
/** The address of a node. A longer one is not kept. */
const mostUrlLength = 300;
/** How far a last block may be behind: Bitcoin's median time lags an hour by itself. */
const behindSeconds: Readonly<Record<Family, number>> = {
  bitcoin: 3 * 3_600,
  evm: 900,
  tron: 900,
  solana: 900,
};
const chainsKey = 'chains';
const mostChains = 100;
const keyOf = (chain: ChainKey) => `nodes ${chain}`;

export async function openNodes(parts: NodesParts) {
  const { network, kept, now, isServed } = parts;
  // With the market gone chains are known as they were last.
  let chains: readonly AppChain[] = parts.chains;
  let guessed: readonly AppChain[] = [];
  const all = () => firstOfEach([...chains, ...guessed]);
  const learn = async (more: readonly AppChain[]) => {
    await kept.change(chainsKey, (text) => {
      const before = text === null ? [] : (JSON.parse(text) as AppChain[]);
      const told = asAgreed(parts.chains, before, parts.atStake);
      chains = firstOfEach([...told, ...before, ...more]);
      return JSON.stringify(chains.slice(0, mostChains));
    });
    await read();
    for (const { chain } of more) parts.onChange(chain);
  };
  const facts = held<readonly ChainFacts[]>([]);
  const opened = new Map<
    ChainKey,
    { readonly by: string; readonly source: Promise<ChainSource> }
  >();
  const known = (chain: ChainKey): AppChain => {
    const found = all().find((each) => each.chain === chain);
    const fault =
      found === undefined ? 'this market names no such chain' : worldFault(found, network);
    if (found !== undefined && fault === null) return found;
    throw new EngineError('unknown_chain', `"${chain}" is not traded on from here: ${fault}`);
  };
  const openedBy = (of: AppChain, urls: readonly string[]) =>
    openSource(of.chain, { ...of, nodes: urls }, { isDev: worldOf(of) === null, now });
  const ownOf = async (chain: ChainKey): Promise<readonly string[]> => {
    const text = await kept.get(keyOf(chain));
    return text === null ? [] : (JSON.parse(text) as string[]);
  };
  const read = async () => {
    const found = all().map(async (each): Promise<ChainFacts> => {
      const own = await ownOf(each.chain);
      const isOwn = own.length > 0;
      const { chain, family } = each;
      const nodes = isOwn ? own : each.nodes;
      const isKnown = worldFault(each, network) === null;
      return { chain, family, title: titleOf(each, network), isKnown, nodes, isOwn };
    });
    facts.set(await Promise.all(found));
  };
  const check = async (chain: ChainKey, url: string): Promise<NodeCheck> => {
    const fails = (sentence: string): NodeCheck => ({ ok: false, url, sentence });
    const wrong = urlFault(url, isServed);
    if (wrong !== null) return fails(wrong);
    let source: ChainSource | null = null;
    try {
      const of = known(chain);
      source = await openedBy(of, [url]);
      const { height, clock } = await source.adapter.heads(AbortSignal.timeout(checkMs));
      const late = Math.floor(now()) - clock;
      if (worldOf(of) === null || late <= behindSeconds[of.family]) {
        return { ok: true, url, height };
      }
      const minutes = Math.round(late / 60);
      return fails(`its last block, ${height}, is ${minutes} minutes old: it is not in step`);
    } catch (error) {
      return fails(whyNot(error));
    } finally {
      await source?.adapter.close();
    }
  };
  const closeOne = async (chain: ChainKey) => {
    const before = opened.get(chain);
    opened.delete(chain);
    await before?.source.then(
      ({ adapter }) => adapter.close(),
      () => {},
    );
  };
  await learn([]);
  return {
    chains: facts as Live<readonly ChainFacts[]>,
    of: (chain: ChainKey) => all().find((each) => each.chain === chain) ?? null,
    /**
     * Chains of the phrase's own rescue file, and kept: a chain that is known already stays as it is.
     */
    learn,
    /** Chains of a file that anybody may have made: for as long as no other one is opened. */
    guess: (more: readonly AppChain[]) => {
      guessed = more;
      return read();
    },
    /** Asks who it is, how high, and how late its last block is. */
    check,
    /** Another tab may have changed them. */
    read,
    /** Keeps own ones, each checked first; an empty list brings the market's back. Throws nothing. */
    keep: async (chain: ChainKey, urls: readonly string[]): Promise<readonly NodeCheck[]> => {
      const wanted = [...new Set(urls.map((each) => each.trim()).filter((each) => each !== ''))];
      const { family } = facts.now().find((each) => each.chain === chain) ?? {};
      const most = family === undefined ? 1 : mostNodes[family];
      const checks = await Promise.all(wanted.slice(0, most).map((url) => check(chain, url)));
      const good = checks.every(({ ok }) => ok);
      if (!good || wanted.length > most) return checks;
      await kept.change(keyOf(chain), () => (wanted.length === 0 ? null : JSON.stringify(wanted)));
      await read();
      parts.onChange(chain);
      return checks;
    },
    /** The same until the nodes of that chain are others. Throws EngineError `unknown_chain`. */
    source: async (chain: ChainKey) => {
      const of = known(chain);
      const { nodes = [] } = facts.now().find((each) => each.chain === chain) ?? {};
      const by = JSON.stringify([of, nodes]);
      const before = opened.get(chain);
      if (before?.by === by) return before.source;
      await closeOne(chain);
      const source = openedBy(of, nodes);
      opened.set(chain, { by, source });
      // A file of the app that could not be loaded is asked for again.
      source.catch(() => opened.delete(chain));
      return source;
    },
    close: async () => {
      await Promise.all([...opened.keys()].map(closeOne));
    },
  };
}

function firstOfEach(all: readonly AppChain[]): readonly AppChain[] {
  return all.filter(({ chain }, at) => all.findIndex((each) => each.chain === chain) === at);
}

function urlFault(text: string, isServed: boolean): string | null {
  if (text.length > mostUrlLength || !URL.canParse(text)) return 'this is no address of a node';
  const { protocol, hostname } = new URL(text);
  if (!/^https?:$/.test(protocol)) return `a node is asked by https or http, not by ${protocol}`;
  if (!isServed || protocol === 'https:' || hostname === '127.0.0.1') return null;
  return 'this page may ask a node by https, or by http at 127.0.0.1, which is this machine';
}

/** A page cannot tell a node that is gone from one that keeps its answers from pages. */
function whyNot(error: unknown): string {
  const isGone = error instanceof ParleyError && error.code === 'chain_unavailable';
  const maybe = 'If it is there, perhaps it does not let pages read its answers (CORS)';
  return isGone ? `${messageOf(error)}. ${maybe}` : messageOf(error);
}
