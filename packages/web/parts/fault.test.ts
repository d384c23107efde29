// "The market refused this" is said of the market's refusals alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyApiError, WalletError } from '@parley/sdk/errors.ts';
import { refusalOf } from '../wallets/asked.ts';
import { saidOf } from './fault.ts';

const market = new ParleyApiError({ status: 409, code: 'wallet_taken', message: 'not yours' });

test('a refusal is said to be of the wallet, of this page, or of the market, as it is', () => {
  const declined = refusalOf('MetaMask', { code: 4001, message: 'User rejected the request.' });
  for (const [error, title] of [
    [declined, 'failed.declined'],
    [new Error('could not lock', { cause: declined }), 'failed.declined'],
    [new WalletError('silent', 'MetaMask has not answered within 120 s'), 'failed.silent'],
    [new WalletError('wrong_network', 'MetaMask is on chain 5'), 'failed.wallet'],
    [new WalletError('lied', 'MetaMask has signed another text'), 'failed.wallet'],
    [market, 'failed.other'],
    [new Error('no such swap'), 'failed.here'],
    ['words alone', 'failed.here'],
  ] as const) {
    assert.equal(saidOf(error).title, title);
  }
});
