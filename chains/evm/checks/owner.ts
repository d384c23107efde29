// Asks a token for its owner, and looks for one whom it does not name.

import { getAddress } from 'viem/utils';
import type { Rpc } from '../../nodes/rpc.ts';
import { RpcError } from '../../nodes/rpc.ts';
import { askOwner, keeperIn, mostTried, mostWordsRead, type Owner } from '../../tokens/owner.ts';
import { addressIn, word } from '../../tokens/words.ts';
import { storageAt } from '../node.ts';
import { freshAddress } from './actors.ts';
import { askWord, callData } from './ask.ts';
import type { Program } from './program.ts';

export async function ownerOf(
  rpc: Rpc,
  token: string,
  { selectors, change }: Program,
  signal: AbortSignal,
): Promise<Owner> {
  const ask = async (name: string) => addressIn(await askWord(rpc, token, callData(name), signal));
  return askOwner(ask, { selectors, changes: change !== null }, getAddress);
}

/** Without a bound a node could run for long, and anew for each word that it finds. */
const triedGas = '0x7a120';

/** An address in the storage that a refused call reads is an owner whom `owner()` does not name. */
export async function hiddenKeeper(
  rpc: Rpc,
  token: string,
  selectors: readonly string[],
  signal: AbortSignal,
): Promise<string | null> {
  const from = freshAddress();
  const gas = triedGas;
  const words = [freshAddress(), 1n, 1n].map(word).join('');
  for (const selector of selectors.slice(0, mostTried)) {
    const data = swallowing(token, selector + words);
    for (const { address, key } of await storageRead(rpc, { from, data, gas }, signal)) {
      const keeper = keeperIn(BigInt(await storageAt(rpc, address, key, signal)));
      if (keeper !== null) return getAddress(keeper);
    }
  }
  return null;
}

/** Some nodes list no storage for a call that reverts: this code makes the call and ends well. */
function swallowing(to: string, data: string): string {
  const size = (data.length / 2).toString(16).padStart(2, '0');
  // CODECOPY of what follows, CALL with it, STOP: 41 bytes.
  const call = `6000600060${size}6000600073${to.slice(2).toLowerCase()}5af1`;
  return `0x60${size}6029600039${call}00${data}`;
}

async function storageRead(
  rpc: Rpc,
  call: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<{ address: string; key: string }[]> {
  try {
    const answer = await rpc.call('eth_createAccessList', [call, 'latest'], signal);
    const list = (answer as { accessList?: { address: string; storageKeys: string[] }[] })
      .accessList;
    return (list ?? [])
      .flatMap(({ address, storageKeys }) => storageKeys.map((key) => ({ address, key })))
      .slice(0, mostWordsRead);
  } catch (error) {
    if (error instanceof RpcError || error instanceof TypeError) return [];
    throw error;
  }
}
