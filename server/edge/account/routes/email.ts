// Sign-in by a code sent to an e-mail address.

import type { FastifyInstance } from 'fastify';
import { ParleyError } from '../../../../core/errors.ts';
import { begun } from '../../../people/ceremonies.ts';
import { askForCode, checkCode, parseEmail, takeCode } from '../../../people/email.ts';
import type { Deps } from '../../../ports/deps.ts';
import { anyBrowser } from '../declare.ts';
import { askCode, codeSent, giveCode, signedInReply } from '../schemas.ts';
import { answerOf } from '../taken-up.ts';

export function registerEmail(app: FastifyInstance, deps: Deps): void {
  anyBrowser(app, deps, {
    method: 'POST',
    url: '/account/email',
    operationId: 'askForCode',
    summary: 'Have a code of six digits sent to an e-mail address: 10 minutes, 5 tries',
    tags: ['sign-in'],
    signIn: true,
    body: askCode,
    replies: { 200: codeSent },
    handle: async ({ body, browser, session }) => {
      const { messaging } = deps;
      if (messaging?.sendCode == null) {
        throw new ParleyError('way_off', 'this market sends no e-mail; sign in in another way');
      }
      const address = parseEmail(body.address);
      const asked = { ...begun(deps, body.purpose, browser, session), address };
      const { sendCode } = messaging;
      const { expiresAt } = await deps.db.transaction((tx) =>
        askForCode(tx, deps, asked, sendCode),
      );
      return { body: { address, expiresAt: expiresAt.toISOString() } };
    },
  });

  anyBrowser(app, deps, {
    method: 'POST',
    url: '/account/email/code',
    operationId: 'giveCode',
    summary: 'Sign in, add the address as a login or be fresh again by the code that was sent',
    tags: ['sign-in'],
    signIn: true,
    body: giveCode,
    replies: { 200: signedInReply },
    handle: async ({ body, browser, session }) => {
      const address = parseEmail(body.address);
      const given = { address, code: body.code, browser, session };
      await checkCode(deps, given);
      return answerOf(app, deps, session, (tx) => takeCode(tx, deps, given));
    },
  });
}
