// Proving further wallets to the account, and removing a proof.

import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { type Family, families } from '../../../core/families.ts';
import { issueNonce } from '../../market/nonces.ts';
import { addProof, checkProof, removeProof } from '../../market/wallets.ts';
import type { Deps } from '../../ports/deps.ts';
import { command, read } from '../command.ts';
import { oneOf } from '../schemas/common.ts';
import { nonceReply, proveBody, provenWallet, removedWallet } from '../schemas/identity.ts';

const proving: Readonly<Record<Family, { operationId: string; summary: string }>> = {
  evm: { operationId: 'proveEvmWallet', summary: 'Prove an EVM wallet' },
  tron: { operationId: 'proveTronWallet', summary: 'Prove a TRON wallet' },
  bitcoin: { operationId: 'proveBitcoinWallet', summary: 'Prove a Bitcoin wallet' },
  solana: { operationId: 'proveSolanaWallet', summary: 'Prove a Solana wallet' },
};

export function registerWallets(app: FastifyInstance, deps: Deps): void {
  read(app, deps, {
    url: '/v1/wallets/nonce',
    operationId: 'getWalletNonce',
    summary: 'A nonce for proving (link) or vouching for (authorize) a wallet: 10 minutes',
    tags: ['wallets'],
    query: Type.Object({ purpose: Type.Optional(oneOf(['link', 'authorize'])) }),
    replies: { 200: nonceReply },
    handle: async ({ caller, query }) => ({
      nonce: await issueNonce(deps, {
        pool: query.purpose ?? 'link',
        accountId: caller.accountId,
      }),
    }),
  });

  for (const family of families) {
    command(app, deps, {
      method: 'POST',
      url: `/v1/wallets/${family}`,
      ...proving[family],
      tags: ['wallets'],
      fresh: true,
      body: proveBody,
      replies: { 200: provenWallet },
      before: ({ caller, body, signal, attempt }) =>
        checkProof(deps, { accountId: caller.accountId, attempt }, family, body, signal),
      run: async (tx, { caller, prepared }) => ({
        status: 200,
        body: await addProof(tx, deps, caller.accountId, prepared),
      }),
    });
  }

  command(app, deps, {
    method: 'DELETE',
    url: '/v1/wallets/:address',
    operationId: 'removeWallet',
    summary: 'Remove a proof; a login address is not one, and one that is paid stays',
    tags: ['wallets'],
    fresh: true,
    params: Type.Object({ address: Type.String() }),
    replies: { 200: removedWallet },
    run: async (tx, { caller, params }) => {
      const { address, family } = await removeProof(tx, deps, caller.accountId, params.address);
      return { status: 200, body: { address, family, proven: false } };
    },
  });
}
