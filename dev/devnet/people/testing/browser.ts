// A browser as small as signing in at the dev network's identity provider needs: cookies of one
// host, redirects within it, and its form.

const mostSteps = 10;

type Page = {
  readonly status: number;
  readonly url: URL;
  readonly headers: Headers;
  readonly text: string;
};

export type Browser = {
  /** Follows redirects as long as they stay at this origin; `left` is where one led out of it. */
  open(url: URL | string, form?: Readonly<Record<string, string>>): Promise<Page & { left?: URL }>;
};

export function browserOf(origin: string): Browser {
  const cookies = new Map<string, string>();
  const once = async (url: URL, form: Readonly<Record<string, string>> | undefined) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie, accept: 'text/html', ...(form === undefined ? {} : { origin }) },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  };
  return {
    open: async (start, form) => {
      let url = new URL(start);
      for (let step = 0; step < mostSteps; step += 1) {
        const response = await once(url, step === 0 ? form : undefined);
        const text = await response.text();
        const { status, headers } = response;
        const location = headers.get('location');
        if (location === null) return { status, url, headers, text };
        const next = new URL(location, url);
        if (next.origin !== origin) return { status, url, headers, text, left: next };
        url = next;
      }
      throw new Error(`more than ${mostSteps} redirects`);
    },
  };
}

/** Signs in under this name, or cancels for null; where the provider then leads to. */
export async function signInAtProvider(authorization: URL, name: string | null): Promise<URL> {
  const { left, status, text } = await signedInAt(authorization, name);
  if (left === undefined) throw new Error(`the provider answered ${status}: ${text}`);
  return left;
}

async function signedInAt(authorization: URL, name: string | null) {
  const browser = browserOf(authorization.origin);
  const page = await browser.open(authorization);
  const actions = [...page.text.matchAll(/action="([^"]+)"/g)].map(([, action = '']) => action);
  const action = actions.find((each) => each.endsWith('/cancel') === (name === null));
  if (action === undefined) throw new Error(`no form to sign in with: ${page.text}`);
  const form: Record<string, string> = name === null ? {} : { name };
  return browser.open(new URL(action, authorization), form);
}
