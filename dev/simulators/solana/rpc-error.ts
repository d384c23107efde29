// A refusal of the dev chain's RPC server, with the codes that Solana nodes use.

export const rpcCodes = {
  parse: -32700,
  invalidRequest: -32600,
  noMethod: -32601,
  invalidParams: -32602,
  preflightFailed: -32002,
  badSignature: -32003,
  notAvailable: -32004,
  slotSkipped: -32007,
  unsupportedVersion: -32015,
  unknownSignature: -32020,
} as const;

export class SolanaRpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'SolanaRpcError';
    this.code = code;
    this.data = data;
  }
}

export function invalidParams(message: string): SolanaRpcError {
  return new SolanaRpcError(rpcCodes.invalidParams, `Invalid params: ${message}`);
}
