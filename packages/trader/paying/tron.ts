// A payment on TRON, unsigned: TRX, or a token by its `transfer`.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { TronTransaction } from '@parley/chains/interface/material.ts';
import { tronHex } from '@parley/chains/tron/address.ts';
import { feeLimitOf, transferCall } from '@parley/chains/tron/energy.ts';
import { type Http, httpClient, type TronSource } from '@parley/chains/tron/http.ts';
import { codeAt, headBlock, pricesOf, tryCall } from '@parley/chains/tron/node.ts';
import { referenceTo, type TronCall, tronTransaction } from '@parley/chains/tron/plan.ts';
import type { Field } from '@parley/contracts/tron/protobuf.ts';
import { type Envelope, rawTransaction } from '@parley/contracts/tron/transaction.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { Failure } from '../failures.ts';
import type { Payment } from './payment.ts';

/** Sent again until then: a node that is away for a minute loses nothing. */
const lifeMs = 600_000;

type Nodes = { readonly chain: string; readonly sources: readonly TronSource[] };

/** `feeLimitSun`: of a token; default by a trial of the transfer. Throws Failure `pay_fails`. */
export async function tronPayment(
  nodes: Nodes,
  from: string,
  pay: Payment,
  signal: AbortSignal,
  feeLimitSun?: bigint,
): Promise<TronTransaction> {
  const http = httpClient(nodes);
  if (pay.token === null) await mustBeWallet(http, pay.to, signal);
  const solid = await headBlock(http, 'solid', signal);
  const { timestampMs: timestamp } = await headBlock(http, 'head', signal);
  const envelope = { ...referenceTo(solid), timestamp, expiration: timestamp + lifeMs };
  const { to, token, amount } = pay;
  if (token === null) return coins(from, to, amount, { ...envelope, feeLimitSun: 0n });
  const call = transferCall(token, from, to, amount);
  const limit = feeLimitSun ?? (await triedLimit(http, call, signal));
  return tronTransaction(call, { ...envelope, feeLimitSun: limit });
}

async function triedLimit(http: Http, call: TronCall, signal: AbortSignal): Promise<bigint> {
  const [{ failure, energy }, prices] = await Promise.all([
    tryCall(http, 'head', call, signal),
    pricesOf(http, signal),
  ]);
  if (failure === null) return feeLimitOf(energy, prices);
  const sentence = `the transfer of ${call.to} would fail: ${failure}`;
  throw new Failure('needs_you', 'pay_fails', sentence);
}

/** Nodes refuse coins for a contract: such a gift would wait for its end, and hold up others. */
async function mustBeWallet(http: Http, to: string, signal: AbortSignal): Promise<void> {
  if ((await codeAt(http, to, signal)) === null) return;
  throw new ParleyError('bad_address', `${to} is a contract: it takes no TRX of a transfer`, {});
}

function coins(from: string, to: string, amount: bigint, envelope: Envelope): TronTransaction {
  const fields: Field[] = [
    [1, hexToBytes(tronHex(from))],
    [2, hexToBytes(tronHex(to))],
    [3, amount],
  ];
  const raw = rawTransaction('TransferContract', fields, envelope);
  // The wallet signs the hash of these bytes, and looks at nothing else.
  return { raw_data_hex: bytesToHex(raw), txID: bytesToHex(sha256(raw)) } as TronTransaction;
}
