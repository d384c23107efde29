// What an operator offers people: the address of the site, mail, identity providers, a bot, and the
// origins of other sites whose pages may call the API with keys.

import { readFileSync } from 'node:fs';

/** Names of this machine that no DNS answers for. */
export function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

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
  /** null = no sign-in by e-mail, and nothing is told by it. */
  readonly mail: MailSettings | null;
  readonly providers: readonly ProviderSettings[];
  /** null = nothing is told by Telegram. */
  readonly bot: BotSettings | null;
  readonly corsOrigins: readonly string[];
  /** How long another payout wallet waits that the one before did not sign for. */
  readonly payoutHoldSeconds: number;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads them; what is wrong is added to `wrong`, a sentence each. Quotes no secret. */
export function readPeople(
  env: Environment,
  json: (name: string) => unknown,
  whole: (name: string, otherwise: number, least: number, most: number) => number,
  wrong: string[],
): PeopleSettings {
  return {
    publicUrl: publicUrlOf(env, wrong),
    mail: mailOf(env, wrong),
    providers: providersOf(json('PARLEY_IDENTITY_PROVIDERS'), wrong),
    bot: botOf(env, wrong),
    corsOrigins: originsOf(env, wrong),
    payoutHoldSeconds: whole('PARLEY_PAYOUT_HOLD', 72 * 3_600, 3_600, 90 * 86_400),
  };
}

/** The origin of a text that is one and nothing more; null otherwise. */
function originOf(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { protocol, origin, hostname } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  return isSafe && text.replace(/\/$/, '').toLowerCase() === origin ? origin : null;
}

function publicUrlOf(env: Environment, wrong: string[]): string | null {
  const given = env.PARLEY_PUBLIC_URL;
  if (given === undefined || given === '') return null;
  const origin = originOf(given);
  if (origin === null) {
    wrong.push(
      'PARLEY_PUBLIC_URL must be an origin, such as https://market.example' +
        ` (http on loopback only); got "${given}"`,
    );
  }
  return origin;
}

/** Each is sent to whoever asks from it; a market that serves more has a page of its own. */
const mostOrigins = 20;

function originsOf(env: Environment, wrong: string[]): string[] {
  const given = (env.PARLEY_CORS_ORIGINS ?? '').split(',').map((each) => each.trim());
  const named = given.filter((each) => each !== '');
  if (named.length > mostOrigins) {
    wrong.push(`PARLEY_CORS_ORIGINS holds ${named.length} origins; at most ${mostOrigins} may be`);
  }
  return named.flatMap((each) => {
    const origin = originOf(each);
    if (origin !== null) return [origin];
    wrong.push(
      `PARLEY_CORS_ORIGINS holds "${each}", which is no origin, such as https://bot.example`,
    );
    return [];
  });
}

function mailOf(env: Environment, wrong: string[]): MailSettings | null {
  const { PARLEY_SMTP_URL: given, PARLEY_MAIL_FROM: from = '' } = env;
  if (given === undefined || given === '') return null;
  const url = given.startsWith('@') ? secretOf('PARLEY_SMTP_URL', given.slice(1), wrong) : given;
  // What was given is not quoted: it may hold a password.
  if (!/^smtps?:\/\/[^\s/]+\/?$/.test(url) || !URL.canParse(url)) {
    wrong.push('PARLEY_SMTP_URL must be smtp://[user:password@]host[:port], smtps://… or @file');
  }
  if (!/^[^\s@]+@[^\s@]+$|^[^<>\r\n]{1,100} <[^\s@]+@[^\s@<>]+>$/.test(from)) {
    wrong.push(
      `PARLEY_MAIL_FROM must be what mail is from, such as Parley <no-reply@market.example>;` +
        ` got "${from}"`,
    );
  }
  return { url, from };
}

function botOf(env: Environment, wrong: string[]): BotSettings | null {
  const { PARLEY_TELEGRAM_BOT_TOKEN_FILE: file, PARLEY_TELEGRAM_API: asked } = env;
  if (file === undefined || file === '') return null;
  const token = secretOf('PARLEY_TELEGRAM_BOT_TOKEN_FILE', file, wrong);
  if (token !== '' && !/^\d{3,20}:[\w-]{20,100}$/.test(token)) {
    wrong.push('PARLEY_TELEGRAM_BOT_TOKEN_FILE holds no bot token (digits, a colon, letters)');
  }
  const given = asked || 'https://api.telegram.org';
  const api = originOf(given);
  if (api === null) wrong.push(`PARLEY_TELEGRAM_API must be an origin; got "${given}"`);
  return { token, api: api ?? given };
}

function secretOf(setting: string, file: string, wrong: string[]): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    wrong.push(`${setting}: ${(error as Error).message}`);
    return '';
  }
}

const mostProviders = 20;
const providerFields = [
  'id',
  'label',
  'issuer',
  'clientId',
  'clientSecretFile',
  'scopes',
  'messages',
  'nonce',
];
const mostScopes = 20;
/** Lets a bot write to whoever signs in (core.telegram.org/bots/telegram-login). */
export const writingScope = 'telegram:bot_access';

function providersOf(given: unknown, wrong: string[]): ProviderSettings[] {
  if (given === undefined) return [];
  const name = 'PARLEY_IDENTITY_PROVIDERS';
  if (!Array.isArray(given) || given.length > mostProviders) {
    wrong.push(`${name} must be a list of at most ${mostProviders} providers`);
    return [];
  }
  const parsed = given.flatMap((each: unknown, at) => {
    const faults: string[] = [];
    const provider = providerOf(each, faults);
    wrong.push(...faults.map((fault) => `${name}[${at}]: ${fault}`));
    return provider === null ? [] : [provider];
  });
  for (const { id, issuer } of parsed) {
    if (parsed.filter((each) => each.id === id).length > 1) {
      wrong.push(`${name}: there are two with the id "${id}"`);
    }
    if (parsed.filter((each) => each.issuer === issuer).length > 1) {
      wrong.push(`${name}: there are two with the issuer ${issuer}`);
    }
  }
  return parsed;
}

function providerOf(given: unknown, faults: string[]): ProviderSettings | null {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    faults.push('it must be an object');
    return null;
  }
  const fields = given as Record<string, unknown>;
  for (const field of Object.keys(fields)) {
    if (!providerFields.includes(field)) faults.push(`"${field}" is no field of a provider`);
  }
  const text = (field: string, shape: RegExp, like: string): string => {
    const value = fields[field];
    if (typeof value === 'string' && shape.test(value)) return value;
    faults.push(`${field} must be ${like}`);
    return '';
  };
  const issuer = text('issuer', /^https?:\/\/\S{1,500}$/, 'its issuer URL');
  if (issuer !== '' && !(URL.canParse(issuer) && isHttps(new URL(issuer)))) {
    faults.push('issuer must be https (http on loopback only)');
  }
  const { messages = false, nonce = true } = fields;
  const scopes = scopesOf(fields.scopes, faults);
  if (typeof messages !== 'boolean') faults.push('messages must be true or false');
  if (typeof nonce !== 'boolean') faults.push('nonce must be true or false');
  if (messages === true && !(scopes.includes(writingScope) && scopes.includes('profile'))) {
    faults.push(`messages needs the scopes profile and ${writingScope}`);
  }
  const file = text('clientSecretFile', /^.{1,1000}$/, 'the path of a file with its secret');
  return {
    id: text('id', /^[a-z][a-z0-9-]{0,31}$/, 'small letters, digits and dashes, at most 32'),
    label: text('label', /^[^\p{Cc}\p{Cs}]{1,50}$/u, 'a text of 1 to 50 characters'),
    issuer,
    clientId: text('clientId', /^\S{1,500}$/, 'its client id'),
    clientSecret: file === '' ? '' : secretOf('clientSecretFile', file, faults),
    scopes,
    messages: messages === true,
    nonce: nonce !== false,
  };
}

/** RFC 6749, 3.3: printable ASCII without space, quotes and backslash. */
function scopesOf(given: unknown = ['openid', 'email', 'profile'], faults: string[]): string[] {
  const isScope = (each: unknown) =>
    typeof each === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(each);
  const isList = Array.isArray(given) && given.length <= mostScopes && given.every(isScope);
  if (isList && given.includes('openid')) return given;
  faults.push(`scopes must be a list of at most ${mostScopes} with openid in it`);
  return ['openid'];
}

function isHttps({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}
