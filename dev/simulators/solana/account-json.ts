// Accounts as nodes show them, in each encoding.

import type { Address } from '@solana/kit';
import { type Account, amountJson, holdingOf, TOKEN } from './accounts.ts';
import { type Config, whole } from './params.ts';
import { invalidParams } from './rpc-error.ts';

const rentEpoch = 2n ** 64n - 1n;
const frozen = 2;

/** `decimalsOf` reads a mint, for amounts in parsed accounts. */
export function accountJson(
  account: Account | null,
  config: Config,
  decimalsOf: (mint: Address) => number,
): object | null {
  if (account === null) return null;
  const { lamports, owner, executable, data } = account;
  return {
    lamports,
    owner,
    executable,
    rentEpoch,
    space: data.length,
    data: dataJson(account, config, decimalsOf),
  };
}

function dataJson(account: Account, config: Config, decimalsOf: (mint: Address) => number) {
  const { encoding } = config;
  if (encoding === 'jsonParsed') {
    const parsed = parsedJson(account, decimalsOf);
    if (parsed !== null) return parsed;
  }
  if (encoding !== 'base64' && encoding !== 'jsonParsed') {
    throw invalidParams(`no encoding ${String(encoding)}`);
  }
  return [Buffer.from(sliced(account.data, config.dataSlice)).toString('base64'), 'base64'];
}

function sliced(data: Uint8Array, slice: unknown): Uint8Array {
  if (slice === undefined || slice === null) return data;
  const { offset, length } = slice as { offset?: unknown; length?: unknown };
  const from = Number(whole(offset, 'dataSlice.offset'));
  return data.subarray(from, from + Number(whole(length, 'dataSlice.length')));
}

/** The fields of a token account; null for any other, which is displayed as bytes. */
function parsedJson(account: Account, decimalsOf: (mint: Address) => number): object | null {
  const holding = holdingOf(account);
  if (holding === null) return null;
  const { mint, owner, amount } = holding;
  const info = {
    mint,
    owner,
    state: account.data[108] === frozen ? 'frozen' : 'initialized',
    isNative: Buffer.from(account.data).readUInt32LE(109) === 1,
    tokenAmount: amountJson(amount, decimalsOf(mint)),
  };
  const program = account.owner === TOKEN ? 'spl-token' : 'spl-token-2022';
  return { program, parsed: { type: 'account', info }, space: account.data.length };
}
