// Inspects a token that might be listed. This module sends nothing.

import { transferCheck as check, inspectContract } from '@parley/tokens/contracts.ts';
import {
  type Finding,
  found,
  type Inspection,
  notAToken,
  type PowerRules,
  passed,
} from '@parley/tokens/inspection.ts';
import { keeperIn } from '@parley/tokens/owner.ts';
import { freshAddress, type Reads } from '@parley/tokens/reads.ts';
import { cleanText } from '@parley/tokens/text.ts';
import { word } from '@parley/tokens/words.ts';
import { getAddress } from 'viem/utils';
import type { Rpc } from '../nodes/rpc.ts';
import { parseEvmAddress } from './address.ts';
import { ask, questionGas } from './ask.ts';
import { innerReason, transferCall, trialEscrow, trialSecret } from './builders.ts';
import { codeAt, headBlock, storageAt } from './node.ts';
import { claimCall, fundCalls } from './plan.ts';
import { type Failure, lendBalance, slotsRead, tryCalls } from './simulate.ts';
import type { Watch } from './watch.ts';

/** EIP-7702: an account that somebody holds the key of, with a contract's code lent to it. */
const delegation = /^0xef0100[0-9a-f]{40}$/i;

export async function inspect(
  watch: Watch,
  text: string,
  rules: PowerRules,
  signal: AbortSignal,
): Promise<Inspection> {
  const { rpc, chain } = watch;
  const address = parseEvmAddress(text);
  if (delegation.test(await codeAt(rpc, address, 'latest', signal))) {
    throw notAToken(chain, address, "it is somebody's account (EIP-7702)");
  }
  const transfer = (amount: bigint) => tryTransfer(watch, address, amount, signal);
  const inspected = await inspectContract(readsOf(rpc, signal), address, rules, transfer);
  return { address, ...inspected };
}

function readsOf(rpc: Rpc, signal: AbortSignal): Reads {
  return {
    chain: rpc.chain,
    code: (address) => codeAt(rpc, address, 'latest', signal),
    storage: (address, slot) => storageAt(rpc, address, `0x${slot}`, signal),
    view: (to, data) => ask(rpc, to, `0x${data}`, signal),
    shown: (address) => getAddress(address),
    keeper: (token, selectors) => hiddenKeeper(rpc, token, selectors, signal),
  };
}

/** Functions of one power that are tried, and words looked at that one of them reads. */
const mostTried = 4;
const mostWordsRead = 12;

/** An address in the storage that a refused call reads is an owner whom `owner()` does not name. */
async function hiddenKeeper(
  rpc: Rpc,
  token: string,
  selectors: readonly string[],
  signal: AbortSignal,
): Promise<string | null> {
  const from = freshAddress();
  // Without a bound a node could run for long, and anew for each word that it finds.
  const gas = questionGas;
  const words = [freshAddress(), 1n, 1n].map(word).join('');
  for (const selector of selectors.slice(0, mostTried)) {
    const data = swallowing(token, selector + words);
    const read = await slotsRead(rpc, { from, data, gas }, signal);
    for (const { address, key } of read.slice(0, mostWordsRead)) {
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

const steps = [
  'an approval',
  'the funding of an escrow',
  'the claim of an escrow',
  'passing on what a claim paid',
] as const;
/** A stranger's own words in a reason. */
const mostWords = 120;

async function tryTransfer(
  watch: Watch,
  token: string,
  amount: bigint,
  signal: AbortSignal,
): Promise<Finding> {
  const { rpc, chain, deployment } = watch;
  const from = freshAddress();
  const lent = await lendBalance(rpc, token, from, amount, signal);
  if (lent === null) {
    return found(check, 'wait', 'it cannot be tried: where it keeps its balances was not found');
  }
  const { timestamp } = await headBlock(rpc, signal);
  const { contract } = deployment;
  const terms = trialEscrow({ chain, token, amount }, contract, { from, to: from, timestamp });
  const calls = [
    ...fundCalls(terms, deployment, 0n),
    claimCall(terms, deployment, trialSecret),
    transferCall(token, freshAddress(), amount),
  ];
  const failure = await tryCalls(rpc, from, calls, lent, signal);
  if (failure === null) return passed(check);
  const what = `${steps[failure.index] ?? 'a round of transfers'} of ${amount} units`;
  const words = await innerReason(watch, terms, contract, { from, lent }, failure, signal);
  const reason = cleanText(words, mostWords);
  if (isInexact(failure)) return found(check, 'reject', `${what} is not exact: ${reason}`);
  // A token may be stopped for now, and let go again.
  return found(check, 'wait', `${what} fails: ${reason}`);
}

/** The contract counts what arrives and what leaves. */
function isInexact({ name }: Failure): boolean {
  return name === 'WrongAmountReceived' || name === 'WrongAmountSent';
}
