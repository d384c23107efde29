// The services of an operator for people: the address of the site, mail, identity providers, a bot,
// and the origins of other sites whose pages may call the API with keys.

import Type, { type Static } from 'typebox';
import { checkOf } from './check.ts';
import { percentEncoding } from './database-url.ts';
import { closed, entriesOf } from './entries.ts';
import type { Reader } from './environment.ts';
import { isSafeUrl, isUrlEncoded, originOf } from './networks.ts';

/** Identity providers, and the scopes asked of one. The start refuses more. */
export const mostProviders = 20;
const mostScopes = 20;
/** Lets a bot write to whoever signs in (core.telegram.org/bots/telegram-login). */
export const writingScope = 'telegram:bot_access';

const providerSchema = Type.Object(
  {
    /** In the address that it leads back to: `/account/provider/return/<id>`. */
    id: Type.String({ pattern: '^[a-z][a-z0-9-]{0,31}$' }),
    label: Type.String({ pattern: '^[^\\p{Cc}\\p{Cs}]{1,50}$' }),
    issuer: Type.String({ minLength: 1, maxLength: 500 }),
    clientId: Type.String({ pattern: '^\\S{1,500}$' }),
    clientSecretFile: Type.String({ minLength: 1, maxLength: 1_000 }),
    /** RFC 6749, 3.3: printable ASCII without space, quotes and backslash. */
    scopes: Type.Optional(
      Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,100}$' }), {
        maxItems: mostScopes,
      }),
    ),
    /** Its claim `id` is where the bot may write: Telegram. */
    messages: Type.Optional(Type.Boolean()),
    /** Its ID tokens give back the nonce of the request, as the protocol wants. */
    nonce: Type.Optional(Type.Boolean()),
  },
  closed,
);
const checkProvider = checkOf(providerSchema, 'the entry');
type GivenProvider = Static<typeof providerSchema>;

export type ProviderSettings = Readonly<Required<Omit<GivenProvider, 'clientSecretFile'>>> & {
  readonly clientSecret: string;
};

export type MailSettings = {
  /** smtp://[user:password@]host[:port] or smtps://; a secret. */
  readonly url: string;
  readonly from: string;
};

export type BotSettings = { readonly token: string; readonly api: string };

export type PeopleSettings = {
  /** Origin of this market's pages; null = none but loopback on the dev network. */
  readonly publicUrl: string | null;
  /** null = no sign-in by e-mail, and no message by it. */
  readonly mail: MailSettings | null;
  readonly providers: readonly ProviderSettings[];
  /** null = no message by Telegram. */
  readonly bot: BotSettings | null;
  readonly corsOrigins: readonly string[];
  /** How long another payout wallet waits that the one before did not sign for. */
  readonly payoutHoldSeconds: number;
};

export function readPeople(read: Reader): PeopleSettings {
  return {
    publicUrl: publicUrlOf(read),
    mail: mailOf(read),
    providers: providersOf(read),
    bot: botOf(read),
    corsOrigins: originsOf(read),
    payoutHoldSeconds: read.whole('PARLEY_PAYOUT_HOLD', 72 * 3_600, 3_600, 90 * 86_400),
  };
}

function publicUrlOf({ text, refuse }: Reader): string | null {
  const given = text('PARLEY_PUBLIC_URL');
  if (given === null) return null;
  const origin = originOf(given);
  if (origin === null) {
    refuse(
      'PARLEY_PUBLIC_URL must be an origin, such as https://market.example' +
        ` (http on loopback only); got "${given}"`,
    );
  }
  return origin;
}

/** Each is sent to whoever asks from it; a market that serves more has a page of its own. */
const mostOrigins = 20;

function originsOf({ list, refuse }: Reader): string[] {
  const origins = list('PARLEY_CORS_ORIGINS', originOf, 'origin, such as https://bot.example');
  if (origins.length > mostOrigins) {
    refuse(`PARLEY_CORS_ORIGINS holds ${origins.length} origins; at most ${mostOrigins} may be`);
  }
  return origins;
}

function mailOf({ text, refuse, secret }: Reader): MailSettings | null {
  const given = text('PARLEY_SMTP_URL');
  const from = text('PARLEY_MAIL_FROM') ?? '';
  if (given === null) return null;
  const url = given.startsWith('@') ? secret('PARLEY_SMTP_URL', given.slice(1)) : given;
  // The value is not quoted: it may hold a password.
  const isPlain = /^smtps?:\/\/[^\s/?#]+\/?$/.test(url) && isUrlEncoded(url);
  if (!isPlain || !URL.canParse(url)) {
    refuse(
      'PARLEY_SMTP_URL must be smtp://[user:password@]host[:port], smtps://… or @file;' +
        ` ${percentEncoding}`,
    );
  }
  if (!/^[^\s@]+@[^\s@]+$|^[^<>\r\n]{1,100} <[^\s@]+@[^\s@<>]+>$/.test(from)) {
    refuse(
      `PARLEY_MAIL_FROM must be what mail is from, such as Parley <no-reply@market.example>;` +
        ` got "${from}"`,
    );
  }
  return { url, from };
}

function botOf({ text, refuse, secret }: Reader): BotSettings | null {
  const file = text('PARLEY_TELEGRAM_BOT_TOKEN_FILE');
  const given = text('PARLEY_TELEGRAM_API') ?? 'https://api.telegram.org';
  if (file === null) return null;
  const token = secret('PARLEY_TELEGRAM_BOT_TOKEN_FILE', file);
  if (token !== '' && !/^\d{3,20}:[\w-]{20,100}$/.test(token)) {
    refuse('PARLEY_TELEGRAM_BOT_TOKEN_FILE holds no bot token (digits, a colon, letters)');
  }
  const api = originOf(given);
  if (api === null) refuse(`PARLEY_TELEGRAM_API must be an origin; got "${given}"`);
  return { token, api: api ?? given };
}

function providersOf({ json, refuse, secret }: Reader): readonly ProviderSettings[] {
  const setting = 'PARLEY_IDENTITY_PROVIDERS';
  const { values, wrong } = entriesOf<ProviderSettings>(json(setting, []), {
    setting,
    wanted: `a JSON array of at most ${mostProviders} providers`,
    least: 0,
    most: mostProviders,
    namedBy: ['id'],
    read: (entry) => {
      const fault = checkProvider(entry);
      if (fault !== null) return fault;
      const { clientSecretFile: file, ...given } = entry as GivenProvider;
      const scopes = given.scopes ?? ['openid', 'email', 'profile'];
      const rest = { messages: false, nonce: true, ...given, scopes };
      const said = `${setting}, ${rest.id}: clientSecretFile`;
      return faultOf(rest) ?? { ...rest, clientSecret: secret(said, file) };
    },
    isSame: (one, other) => one.id === other.id || one.issuer === other.issuer,
    twice: 'another entry has this id or issuer',
  });
  refuse(...wrong);
  return values;
}

function faultOf({ issuer, scopes, messages }: Omit<ProviderSettings, 'clientSecret'>) {
  if (!URL.canParse(issuer) || !isSafeUrl(new URL(issuer))) {
    return 'field "issuer" must be https (http on loopback only)';
  }
  if (!scopes.includes('openid')) return 'field "scopes" must hold openid';
  if (messages && !(scopes.includes(writingScope) && scopes.includes('profile'))) {
    return `field "messages" needs the scopes profile and ${writingScope}`;
  }
  return null;
}
