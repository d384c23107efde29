// What a builder hands to a customer to sign, per family. Shapes: decisions.md, section 3. Every
// field can be recomputed from the terms (docs/dont-trust-verify.md).

export type EvmCall = { readonly to: string; readonly data: string; readonly value: string };

/** EVM: sign and send each in order, from `from` where it is given (funding). Hex with 0x. */
export type EvmMaterial = {
  readonly chain: string;
  readonly family: 'evm';
  readonly sign: 'evm-tx';
  readonly chainId: number;
  readonly from?: string;
  readonly txs: readonly EvmCall[];
  readonly escrow: string;
};

/** Bitcoin funding: pay ONE output of `amountSats` to `payTo`. */
export type BtcPayment = {
  readonly chain: string;
  readonly family: 'bitcoin';
  readonly sign: 'btc-payment';
  readonly payTo: string;
  readonly amountSats: string;
  /** BIP 21. */
  readonly uri: string;
  readonly escrow: string;
};

/** Bitcoin claim or refund: sign each sighash (SIGHASH_ALL), or the PSBT. */
export type BtcSighash = {
  readonly chain: string;
  readonly family: 'bitcoin';
  readonly sign: 'btc-sighash';
  readonly psbtBase64: string;
  readonly sighashHexes: readonly string[];
  readonly escrow: string;
  readonly feeSats: string;
};

/** Solana: one transaction to sign by the party whose transaction it is, who pays for it. */
export type SolanaMaterial = {
  readonly chain: string;
  readonly family: 'solana';
  readonly sign: 'solana-tx';
  /** Base64 of the whole transaction, with room for its one signature. */
  readonly transaction: string;
  /** Block height after which no block takes it. */
  readonly lastValidBlockHeight: number;
  readonly escrow: string;
};

export type Material = EvmMaterial | BtcPayment | BtcSighash | SolanaMaterial;

/** Bitcoin signatures to assemble into the PSBT's witnesses: 64-byte compact or DER, hex. */
export type SignedPsbt = {
  readonly psbtBase64: string;
  readonly signaturesHex: readonly string[];
  readonly preimageHex?: string;
};

/** What `POST /v1/tx/broadcast` takes as `signed`: raw hex, or a PSBT and its signatures. */
export type Signed = string | SignedPsbt;
