// The services of an operator for people: the address of the site, mail, identity providers, a bot,
// and the origins of other sites whose pages may call the API with keys.

import { percentEncoding } from './database-url.ts';
import { isObject } from './entries.ts';
import type { Reader } from './environment.ts';
import { isSafeUrl, isUrlEncoded, originOf } from './networks.ts';

export type ProviderSettings = {
  /** In the address that it leads back to: `/account/provider/return/<id>`. */
  readonly id: string;
  readonly label: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  /** Its claim `id` is where the bot may write: Telegram. */
  readonly messages: boolean;
  /** Its ID tokens give back the nonce of the request, as the protocol wants. */
  readonly nonce: boolean;
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

/** Identity providers, and the scopes asked of one. The start refuses more. */
const mostProviders = 20;
const mostScopes = 20;
/** Lets a bot write to whoever signs in (core.telegram.org/bots/telegram-login). */
export const writingScope = 'telegram:bot_access';

/** RFC 6749, 3.3: printable ASCII without space, quotes and backslash. */
const isScope = (each: unknown) =>
  typeof each === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(each);
const isScopes = (given: unknown) =>
  Array.isArray(given) &&
  given.length <= mostScopes &&
  given.every(isScope) &&
  given.includes('openid');
const isBoolean = (given: unknown) => typeof given === 'boolean';
const shaped = (shape: RegExp) => (given: unknown) =>
  typeof given === 'string' && shape.test(given);

/** The permitted values of each field, in words too, and its default. */
const providerFields: Readonly<
  Record<string, readonly [isGood: (given: unknown) => boolean, words: string, otherwise?: unknown]>
> = {
  id: [shaped(/^[a-z][a-z0-9-]{0,31}$/), 'small letters, digits and dashes, at most 32'],
  label: [shaped(/^[^\p{Cc}\p{Cs}]{1,50}$/u), 'a text of 1 to 50 characters'],
  issuer: [shaped(/^https?:\/\/\S{1,500}$/), 'its issuer URL'],
  clientId: [shaped(/^\S{1,500}$/), 'its client id'],
  clientSecretFile: [shaped(/^.{1,1000}$/), 'the path of a file with its secret'],
  scopes: [
    isScopes,
    `a list of at most ${mostScopes} with openid in it`,
    ['openid', 'email', 'profile'],
  ],
  messages: [isBoolean, 'true or false', false],
  nonce: [isBoolean, 'true or false', true],
};

function providersOf({ json, refuse, secret }: Reader): ProviderSettings[] {
  const name = 'PARLEY_IDENTITY_PROVIDERS';
  const given = json(name, []);
  if (!Array.isArray(given) || given.length > mostProviders) {
    refuse(`${name} must be a list of at most ${mostProviders} providers`);
    return [];
  }
  const parsed = given.flatMap((each: unknown, at) => {
    if (!isObject(each)) {
      refuse(`${name}[${at}]: it must be an object`);
      return [];
    }
    const defaults = Object.entries(providerFields)
      .filter(([, [, , value]]) => value !== undefined)
      .map(([field, [, , value]]) => [field, value]);
    const whole = { ...Object.fromEntries(defaults), ...each };
    const faults = faultsOf(whole);
    refuse(...faults.map((fault) => `${name}[${at}]: ${fault}`));
    const { clientSecretFile: file, ...rest } = whole as ProviderSettings & Record<string, unknown>;
    const clientSecret =
      faults.length > 0 ? '' : secret(`${name}[${at}]: clientSecretFile`, `${file}`);
    return [{ ...rest, clientSecret }];
  });
  for (const [field, words] of [
    ['id', 'the id "'],
    ['issuer', 'the issuer "'],
  ] as const) {
    const values = parsed.map((each) => each[field] as string | undefined).filter((each) => each);
    const twice = new Set(values.filter((each, at) => values.indexOf(each) !== at));
    for (const each of twice) refuse(`${name}: there are two with ${words}${each}"`);
  }
  return parsed;
}

function faultsOf(fields: Readonly<Record<string, unknown>>): string[] {
  const unknown = Object.keys(fields).filter((field) => !Object.hasOwn(providerFields, field));
  const faults = [
    ...unknown.map((field) => `"${field}" is no field of a provider`),
    ...Object.entries(providerFields).flatMap(([field, [isGood, words]]) =>
      isGood(fields[field]) ? [] : [`${field} must be ${words}`],
    ),
  ];
  if (faults.length > 0) return faults;
  const { issuer, scopes, messages } = fields as unknown as ProviderSettings;
  if (!URL.canParse(issuer) || !isSafeUrl(new URL(issuer))) {
    faults.push('issuer must be https (http on loopback only)');
  }
  if (messages && !(scopes.includes(writingScope) && scopes.includes('profile'))) {
    faults.push(`messages needs the scopes profile and ${writingScope}`);
  }
  return faults;
}
