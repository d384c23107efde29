// Accounts as nodes show them, in each encoding.

import { type Address, getAddressDecoder, getBase58Decoder } from '@solana/kit';
import { type Account, amountJson, holdingOf, mintOf, TOKEN } from './accounts.ts';
import { type Config, whole } from './params.ts';
import { invalidParams } from './rpc-error.ts';

const mostBase58Bytes = 128;
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
  const encoding = config.encoding ?? 'binary';
  if (encoding === 'jsonParsed') {
    const parsed = parsedJson(account, decimalsOf);
    if (parsed !== null) return parsed;
  }
  const bytes = Buffer.from(sliced(account.data, config.dataSlice));
  switch (encoding) {
    case 'base64':
    case 'jsonParsed':
      return [bytes.toString('base64'), 'base64'];
    case 'base58':
    case 'binary': {
      if (bytes.length > mostBase58Bytes) {
        throw invalidParams(`base58 takes at most ${mostBase58Bytes} bytes: ask for base64`);
      }
      const text = getBase58Decoder().decode(bytes);
      return encoding === 'base58' ? [text, 'base58'] : text;
    }
    default:
      throw invalidParams(`no encoding ${String(encoding)}`);
  }
}

function sliced(data: Uint8Array, slice: unknown): Uint8Array {
  if (slice === undefined || slice === null) return data;
  const { offset, length } = slice as { offset?: unknown; length?: unknown };
  const from = Number(whole(offset, 'dataSlice.offset'));
  return data.subarray(from, from + Number(whole(length, 'dataSlice.length')));
}

function parsedJson(account: Account, decimalsOf: (mint: Address) => number): object | null {
  const program = account.owner === TOKEN ? 'spl-token' : 'spl-token-2022';
  const space = account.data.length;
  const data = Buffer.from(account.data);
  const key = (at: number) => getAddressDecoder().decode(data, at);
  const optional = (at: number) => (data.readUInt32LE(at) === 1 ? key(at + 4) : null);
  const holding = holdingOf(account);
  if (holding !== null) {
    const decimals = decimalsOf(holding.mint);
    const delegate = optional(72);
    const info = {
      mint: holding.mint,
      owner: holding.owner,
      state: data[108] === frozen ? 'frozen' : 'initialized',
      isNative: data.readUInt32LE(109) === 1,
      tokenAmount: amountJson(holding.amount, decimals),
      ...(delegate === null
        ? {}
        : { delegate, delegatedAmount: amountJson(data.readBigUInt64LE(121), decimals) }),
    };
    return { program, parsed: { type: 'account', info }, space };
  }
  const mint = mintOf(account);
  if (mint === null) return null;
  const info = {
    mintAuthority: optional(0),
    supply: mint.supply.toString(),
    decimals: mint.decimals,
    isInitialized: data[45] === 1,
    freezeAuthority: optional(46),
  };
  return { program, parsed: { type: 'mint', info }, space };
}
