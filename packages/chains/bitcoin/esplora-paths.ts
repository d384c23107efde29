// All that an Esplora server is asked, by name.
// https://github.com/Blockstream/esplora/blob/master/API.md

export const esploraPaths = {
  tipHash: () => '/blocks/tip/hash',
  blockHash: (height: number) => `/block-height/${height}`,
  block: (hash: string) => `/block/${hash}`,
  rawBlock: (hash: string) => `/block/${hash}/raw`,
  /** How many of its transactions are mined and wait. */
  address: (address: string) => `/address/${address}`,
  /** A page of them, the newest first, those below `last` where it is given. */
  minedOf: (address: string, last: string | null) =>
    `/address/${address}/txs/chain${last === null ? '' : `/${last}`}`,
  waitingOf: (address: string) => `/address/${address}/txs/mempool`,
  tx: (txid: string) => `/tx/${txid}`,
  rawTx: (txid: string) => `/tx/${txid}/hex`,
  txStatus: (txid: string) => `/tx/${txid}/status`,
  outspend: (txid: string, vout: string) => `/tx/${txid}/outspend/${vout}`,
  feeEstimates: () => '/fee-estimates',
  /** By POST. */
  send: () => '/tx',
} as const;

export type EsploraQuestion = keyof typeof esploraPaths;
export type EsploraArguments<Name extends EsploraQuestion> = Parameters<
  (typeof esploraPaths)[Name]
>;

export function esploraPath<Name extends EsploraQuestion>(
  name: Name,
  given: EsploraArguments<Name>,
): string {
  return (esploraPaths[name] as (...given: EsploraArguments<Name>) => string)(...given);
}

type Path = { readonly name: EsploraQuestion; readonly is: RegExp };

/** By the ends of paths: a server may be served below any other path. */
const known: readonly Path[] = Object.entries(esploraPaths).map(([name, path]) => {
  const shape = (path as (...given: string[]) => string)('*', '*').replaceAll('*', '[^/]+');
  // The first page of an address's names no last one.
  const is = new RegExp(`${shape.replace('/chain/[^/]+', '/chain(/[^/]+)?')}$`);
  return { name: name as EsploraQuestion, is };
});

/** Which of them a URL is; null where it is none. The longest that fits: `/tx` ends others, too. */
export function esploraQuestionIn(url: string, method: 'GET' | 'POST'): EsploraQuestion | null {
  if (method === 'POST') return url.endsWith(esploraPaths.send()) ? 'send' : null;
  const fitting = known.filter(({ name, is }) => name !== 'send' && is.test(url));
  const [first] = fitting.toSorted((one, other) => other.is.source.length - one.is.source.length);
  return first?.name ?? null;
}
