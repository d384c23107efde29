// The faucet over HTTP: a page with a form, and the same as JSON. Whom it counts as one client
// is the market's rule: PARLEY_TRUSTED_PROXIES and PARLEY_CLIENT_PREFIXES.

import { clientNetwork } from '@parley/market/edge/budgets.ts';
import { clientOf } from '@parley/market/edge/forwarded.ts';
import { createMemoryBuckets } from '@parley/market/edge/memory-buckets.ts';
import type { Settings } from '@parley/market/settings/config.ts';
import { formatDuration } from '@parley/sdk/people.ts';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { formatUnits } from 'viem/utils';
import { type Answer, type Faucet, Refused } from './give.ts';
import type { Gift } from './settings.ts';

/** A form with the longest address takes 300 bytes. */
const bodyLimitBytes = 2_048;
const requestMs = 10_000;
const mostConnections = 500;
/** The tries of a client network in a minute: each may have nodes asked. */
export const mostTries = 10;
const minuteMs = 60_000;

const statuses = {
  no_gift: 404,
  bad_address: 400,
  own_address: 400,
  bad_request: 400,
  elsewhere: 403,
  address_limit: 429,
  client_limit: 429,
  daily_cap: 429,
  too_many: 429,
  busy: 503,
  unavailable: 503,
} as const;
type Code = keyof typeof statuses;

type Said = {
  readonly code: Code;
  readonly sentence: string;
  readonly facts: Readonly<Record<string, string | number>>;
};

const headers = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; " +
    "frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  // With no-referrer browsers send `Origin: null` with our own form, as frames of strangers do.
  'referrer-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

type SiteSettings = Pick<Settings, 'trustedProxies' | 'clientPrefixes'>;
type Form = { readonly asset: string; readonly address: string };

export function createSite(
  faucet: Faucet,
  { trustedProxies, clientPrefixes }: SiteSettings,
  now: () => number = Date.now,
): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestMs,
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    // A node is asked while a client waits: a stop is not held up by it.
    forceCloseConnections: true,
  });
  app.server.maxConnections = mostConnections;
  const tries = triesOf(now);
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
  app.addHook('onRequest', async (_, reply) => {
    reply.headers(headers);
  });
  app.setErrorHandler((error: { statusCode?: number; message: string }, request, reply) => {
    const { statusCode = 500, message } = error;
    if (statusCode < 500) return answerRefused(request, reply, statusCode, badRequest(message));
    const gone = { code: 'unavailable' as const, sentence: 'a fault of the faucet', facts: {} };
    return answerRefused(request, reply, 500, gone);
  });
  app.get('/livez', async () => ({ live: true }));
  app.get('/style.css', async (_, reply) => reply.type('text/css').send(style));
  app.get('/', async (request, reply) => sendPage(request, reply, 200, []));
  app.get('/gifts', async () => ({ gifts: faucet.gifts.map(listed) }));
  app.post('/gifts', async (request, reply) => {
    const { headers: of } = request;
    if (isElsewhere(of['sec-fetch-site'], of.origin, of.host)) {
      return answerRefused(request, reply, statuses.elsewhere, {
        code: 'elsewhere',
        sentence: 'a page of another site has sent this',
        facts: {},
      });
    }
    const client = clientNetwork(clientOf(request), clientPrefixes);
    try {
      tries(client);
      const asked = readAsked(request.body);
      const answer = await faucet.give({ ...asked, client });
      if (!wantsPage(request)) return reply.send(answer);
      const gift = faucet.gifts.find((each) => nameOf(each) === nameOf(asked)) as Gift;
      return sendPage(request, reply, 200, saidOf(answer, gift));
    } catch (error) {
      if (!(error instanceof Refused) && !(error instanceof Wrong)) throw error;
      const { code, message: sentence, facts } = error;
      return answerRefused(request, reply, statuses[code], { code, sentence, facts });
    }
  });
  const listed = (gift: Gift) => ({
    chain: gift.chain,
    token: gift.token,
    symbol: gift.symbol,
    decimals: gift.decimals,
    amount: `${gift.amount}`,
    dailyCap: `${gift.dailyCap}`,
    left: `${faucet.left(gift)}`,
  });
  const sendPage = (
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    said: readonly string[],
  ) => {
    const gifts = faucet.gifts.map((gift) => ({ gift, left: faucet.left(gift) }));
    const { address = '' } = (request.body ?? {}) as Partial<Form>;
    const shown = { gifts, said, address: String(address) };
    return reply.code(status).type('text/html; charset=utf-8').send(pageOf(shown));
  };
  const answerRefused = (
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    { code, sentence, facts }: Said,
  ) => {
    const { seconds } = facts;
    if (typeof seconds === 'number') reply.header('retry-after', Math.max(1, Math.ceil(seconds)));
    if (!wantsPage(request))
      return reply.code(status).send({ error: { code, sentence, ...facts } });
    const wait = typeof seconds === 'number' ? ` Try again in ${timeOf(seconds)}.` : '';
    return sendPage(request, reply, status, [`${sentence}.${wait}`]);
  };
  return app;
}

class Wrong extends Error {
  readonly code: 'bad_request' | 'too_many';
  readonly facts: Said['facts'];

  constructor(code: Wrong['code'], sentence: string, facts: Said['facts'] = {}) {
    super(sentence);
    this.code = code;
    this.facts = facts;
  }
}

const badRequest = (sentence: string) => ({ code: 'bad_request' as const, sentence, facts: {} });

function triesOf(now: () => number): (client: string) => void {
  const buckets = createMemoryBuckets(now);
  const rule = { name: 'clients', limit: mostTries, windowMs: minuteMs } as const;
  return (client) => {
    const { allowed, buckets: own } = buckets.spend(rule, [client]);
    if (allowed) return;
    const seconds = Math.ceil((own[0]?.leftMs ?? minuteMs) / 1_000);
    throw new Wrong('too_many', `${mostTries} tries in a minute are the most`, { seconds });
  };
}

/**
 * A page of another site would have its readers' networks pay out to its own address. Browsers say
 * `site` over TLS and on loopback alone, and `origin` of a form anywhere.
 */
function isElsewhere(site: unknown, origin: string | undefined, host: string | undefined) {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  return origin !== undefined && URL.parse(origin)?.host !== host;
}

const wantsPage = ({ headers: { 'content-type': type = '' } }: FastifyRequest) =>
  type.startsWith('application/x-www-form-urlencoded');

/** JSON names `chain`, `token` and `address`; the form `asset` and `address`. */
function readAsked(body: unknown) {
  const { chain, token = null, asset, address } = (body ?? {}) as Record<string, unknown>;
  if (typeof address !== 'string' || address.length > longestAddress) {
    const sentence = `"address" must be a text of at most ${longestAddress} characters`;
    throw new Wrong('bad_request', sentence);
  }
  if (typeof asset === 'string') {
    const [of = '', ...rest] = asset.split('/');
    return { chain: of, token: rest[0] ?? null, address: address.trim() };
  }
  const isToken = token === null || typeof token === 'string';
  if (typeof chain === 'string' && isToken) return { chain, token, address };
  throw new Wrong('bad_request', '"chain" must be a text, and "token" a text or null');
}

function timeOf(seconds: number): string {
  return formatDuration(Math.ceil(seconds / 60) * 60, { locale: 'en' });
}

// The faucet's page: one form, without a script.

const title = 'Faucet of the test market';
/** An address of no chain is longer. */
export const longestAddress = 128;

const style = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
  body { max-width: 36rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
  label { display: block; margin: 1rem 0 .25rem }
  input, select, button { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem }
  button { margin: 1rem 0 }
  .said { border-inline-start: .25rem solid; padding-inline-start: 1rem }`;

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (each) => escapes[each] ?? '');

type Shown = {
  readonly gifts: readonly { readonly gift: Gift; readonly left: bigint }[];
  /** The result of the request. */
  readonly said: readonly string[];
  readonly address: string;
};

/** How an asset is named in the form: `chain` or `chain/token`. */
const nameOf = ({ chain, token }: Pick<Gift, 'chain' | 'token'>) =>
  token === null ? chain : `${chain}/${token}`;

const coinsOf = ({ amount, decimals }: Pick<Gift, 'amount' | 'decimals'>) =>
  formatUnits(amount, decimals);

function saidOf({ symbol, address, txid }: Answer, gift: Gift): string[] {
  return [`${coinsOf(gift)} ${symbol} are on their way to ${address}.`, `Transaction ${txid}`];
}

function pageOf({ gifts, said, address }: Shown): string {
  const options = gifts.map(({ gift, left }) => {
    const isOut = left < gift.amount;
    const label = `${coinsOf(gift)} ${gift.symbol} (${gift.chain})`;
    const text = isOut ? `${label}: used up for now` : label;
    const value = escaped(nameOf(gift));
    return `<option value="${value}"${isOut ? ' disabled' : ''}>${escaped(text)}</option>`;
  });
  const lines = said.map((each) => `<p>${escaped(each)}</p>`).join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<main>
<h1>${title}</h1>
<p>These coins are of test networks: they are worth nothing, and nobody buys them.</p>
${lines === '' ? '' : `<div class="said" role="status">${lines}</div>`}
<form method="post" action="gifts">
<label for="asset">Coin</label>
<select id="asset" name="asset">${options.join('')}</select>
<label for="address">Your address</label>
<input id="address" name="address" required maxlength="${longestAddress}" autocomplete="off"
 spellcheck="false" value="${escaped(address)}">
<button>Give me coins</button>
</form>
<p>Each address gets each of them once in 24 hours.</p>
</main>
</body>
</html>
`;
}
