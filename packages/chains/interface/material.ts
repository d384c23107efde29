// The material that a builder hands to a customer to sign, per family. Shapes: decisions.md,
// section 3. Every field can be recomputed from the terms (docs/dont-trust-verify.md).

import type { EachOf } from '@parley/core/families.ts';
import type {
  BitcoinAddress,
  EvmAddress,
  Millis,
  SolanaAddress,
  TronAddress,
  UnixSeconds,
} from '@parley/core/nominal.ts';

export type EvmCall = { readonly to: EvmAddress; readonly data: string; readonly value: string };

/** EVM: sign and send each in order, from `from` where it is given (funding). Hex with 0x. */
export type EvmMaterial = {
  readonly chain: string;
  readonly family: 'evm';
  readonly sign: 'evm-tx';
  readonly chainId: number;
  readonly from?: EvmAddress;
  readonly txs: readonly EvmCall[];
  readonly escrow: EvmAddress;
  /** For the funding of a token: signatures that replace `txs`. One of all is enough. */
  readonly alternatives?: readonly FundAlternative[];
};

/** EIP-712: the separator hashes the fields that are there, in this order. `chainId` is decimal. */
export type TokenDomain = {
  readonly name: string;
  readonly version?: string;
  readonly chainId?: string;
  readonly verifyingContract: EvmAddress;
  readonly salt?: string;
};

export type TypedField = { readonly name: string; readonly type: string };

/** EIP-712, as `eth_signTypedData_v4` names its parts. Every integer is a decimal string. */
export type TypedData = {
  readonly domain: TokenDomain;
  /** Without `EIP712Domain`, which follows from the domain. */
  readonly types: Readonly<Record<string, readonly TypedField[]>>;
  readonly primaryType: string;
  readonly message: Readonly<Record<string, string>>;
};

/** The calldata is this and then `v`, `r` and `s` of the signature, a word each. */
export type SignedCall = {
  readonly to: EvmAddress;
  readonly value: '0x0';
  readonly dataBeforeSignature: string;
};

/** EIP-2612: `from` signs the typed data and sends the one transaction. */
export type PermitAlternative = {
  readonly way: 'permit';
  readonly from: EvmAddress;
  readonly typedData: TypedData;
  readonly call: SignedCall;
};

/** EIP-3009: the refund address signs the typed data, and anyone sends the transaction. */
export type AuthorizationAlternative = {
  readonly way: 'authorization';
  readonly from: null;
  /** null until it is asked for: from then on the leg does not move. So is `call`. */
  readonly typedData: TypedData | null;
  readonly call: SignedCall | null;
  /** Whether the market sends it now, given the signature. */
  readonly relay: boolean;
};

export type FundAlternative = PermitAlternative | AuthorizationAlternative;

/** Bitcoin funding: pay ONE output of `amountSats` to `payTo`. */
export type BtcPayment = {
  readonly chain: string;
  readonly family: 'bitcoin';
  readonly sign: 'btc-payment';
  readonly payTo: BitcoinAddress;
  readonly amountSats: string;
  /** BIP 21. */
  readonly uri: string;
  readonly escrow: BitcoinAddress;
};

/** Bitcoin claim or refund: sign each sighash, or the PSBT. */
export type BtcSighash = {
  readonly chain: string;
  readonly family: 'bitcoin';
  readonly sign: 'btc-sighash';
  readonly psbtBase64: string;
  readonly sighashHexes: readonly string[];
  /** BIP 340, by the key of a Taproot leaf. Absent: ECDSA, of P2WSH. */
  readonly scheme?: 'schnorr';
  readonly escrow: BitcoinAddress;
  readonly feeSats: string;
  /** The same as a rate, rounded down. */
  readonly feeRateSatPerVbyte: number;
  /** The fee to pay if it is not mined by then: build it again. The first is now. */
  readonly ladder: readonly {
    readonly at: UnixSeconds;
    readonly feeRateSatPerVbyte: number;
    readonly feeSats: string;
  }[];
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
  readonly escrow: SolanaAddress;
  /** For a funding: the SOL that the funder pays beside the amount. */
  readonly costs?: FundCosts;
};

export type FundCosts = {
  readonly depositLamports: string;
  /** The part of it that a claim gives back to the funder at once; a refund gives all. */
  readonly returnedLamports: string;
  /** The rest: the part that a claim leaves comes back from the timelock on. */
  readonly keptLamports: string;
  readonly feeLamports: string;
};

/** An unsigned call of a contract as java-tron's JSON: addresses in 41-hex, amounts in sun. */
export type TronTransaction = {
  readonly visible: false;
  /** SHA-256 of `raw_data_hex`: the signed digest. */
  readonly txID: string;
  readonly raw_data: {
    readonly contract: readonly {
      readonly parameter: {
        readonly value: {
          readonly data: string;
          readonly owner_address: string;
          readonly contract_address: string;
          readonly call_value?: number;
        };
        readonly type_url: string;
      };
      readonly type: 'TriggerSmartContract';
    }[];
    readonly ref_block_bytes: string;
    readonly ref_block_hash: string;
    readonly expiration: Millis;
    readonly fee_limit: number;
    readonly timestamp: Millis;
  };
  readonly raw_data_hex: string;
};

/** TRON: sign each in order as `from`, and send the next when the one before has succeeded. */
export type TronMaterial = {
  readonly chain: string;
  readonly family: 'tron';
  readonly sign: 'tron-txid';
  /** base58 */
  readonly from: TronAddress;
  readonly transactions: readonly TronTransaction[];
  readonly escrow: TronAddress;
};

export type Material = EachOf<{
  evm: EvmMaterial;
  bitcoin: BtcPayment | BtcSighash;
  solana: SolanaMaterial;
  tron: TronMaterial;
}>;

/** Bitcoin signatures to assemble into the PSBT's witnesses, hex: 64 bytes, of ECDSA or DER. */
export type SignedPsbt = {
  readonly psbtBase64: string;
  readonly signaturesHex: readonly string[];
  readonly preimageHex?: string;
};

/** A signed TRON transaction as wallets give it; other fields of the object are ignored. */
export type SignedTron = {
  readonly raw_data_hex: string;
  /** 65 bytes r, s, v in hex each. */
  readonly signature: readonly string[];
  readonly txID?: string;
};

/** The forms that `POST /v1/tx/broadcast` takes as `signed`. */
export type Signed = string | SignedPsbt | SignedTron;
