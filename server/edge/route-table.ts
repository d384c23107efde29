// Which methods each path takes, for answering 405 with `Allow`, and which paths beside it take a
// method. Asked only for requests that no route took.

export type RouteTable = {
  add(method: string, url: string): void;
  methodsOf(path: string): string[];
  /** Paths that differ in their last part, spelt out. */
  besides(method: string, path: string): string[];
};

export function createRouteTable(): RouteTable {
  const entries: { method: string; url: string; pattern: RegExp }[] = [];
  return {
    add(method, url) {
      const parts = url.split('/').map((part) => {
        if (part.startsWith(':')) return '[^/]+';
        return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
      });
      entries.push({ method, url, pattern: new RegExp(`^${parts.join('/')}$`) });
    },
    methodsOf(path) {
      const methods = entries.filter(({ pattern }) => pattern.test(path));
      return [...new Set(methods.map(({ method }) => method))].sort();
    },
    besides(method, path) {
      const folder = path.slice(0, path.lastIndexOf('/') + 1);
      const isBeside = (url: string) =>
        url.startsWith(folder) && /^[^/:]+$/.test(url.slice(folder.length));
      return entries
        .filter((each) => each.method === method && isBeside(each.url))
        .map(({ url }) => url)
        .sort();
    },
  };
}
