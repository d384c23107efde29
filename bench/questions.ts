// The questions to a node in one exchange, by the names of packages/chains/nodes/methods.ts: a batch asks
// several.

import { esploraQuestionIn } from '@parley/chains/bitcoin/esplora-paths.ts';
import type { NodeRequest } from '@parley/chains/nodes/exchange.ts';

type Exchange = Pick<NodeRequest, 'url' | 'method' | 'body'>;

export function questionsIn({ url, method, body = '' }: Exchange): string[] {
  const tronPath = /\/((wallet|walletsolidity)\/\w+)$/.exec(url)?.[1];
  if (tronPath !== undefined) return [tronPath];
  if (!/^[[{]/.test(body)) return [esploraQuestionIn(url, method) ?? 'unknown'];
  const asked = JSON.parse(body) as Named | readonly Named[];
  const all = Array.isArray(asked) ? asked : [asked];
  const before = url.endsWith('/jsonrpc') ? 'jsonrpc ' : '';
  return all.map((each: Named) => `${before}${each.method ?? 'unknown'}`);
}

type Named = { readonly method?: string };
