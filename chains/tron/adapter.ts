// A TRON network behind the interface that every chain keeps.

import { ParleyError } from '../../core/errors.ts';
import { opens } from '../../core/hashlock.ts';
import type { ChainPolicy } from '../../core/policy.ts';
import type { EscrowTerms } from '../../core/terms.ts';
import type {
  About,
  BuildInput,
  ChainAdapter,
  Owed,
  ReadTransaction,
  SpendInput,
  Touch,
  WatchedEscrow,
} from '../adapter.ts';
import type { PowerRules } from '../inspection.ts';
import type { Signed, TronMaterial } from '../material.ts';
import { offersTo } from '../offers.ts';
import { type Opened, opening } from '../opened.ts';
import { eachSource } from '../sources.ts';
import { watching } from '../watching.ts';
import { parseTronAddress } from './address.ts';
import { mustAgree, mustAgreeOnHeads } from './agreement.ts';
import { broadcast } from './broadcast.ts';
import { tronContract } from './contract.ts';
import {
  feeLimitOf,
  fundEnergy,
  heldBy,
  ownEnergy,
  settleEnergy,
  transactionBytes,
  trialOf,
} from './energy.ts';
import { changes } from './follow.ts';
import { hashlocksOf } from './hashlocks.ts';
import { type Http, type HttpOptions, httpClient, type TronSource } from './http.ts';
import { tronFault } from './identity.ts';
import { lanesOf } from './lanes.ts';
import { launchesOf } from './launches.ts';
import { allowanceOf, headBlock, knows, pricesOf } from './node.ts';
import {
  callsIn,
  claimCall,
  fundCalls,
  fundedIn,
  mustFit,
  refundCall,
  type TronOrigin,
  tronEscrow,
} from './plan.ts';
import {
  claimShortage,
  preflight,
  purseShortage,
  type TronWarning,
  warningsOf,
} from './preflight.ts';
import { look, recordAt } from './read.ts';
import { reasonOf } from './reverts.ts';
import { readTronSigned } from './signed.ts';
import { referenceTo, type TronCall, tronTransaction } from './transaction.ts';
import { forget, type Logger, newWatch, remember, type Watch } from './watch.ts';

export type TronAdapterOptions = {
  /** The chain's name, such as `tron`. */
  readonly chain: string;
  readonly deployment: TronOrigin;
  /**
   * One or more nodes of the same chain; the first that answers is used, and those that answer
   * must agree before anyone funds or reveals.
   */
  readonly sources: readonly TronSource[];
  readonly policy: ChainPolicy;
  readonly http?: Pick<HttpOptions, 'attemptTimeoutMs' | 'rounds' | 'mostBytes'>;
  readonly log?: Logger;
};

export type TronAdapter = Omit<ChainAdapter, 'warnings'> & {
  readonly family: 'tron';
  readonly chainId: number;
  /** Its nodes, for whoever else has something to ask of them. */
  readonly node: Http;
  /** See ChainAdapter: never left out here. With one node it always agrees. */
  mustAgree(escrow: WatchedEscrow, signal: AbortSignal): Promise<void>;
  /** What the parties should hear before they fund; nothing of it refuses anything. */
  warnings(terms: EscrowTerms, signal: AbortSignal): Promise<readonly TronWarning[]>;
  /** Checks that the nodes are of this chain and the contract is the pinned one. */
  open(signal: AbortSignal): Promise<void>;
};

export function tronAdapter(options: TronAdapterOptions): TronAdapter {
  const { chain, deployment, policy, sources, log = () => {} } = options;
  const http = httpClient({ chain, sources, ...options.http });
  const watch = newWatch(chain, http, deployment, log);
  const offers = offersTo({ chain, sources: http.sources, rounds: options.http?.rounds });
  const { open, opened } = opening((signal) => checkNodes(watch, deployment, signal));
  return {
    chain,
    family: 'tron',
    chainId: deployment.chainId,
    policy,
    contract: tronContract(deployment),
    node: http,
    open,
    parseAddress: parseTronAddress,
    plan: (terms) => tronEscrow(terms, deployment),
    lanes: { contract: deployment.contract, read: opened(lanesOf(watch)) },
    ...watching(
      {
        keep: (escrow) => remember(watch, escrow),
        drop: (address) => forget(watch, address),
        owe: (address) => watch.owed.add(address),
      },
      {
        changes: opened((signal) => changes(watch, signal)),
        look: opened((escrows, signal) => look(watch, escrows, signal)),
      },
    ).methods,
    mustAgree: opened((escrow: WatchedEscrow, signal) => mustAgree(watch, escrow, signal)),
    preflight: opened((terms: EscrowTerms, about: About, signal) =>
      preflight(watch, terms, about, signal),
    ),
    warnings: opened((terms: EscrowTerms, signal) => warningsOf(watch, terms, signal)),
    claimShortage: opened((terms: EscrowTerms, payer: string, signal) =>
      claimShortage(watch, terms, payer, signal),
    ),
    purseShortage: opened((owed: Owed, payer: string, signal) =>
      purseShortage(watch, owed, payer, signal),
    ),
    ...builders(watch, policy, opened),
    readSigned: async (signed) => readSigned(watch, signed),
    broadcast: opened((transaction: ReadTransaction, signal) =>
      broadcast(watch, offers, transaction, signal),
    ),
    // The id is a hash over all that a transaction does; only its signatures are beside it.
    isKnown: opened(({ txid }: ReadTransaction, signal) => knows(http, txid, signal)),
    inspect: opened(async (token: string, rules: PowerRules, signal) => {
      // Brings a whole EVM along, which nothing else needs.
      const { inspect } = await import('./inspect.ts');
      return inspect(watch, token, rules, signal);
    }),
    checkAmount: opened((token: string | null, amount: bigint, signal) =>
      checkAmount(watch, token, amount, signal),
    ),
    launches: launchesOf(watch, opened),
    hashlocks: hashlocksOf(watch, opened),
    close: async () => {
      watch.closed.abort();
      offers.close();
    },
  };
}

async function checkNodes(
  watch: Watch,
  deployment: TronOrigin,
  signal: AbortSignal,
): Promise<void> {
  const { chain } = watch;
  const answers = await eachSource(watch, watch.http, (one) => tronFault(one, deployment, signal));
  const faults = answers.map(({ answer }) => answer);
  // Where none answers, its silence or its words are the error.
  if (answers.length === 0) faults.push(await tronFault(watch.http, deployment, signal));
  // One that shows the creation proves it for all: an address commits to what created it.
  const isProven = faults.includes(null);
  const fault = faults.find((each) => each !== null && !(isProven && each.isLack));
  if (fault === undefined || fault === null) return;
  throw new ParleyError('chain_unavailable', `${chain}: a node ${fault.says}`, { chain });
}

function builders(
  watch: Watch,
  { signSeconds }: ChainPolicy,
  opened: Opened,
): Pick<ChainAdapter, 'buildFund' | 'buildClaim' | 'buildRefund'> {
  const { chain, http, deployment } = watch;
  type Part = { readonly call: TronCall; readonly energy: bigint };
  /** Good for as long as a party may take to sign, counted by the chain's own clock. */
  const material = async (
    escrow: string,
    parts: readonly Part[],
    signal: AbortSignal,
  ): Promise<TronMaterial> => {
    const prices = await pricesOf(http, signal);
    const head = await headBlock(http, 'head', signal);
    // A solid block is never taken back: no reorganisation makes the transaction void.
    const reference = referenceTo(await headBlock(http, 'solid', signal));
    const { timestampMs: timestamp } = head;
    const expiration = timestamp + signSeconds * 1_000;
    const transactions = parts.map(({ call, energy }) => {
      const feeLimitSun = feeLimitOf(energy, prices);
      return tronTransaction(call, { ...reference, expiration, timestamp, feeLimitSun });
    });
    const from = parts[0]?.call.from ?? '';
    return { chain, family: 'tron', sign: 'tron-txid', from, transactions, escrow };
  };
  const mustHold = async ({ terms }: WatchedEscrow, signal: AbortSignal) => {
    const { address } = tronEscrow(terms, deployment);
    const { status } = await recordAt(watch, { address, terms }, 'head', signal);
    if (status === 'funded') return address;
    const isUnfunded = status === 'never' || status === 'void';
    const why = isUnfunded ? 'never funded' : status;
    const sentence = `the escrow ${address} on ${chain} holds nothing: ${why}`;
    throw new ParleyError('nothing_there', sentence, { escrow: address, status });
  };
  return {
    buildFund: opened(async ({ escrow: { terms } }: BuildInput, signal) => {
      const { address } = tronEscrow(terms, deployment);
      await mustAgreeOnHeads(watch, signal);
      const { status } = await recordAt(watch, { address, terms }, 'head', signal);
      if (status !== 'never' && status !== 'void') {
        throw new ParleyError('already_funded', `the escrow ${address} was funded before`, {
          escrow: address,
        });
      }
      const { token, refund } = terms;
      const { contract } = deployment;
      const allowance =
        token === null ? 0n : await allowanceOf(http, token, refund.address, contract, signal);
      const calls = fundCalls(terms, deployment, allowance);
      const held = await heldBy(watch, terms, refund.address, signal);
      const parts: Part[] = [];
      for (const call of calls) {
        // Before its approval a funding cannot be tried, nor before its money is there.
        const untried = call.to === contract && (calls.length > 1 || held < terms.amount);
        const energy = untried
          ? await fundEnergy(watch, terms, signal)
          : await triedEnergy(watch, terms, call, signal);
        parts.push({ call, energy });
      }
      return material(address, parts, signal);
    }),
    buildClaim: opened(async ({ escrow, isPublic }: SpendInput, secret: string, signal) => {
      const { terms } = escrow;
      if (!opens(secret, terms.hashlock)) {
        throw new ParleyError('wrong_secret', `sha256(secret) is not ${terms.hashlock}`, {});
      }
      // A public secret can no longer be kept: only haste helps then.
      const isKept = !isPublic && !watch.secrets.has(terms.hashlock);
      if (isKept) await mustAgree(watch, escrow, signal);
      const address = await mustHold(escrow, signal);
      const energy = await settleEnergy(watch, terms, terms.payout.address, signal);
      return material(address, [{ call: claimCall(terms, deployment, secret), energy }], signal);
    }),
    buildRefund: opened(async ({ escrow }: SpendInput, signal) => {
      const { terms } = escrow;
      const address = await mustHold(escrow, signal);
      const energy = await settleEnergy(watch, terms, terms.refund.address, signal);
      return material(address, [{ call: refundCall(terms, deployment), energy }], signal);
    }),
  };
}

/** What a call uses, by trying it. Throws `funding_would_fail` when it does not work. */
async function triedEnergy(
  watch: Watch,
  { token, amount }: EscrowTerms,
  call: TronCall,
  signal: AbortSignal,
): Promise<bigint> {
  const trial = await trialOf(watch, call, signal);
  const reason = reasonOf(trial);
  if (reason === null) return trial.energy;
  throw new ParleyError(
    'funding_would_fail',
    `funding ${amount} on ${watch.chain} would fail: ${reason}`,
    { chain: watch.chain, token, amount },
  );
}

function readSigned({ known, deployment, byHashlock }: Watch, signed: Signed): ReadTransaction {
  const { txid, raw, rawData, owner, called } = readTronSigned(signed);
  const wanted = (hashlock: string) => byHashlock.has(hashlock);
  // Anybody may quote a funding, in a memo or to another contract: it is one only by its funder.
  const canFund = (escrow: string) =>
    called === deployment.contract && known.get(escrow)?.terms.refund.address === owner;
  const touches: Touch[] = callsIn(rawData, deployment, wanted)
    .filter(({ verb, escrow }) => known.has(escrow) && (verb !== 'fund' || canFund(escrow)))
    .map(({ verb, escrow, secret }) => ({ verb, escrow, secret }));
  const pays = called === deployment.contract ? fundedIn(rawData, deployment) : [];
  return { txid, raw, touches, payer: owner, pays };
}

async function checkAmount(
  { http, chain }: Watch,
  token: string | null,
  amount: bigint,
  signal: AbortSignal,
): Promise<void> {
  mustFit(token, amount);
  // What a token is worth in energy is not known here.
  let least = 0n;
  if (token === null) {
    const { energySun, byteSun } = await pricesOf(http, signal);
    least = ownEnergy.trxSettle * energySun + transactionBytes * byteSun;
  }
  if (amount > least) return;
  throw new ParleyError(
    'amount_too_small',
    `${amount} on ${chain} is not more than the ${least} that claiming it costs in energy now`,
    { chain, amount, least },
  );
}
