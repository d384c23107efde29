import { nodeOf, type TestNode } from '../../testing/nodes.ts';

export type Asked = { readonly path: string; readonly body: Record<string, unknown> };
export type Said = { readonly status?: number; readonly body: unknown };
/** The effect of a lie: `undefined` hangs; `forward` asks the real node. */
export type Lie = (
  asked: Asked,
  forward: () => Promise<Said>,
) => Promise<Said | undefined> | Said | undefined;

export function lyingNode(url: string, lie: Lie): Promise<TestNode> {
  return nodeOf(async (text, request) => {
    const path = (request.url ?? '').slice(1);
    const forward = async (): Promise<Said> => {
      const real = await fetch(`${url}/${path}`, { method: 'POST', body: text });
      const said = await real.text();
      // A path that is not served is answered with a page.
      return { status: real.status, body: real.ok ? JSON.parse(said) : said };
    };
    const said = await lie({ path, body: JSON.parse(text) }, forward);
    if (said === undefined) return undefined;
    const { status = 200, body } = said;
    return { status, text: typeof body === 'string' ? body : JSON.stringify(body) };
  });
}
