// The names a market goes by: in the texts that wallets sign, in its keys and in its headers. From
// the environment, as the market takes them, or else read from the market itself. For play money
// only: with real money the name is yours to know, or one market could ask for a signature meant
// for another.

export type Brand = { readonly productName: string; readonly shortName: string };

const limitMs = 10_000;

export async function brandOf(
  url: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Brand> {
  const productName = env.PARLEY_PRODUCT_NAME || (await titleOf(url));
  const shortName = env.PARLEY_SHORT_NAME || (await headerOf(url));
  return { productName, shortName };
}

async function titleOf(url: string): Promise<string> {
  const response = await ask(url, '/v1/openapi.json');
  const { info } = (await response.json()) as { info?: { title?: unknown } };
  return String(info?.title ?? '').replace(/ API$/, '') || 'Parley';
}

/** The header of a refusal carries the short name: `x-<name>-error`. */
async function headerOf(url: string): Promise<string> {
  const response = await ask(url, '/v1/me');
  await response.body?.cancel();
  for (const name of response.headers.keys()) {
    const found = /^x-([a-z][a-z0-9]{0,15})-error$/.exec(name)?.[1];
    if (found !== undefined) return found;
  }
  return 'parley';
}

function ask(url: string, path: string): Promise<Response> {
  return fetch(new URL(path, url), { signal: AbortSignal.timeout(limitMs) });
}
