// Check `transfer`: a holder's amount goes to the escrow contract, and to an address that nobody
// used, each in a constant call. java-tron lends no state, so its logs say what arrives.

import { smaller } from '@parley/core/amounts.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { transferCheck as check } from '@parley/tokens/contracts.ts';
import { type Finding, found, passed } from '@parley/tokens/inspection.ts';
import { freshAddress } from '@parley/tokens/reads.ts';
import { cleanText } from '@parley/tokens/text.ts';
import { bytesOf, word } from '@parley/tokens/words.ts';
import { toEventSelector } from 'viem/utils';
import { tronAddressOf } from './address.ts';
import { reasonOf, transferCall, trialOf } from './energy.ts';
import { eventsOf } from './events.ts';
import { TronRefusal } from './http.ts';
import { creatorOf, headBlock, type Log } from './node.ts';
import { bareAddress } from './plan.ts';
import { isContract, tokenBalance } from './views.ts';
import type { Watch } from './watch.ts';

const transferred = toEventSelector('Transfer(address,address,uint256)').slice(2);
/** Blocks whose transfers name holders, a few first: the answer for a busy token is short then. */
const windows = [2, 100, 5_000] as const;
const mostHolders = 8;
/** A stranger's own words in a reason. */
const mostWords = 120;

export async function tryTransfer(
  watch: Watch,
  token: string,
  amount: bigint,
  signal: AbortSignal,
): Promise<Finding> {
  const { contract } = watch.deployment;
  const holding = await holdingOf(watch, token, signal);
  if (holding === null) {
    return found(check, 'wait', 'it cannot be tried: its chain shows no holder of it');
  }
  const { holder, balance } = holding;
  const tried = smaller(amount, balance);
  const receivers = [
    ['a payment into the escrow', contract],
    ['a payment to an address that nobody used', tronAddressOf(bytesOf(freshAddress()))],
  ] as const;
  for (const [what, to] of receivers) {
    if (to === holder) continue;
    const trial = await trialOf(watch, transferCall(token, holder, to, tried), signal);
    const reason = reasonOf(trial);
    // This holder may be barred, and transfers may be stopped for now.
    if (reason !== null) return refusedFinding(what, tried, reason);
    const arrived = arrivedIn(trial.logs, token, to);
    if (arrived !== tried) return shortFinding(what, tried, arrived);
  }
  return passed(check);
}

function refusedFinding(what: string, amount: bigint, reason: string): Finding {
  return found(check, 'wait', `${what} of ${amount} units fails: ${cleanText(reason, mostWords)}`);
}

function shortFinding(what: string, amount: bigint, arrived: bigint | null): Finding {
  if (arrived === null) {
    return found(check, 'wait', `${what} of ${amount} units logs no transfer`);
  }
  return found(check, 'reject', `${what} of ${amount} units is not exact: ${arrived} arrive`);
}

/** null: the token logs none. */
function arrivedIn(logs: readonly Log[], token: string, to: string): bigint | null {
  const own = bareAddress(token).slice(2);
  const payee = word(bareAddress(to));
  const amounts = logs
    .filter(({ address, topics }) => {
      return address === own && topics[0] === transferred && topics[2] === payee;
    })
    .map(({ data }) => BigInt(`0x${data.slice(0, 64) || '0'}`));
  return amounts.length === 0 ? null : amounts.reduce((sum, each) => sum + each, 0n);
}

type Holding = { readonly holder: string; readonly balance: bigint };

/** A wallet that received some lately: a trap lets its maker go. Else the contract, or him. */
async function holdingOf(
  watch: Watch,
  token: string,
  signal: AbortSignal,
): Promise<Holding | null> {
  const { http, deployment } = watch;
  const held = async (holder: string): Promise<Holding | null> => {
    const balance = await tokenBalance(http, 'head', token, holder, signal);
    return balance > 0n ? { holder, balance } : null;
  };
  const creator = await creatorOf(http, token, signal);
  const { number: to } = await headBlock(http, 'head', signal);
  for (const blocks of windows) {
    const range = { from: Math.max(0, to - blocks + 1), to };
    for (const receiver of await receiversIn(watch, token, range, signal)) {
      // Nor would it bar its own market.
      if (receiver === creator || (await isContract(http, receiver, signal))) continue;
      const holding = await held(receiver);
      if (holding !== null) return holding;
    }
  }
  return (await held(deployment.contract)) ?? (creator === null ? null : held(creator));
}

async function receiversIn(
  { http }: Watch,
  token: string,
  range: { readonly from: number; readonly to: number },
  signal: AbortSignal,
): Promise<string[]> {
  const filter = { address: bareAddress(token), topics: [[`0x${transferred}`]], ...range };
  try {
    const events = await eventsOf(http, filter, signal);
    const named = events.reverse().flatMap(({ log: { topics } }) => topics.slice(2, 3));
    const addresses = named.map((topic) => tronAddressOf(bytesOf(topic.slice(-40))));
    return [...new Set(addresses)].slice(0, mostHolders);
  } catch (error) {
    // A node without the index, or one whose answer would be too long.
    const isLess = error instanceof ParleyError && error.code === 'chain_unavailable';
    if (isLess || error instanceof TronRefusal) return [];
    throw error;
  }
}
