// A payment on TRON, unsigned: TRX, or a token by its `transfer`.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { TronTransaction } from '@parley/chains/interface/material.ts';
import { tronHex } from '@parley/chains/tron/address.ts';
import { type Http, httpClient, type TronSource } from '@parley/chains/tron/http.ts';
import { codeAt, headBlock } from '@parley/chains/tron/node.ts';
import { referenceTo, tronTransaction } from '@parley/chains/tron/plan.ts';
import type { Field } from '@parley/contracts/tron/protobuf.ts';
import { type Envelope, rawTransaction } from '@parley/contracts/tron/transaction.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { Payment } from './give.ts';

/** Sent again until then: a node that is away for a minute loses nothing. */
const lifeMs = 600_000;
/** 30 TRX: the transfer of a token burns about 14, to an address without any about 28. */
const feeLimitSun = 30_000_000n;

type Nodes = { readonly chain: string; readonly sources: readonly TronSource[] };

export async function tronPayment(
  nodes: Nodes,
  from: string,
  pay: Payment,
  signal: AbortSignal,
): Promise<TronTransaction> {
  const http = httpClient(nodes);
  if (pay.token === null) await mustBeWallet(http, pay.to, signal);
  const solid = await headBlock(http, 'solid', signal);
  const { timestampMs: timestamp } = await headBlock(http, 'head', signal);
  const envelope = { ...referenceTo(solid), timestamp, expiration: timestamp + lifeMs };
  const { to, token, amount } = pay;
  if (token === null) return coins(from, to, amount, { ...envelope, feeLimitSun: 0n });
  const words = [tronHex(to).slice(2), amount.toString(16)].map((each) => each.padStart(64, '0'));
  const call = { from, to: token, data: `a9059cbb${words.join('')}`, value: 0n };
  return tronTransaction(call, { ...envelope, feeLimitSun });
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
