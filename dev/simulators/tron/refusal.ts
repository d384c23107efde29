// Why a node does not take a transaction: `code` of api.Return, and its words.

export type RefusalCode =
  | 'SIGERROR'
  | 'CONTRACT_VALIDATE_ERROR'
  | 'BANDWITH_ERROR' // spelt so by java-tron
  | 'DUP_TRANSACTION_ERROR'
  | 'TAPOS_ERROR'
  | 'TOO_BIG_TRANSACTION_ERROR'
  | 'TRANSACTION_EXPIRATION_ERROR'
  | 'OTHER_ERROR';

export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly detail: string;

  constructor(code: RefusalCode, detail: string) {
    super(`${prefixes[code] ?? ''}${detail}`);
    this.name = 'Refusal';
    this.code = code;
    this.detail = detail;
  }
}

const prefixes: Partial<Record<RefusalCode, string>> = {
  SIGERROR: 'Validate signature error: ',
  CONTRACT_VALIDATE_ERROR: 'Contract validate error : ',
  OTHER_ERROR: 'Error: ',
};

export function invalid(detail: string): Refusal {
  return new Refusal('CONTRACT_VALIDATE_ERROR', detail);
}
