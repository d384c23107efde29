// Ways into an account: a code sent by mail, a wallet's signature, a passkey. Those through an
// identity provider are in provider.ts.

import { ParleyError } from '@parley/core/errors.ts';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { begun, intentOf } from '../../../people/ceremonies.ts';
import { askForCode, checkCode, parseEmail, takeCode } from '../../../people/email.ts';
import * as passkeys from '../../../people/passkeys.ts';
import { type Proven, takeUp } from '../../../people/sign-in.ts';
import { beginText, checkText, productIn, signInStatement } from '../../../people/wallet.ts';
import { waysAt } from '../../../people/ways.ts';
import type { Place } from '../../command.ts';
import { answerOf, anyBrowser, signedIn } from '../declare.ts';
import * as shapes from '../schemas.ts';

export function registerSignIn(place: Place): void {
  const { deps } = place;
  anyBrowser(place, 'GET /account/ways', 'getWays', {
    about: 'What one may sign in with here. It says too whether mail can be sent just now.',
    replies: { 200: shapes.ways },
    handle: async ({ site }) => ({ body: waysAt(deps, site) }),
  });
  byEmail(place);
  byWallet(place);
  makePasskeys(place);
  byPasskey(place);
}

function byEmail(place: Place): void {
  const { deps } = place;
  anyBrowser(place, 'POST /account/email', 'askForCode', {
    about:
      'Have a code of six digits sent to an e-mail address. It is good for 10 minutes and 5 tries. ' +
      'Where many are asked for it has 20 digits, is good for an hour, and is one for all of them.',
    signIn: true,
    body: shapes.askCode,
    replies: { 200: shapes.codeSent },
    handle: async ({ body, browser, session }) => {
      const { messaging } = deps;
      if (messaging?.sendCode == null) {
        throw new ParleyError('way_off', 'this market sends no e-mail; sign in in another way');
      }
      const { sendCode } = messaging;
      const address = parseEmail(body.address);
      const asked = { ...begun(deps, body.purpose, browser, session), address };
      const work = deps.db.transaction((tx) => askForCode(tx, deps, asked, sendCode));
      return { body: { address, expiresAt: (await work).expiresAt } };
    },
  });

  anyBrowser(place, 'POST /account/email/code', 'giveCode', {
    about: 'Sign in, add the address as a login or be fresh again by the code that was sent.',
    signIn: true,
    body: shapes.giveCode,
    replies: { 200: shapes.signedInReply },
    handle: async ({ body, browser, session }) => {
      const given = { address: parseEmail(body.address), code: body.code, browser, session };
      await checkCode(deps, given);
      return answerOf(place, session, (tx) => takeCode(tx, deps, given));
    },
  });
}

function byWallet(place: Place): void {
  const { deps } = place;
  anyBrowser(place, 'POST /account/wallet', 'askForText', {
    about:
      'The text that a wallet signs to sign in. It is good once, in this browser, for 10 minutes.',
    signIn: true,
    body: shapes.askText,
    replies: { 200: shapes.textToSign },
    handle: async ({ body, site, browser, session }) => {
      const { family, address, purpose, chainId = null } = body;
      const statement = signInStatement(purpose, productIn(deps.settings, site));
      const asked = { way: 'wallet', site, family, address, statement, chainId } as const;
      const ceremony = { ...begun(deps, purpose, browser, session), ...asked };
      return { body: await deps.db.transaction((tx) => beginText(tx, deps, ceremony)) };
    },
  });

  anyBrowser(place, 'POST /account/wallet/proof', 'giveSignature', {
    about: 'Sign in, add the wallet as a login or be fresh again by the signed text.',
    signIn: true,
    body: shapes.giveSignature,
    replies: { 200: shapes.signedInReply },
    handle: async ({ body, site, browser, session, signal }) => {
      const signed = { ...body, way: 'wallet', site, browser } as const;
      const { ceremony, address, pubkey } = await checkText(deps, signed, signal);
      const intent = intentOf(ceremony, session);
      const proven: Proven = { way: 'wallet', family: body.family, address, pubkey };
      return answerOf(place, session, (tx) => takeUp(tx, deps, proven, intent, browser));
    },
  });
}

/** The market asks for no extension that counts. */
const extensions = { clientExtensionResults: {} };

function makePasskeys(place: Place): void {
  const { deps } = place;
  signedIn(place, 'POST /account/passkey/add', 'beginPasskey', {
    about:
      'What the browser makes a passkey of this account from. It is good once, for 10 minutes.',
    fresh: true,
    replies: { 200: shapes.creationOptions },
    handle: async ({ site, browser, session }) => {
      const asked = { site, browser, session };
      return { body: await deps.db.transaction((tx) => passkeys.beginMaking(tx, deps, asked)) };
    },
  });

  signedIn(place, 'POST /account/passkey/add/proof', 'addPasskey', {
    about: 'Add the passkey that the browser has made as a login of this account.',
    fresh: true,
    change: true,
    body: shapes.madePasskey,
    replies: { 200: shapes.signedInReply },
    handle: async ({ body, site, browser, session }) => {
      const { id, rawId, type, response: said } = body.response;
      const response: RegistrationResponseJSON = { id, rawId, type, response: said, ...extensions };
      const given = { site, browser, session, response };
      const { ceremony, proven } = await passkeys.checkMade(deps, given, body.name.trim());
      const intent = intentOf(ceremony, session);
      return answerOf(place, session, (tx) => takeUp(tx, deps, proven, intent, browser));
    },
  });
}

function byPasskey(place: Place): void {
  const { deps } = place;
  anyBrowser(place, 'POST /account/passkey', 'askPasskey', {
    about: 'What the browser asks its passkeys with. It is good once, for 10 minutes.',
    signIn: true,
    body: shapes.askPasskey,
    replies: { 200: shapes.requestOptions },
    handle: async ({ body, site, browser, session }) => {
      const asked = begun(deps, body.purpose, browser, session);
      return {
        body: await deps.db.transaction((tx) => passkeys.beginAsking(tx, deps, asked, site)),
      };
    },
  });

  anyBrowser(place, 'POST /account/passkey/proof', 'givePasskey', {
    about: 'Sign in or be fresh again by a passkey of the account.',
    signIn: true,
    body: shapes.usedPasskey,
    replies: { 200: shapes.signedInReply },
    handle: async ({ body, site, browser, session }) => {
      const { id, rawId, type, response: said } = body.response;
      const { userHandle, ...rest } = said;
      const named = userHandle == null ? rest : { ...rest, userHandle };
      const answer = { id, rawId, type, response: named, ...extensions };
      const response: AuthenticationResponseJSON = answer;
      const used = await passkeys.checkUsed(deps, { site, browser, session, response });
      return answerOf(place, session, (tx) =>
        passkeys.takeUsed(tx, deps, used, { browser, session }),
      );
    },
  });
}
