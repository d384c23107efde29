// A TRON key: it signs texts and transactions, and reads what became of them. settle sends.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { readTronSigned, signTronTransaction } from '../../chains/tron/broadcast.ts';
import { type Http, httpClient, type TronSource } from '../../chains/tron/http.ts';
import { headBlock, infoOf } from '../../chains/tron/node.ts';
import { signTronMessage, tronAddressOfKey } from '../../chains/tron/proof.ts';
import type { MessageSigner } from '../keys.ts';
import { type Kept, versionsOf } from '../stores/store.ts';
import { byOneNode, oneOfManyTimeoutMs, type TronWallet, type TxOutcome } from './wallet.ts';

export type TronSignerOptions = {
  readonly privateKey: string;
};

export type TronWalletOptions = TronSignerOptions & {
  readonly chain: string;
  readonly sources: readonly TronSource[];
};

export function tronMessageSigner(options: TronSignerOptions): MessageSigner {
  const privateKey = hexToBytes(options.privateKey.replace(/^0x/, ''));
  return {
    family: 'tron',
    address: tronAddressOfKey(privateKey),
    signMessage: async (message) => signTronMessage(privateKey, message),
  };
}

export function tronWallet(options: TronWalletOptions): TronWallet & MessageSigner {
  const privateKey = hexToBytes(options.privateKey.replace(/^0x/, ''));
  const { chain, sources } = options;
  const nodes = nodesOf(chain, sources);
  const { address, signMessage } = tronMessageSigner(options);
  return {
    family: 'tron',
    address,
    signMessage,
    sign: async ({ raw_data_hex }) => {
      const txID = bytesToHex(sha256(hexToBytes(raw_data_hex)));
      const signed = signTronTransaction(privateKey, { txID, raw_data_hex });
      // Also finds a transaction of another's account.
      const { raw, txid } = readTronSigned(signed);
      return { raw, txid };
    },
    outcome: (kept, signal) => byOneNode(nodes, signal, (http) => outcomeOf(http, kept, signal)),
  };
}

function nodesOf(chain: string, sources: readonly TronSource[]): readonly Http[] {
  if (sources.length < 2) return [httpClient({ chain, sources })];
  const short = { rounds: 1, attemptTimeoutMs: oneOfManyTimeoutMs };
  return sources.map((source) => httpClient({ chain, sources: [source], ...short }));
}

/**
 * No block takes it after its expiration: a solid block past it without the transaction is its end.
 */
async function outcomeOf(http: Http, kept: Kept, signal: AbortSignal): Promise<TxOutcome> {
  // Asked first: what comes into a block between the two questions only looks as if it waited.
  const solid = await headBlock(http, 'solid', signal);
  for (const txid of versionsOf(kept)) {
    const info = await infoOf(http, txid, 'head', signal);
    if (info?.succeeded) return { state: 'succeeded' };
  }
  const { txid, expiration } = readTronSigned(kept.raw);
  const settled = await infoOf(http, txid, 'solid', signal);
  if (settled !== null) return { state: settled.succeeded ? 'succeeded' : 'reverted' };
  const isHeld = (await infoOf(http, txid, 'head', signal)) !== null;
  if (!isHeld && solid.timestampMs > expiration) return { state: 'lost' };
  return { state: 'waiting', next: true, gap: false };
}
