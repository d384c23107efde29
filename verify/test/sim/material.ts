// The material of a simulated builder and a party's signature of it, in the shapes of the four
// families: inside each is the same transaction.

import type { Material } from '@parley/chains/interface/material.ts';
import type { Family } from '@parley/core/families.ts';
import { rawOf, type SimTransaction, transactionOf } from './chain.ts';

/** `nowSeconds`: some families' bytes do not live long. */
export function materialOf(family: Family, tx: SimTransaction, nowSeconds: number): Material {
  const { chain, escrow } = tx;
  const raw = rawOf(tx);
  switch (family) {
    case 'evm': {
      const txs = [{ to: escrow, data: `0x${raw}`, value: '0x0' }];
      return { chain, family, sign: 'evm-tx', chainId: 1, from: tx.by, txs, escrow };
    }
    case 'bitcoin': {
      if (tx.verb === 'fund') {
        const payment = { payTo: escrow, amountSats: tx.amount, uri: `bitcoin:${escrow}` };
        return { chain, family, sign: 'btc-payment', ...payment, escrow };
      }
      const rest = { psbtBase64: base64Of(raw), sighashHexes: ['00'], escrow };
      const fees = { feeSats: String(tx.fee), feeRateSatPerVbyte: 1, ladder: [] };
      return { chain, family, sign: 'btc-sighash', ...rest, ...fees };
    }
    case 'solana': {
      const transaction = base64Of(raw);
      return { chain, family, sign: 'solana-tx', transaction, lastValidBlockHeight: 0, escrow };
    }
    case 'tron': {
      const value = { data: raw, owner_address: tx.by, contract_address: escrow };
      const type = 'TriggerSmartContract' as const;
      const raw_data = {
        contract: [{ parameter: { value, type_url: '' }, type }],
        fee_limit: 0,
        ref_block_bytes: '',
        ref_block_hash: '',
        timestamp: nowSeconds * 1_000,
        expiration: (nowSeconds + tronLifeSeconds) * 1_000,
      };
      const transactions = [{ visible: false as const, txID: '', raw_data, raw_data_hex: raw }];
      return { chain, family, sign: 'tron-txid', from: tx.by, transactions, escrow };
    }
  }
}

const base64Of = (hex: string) => Buffer.from(hex, 'hex').toString('base64');

/** TRON's bytes live a minute; enough for a signer, so that late ones are seen to be refused. */
const tronLifeSeconds = 600;

/** The transaction inside; null of a Bitcoin payment, which a wallet makes by itself. */
export function insideOf(material: Material): SimTransaction | null {
  const base64 = (text: string) => Buffer.from(text, 'base64').toString('hex');
  switch (material.sign) {
    case 'evm-tx':
      return transactionOf((material.txs[0]?.data ?? '').slice(2));
    case 'btc-payment':
      return null;
    case 'btc-sighash':
      return transactionOf(base64(material.psbtBase64));
    case 'solana-tx':
      return transactionOf(base64(material.transaction));
    case 'tron-txid':
      return transactionOf(material.transactions[0]?.raw_data_hex ?? '');
  }
}
