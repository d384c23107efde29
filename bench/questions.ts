// The questions to a node in one exchange, by the names of packages/chains/nodes/methods.ts: a batch asks
// several.

import type { NodeRequest } from '@parley/chains/nodes/exchange.ts';

/** Heights, hashes and addresses in the path of an Esplora server. */
const id = /\/(\d+|\w{30,})/g;

type Exchange = Pick<NodeRequest, 'url' | 'method' | 'body'>;

export function questionsIn({ url, method, body = '' }: Exchange): string[] {
  const tronPath = /\/((wallet|walletsolidity)\/\w+)$/.exec(url)?.[1];
  if (tronPath !== undefined) return [tronPath];
  if (!/^[[{]/.test(body)) return [`${method} ${new URL(url).pathname.replaceAll(id, '/*')}`];
  const asked = JSON.parse(body) as Named | readonly Named[];
  const all = Array.isArray(asked) ? asked : [asked];
  const before = url.endsWith('/jsonrpc') ? 'jsonrpc ' : '';
  return all.map((each: Named) => `${before}${each.method ?? 'unknown'}`);
}

type Named = { readonly method?: string };
