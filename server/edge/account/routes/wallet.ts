// Sign-in by a wallet's signature.

import type { FastifyInstance } from 'fastify';
import { begun, intentOf } from '../../../people/ceremonies.ts';
import { type Proven, takeUp } from '../../../people/sign-in.ts';
import { beginText, checkText, productIn, signInStatement } from '../../../people/wallet.ts';
import type { Deps } from '../../../ports/deps.ts';
import { anyBrowser } from '../declare.ts';
import { signedInReply } from '../schemas.ts';
import { askText, giveSignature, textToSign } from '../schemas-wallet.ts';
import { answerOf } from '../taken-up.ts';

export function registerWallet(app: FastifyInstance, deps: Deps): void {
  anyBrowser(app, deps, {
    method: 'POST',
    url: '/account/wallet',
    operationId: 'askForText',
    summary: 'The text that a wallet signs to sign in: good once, in this browser, for 10 minutes',
    tags: ['sign-in'],
    signIn: true,
    body: askText,
    replies: { 200: textToSign },
    handle: async ({ body, site, browser, session }) => {
      const { family, address, purpose, chainId = null } = body;
      const statement = signInStatement(purpose, productIn(deps.settings, site));
      const asked = { way: 'wallet', site, family, address, statement, chainId } as const;
      const text = await deps.db.transaction((tx) =>
        beginText(tx, deps, { ...begun(deps, purpose, browser, session), ...asked }),
      );
      return { body: { ...text, expiresAt: text.expiresAt.toISOString() } };
    },
  });

  anyBrowser(app, deps, {
    method: 'POST',
    url: '/account/wallet/proof',
    operationId: 'giveSignature',
    summary: 'Sign in, add the wallet as a login or be fresh again by the signed text',
    tags: ['sign-in'],
    signIn: true,
    body: giveSignature,
    replies: { 200: signedInReply },
    handle: async ({ body, site, browser, session, signal }) => {
      const signed = { ...body, way: 'wallet', site, browser } as const;
      const { ceremony, address, pubkey } = await checkText(deps, signed, signal);
      const intent = intentOf(ceremony, session);
      const proven: Proven = { way: 'wallet', family: body.family, address, pubkey };
      return answerOf(app, deps, session, (tx) => takeUp(tx, deps, proven, intent, browser));
    },
  });
}
