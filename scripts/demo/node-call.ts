// One call of a node, for balances and fees.

const callLimitMs = 30_000;

/** JSON-RPC; a user and password in the address are sent as such. */
export async function rpc<T>(url: string, method: string, params: readonly unknown[]): Promise<T> {
  const node = new URL(url);
  const { username, password } = node;
  const login = Buffer.from(`${username}:${password}`).toString('base64');
  [node.username, node.password] = ['', ''];
  const answer = await post<{ result: T; error?: { message: string } | null }>(
    node,
    { jsonrpc: '2.0', id: 1, method, params },
    username === '' ? {} : { authorization: `Basic ${login}` },
  );
  if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}

/** A JSON body and a JSON answer. */
export async function post<T>(
  url: URL,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(callLimitMs),
  });
  return (await response.json()) as T;
}
