// The few JSON-RPC calls that deploying and verifying need. A refusal keeps the node's words.

const REPLY_MS = 30_000;

export type Rpc = <Answer>(method: string, params: readonly unknown[]) => Promise<Answer>;

export function rpcTo(url: string): Rpc {
  return async <Answer>(method: string, params: readonly unknown[]) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(REPLY_MS),
    });
    const { result, error } = (await response.json()) as {
      result?: Answer;
      error?: { message: string };
    };
    if (result === undefined) throw new Error(`the node says: ${error?.message}`);
    return result;
  };
}

/** As nodes give it in base64. */
export type AccountJson = {
  readonly owner: string;
  readonly executable: boolean;
  readonly lamports: number;
  readonly data: readonly [string, string];
};

export async function accountAt(
  rpc: Rpc,
  address: string,
  commitment: 'confirmed' | 'finalized',
): Promise<AccountJson | null> {
  const config = { encoding: 'base64', commitment };
  const { value } = await rpc<{ value: AccountJson | null }>('getAccountInfo', [address, config]);
  return value;
}
