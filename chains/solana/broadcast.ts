// Sends a signed transaction. Once a node has it, a secret in it is public.

import { ParleyError } from '../../core/errors.ts';
import type { ReadTransaction } from '../adapter.ts';
import { RpcError } from '../rpc.ts';
import { readTransaction } from './message.ts';
import { isOnChain } from './node.ts';
import { learnFrom, type Watch } from './watch.ts';

const alreadyProcessed = /already been processed|AlreadyProcessed/;

export async function send(
  watch: Watch,
  { raw, txid }: ReadTransaction,
  signal: AbortSignal,
): Promise<string> {
  const { rpc, chain } = watch;
  const config = { encoding: 'base64', preflightCommitment: 'confirmed' };
  try {
    await rpc.call('sendTransaction', [raw, config], signal);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const isKnown = alreadyProcessed.test(error.message) || (await isOnChain(rpc, txid, signal));
    if (!isKnown) {
      throw new ParleyError(
        'refused_by_node',
        `the ${chain} node refused the transaction: ${error.message}`,
        { chain, txid, rpcCode: error.code },
        { cause: error },
      );
    }
  }
  const { keys, message } = readTransaction(raw);
  const touched = new Set(keys.filter((key) => watch.known.has(key)));
  learnFrom(watch, touched, [message]);
  for (const address of touched) watch.owed.add(address);
  return txid;
}
