// The description of `/account`, beside that of `/v1`: for the pages of this market's own site,
// which carry the cookie of a session.

import type { Operation } from '../command.ts';
import type { Json } from '../examples.ts';
import { apiErrors, describe, type Named, refTo, type Surface } from '../openapi.ts';
import { accountId, exampleIn } from '../schemas/common.ts';
import { accountHeader, requestHeader } from './same-origin.ts';

const { 422: _keyReused, ...ofAll } = apiErrors;
const errors = {
  ...ofAll,
  401: 'no account is signed in here, or the session has ended',
  403:
    'not from a page of this site; or this needs a sign-in of the last 10 minutes, or one by a ' +
    'wallet',
  404: 'unknown, or a way of signing in that is not offered here',
  409: 'not in this state; the code says what has changed',
  500: 'a fault on our side, of which nothing is left',
  503: 'shutting down, accounts are off, or something that is asked does not answer; see Retry-After',
};

const string = { type: 'string' };
const cookieRef = { 'Set-Cookie': refTo('headers', 'Set-Cookie') };

export function describeAccount(operations: readonly Operation[], settings: Named): Json {
  const { productName, shortName } = settings;
  const surface: Surface = {
    title: `${productName} accounts`,
    description:
      "Accounts of people, for the pages of this market's own site alone. A request from " +
      'anywhere else is 403; there is no CORS. Times are RFC 3339 UTC. Guide: docs/people.md.',
    errors,
    tags: {
      'sign-in': 'Ways into an account. Guide: docs/people.md.',
      account: 'The account that is signed in, its logins and sessions.',
      payout: 'Where the account is paid. Guide: docs/people.md.',
      keys: 'API keys of the account, and tickets for the maker feed.',
      webhooks: 'What was sent to the webhooks of the account. Guide: docs/webhooks.md.',
    },
    security: [{ session: [] }],
    components: {
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: `__Host-${shortName}_session`,
          description: 'On http at loopback its name is without `__Host-`.',
        },
      },
      parameters: parametersFor(shortName),
      headers: {
        'Set-Cookie': {
          description: "a session's token, or the browser's own name; HttpOnly, SameSite=Lax",
          schema: string,
          example: `__Host-${shortName}_session=…; Path=/; HttpOnly; SameSite=Lax; Secure`,
        },
      },
    },
    parameters: ({ method, access }) => {
      if (method === 'GET') return [];
      const ofWhom = access.kind === 'session' ? 'OfAccount' : 'OfAccountIfAny';
      return [refTo('parameters', 'FromOurPage'), refTo('parameters', ofWhom)];
    },
    headers: () => cookieRef,
    errorHeaders: () => cookieRef,
  };
  return describe(surface, operations, settings);
}

function parametersFor(shortName: string): Json {
  const header = (name: string, required: boolean, schema: Json, description: string) => ({
    name,
    in: 'header',
    required,
    description,
    schema,
    example: (schema.enum as string[] | undefined)?.[0] ?? exampleIn(accountId),
  });
  const ofAccount = accountHeader(shortName);
  const uuid = { type: 'string', format: 'uuid' };
  const other = 'Nothing is done to another one: 409 `other_account`.';
  return {
    // A form cannot send it, nor a script of another origin.
    FromOurPage: header(
      requestHeader(shortName),
      true,
      { type: 'string', enum: ['1'] },
      'Sent with every write by our own pages, beside Origin.',
    ),
    // A tab that was left open shows somebody else than who is signed in by now.
    OfAccount: header(ofAccount, true, uuid, `The account that the page shows. ${other}`),
    OfAccountIfAny: header(
      ofAccount,
      false,
      uuid,
      'The account that the page shows: of whoever is signed in, wanted with every purpose but ' +
        `sign-in. ${other}`,
    ),
  };
}
