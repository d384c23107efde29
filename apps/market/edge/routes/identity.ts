// The identity of a caller: keys by wallet signature, the account of a key, and its further
// wallets.

import { families } from '@parley/core/families.ts';
import type { FastifyInstance } from 'fastify';
import { mintKey } from '../../market/keys.ts';
import { issueNonce, minting } from '../../market/nonces.ts';
import { addProof, checkProof, removeProof, walletsByFamily } from '../../market/wallets.ts';
import type { Deps } from '../../ports/deps.ts';
import { command, open, read } from '../command.ts';
import * as shapes from '../schemas/identity.ts';

export function registerKeys(app: FastifyInstance, deps: Deps): void {
  const place = { app, deps, tag: 'keys' };
  open(place, 'GET /v1/keys/nonce', 'getKeyNonce', {
    about: 'A nonce for minting a key. It is good once, for 5 minutes.',
    replies: { 200: shapes.nonceReply },
    handle: async () => ({ nonce: await issueNonce(deps, minting) }),
  });

  open(place, 'POST /v1/keys', 'mintKey', {
    about:
      'Mint an API key by wallet signature. Whatever its scopes, a key reads all of its account, ' +
      'registers webhooks and broadcasts.',
    mint: true,
    body: shapes.mintBody,
    replies: { 200: shapes.mintedKey },
    handle: async ({ body }) => {
      const signal = AbortSignal.timeout(deps.settings.chainTimeoutMs);
      const { accountId, ...minted } = await mintKey(deps, body, signal);
      // The key that this one replaced works nowhere any more when the new one is given out.
      if (minted.replaced) await app.edge.keys.revoked(accountId);
      return minted;
    },
  });

  read({ app, deps, tag: 'account' }, '/v1/me', 'getMe', {
    about: 'The account of this key and its wallets.',
    replies: { 200: shapes.me },
    handle: async ({ caller }) => ({
      userId: caller.accountId,
      scopes: caller.scopes,
      wallets: await walletsByFamily(deps.db, caller.accountId, new Date(deps.now())),
    }),
  });
}

const names = { evm: 'Evm', tron: 'Tron', bitcoin: 'Bitcoin', solana: 'Solana' } as const;

export function registerWallets(app: FastifyInstance, deps: Deps): void {
  const place = { app, deps, tag: 'wallets' };
  read(place, '/v1/wallets/nonce', 'getWalletNonce', {
    about: 'A nonce for proving or vouching for a wallet. It is good once, for 10 minutes.',
    query: shapes.nonceQuery,
    replies: { 200: shapes.nonceReply },
    handle: async ({ caller: { accountId }, query: { purpose: pool = 'link' } }) => ({
      nonce: await issueNonce(deps, { pool, accountId }),
    }),
  });

  for (const family of families) {
    command(place, `POST /v1/wallets/${family}`, `prove${names[family]}Wallet`, {
      about:
        `Prove a wallet of the family ${family}. With it the account may trade; it may receive ` +
        'too where a login wallet has signed for it.',
      body: shapes.proveBody,
      replies: { 200: shapes.provenWallet },
      before: ({ caller, body, signal, attempt }) =>
        checkProof(deps, { accountId: caller.accountId, attempt }, family, body, signal),
      run: async (tx, { caller, prepared }) => ({
        status: 200,
        body: await addProof(tx, deps, caller.accountId, prepared),
      }),
    });
  }

  command(place, 'DELETE /v1/wallets/:address', 'removeWallet', {
    about: 'Remove the proof of a wallet. A login address has none, and one that is paid stays.',
    fresh: true,
    params: shapes.addressParams,
    replies: { 200: shapes.removedWallet },
    run: async (tx, { caller, params }) => {
      const { address, family } = await removeProof(tx, deps, caller.accountId, params.address);
      return { status: 200, body: { address, family, proven: false } };
    },
  });
}
