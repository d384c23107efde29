// Inspects a token that might be listed, by constant calls and what its node keeps of it.

import { bytesToHex } from '@noble/hashes/utils.js';
import { inspectContract } from '@parley/tokens/contracts.ts';
import { type Inspection, notAToken, type PowerRules } from '@parley/tokens/inspection.ts';
import type { Reads } from '@parley/tokens/reads.ts';
import { bytesOf } from '@parley/tokens/words.ts';
import { parseTronAddress, tronAddressOf } from './address.ts';
import { type Http, jsonRpcPath, TronRefusal } from './http.ts';
import { codeAt, refused, storageAt, tryCall } from './node.ts';
import { bareAddress } from './plan.ts';
import { tryTransfer } from './token-trial.ts';
import type { Watch } from './watch.ts';

export async function inspect(
  watch: Watch,
  text: string,
  rules: PowerRules,
  signal: AbortSignal,
): Promise<Inspection> {
  const { http, chain } = watch;
  if (/^\d{1,20}$/.test(text)) throw notAToken(chain, text, 'a TRC-10 asset has no contract');
  const address = parseTronAddress(text);
  const transfer = (amount: bigint) => tryTransfer(watch, address, amount, signal);
  const reads = readsOf(http, signal);
  return { address, ...(await inspectContract(reads, bareAddress(address), rules, transfer)) };
}

function readsOf(http: Http, signal: AbortSignal): Reads {
  const shown = (address: string) => tronAddressOf(bytesOf(address));
  return {
    chain: http.chain,
    code: async (address) => {
      const code = await codeAt(http, shown(address), signal);
      return `0x${code === null ? '' : bytesToHex(code)}`;
    },
    // Some java-tron versions answer zeros for contracts made with CREATE2.
    storage: async (address, slot) => {
      try {
        return `0x${await storageAt(http, address.slice(2), slot, signal)}`;
      } catch (error) {
        throw error instanceof TronRefusal ? refused(http, jsonRpcPath, error) : error;
      }
    },
    view: async (to, data) => {
      const call = { from: shown(to), to: shown(to), data, value: 0n };
      try {
        const { failure, output } = await tryCall(http, 'head', call, signal);
        return failure === null ? `0x${output}` : null;
      } catch (error) {
        if (error instanceof TronRefusal) return null;
        throw error;
      }
    },
    shown,
  };
}
