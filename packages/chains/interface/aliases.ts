// Second names of what is to be signed, for clients that know these: each of a single value, and
// never of anything else than that value (decision 0044 in docs/decisions/README.md).

import type { Material } from './material.ts';

export type Aliases = {
  /** Solana: `transaction`. */
  readonly transactionBase64?: string;
  /** TRON, where there is one transaction: its `txID`. */
  readonly txID?: string;
  /** Bitcoin, where there is one input: the one of `sighashHexes`. */
  readonly sighashHex?: string;
  /** Bitcoin, of a claim: the secret that was given, as what is broadcast names it. */
  readonly preimageHex?: string;
};

export const aliasNames = ['transactionBase64', 'txID', 'sighashHex', 'preimageHex'] as const;

/** Those that the material has. `secret`: the one of a claim. */
export function aliasesOf(material: Material, secret: string | null = null): Aliases {
  switch (material.sign) {
    case 'solana-tx':
      return { transactionBase64: material.transaction };
    case 'tron-txid': {
      const [first, ...more] = material.transactions;
      return first === undefined || more.length > 0 ? {} : { txID: first.txID };
    }
    case 'btc-sighash': {
      const [first, ...more] = material.sighashHexes;
      const single = first === undefined || more.length > 0 ? {} : { sighashHex: first };
      return secret === null ? single : { ...single, preimageHex: secret };
    }
    case 'evm-tx':
    case 'btc-payment':
      return {};
  }
}
