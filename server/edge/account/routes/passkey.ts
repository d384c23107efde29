// Passkeys: one is made for the account that is signed in, and then signs in alone.

import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { FastifyInstance } from 'fastify';
import { begun, intentOf } from '../../../people/ceremonies.ts';
import {
  beginAsking,
  beginMaking,
  checkMade,
  checkUsed,
  takeUsed,
} from '../../../people/passkeys.ts';
import { takeUp } from '../../../people/sign-in.ts';
import type { Deps } from '../../../ports/deps.ts';
import { anyBrowser, signedIn } from '../declare.ts';
import { signedInReply } from '../schemas.ts';
import {
  askPasskey,
  creationOptions,
  madePasskey,
  requestOptions,
  usedPasskey,
} from '../schemas-passkey.ts';
import { answerOf } from '../taken-up.ts';

export function registerPasskey(app: FastifyInstance, deps: Deps): void {
  makes(app, deps);
  uses(app, deps);
}

function makes(app: FastifyInstance, deps: Deps): void {
  signedIn(app, deps, {
    method: 'POST',
    url: '/account/passkey/add',
    operationId: 'beginPasskey',
    summary: 'What the browser makes a passkey of this account from: good once, for 10 minutes',
    tags: ['sign-in'],
    fresh: true,
    replies: { 200: creationOptions },
    handle: async ({ site, browser, session }) => {
      const asked = { site, browser, session };
      return { body: await deps.db.transaction((tx) => beginMaking(tx, deps, asked)) };
    },
  });

  signedIn(app, deps, {
    method: 'POST',
    url: '/account/passkey/add/proof',
    operationId: 'addPasskey',
    summary: 'Add the passkey that the browser has made as a login of this account',
    tags: ['sign-in'],
    fresh: true,
    change: true,
    body: madePasskey,
    replies: { 200: signedInReply },
    handle: async ({ body, site, browser, session }) => {
      const { id, rawId, type, response: told } = body.response;
      const response: RegistrationResponseJSON = { id, rawId, type, response: told, ...extensions };
      const given = { site, browser, session, response };
      const { ceremony, proven } = await checkMade(deps, given, body.name.trim());
      const intent = intentOf(ceremony, session);
      return answerOf(app, deps, session, (tx) => takeUp(tx, deps, proven, intent, browser));
    },
  });
}

/** None was asked for that counts. */
const extensions = { clientExtensionResults: {} };

function uses(app: FastifyInstance, deps: Deps): void {
  anyBrowser(app, deps, {
    method: 'POST',
    url: '/account/passkey',
    operationId: 'askPasskey',
    summary: 'What the browser asks its passkeys with: good once, for 10 minutes',
    tags: ['sign-in'],
    signIn: true,
    body: askPasskey,
    replies: { 200: requestOptions },
    handle: async ({ body, site, browser, session }) => {
      const asked = begun(deps, body.purpose, browser, session);
      return { body: await deps.db.transaction((tx) => beginAsking(tx, deps, asked, site)) };
    },
  });

  anyBrowser(app, deps, {
    method: 'POST',
    url: '/account/passkey/proof',
    operationId: 'givePasskey',
    summary: 'Sign in or be fresh again by a passkey of the account',
    tags: ['sign-in'],
    signIn: true,
    body: usedPasskey,
    replies: { 200: signedInReply },
    handle: async ({ body, site, browser, session }) => {
      const { id, rawId, type, response: told } = body.response;
      const { userHandle, ...rest } = told;
      const named = userHandle == null ? rest : { ...rest, userHandle };
      const answer: AuthenticationResponseJSON = {
        id,
        rawId,
        type,
        response: named,
        ...extensions,
      };
      const used = await checkUsed(deps, { site, browser, session, response: answer });
      return answerOf(app, deps, session, (tx) => takeUsed(tx, deps, used, { browser, session }));
    },
  });
}
