// The cost of a transaction to the one that sent it, by a trader's own nodes. It is for accounts,
// and decides nothing.

import { exchange } from '@parley/chains/bitcoin/http.ts';
import { coreRpc } from '@parley/chains/bitcoin/rpc.ts';
import { costBy } from '@parley/chains/evm/gas-outcome.ts';
import { paidByAll } from '@parley/chains/gas/kit.ts';
import { textOf } from '@parley/chains/nodes/exchange.ts';
import { rpcClient } from '@parley/chains/nodes/rpc.ts';
import { oneSource } from '@parley/chains/nodes/sources.ts';
import { transactionOf } from '@parley/chains/solana/node.ts';
import { httpClient } from '@parley/chains/tron/http.ts';
import { burntBy } from '@parley/chains/tron/node.ts';
import type { ChainKey } from '@parley/core/families.ts';
import type { BaseUnits } from '@parley/core/nominal.ts';
import { type BitcoinNode, bitcoinAt, type PinnedChain, tronAt, urlsOf } from '../sources.ts';

export type FeeAsked = {
  readonly chain: ChainKey;
  readonly of: PinnedChain;
  readonly txid: string;
  /** Bitcoin: its block, without which a Core node needs an index of transactions. */
  readonly block?: string | undefined;
};

const limits = { timeMs: 15_000, bytes: 4_194_304 };

/**
 * Units of the chain's own coin, without rents; null: no node that answers has it in a block.
 * Throws where none answers.
 */
export async function feePaid(asked: FeeAsked, signal: AbortSignal): Promise<BaseUnits | null> {
  const { chain, of, txid } = asked;
  switch (of.family) {
    case 'bitcoin': {
      const nodes = of.nodes.map(bitcoinAt);
      return byNodes(nodes.length, (at) => bitcoinFee(nodes[at], asked, signal), signal);
    }
    case 'evm': {
      const rpc = rpcClient({ chain, urls: urlsOf(chain, of) });
      return byNodes(rpc.sources, (at) => costBy(oneSource(rpc, at), txid, signal), signal);
    }
    case 'tron': {
      const http = httpClient({ chain, sources: tronAt(of.nodes) });
      return byNodes(http.sources, (at) => burntBy(oneSource(http, at), txid, signal), signal);
    }
    case 'solana': {
      const rpc = rpcClient({ chain, urls: urlsOf(chain, of) });
      return byNodes(
        rpc.sources,
        async (at) => {
          const found = await transactionOf(oneSource(rpc, at), txid, signal);
          return found === null || !('meta' in found) ? null : solanaFee(found.meta);
        },
        signal,
      );
    }
  }
}

/** The highest that a node says. Throws where each of them fails. */
async function byNodes(
  count: number,
  ask: (at: number) => Promise<BaseUnits | null>,
  signal: AbortSignal,
): Promise<BaseUnits | null> {
  let failure: unknown = null;
  let answered = 0;
  const asking = async (at: number) => {
    try {
      const said = await ask(at);
      answered += 1;
      return said;
    } catch (error) {
      failure = error;
      return null;
    }
  };
  const paid = await paidByAll(count, asking, signal);
  if (paid === null && answered === 0) throw failure;
  return paid?.cost ?? null;
}

function solanaFee(meta: unknown): BaseUnits | null {
  const fee = (meta as { fee?: unknown } | null)?.fee;
  return typeof fee === 'number' && Number.isSafeInteger(fee) ? BigInt(fee) : null;
}

/** Inputs less outputs, as the node has added them up. */
async function bitcoinFee(
  node: BitcoinNode | undefined,
  { txid, block }: FeeAsked,
  signal: AbortSignal,
): Promise<BaseUnits | null> {
  if (node === undefined) return null;
  if ('coreUrl' in node) {
    const rpc = coreRpc({ url: node.coreUrl, limits });
    const at = block === undefined ? [] : [block];
    type Found = { fee?: number; blockhash?: string };
    const found = await rpc.call<Found>('getrawtransaction', [txid, 2, ...at], signal);
    const isMined = found.blockhash !== undefined && found.fee !== undefined;
    // Eight decimals at most: exact after rounding.
    return isMined ? BigInt(Math.round(Math.abs(found.fee ?? 0) * 1e8)) : null;
  }
  const url = `${node.esploraUrl.replace(/\/$/, '')}/tx/${txid}`;
  const reply = await exchange('Esplora', { url, method: 'GET', headers: {} }, limits, signal);
  if (reply.status === 404) return null;
  if (reply.status !== 200) throw new Error(`Esplora answered ${reply.status}`);
  const said = JSON.parse(textOf(reply)) as { fee?: number; status?: { confirmed?: boolean } };
  return said.status?.confirmed && said.fee !== undefined ? BigInt(said.fee) : null;
}
