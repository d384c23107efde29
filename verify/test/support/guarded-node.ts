// A node of a chain behind a secret in its URL, which tells a test all that it is asked, and which
// the test lets refuse with that, or break.

import { nodeOf } from '@parley/chains/testing/nodes.ts';

/** `no estimates`: each is refused, and quoted whole. */
type Manner = 'serve' | 'echo' | 'fail' | 'no estimates';

export type GuardedNode = { readonly url: string; manner: Manner; stop(): Promise<void> };

const estimates = /"(eth_estimateGas|eth_createAccessList|simulateTransaction|testmempoolaccept)"/;
const sends = /"(eth_sendRawTransaction|sendrawtransaction|testmempoolaccept|sendTransaction)"/;

/**
 * `secret` names each secret that the URL holds, and makes it where none is given; `hears` is told
 * path and body of each request.
 */
export async function guardedNode(
  rpcUrl: string,
  guard: 'login' | 'path',
  secret: (what: string, value?: string) => string,
  hears: (asked: string) => void = () => {},
): Promise<GuardedNode> {
  const path = guard === 'path' ? `/v3/${secret('path of a node')}` : '';
  const own = guard === 'path' ? '' : `${secret('user of a node')}:${secret('password of a node')}`;
  if (own !== '') secret('login of a node', Buffer.from(own).toString('base64'));
  const to = new URL(rpcUrl);
  const authorization = `Basic ${Buffer.from(`${to.username}:${to.password}`).toString('base64')}`;
  [to.username, to.password] = ['', ''];
  const state = { manner: 'serve' as Manner };
  const node = await nodeOf(async (body, { url = '', headers }) => {
    if (state.manner === 'fail') {
      return { status: 500, text: `failed ${url} ${headers.authorization}` };
    }
    // Beyond the guard: java-tron's API is a path for each call.
    const rest = url.slice(path.length);
    hears(`${rest} ${body}`);
    const refused = (code: number, message: string) => {
      const { id } = JSON.parse(body) as { id?: number };
      const hex = Buffer.from(message).toString('hex');
      const isRpc = rest === '' || rest === '/';
      const said = isRpc
        ? { jsonrpc: '2.0', id, error: { code, message } }
        : { result: false, code: 'SIGERROR', message: hex };
      return { text: JSON.stringify(said) };
    };
    const isSending = sends.test(body) || rest === '/wallet/broadcasthex';
    // The end of it: long words keep only their beginning.
    if (state.manner === 'echo' && isSending) return refused(-26, `refused: ${body.slice(-400)}`);
    const isEstimate = estimates.test(body) || /estimateenergy/.test(rest);
    if (state.manner === 'no estimates' && isEstimate) {
      return refused(-32_000, `no estimates here, not of ${body}`);
    }
    const at = new URL(`${to.pathname}${rest}`.replace('//', '/'), to);
    const served = await fetch(at, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body,
    });
    return { status: served.status, text: await served.text() };
  });
  const url = new URL(`${node.url}${path}`);
  const login = own === '' ? '' : `${own}@`;
  return Object.assign(state, { url: url.href.replace('://', `://${login}`), stop: node.stop });
}
