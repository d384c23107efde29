// Transactions as nodes show them, in each encoding.

import { getBase58Decoder } from '@solana/kit';
import type { Executed } from './execute.ts';
import { type Config, whole } from './params.ts';
import { invalidParams, rpcCodes, SolanaRpcError } from './rpc-error.ts';
import type { Wire } from './wire.ts';

/** Without `slot` and `blockTime`, which a block gives once. */
export function transactionJson({ wire, meta }: Executed, config: Config): object {
  const most = config.maxSupportedTransactionVersion;
  const { version } = wire.message;
  if (version !== 'legacy' && (most === undefined || whole(most, 'the version') < version)) {
    throw new SolanaRpcError(
      rpcCodes.unsupportedVersion,
      `Transaction version (${version}) is not supported by the requesting client. Please try ` +
        'the request again with the following configuration parameter: ' +
        `"maxSupportedTransactionVersion": ${version}`,
    );
  }
  return {
    transaction: encoded(wire, config.encoding ?? 'json'),
    meta,
    ...(most === undefined ? {} : { version }),
  };
}

function encoded(wire: Wire, encoding: unknown): unknown {
  switch (encoding) {
    case 'base64':
      return [Buffer.from(wire.bytes).toString('base64'), 'base64'];
    case 'json':
      return { signatures: signaturesOf(wire), message: messageJson(wire) };
    default:
      throw invalidParams(`no encoding ${String(encoding)}`);
  }
}

function signaturesOf({ transaction }: Wire): string[] {
  return Object.values(transaction.signatures).map((bytes) =>
    getBase58Decoder().decode(bytes ?? new Uint8Array(64)),
  );
}

function lookupsOf({ message }: Wire): object {
  if (message.version === 'legacy') return {};
  const lookups = 'addressTableLookups' in message ? (message.addressTableLookups ?? []) : [];
  return {
    addressTableLookups: lookups.map(
      ({ lookupTableAddress, writableIndexes, readonlyIndexes }) => ({
        accountKey: lookupTableAddress,
        writableIndexes,
        readonlyIndexes,
      }),
    ),
  };
}

function messageJson(wire: Wire): object {
  const { header, staticAccounts, lifetimeToken, instructions } = wire.message;
  return {
    header: {
      numRequiredSignatures: header.numSignerAccounts,
      numReadonlySignedAccounts: header.numReadonlySignerAccounts,
      numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
    },
    accountKeys: staticAccounts,
    recentBlockhash: lifetimeToken,
    instructions: instructions.map(({ programAddressIndex, accountIndices, data }) => ({
      programIdIndex: programAddressIndex,
      accounts: accountIndices ?? [],
      data: getBase58Decoder().decode(data ?? new Uint8Array()),
      stackHeight: 1,
    })),
    ...lookupsOf(wire),
  };
}
