// Which methods each path takes, for answering 405 with `Allow`. Asked only for requests that no
// route took.

export type RouteTable = {
  add(method: string, url: string): void;
  methodsOf(path: string): string[];
};

export function createRouteTable(): RouteTable {
  const entries: { method: string; pattern: RegExp }[] = [];
  return {
    add(method, url) {
      const parts = url.split('/').map((part) => {
        if (part.startsWith(':')) return '[^/]+';
        return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
      });
      entries.push({ method, pattern: new RegExp(`^${parts.join('/')}$`) });
    },
    methodsOf(path) {
      const methods = entries.filter(({ pattern }) => pattern.test(path));
      return [...new Set(methods.map(({ method }) => method))].sort();
    },
  };
}
