// Whether anybody can use the powers that a token's code gives: nobody can, once its owner is an
// address without a key, and no other right is kept anywhere that can be seen.

import { getAddress } from 'viem/utils';
import type { Rpc } from '../../rpc.ts';
import { RpcError } from '../../rpc.ts';
import { storageAt } from '../node.ts';
import { freshAddress } from './actors.ts';
import { addressIn, askWord, callData } from './ask.ts';
import type { Program } from './program.ts';
import { accessSignals, namesIn } from './signals.ts';

export type Owner = {
  /** Nobody can use a power. */
  readonly gone: boolean;
  /** In words, for the beginning of a sentence. */
  readonly who: string;
};

/** Addresses that nobody has the key of, in use for what is given up. */
const dead: ReadonlySet<string> = new Set([
  '0x0000000000000000000000000000000000000000',
  '0x0000000000000000000000000000000000000001',
  '0x000000000000000000000000000000000000dead',
  '0xdead000000000000000000000000000000000000',
  '0xdead000000000000000042069420694206942069',
]);

export function isDead(address: string): boolean {
  return dead.has(address.toLowerCase());
}

export async function ownerOf(
  rpc: Rpc,
  token: string,
  { selectors, change }: Program,
  signal: AbortSignal,
): Promise<Owner> {
  const ask = async (name: string) => addressIn(await askWord(rpc, token, callData(name), signal));
  const named = [await ask('owner()'), await ask('getOwner()')].filter((each) => each !== null);
  const heir = await ask('pendingOwner()');
  const living = [...named, ...(heir === null ? [] : [heir])].find((each) => !isDead(each));
  if (living !== undefined) return { gone: false, who: `its owner ${getAddress(living)}` };
  const access = namesIn(accessSignals, selectors);
  const gone = named.length > 0 && access.length === 0 && change === null;
  return { gone, who: access.length > 0 ? `who has a right by ${access[0]}` : 'somebody' };
}

/** Storage that one call reads is looked at so far. */
const mostSlots = 12;
/** Smaller ones are amounts, counters and flags; no address is so small by chance. */
const largestNumber = 2n ** 128n;
/** An allowance or a limit without an end. */
const all = 2n ** 256n - 1n;

/**
 * Whether a function that is refused to a stranger looks up somebody before: an address in the
 * storage that it reads. That is an owner whom `owner()` does not name.
 */
export async function hiddenKeeper(
  rpc: Rpc,
  token: string,
  selectors: readonly string[],
  signal: AbortSignal,
): Promise<string | null> {
  const from = freshAddress();
  const argument = freshAddress().slice(2).padStart(64, '0');
  for (const selector of selectors) {
    const data = swallowing(token, selector + argument + one + one);
    for (const { address, key } of await storageRead(rpc, { from, data }, signal)) {
      const word = BigInt(await storageAt(rpc, address, key, signal));
      const low = addressIn(word & (2n ** 160n - 1n)) ?? '';
      if (BigInt(low) > largestNumber && !isDead(low) && word !== all) return getAddress(low);
    }
  }
  return null;
}

const one = '1'.padStart(64, '0');

/**
 * Code that makes a call and does not mind its failing: some nodes list no storage for a call that
 * reverts. It is run as if it created a contract, which needs nothing to be lent.
 */
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
      .slice(0, mostSlots);
  } catch (error) {
    if (error instanceof RpcError || error instanceof TypeError) return [];
    throw error;
  }
}
