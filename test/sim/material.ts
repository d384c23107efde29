// What a simulated builder hands out and what a party signs of it, in the shapes of the four
// families: inside each is the same transaction.

import type { Material } from '../../chains/interface/material.ts';
import type { Family } from '../../core/families.ts';
import { rawOf, type SimTransaction, transactionOf } from './transaction.ts';

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
      const psbtBase64 = Buffer.from(raw, 'hex').toString('base64');
      const fees = { feeSats: String(tx.fee), feeRateSatPerVbyte: 1, ladder: [] };
      const rest = { sighashHexes: ['00'], escrow, ...fees };
      return { chain, family, sign: 'btc-sighash', psbtBase64, ...rest };
    }
    case 'solana': {
      const transaction = Buffer.from(raw, 'hex').toString('base64');
      return { chain, family, sign: 'solana-tx', transaction, lastValidBlockHeight: 0, escrow };
    }
    case 'tron':
      return tronMaterial(tx, raw, nowSeconds);
  }
}

/** TRON's bytes live a minute; enough for a signer, so that late ones are seen to be refused. */
const tronLifeSeconds = 600;

function tronMaterial(tx: SimTransaction, raw: string, nowSeconds: number): Material {
  const value = { data: raw, owner_address: tx.by, contract_address: tx.escrow };
  const parameter = { value, type_url: '' };
  const raw_data = {
    contract: [{ parameter, type: 'TriggerSmartContract' as const }],
    ref_block_bytes: '',
    ref_block_hash: '',
    expiration: (nowSeconds + tronLifeSeconds) * 1_000,
    fee_limit: 0,
    timestamp: nowSeconds * 1_000,
  };
  const transactions = [{ visible: false as const, txID: '', raw_data, raw_data_hex: raw }];
  const { chain, escrow } = tx;
  return { chain, family: 'tron', sign: 'tron-txid', from: tx.by, transactions, escrow };
}

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
