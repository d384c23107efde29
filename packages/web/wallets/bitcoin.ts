// Wallets of Bitcoin, by WBIP-004 as sats-connect and others speak it: texts, and plain payments to
// an escrow's address. Keys of escrows are the page's own.

import { accountAddress, mustBeSigned, type ProofPlace } from '@parley/sdk/wallets/proofs.ts';
import { asked, declined, failed, fieldOf, lied, personMs, refusalOf } from './asked.ts';
import type { BitcoinLink, BitcoinPayment, FoundWallet } from './types.ts';

/** The purpose of an address where a wallet has several: not for ordinals or stacks. */
const forPayments: readonly unknown[] = ['payment', 'p2wpkh', 'p2sh'];

export async function linkBitcoin(
  provider: unknown,
  found: FoundWallet,
  proof: ProofPlace,
): Promise<BitcoinLink> {
  const { name } = found;
  const message = 'Where you sign in and pay from';
  const answer = await ask(provider, name, 'getAddresses', { purposes: ['payment'], message });
  const listed = fieldOf(answer, 'addresses') ?? answer;
  const all: readonly unknown[] = Array.isArray(listed) ? listed : [];
  const isForPayments = (each: unknown) =>
    ['purpose', 'type', 'addressType'].some((field) => forPayments.includes(fieldOf(each, field)));
  const said = fieldOf(all.find(isForPayments) ?? all[0], 'address');
  const address = accountAddress('bitcoin', said, proof);
  return {
    family: 'bitcoin',
    found,
    signer: {
      family: 'bitcoin',
      address,
      signMessage: async (text) => {
        const input = { address, message: text, protocol: 'BIP322', paymentType: 'p2wpkh' };
        const signed = await ask(provider, name, 'signMessage', input);
        const signature = fieldOf(signed, 'signature');
        return mustBeSigned({ family: 'bitcoin', address }, text, signature, proof);
      },
    },
    // There are no events: each answer is checked against the account that was linked.
    onGone: () => () => {},
    pay: (payment) => pay(provider, name, payment, proof),
  };
}

async function pay(
  provider: unknown,
  name: string,
  { payTo, amountSats, withinMs }: BitcoinPayment,
  proof: ProofPlace,
): Promise<string> {
  accountAddress('bitcoin', payTo, proof);
  if (amountSats <= 0n || amountSats > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw failed('failed', `${amountSats} sats is no amount that a wallet can be asked to pay`);
  }
  const recipients = [{ address: payTo, amount: Number(amountSats) }];
  const answer = await ask(provider, name, 'sendTransfer', { recipients }, withinMs);
  const txid = fieldOf(answer, 'txid');
  if (typeof txid === 'string' && /^[0-9a-f]{64}$/i.test(txid)) return txid.toLowerCase();
  throw lied(name, 'says that it has paid, and names no transaction: the chain will show it');
}

/** The code that sats-connect calls USER_REJECTION. */
const userRejection = -32_000;

/** Answers are JSON-RPC: `result` or `error`; some wallets throw the latter. */
async function ask(
  provider: unknown,
  name: string,
  method: string,
  params: object,
  limitMs = personMs,
): Promise<unknown> {
  const request = fieldOf(provider, 'request');
  if (typeof request !== 'function') throw lied(name, 'takes no requests');
  const answering = async (): Promise<unknown> => {
    try {
      return await Reflect.apply(request, provider, [method, params]);
    } catch (error) {
      return { error: fieldOf(error, 'error') ?? error };
    }
  };
  const answer = await asked(name, answering, limitMs);
  const refusal = fieldOf(answer, 'error') ?? null;
  if (fieldOf(refusal, 'code') === userRejection) throw declined(name);
  if (refusal !== null) throw refusalOf(name, refusal);
  return fieldOf(answer, 'result');
}
